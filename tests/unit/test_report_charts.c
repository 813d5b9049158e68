/* The charts of the report: buckets, gaps, axes, and what is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/chart_rows.h"
#include "report/write/svg.h"
#include "report_fixture.h"

static struct row_list list;

static const struct trk_doc_chart *chart_of(const struct trk_doc *d, const char *key)
{
	static const struct trk_doc_chart none;

	for (size_t i = 0; i < d->charts; i++)
		if (!strcmp(d->chart[i].key, key))
			return &d->chart[i];
	fail();
	return &none;
}

/* Rows without any value yet. */
static struct trk_report_rows *rows_new(const struct trk_record *record)
{
	static struct trk_report_rows none;
	struct trk_report_rows *rows = trk__report_rows_new(record);

	assert_non_null(rows);
	return rows ? rows : &none;
}

struct made {
	struct trk_record *record;
	struct trk_report_rows *rows;
	struct trk_doc *report;
};

static struct made make(void)
{
	struct made m = {.record = record_make(&list), .report = calloc(1, sizeof(*m.report))};
	struct trk_report_input in = {.record = m.record};

	assert_non_null(m.report);
	m.rows = rows_make(m.record, &list);
	in.rows = m.rows;
	assert_int_equal(trk__report_make(&in, m.report), 0);
	return m;
}

static void drop(struct made *m)
{
	trk__doc_release(m->report);
	free(m->report);
	trk__report_rows_free(m->rows);
	record_drop(m->record);
}

static double value_at(const struct trk_doc_chart *c, const uint16_t *series, size_t i)
{
	return series[i] * c->top / TRK_DOC_STEPS;
}

static void a_steady_run_is_a_flat_line_of_its_value(void **state)
{
	const struct trk_doc_chart *c;
	struct made m;

	rows_fill(&list, 100);
	m = make();
	c = chart_of(m.report, "cpu");
	assert_int_equal(m.report->buckets, 100);
	assert_true(fabs(c->limit - 4) < 1e-9);
	for (size_t i = 0; i < 100; i++)
		assert_true(fabs(value_at(c, c->series[0].avg, i) - 1.5) <= c->top / 8000 + 1e-9);
	assert_false(c->series[0].has_band);
	drop(&m);
}

static void amounts_become_rates(void **state)
{
	const struct trk_doc_chart *c;
	struct made m;

	rows_fill(&list, 40);
	for (size_t i = 0; i < 40; i++) /* four seconds a row */
		trk__sample_set(&list.row[i], TRK_INTERVAL, 4000000),
			trk__sample_set(&list.row[i], TRK_ELAPSED, (int64_t) (i + 1) * 4000000);
	m = make();
	c = chart_of(m.report, "disk_read");
	assert_string_equal(c->unit, "kB/s");
	assert_true(fabs(c->series[0].mean - 750) < 1e-6);
	assert_true(fabs(c->series[0].peak - 750) < 1e-6);
	drop(&m);
}

static void merged_rows_keep_their_extremes(void **state)
{
	struct trk_sample low, high;
	struct trk_report_rows *rows;
	struct trk_record *r;

	rows_fill(&list, 10);
	r = record_make(&list);
	rows = rows_new(r);
	low = high = list.row[0];
	/* Ten rows of one second in one: 30 MB read in all, 1 to 9 MB each. */
	trk__sample_set(&list.row[9], TRK_INTERVAL, 10000000);
	trk__sample_set(&list.row[9], TRK_PROCESS_DISK_READ, 30000000);
	trk__sample_set(&low, TRK_PROCESS_DISK_READ, 1000000);
	trk__sample_set(&high, TRK_PROCESS_DISK_READ, 9000000);
	assert_int_equal(trk__report_rows_take(rows, 10, &list.row[9], &low, &high), 0);
	assert_true(fabs(rows->fill[2][0].peak - 9e6) < 1);
	for (size_t i = 0; i < rows->buckets; i++) {
		assert_true(fabs(rows->fill[2][0].min[i] - 1e6) < 1);
		assert_true(fabs(rows->fill[2][0].max[i] - 9e6) < 1);
		assert_true(fabs(rows->fill[2][0].sum[i] / rows->fill[2][0].seconds[i] - 3e6) < 1);
	}
	trk__report_rows_free(rows);
	record_drop(r);
}

