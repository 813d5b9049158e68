/* Use by process over time: lanes of processes, words that differ between command lines, and the
 * usual course of a job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/section/lanes.h"
#include "answer/usual_course.h"
#include "report_fixture.h"

static struct row_list list;

/* ---- words ---- */

static void the_words_that_differ_come_first(void **state)
{
	const char *commands[] = {"/usr/lib/cc1 -quiet src/lz4.c -O3 /tmp/cca1.s",
				  "/usr/lib/cc1 -quiet src/xxhash.c -O3 /tmp/ccb2.s", ""};
	const char *two[] = {"sort -R a", "sort -R a"};
	struct trk_doc d = {.error = 0};

	assert_string_equal(trk__command_words(&d, commands[0], commands, 3, 80),
			    TRK_DOC_STRONG TRK_DOC_OUTSIDE
			    "lz4.c" TRK_DOC_INSIDE TRK_DOC_PLAIN " " TRK_DOC_OUTSIDE
			    "cc1 -quiet -O3 /tmp/cca1.s" TRK_DOC_INSIDE);
	assert_string_equal(trk__command_words(&d, two[0], two, 2, 80),
			    TRK_DOC_OUTSIDE "sort -R a" TRK_DOC_INSIDE);
	assert_null(trk__command_words(&d, "", commands, 3, 80));
	trk__doc_release(&d);
}

static void a_long_command_line_is_cut(void **state)
{
	char text[TRK_SPAN_COMMAND_SIZE];
	const char *one[] = {text, "other"};
	struct trk_doc d = {.error = 0};

	for (size_t i = 0; i + 1 < sizeof(text); i++)
		text[i] = i % 3 == 2 ? ' ' : 'x';
	text[sizeof(text) - 1] = '\0';
	assert_true(strlen(trk__command_words(&d, text, one, 2, 40)) < 60);
	memset(text, 'y', sizeof(text) - 1);
	assert_true(strlen(trk__command_words(&d, text, one, 2, 40)) < 60);
	trk__doc_release(&d);
}

/* ---- lanes ---- */

static void add_program(struct trk_program_log *log, const char *name, double cpu_s, uint64_t ended,
			double peak_mib)
{
	struct trk_program *p = &log->program[log->count];

	(void) snprintf(p->name, sizeof(p->name), "%s", name);
	p->cpu_ns = (uint64_t) (cpu_s * 1e9);
	p->ended = ended;
	p->largest_bytes = (uint64_t) (peak_mib * 1048576);
	log->peak_bytes[log->count++] = p->largest_bytes;
}

static void add_process(struct trk_program_log *log, unsigned int program, int pid, int64_t from_ms,
			int64_t to_ms, uint64_t cpu_ms)
{
	struct trk_process_span s = {.pid = pid,
				     .program = program,
				     .start_ms = from_ms,
				     .end_ms = to_ms,
				     .ended = true,
				     .cpu_ms = cpu_ms,
				     .peak_bytes = 20 << 20};

	(void) snprintf(s.command, sizeof(s.command), "cc1 unit_%d.c -O2", pid);
	trk__program_log_span(log, &s);
}

/* 100 s: one `make`, six `worker`s of 40 s, `shorts` compilers of 20 ms, and a program of no
 * weight. */
static struct trk_record *record_of_processes(int shorts)
{
	struct trk_record *r;

	rows_fill(&list, 100);
	r = record_make(&list);
	assert_int_equal(trk__program_log_init(&r->programs), 0);
	r->programs.count = 1;
	add_program(&r->programs, "make", 10, 1, 30);
	add_program(&r->programs, "worker", 120, 6, 200);
	add_program(&r->programs, "cc1", 20, (uint64_t) shorts, 20);
	add_program(&r->programs, "uname", 0.001, 1, 1);
	r->max_memory_mib = 512;
	add_process(&r->programs, 1, 10, 0, 100000, 10000);
	for (int i = 0; i < 6; i++)
		add_process(&r->programs, 2, 20 + i, 1000 * i + (i >= 3 ? 50000 : 0),
			    1000 * i + (i >= 3 ? 90000 : 40000), 20000);
	for (int i = 0; i < shorts; i++)
		add_process(&r->programs, 3, 1000 + i, 10 * i, 10 * i + 20, i == 777 ? 90 : 2);
	for (int i = 0; i < 100; i++) {
		r->programs.cpu_ms[1] = 100;
		r->programs.cpu_ms[2] = 1200;
		r->programs.cpu_ms[3] = 200;
		trk__program_log_row(&r->programs, i, i + 1, true);
	}
	return r;
}