static void long_rows_leave_no_false_gap(void **state)
{
	const struct trk_doc_chart *c;
	struct made m;

	/* Dense at the start, as runs are: then one row covers several buckets. */
	rows_fill(&list, 100);
	for (size_t i = 0; i < 100; i++) {
		int64_t at = i < 50 ? (int64_t) (i + 1) * 200000
				    : 10000000 + (int64_t) (i - 49) * 1000000;

		trk__sample_set(&list.row[i], TRK_ELAPSED, at);
		trk__sample_set(&list.row[i], TRK_INTERVAL, i < 50 ? 200000 : 1000000);
	}
	m = make();
	c = chart_of(m.report, "cpu");
	for (size_t i = 0; i < m.report->buckets; i++)
		assert_int_not_equal(c->series[0].avg[i], TRK_DOC_GAP);
	assert_int_equal(m.rows->gaps.gaps, 0);
	drop(&m);
}

static void a_gap_stays_open(void **state)
{
	struct trk_report_gaps gaps;
	const struct trk_doc_chart *c;
	struct made m;
	size_t open = 0;
	struct trk_buf b;

	rows_fill(&list, 100);
	for (size_t i = 50; i < 100; i++)
		trk__sample_set(&list.row[i], TRK_ELAPSED, (int64_t) (i + 101) * 1000000);
	m = make();
	gaps = m.rows->gaps;
	c = chart_of(m.report, "cpu");
	assert_int_equal(gaps.gaps, 1);
	assert_true(fabs(gaps.gap_s - 100) < 1e-6);
	for (size_t i = 0; i < m.report->buckets; i++)
		open += c->series[0].avg[i] == TRK_DOC_GAP;
	assert_int_equal(open, 50);
	trk__buf_init(&b, 1 << 20);
	trk__svg_chart(&b, m.report, c);
	/* The line is drawn in two pieces. */
	assert_non_null(strstr(b.data, "class=\"line job\" d=\"M0 21h50M150 21h50\""));
	trk__buf_release(&b);
	drop(&m);
}

static void a_clock_that_goes_back_is_told_and_moves_nothing(void **state)
{
	struct made m;

	rows_fill(&list, 20);
	for (size_t i = 10; i < 20; i++)
		trk__sample_set(&list.row[i], TRK_TIMESTAMP, 1600000000000 + (int64_t) i * 1000);
	m = make();
	assert_int_equal(m.rows->gaps.clock_back, 1);
	assert_int_equal(m.rows->gaps.gaps, 0);
	assert_true(fabs(m.report->duration_s - 20) < 1e-9);
	drop(&m);
}

static void the_axis_is_that_of_the_job_and_a_limit_above_it_is_named(void **state)
{
	const struct trk_doc_chart *c;
	struct made m;

	rows_fill(&list, 20);
	for (size_t i = 0; i < 20; i++)
		trk__sample_set(&list.row[i], TRK_PROCESS_MEMORY, 20 * 1048576ll);
	m = make();
	c = chart_of(m.report, "memory");
	assert_true(c->is_far && c->limit > c->top);
	assert_true(fabs(c->top - c->series[0].peak * 1.15) < 1e-9);
	assert_true(c->levels >= 1 && c->levels <= TRK_DOC_LEVELS);
	assert_string_equal(c->limit_text, "2 GiB limit");
	assert_string_equal(c->unit, "MiB");
	drop(&m);
}

static void a_job_that_sleeps_has_no_mountain_of_cpu_use(void **state)
{
	struct made m;

	rows_fill(&list, 30);
	for (size_t i = 0; i < list.count; i++)
		trk__sample_set(&list.row[i], TRK_PROCESS_CPU_USAGE, i == 20 ? 8 : 0);
	m = make();
	assert_true(fabs(chart_of(m.report, "cpu")->top - 0.1) < 1e-9);
	drop(&m);
}

/* A neighbour's files move the disk by 4 %, or by 24 %. */
static void disk_space_is_drawn_where_it_moved(void **state)
{
	for (int grown = 4; grown <= 24; grown += 20) {
		struct made m;

		rows_fill(&list, 30);
		for (size_t i = 0; i < list.count; i++) {
			long long at = 50000 + (i >= 15 ? 500 * grown : 0);

			trk__sample_set(&list.row[i], TRK_SYSTEM_SPACE_TOTAL, 400000);
			trk__sample_set(&list.row[i], TRK_SYSTEM_SPACE_USED, at);
		}
		m = make();
		assert_int_equal(chart_of(m.report, "disk_space")->is_quiet, grown == 4);
		drop(&m);
	}
}

static void rows_out_of_place_are_left_out(void **state)
{
	struct trk_report_rows *rows;
	struct trk_record *r;
	struct trk_sample odd;

	rows_fill(&list, 10);
	r = record_make(&list);
	rows = rows_new(r);
	odd = list.row[0];
	trk__sample_set(&odd, TRK_ELAPSED, 1000000000000);
	assert_int_equal(trk__report_rows_take(rows, 1, &odd, &odd, &odd), 0);
	trk__sample_set(&odd, TRK_ELAPSED, -5000000);
	assert_int_equal(trk__report_rows_take(rows, 1, &odd, &odd, &odd), 0);
	assert_int_equal(trk__report_rows_take(rows, 0, &list.row[0], &odd, &odd), 0);
	assert_true(rows->fill[0][0].all_seconds == 0);
	trk__report_rows_free(rows);
	record_drop(r);
}

static void percentiles_are_within_a_sixteenth(void **state)
{
	struct trk_report_rows *rows;
	struct trk_record *r;
	double p95;

	rows_fill(&list, 100);
	for (size_t i = 0; i < 100; i++)
		trk__sample_set(&list.row[i], TRK_PROCESS_DISK_READ, (int64_t) (i + 1) * 1000000);
	r = record_make(&list);
	rows = rows_make(r, &list);
	p95 = trk__stats_get(rows->rates, TRK_PROCESS_DISK_READ).p95;
	assert_true(fabs(p95 - 95e6) < 95e6 / 16);
	trk__report_rows_free(rows);
	record_drop(r);
}

/* 400 rows of four samples each: 360 buckets of four. */
static void a_bucket_is_made_of_finer_ones(void **state)
{
	const struct trk_doc_series *s;
	const struct trk_doc_chart *c;
	struct made m;

	rows_fill(&list, 400);
	for (size_t i = 0; i < 400; i++) {
		list.stands_for[i] = 4;
		trk__sample_set(&list.row[i], TRK_INTERVAL, 4000000);
		trk__sample_set(&list.row[i], TRK_ELAPSED, (int64_t) (i + 1) * 4000000);
		trk__sample_set(&list.row[i], TRK_PROCESS_CPU_USAGE, i % 2 ? 5000 : 25000);
	}
	m = make();
	c = chart_of(m.report, "cpu");
	s = &c->series[0];
	assert_int_equal(m.report->buckets, 360);
	assert_int_equal(m.report->finer, 4);
	for (size_t i = 0; i < 360; i++) {
		double sum = 0, least = TRK_DOC_STEPS, most = 0;

		for (size_t k = 4 * i; k < 4 * i + 4; k++) {
			const struct trk_chart_fill *f = &m.rows->fill[0][0];
			double mean = f->sum[k] / f->seconds[k];

			assert_true(fabs(f->seconds[k] - m.rows->width_s) < 1e-9);
			assert_int_equal(s->fine[k].avg, trk__doc_steps(mean / c->top));
			assert_true(s->fine[k].min <= s->fine[k].avg &&
				    s->fine[k].avg <= s->fine[k].max);
			sum += mean;
			least = s->fine[k].min < least ? s->fine[k].min : least;
			most = s->fine[k].max > most ? s->fine[k].max : most;
		}
		assert_true(fabs(s->avg[i] - sum / 4 / c->top * TRK_DOC_STEPS) <= 1);
		assert_true(s->min[i] == least && s->max[i] == most);
		assert_true(least >= trk__doc_steps(0.5 / c->top) &&
			    most <= trk__doc_steps(2.5 / c->top));
	}
	assert_true(s->has_band);
	drop(&m);
}