static bool has_lane(const struct trk_doc *d, const char *name)
{
	for (size_t i = 0; i < d->lanes; i++)
		if (strstr(d->lane[i].name, name))
			return true;
	return false;
}

static const struct trk_doc_lane *lane_of(const struct trk_doc *d, const char *name)
{
	size_t i = 0;

	assert_true(has_lane(d, name));
	while (!strstr(d->lane[i].name, name))
		i++;
	return &d->lane[i];
}

static const char *cell_of(const struct trk_doc *d, const char *program, size_t column)
{
	const struct trk_doc_block *b =
		trk__doc_next(trk__doc_section(d, "processes")->first, TRK_BLOCK_TABLE);

	for (size_t i = 0; i < b->table->rows; i++)
		if (strstr(b->table->cell[i * b->table->columns].text, program))
			return b->table->cell[i * b->table->columns + column].text;
	return NULL;
}

static void processes_are_bars_or_a_density_and_none_is_lost(void **state)
{
	struct trk_record *r = record_of_processes(5000);
	struct trk_report_rows *rows = rows_make(r, &list);
	struct trk_report_input in = {.record = r, .rows = rows};
	const struct trk_doc_lane *lane;
	struct trk_doc d;

	assert_int_equal(trk__report_make(&in, &d), 0);
	assert_int_equal(d.lanes, 3);
	lane = lane_of(&d, "make");
	assert_int_equal(lane->bars, 1);
	assert_true(lane->bar[0].from == 0 && lane->bar[0].to == 1);
	assert_int_equal(lane->members, 0);
	lane = lane_of(&d, "worker");
	assert_int_equal(lane->bars, 6);
	assert_int_equal(lane->rows, 3); /* three at once, twice */
	for (size_t i = 0; i < lane->bars; i++)
		for (size_t k = 0; k < i; k++)
			assert_true(lane->bar[i].row != lane->bar[k].row ||
				    lane->bar[i].from >= lane->bar[k].to ||
				    lane->bar[k].from >= lane->bar[i].to);
	lane = lane_of(&d, "cc1");
	assert_int_equal(lane->processes, 5000);
	assert_int_equal(lane->bars, 0);
	assert_int_equal(lane->alive[90], 0);
	assert_int_equal(lane->alive_most, 2); /* 20 ms each, one every 10 ms */
	assert_int_equal(lane->others, 5000);
	assert_true(lane->briefs > 1000 && lane->briefs < 2000);
	assert_true(lane->brief[0].cores == 4.5); /* the one of 90 ms */
	assert_false(has_lane(&d, "uname"));
	/* The largest one is found exactly, and what tells it comes first. */
	assert_string_equal(cell_of(&d, "cc1", 1), "5000");
	assert_string_equal(cell_of(&d, "cc1", 4), "90 ms");
	assert_non_null(
		strstr(cell_of(&d, "cc1", 7), TRK_DOC_STRONG TRK_DOC_OUTSIDE "unit_1777.c"));
	trk__doc_release(&d);
	trk__report_rows_free(rows);
	record_drop(r);
}

/* The filling of the bars is the program's CPU time, bucket by bucket. */
static void bars_share_what_their_program_used(void **state)
{
	struct trk_record *r = record_of_processes(10);
	struct trk_report_rows *rows = rows_make(r, &list);
	struct trk_report_input in = {.record = r, .rows = rows};
	const struct trk_doc_lane *lane;
	struct trk_doc d;

	assert_int_equal(trk__report_make(&in, &d), 0);
	lane = lane_of(&d, "worker");
	for (size_t b = 10; b < 35; b++) {
		double cores = 0;

		for (size_t i = 0; i < lane->bars; i++) {
			const struct trk_doc_bar *bar = &lane->bar[i];

			if (b >= bar->first && b < bar->first + bar->count)
				cores += bar->use[b - bar->first] * lane->cores / TRK_DOC_STEPS;
		}
		assert_true(fabs(cores - 1.2) < 0.01);
	}
	trk__doc_release(&d);
	trk__report_rows_free(rows);
	record_drop(r);
}

/* Of processes that were never seen there is CPU time, and nothing else. */
static void what_was_not_seen_has_no_count_and_no_life(void **state)
{
	struct trk_record *r = record_of_processes(10);
	struct trk_report_rows *rows = rows_make(r, &list);
	struct trk_report_input in = {.record = r, .rows = rows};
	struct trk_doc d;
	char *md;

	r->programs.program[3].kind = TRK_PROGRAM_UNSEEN;
	r->programs.unseen = 9000;
	assert_int_equal(trk__report_make(&in, &d), 0);
	assert_null(cell_of(&d, "short processes of cc1", 1));
	assert_null(cell_of(&d, "short processes of cc1", 4));
	assert_null(cell_of(&d, "short processes of cc1", 6));
	assert_string_equal(cell_of(&d, "short processes of cc1", 2), "20.0 s");
	assert_int_equal(lane_of(&d, "short processes")->bars, 0);
	trk__doc_release(&d);
	md = report_text(&in, "md");
	assert_non_null(strstr(md, "On the whole machine 9010 processes or threads did so."));
	free(md);
	trk__report_rows_free(rows);
	record_drop(r);
}

/* A process is seen to end at the next look, a second later at most. */
static void a_short_life_is_a_bound(void **state)
{
	struct trk_record *r = record_of_processes(10);
	struct trk_report_rows *rows = rows_make(r, &list);
	struct trk_report_input in = {.record = r, .rows = rows};
	struct trk_doc d;

	assert_int_equal(trk__report_make(&in, &d), 0);
	assert_string_equal(cell_of(&d, "cc1", 6), "\u2264 20 ms");
	assert_string_equal(cell_of(&d, "worker", 6), "40.0 s");
	trk__doc_release(&d);
	trk__report_rows_free(rows);
	record_drop(r);
}

static void thousands_of_processes_keep_the_page_small(void **state)
{
	struct trk_record *r = record_of_processes(8000);
	struct trk_report_rows *rows = rows_make(r, &list);
	struct trk_report_input in = {.record = r, .rows = rows};
	char *html = report_text(&in, "html"), *md = report_text(&in, "md");

	assert_true(strlen(html) < 150000);
	assert_non_null(strstr(html, "<details class=\"lane p"));
	assert_non_null(strstr(html, "and 7992 more, each with at most"));
	assert_non_null(strstr(html, " data-of=\"8000\" data-brief=\""));
	assert_non_null(strstr(md, "estimated where several processes of a program ran"));
	assert_non_null(strstr(md, "An end is seen up to 1.0 s late"));
	assert_non_null(strstr(md, "left out: uname \u00d7 1"));
	assert_non_null(strstr(md, "cc1 \u00d7 8000, 20.0 s CPU"));
	free(html);
	free(md);
	trk__report_rows_free(rows);
	record_drop(r);
}

/* ---- the usual course ---- */

/* 100 s with the phases load, work and end; memory in `work` is so many MiB. */
static struct trk_record *marked(double work_s, int64_t work_mib, struct trk_report_rows **rows)
{
	static const char *const names[] = {"load", "work", "end"};
	double at[3] = {1, 20, 20 + work_s};
	struct trk_record *r;

	rows_fill(&list, (size_t) (work_s + 40));
	for (size_t i = 22; i < (size_t) (20 + work_s); i++)
		trk__sample_set(&list.row[i], TRK_PROCESS_MEMORY, work_mib * 1048576);
	r = record_make(&list);
	trk__quantity_set(&r->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB], (double) work_mib,
			  TRK_QUALITY_EXACT, "smaps_rollup", NULL);
	for (size_t i = 0; i < 3; i++) {
		struct trk_mark mark = {.elapsed_ns = (uint64_t) (at[i] * 1e9)};

		(void) snprintf(mark.name, sizeof(mark.name), "%s", names[i]);
		assert_int_equal(trk__record_mark(r, &mark), 0);
	}
	*rows = rows_make(r, &list);
	return r;
}

/* The sentences of the timeline that begin with a number in a circle, and the page. */
static size_t sentences(double work_s, int64_t work_mib, char *ret, size_t size)
{
	struct trk_usual_course *u = calloc(1, sizeof(*u));
	struct trk_report_rows *rows, *other;
	struct trk_record *r = marked(work_s, work_mib, &rows);
	struct trk_report_input in = {.record = r, .rows = rows, .usual = u};
	struct trk_doc d;
	size_t n;

	assert_non_null(u);
	for (int i = 0; i < 6; i++) {
		struct trk_record *earlier = marked(60 + i, 700 + i, &other);

		assert_int_equal(trk__usual_course_add(u, r, earlier), 0);
		trk__report_rows_free(other);
		record_drop(earlier);
	}
	assert_true(trk__usual_course_settle(u));
	assert_int_equal(u->runs, 6);
	assert_true(u->by_phase);
	assert_int_equal(trk__report_make(&in, &d), 0);
	n = d.odds;
	ret[0] = '\0';
	for (const struct trk_doc_block *b = trk__doc_section(&d, "timeline")->first; b;
	     b = b->next)
		if (b->text && !strncmp(b->text, "\u2460", 3))
			(void) snprintf(ret, size, "%s", b->text);
	assert_non_null(d.chart[1].usual);
	assert_true(d.chart[1].usual->middle[180 * d.buckets / 360] > 0);
	trk__doc_release(&d);
	trk__report_rows_free(rows);
	record_drop(r);
	free(u);
	return n;
}