static void the_page_tells_the_finer_values_that_it_has_room_for(void **state)
{
	struct trk_report_input in = {.count = 0};
	struct trk_report_rows *rows;
	struct trk_record *r;
	char *text;

	rows_fill(&list, 400);
	for (size_t i = 0; i < 400; i++) {
		list.stands_for[i] = 4;
		trk__sample_set(&list.row[i], TRK_INTERVAL, 4000000);
		trk__sample_set(&list.row[i], TRK_PROCESS_DISK_READ, 80000000); /* worth a chart */
		trk__sample_set(&list.row[i], TRK_ELAPSED, (int64_t) (i + 1) * 4000000);
	}
	r = record_make(&list);
	rows = rows_make(r, &list);
	in.record = r;
	in.rows = rows;
	text = report_text(&in, "html");
	assert_non_null(strstr(text, "\"drawn\":360,\"n\":1440,"));
	assert_true(strlen(text) < 150000);
	assert_null(strstr(text, "\"columns\"")); /* for embedded samples alone */
	free(text);
	in.raw = "recording";
	in.raw_len = 9;
	text = report_text(&in, "html");
	assert_non_null(strstr(text, "\"columns\":[[\"process_cpu_usage\",1,false]"));
	assert_non_null(strstr(text, "[[\"process_disk_read_bytes\",1000000,true]"));
	free(text);
	trk__report_rows_free(rows);
	record_drop(r);
}

static void many_marks_keep_the_page_small(void **state)
{
	struct row_list *rows_of = &list;
	struct trk_record *r;
	struct trk_report_rows *rows;
	struct trk_report_input in = {.count = 0};
	char *text;

	rows_fill(rows_of, 360);
	r = record_make(rows_of);
	for (uint64_t i = 0; i < TRK_MARKS_MAX; i++) {
		struct trk_mark mark = {.elapsed_ns = i * 300000000, .name = "a phase of the job"};

		assert_int_equal(trk__record_mark(r, &mark), 0);
	}
	rows = rows_make(r, rows_of);
	in.record = r;
	in.rows = rows;
	text = report_text(&in, "html");
	assert_true(strlen(text) < 150000);
	free(text);
	trk__report_rows_free(rows);
	record_drop(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_run_is_a_flat_line_of_its_value),
		cmocka_unit_test(amounts_become_rates),
		cmocka_unit_test(merged_rows_keep_their_extremes),
		cmocka_unit_test(long_rows_leave_no_false_gap),
		cmocka_unit_test(a_gap_stays_open),
		cmocka_unit_test(a_clock_that_goes_back_is_told_and_moves_nothing),
		cmocka_unit_test(the_axis_is_that_of_the_job_and_a_limit_above_it_is_named),
		cmocka_unit_test(a_job_that_sleeps_has_no_mountain_of_cpu_use),
		cmocka_unit_test(disk_space_is_drawn_where_it_moved),
		cmocka_unit_test(rows_out_of_place_are_left_out),
		cmocka_unit_test(percentiles_are_within_a_sixteenth),
		cmocka_unit_test(a_bucket_is_made_of_finer_ones),
		cmocka_unit_test(the_page_tells_the_finer_values_that_it_has_room_for),
		cmocka_unit_test(many_marks_keep_the_page_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