static void a_run_as_usual_is_no_news(void **state)
{
	char text[200];

	assert_int_equal(sentences(63, 703, text, sizeof(text)), 0);
}

static void more_memory_in_one_phase_is_one_sentence_with_its_name(void **state)
{
	char text[200];

	assert_int_equal(sentences(63, 920, text, sizeof(text)), 1);
	assert_non_null(strstr(text, "work"));
	assert_non_null(strstr(text, "held 920 MiB, usually up to 70"));
}

static void a_longer_phase_is_one_sentence_with_its_name(void **state)
{
	char text[200];

	assert_int_equal(sentences(120, 703, text, sizeof(text)), 1);
	assert_non_null(strstr(text, "work"));
	assert_non_null(strstr(text, "took 2 m 0 s, usually 1 m 3 s"));
}

/* A number of about 1, by 5 % less or more. */
static double about(unsigned int *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return 0.95 + 0.1 * ((*seed >> 16) % 1000) / 999;
}

static void equal_runs_are_rarely_news(void **state)
{
	unsigned int seed = 1;
	int news = 0;

	for (int trial = 0; trial < 100; trial++) {
		struct trk_usual_course *u = calloc(1, sizeof(*u));
		struct trk_report_rows *rows, *other;
		struct trk_record *r =
			marked(60 * about(&seed), (int64_t) (700 * about(&seed)), &rows);
		struct trk_report_input in = {.record = r, .rows = rows, .usual = u};
		struct trk_doc d;

		assert_non_null(u);
		for (int i = 0; i < 5; i++) {
			struct trk_record *earlier =
				marked(60 * about(&seed), (int64_t) (700 * about(&seed)), &other);

			assert_int_equal(trk__usual_course_add(u, r, earlier), 0);
			trk__report_rows_free(other);
			record_drop(earlier);
		}
		assert_true(trk__usual_course_settle(u));
		assert_int_equal(trk__report_make(&in, &d), 0);
		news += d.odds > 0;
		trk__doc_release(&d);
		trk__report_rows_free(rows);
		record_drop(r);
		free(u);
	}
	assert_in_range(news, 0, 5);
}

static void fewer_than_five_runs_have_no_usual_course(void **state)
{
	struct trk_usual_course *u = calloc(1, sizeof(*u));
	struct trk_report_rows *rows;
	struct trk_record *r = marked(60, 700, &rows);

	assert_non_null(u);
	for (int i = 0; i < 4; i++)
		assert_int_equal(trk__usual_course_add(u, r, r), 0);
	assert_false(trk__usual_course_settle(u));
	assert_true(isnan(trk__usual_course_at(u, TRK_FIGURE_MEMORY_MIB, 50).middle));
	assert_int_equal(trk__usual_course_add(u, r, r), 0);
	assert_true(trk__usual_course_settle(u));
	assert_true(fabs(trk__usual_course_at(u, TRK_FIGURE_MEMORY_MIB, 50).middle - 700) < 1);
	trk__report_rows_free(rows);
	record_drop(r);
	free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_words_that_differ_come_first),
		cmocka_unit_test(a_long_command_line_is_cut),
		cmocka_unit_test(processes_are_bars_or_a_density_and_none_is_lost),
		cmocka_unit_test(bars_share_what_their_program_used),
		cmocka_unit_test(thousands_of_processes_keep_the_page_small),
		cmocka_unit_test(what_was_not_seen_has_no_count_and_no_life),
		cmocka_unit_test(a_short_life_is_a_bound),
		cmocka_unit_test(a_run_as_usual_is_no_news),
		cmocka_unit_test(more_memory_in_one_phase_is_one_sentence_with_its_name),
		cmocka_unit_test(a_longer_phase_is_one_sentence_with_its_name),
		cmocka_unit_test(equal_runs_are_rarely_news),
		cmocka_unit_test(fewer_than_five_runs_have_no_usual_course),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
