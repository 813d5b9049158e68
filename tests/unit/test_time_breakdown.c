/* The outline of a run, the bottleneck, the phases, and their texts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "answer/time_breakdown.h"
#include "report/shared_terms.h"
#include "report/write/terminal.h"
#include "rows.h"

/* ---- runs ---- */

static struct trk_record *record_new(double cpu_limit)
{
	struct trk_record *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_int_equal(trk__record_init(r), 0);
	run_init(&r->run);
	outcome_init(&r->outcome);
	trk__quantity_set(&r->run.limit[TRK_LIMIT_CPU], cpu_limit, TRK_QUALITY_EXACT, "test", NULL);
	return r;
}

static void record_free(struct trk_record *r)
{
	trk__record_release(r);
	free(r);
}

static double queued; /* share of each row that threads waited for a CPU */
static double gpus;   /* GPUs that were computing, as a mean */
static int gpus_used;

/* Rows of one second from second `from` to `to`: cores busy, MiB, share of the second on the
 * disk. */
static void add_rows(struct trk_record *r, int from, int to, double cores, double mib, double disk)
{
	struct trk_sample s = {.known = 0};

	trk__sample_set(&s, TRK_INTERVAL, 1000000);
	trk__sample_set(&s, TRK_PROCESS_CPU_USAGE, (int64_t) (cores * 10000));
	trk__sample_set(&s, TRK_PROCESS_UTIME, (int64_t) (cores * 1e6));
	trk__sample_set(&s, TRK_PROCESS_STIME, 0);
	trk__sample_set(&s, TRK_PROCESS_MEMORY, (int64_t) (mib * 1048576));
	trk__sample_set(&s, TRK_PROCESS_ON_CPU, (int64_t) ((cores < 1 ? cores : 1) * 1e6));
	trk__sample_set(&s, TRK_PROCESS_DISK_WAIT, (int64_t) (disk * 1e6));
	trk__sample_set(&s, TRK_PROCESS_MEMORY_WAIT, 0);
	trk__sample_set(&s, TRK_PROCESS_CPU_WAIT, (int64_t) (queued * 1e6));
	if (gpus_used) {
		trk__sample_set(&s, TRK_PROCESS_GPU_USAGE, (int64_t) (gpus * 10000));
		trk__sample_set(&s, TRK_PROCESS_GPU_UTILIZED, gpus_used);
	}
	for (int i = from; i < to; i++) {
		trk__sample_set(&s, TRK_ELAPSED, (i + 1) * 1000000ll);
		trk__record_add(r, 1, &s, &s, &s);
	}
}

static struct trk_time_breakdown *course_of(const struct trk_record *r)
{
	struct trk_time_breakdown *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	assert_int_equal(trk__time_breakdown_of(r, c), 0);
	return c;
}

/* The terms of a summary, as on a terminal of that width without UTF-8. */
static void terms(struct trk_buf *b, const struct trk_time_breakdown *c, size_t width)
{
	const struct trk_terminal_style style = {.width = width};
	struct trk_doc_section section = {.key = "terms"};
	struct trk_doc d = {.section = &section, .sections = 1};

	trk__term_time(&d, &section, c);
	trk__term_phases(&d, &section, c);
	trk__term_split(&d, &section, c);
	assert_int_equal(d.error, 0);
	trk__write_terminal(b, &d, &style);
	trk__doc_release(&d);
}

static void assert_near(double value, double expected, double by)
{
	if (!(fabs(value - expected) <= by))
		fail_msg("%g is not %g", value, expected);
}

/* ---- the outline ---- */

static void a_long_run_keeps_its_sums_and_its_peak_in_few_blocks(void **state)
{
	struct trk_record *r = record_new(4);
	double seconds = 0, core_s = 0, peak = 0;

	add_rows(r, 0, 50000, 2, 100, 0);
	add_rows(r, 50000, 50001, 2, 900, 0);
	add_rows(r, 50001, 100000, 2, 100, 0);
	assert_true(r->outline.course.count > TRK_OUTLINE_BLOCKS_MAX / 2);
	assert_true(r->outline.course.count <= TRK_OUTLINE_BLOCKS_MAX);
	for (size_t i = 0; i < r->outline.course.count; i++) {
		const struct trk_block *b = &r->outline.block[i];

		assert_near(b->end_s, seconds + b->seconds, 1e-6);
		seconds += b->seconds;
		core_s += b->core_s;
		peak = b->memory_peak_mib > peak ? b->memory_peak_mib : peak;
	}
	assert_near(seconds, 100000, 1e-6);
	assert_near(core_s, 200000, 1e-6);
	assert_near(peak, 900, 1e-9);
	record_free(r);
}

static void a_row_that_covers_no_time_is_no_block(void **state)
{
	struct trk_record *r = record_new(4);
	struct trk_sample s = {.known = 0};

	trk__record_add(r, 1, &s, &s, &s);
	assert_int_equal(r->outline.course.count, 0);
	record_free(r);
}

/* ---- where the time went ---- */

static void shares_are_of_the_whole_run(void **state)
{
	struct trk_record *r = record_new(8);
	struct trk_time_breakdown *c;
	struct trk_buf b;

	add_rows(r, 0, 6, 1, 100, 0);
	add_rows(r, 6, 10, 0.25, 100, 0.5);
	c = course_of(r);
	assert_true(c->has_wall);
	assert_near(c->wall.share[TRK_WALL_ON_CPU], 0.7, 1e-9);
	assert_near(c->wall.share[TRK_WALL_DISK], 0.2, 1e-9);
	assert_near(c->wall.share[TRK_WALL_OTHER], 0.1, 1e-9);
	assert_true(isnan(c->wall.share[TRK_WALL_GPU]));
	assert_false(c->wall.other_holds_unknown);
	assert_int_equal(c->phase_count, 0);
	assert_false(c->has_split);
	trk__buf_init(&b, 1000);
	terms(&b, c, 80);
	assert_string_equal(b.data,
			    "Time     70 % computing | 20 % waiting for disk | 10 % sleeping, "
			    "other\n");
	trk__buf_release(&b);
	free(c);
	record_free(r);
}

/* As the sampler gives it: amounts and no rate. */
static void add_short_row(struct trk_record *r, int64_t interval_us, int64_t cpu_us)
{
	struct trk_sample s = {.known = 0};

	trk__sample_set(&s, TRK_INTERVAL, interval_us);
	trk__sample_set(&s, TRK_PROCESS_UTIME, cpu_us);
	trk__sample_set(&s, TRK_PROCESS_STIME, 0);
	trk__record_add(r, 1, &s, &s, &s);
}

static void a_short_last_row_counts_in_the_cores(void **state)
{
	struct trk_record *r = record_new(2);
	struct trk_column_stats cores;

	add_rows(r, 0, 1, 0, 10, 0);
	add_short_row(r, 60000, 45000);
	cores = trk__stats_get(r->stats, TRK_PROCESS_CPU_USAGE);
	assert_near(cores.mean, 0.045 / 1.06, 0.0001);
	assert_near(cores.max, 0.75, 0.0001);
	/* CPU time of processes whose end was seen late: the job has two cores. */
	add_short_row(r, 50000, 9000000);
	assert_near(trk__stats_get(r->stats, TRK_PROCESS_CPU_USAGE).max, 2, 0.0001);
	/* A row of some milliseconds says nothing about the cores. */
	add_short_row(r, 2000, 2000);
	assert_int_equal(trk__stats_get(r->stats, TRK_PROCESS_CPU_USAGE).rows, 3);
	record_free(r);
}

static void without_the_columns_nothing_is_said(void **state)
{
	struct trk_record *r = record_new(8);
	struct trk_sample s = {.known = 0};
	struct trk_time_breakdown *c;

	trk__sample_set(&s, TRK_INTERVAL, 1000000);
	trk__sample_set(&s, TRK_ELAPSED, 1000000);
	trk__record_add(r, 1, &s, &s, &s);
	c = course_of(r);
	assert_false(c->has_wall);
	assert_int_equal(c->bound, TRK_BOUND_UNKNOWN);
	free(c);
	record_free(r);
}

static void each_bottleneck_has_its_word(void **state)
{
	static const struct {
		double on_cpu, gpu, disk, memory, queue, cores;
		enum trk_bottleneck bound;
		const char *word;
	} cases[] = {
		{0.9, 0, 0, 0, 0, 1.0, TRK_BOUND_ONE_CORE, "one core"},
		{0.9, 0, 0, 0, 0, 7.5, TRK_BOUND_ALL_CORES, "all cores"},
		{0.9, 0, 0, 0, 0, 4.0, TRK_BOUND_CPU, "CPU-bound"},
		{0.5, 0, 0.4, 0, 0, 0.5, TRK_BOUND_DISK, "disk-bound"},
		{0.5, 0, 0.3, 0.15, 0, 0.5, TRK_BOUND_MEMORY, "memory-bound"},
		{0.5, 0, 0.3, 0.05, 0.2, 0.5, TRK_BOUND_CPU_WAIT, "short of CPU"},
		{0.1, 0.7, 0.1, 0, 0, 0.1, TRK_BOUND_GPU, "GPU-bound"},
		{0.1, 0, 0.1, 0, 0, 0.1, TRK_BOUND_OTHER, "waiting"},
		{0.6, 0, 0.1, 0, 0, 0.6, TRK_BOUND_MIXED, ""},
		{NAN, 0, 0, 0, 0, 1, TRK_BOUND_UNKNOWN, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trk_bottleneck_facts f = {.cores_mean = cases[i].cores, .cores_limit = 8};
		char sentence[TRK_BOTTLENECK_SIZE];
		double *share = f.split.share;

		share[TRK_WALL_ON_CPU] = cases[i].on_cpu;
		share[TRK_WALL_GPU] = cases[i].gpu;
		share[TRK_WALL_DISK] = cases[i].disk;
		share[TRK_WALL_MEMORY_STALL] = cases[i].memory;
		share[TRK_WALL_CPU_WAIT] = cases[i].queue;
		share[TRK_WALL_OTHER] = 1 - cases[i].on_cpu - cases[i].gpu - cases[i].disk -
					cases[i].memory - cases[i].queue;
		assert_int_equal(trk__bottleneck(&f, sentence), cases[i].bound);
		assert_string_equal(trk__bottleneck_word(cases[i].bound), cases[i].word);
		assert_true(sentence[0] != '\0');
	}
}

static void a_gpu_that_is_always_busy_is_the_bottleneck_also_while_a_thread_spins(void **state)
{
	struct trk_bottleneck_facts f = {.cores_mean = 1, .cores_limit = 1, .gpu_busy = 0.97};
	char sentence[TRK_BOTTLENECK_SIZE];

	f.split.share[TRK_WALL_ON_CPU] = 1;
	assert_int_equal(trk__bottleneck(&f, sentence), TRK_BOUND_GPU);
	assert_string_equal(sentence, "bound by the GPU, which was busy for 97 %");
	f.gpu_busy = 0.8;
	assert_int_equal(trk__bottleneck(&f, sentence), TRK_BOUND_ALL_CORES);
	f.gpu_busy = NAN;
	assert_int_equal(trk__bottleneck(&f, sentence), TRK_BOUND_ALL_CORES);
}

static void gpus_are_busy_in_the_phases_in_which_they_compute(void **state)
{
	struct trk_record *r = record_new(16);
	struct trk_time_breakdown *c;

	add_rows(r, 0, 20, 1, 100, 0);
	gpus = 1.9;
	gpus_used = 2;
	add_rows(r, 20, 40, 1, 100, 0);
	gpus_used = 0;
	c = course_of(r);
	assert_int_equal(c->phase_count, 2);
	assert_int_equal(c->phase[0].bound, TRK_BOUND_ONE_CORE);
	assert_int_equal(c->phase[1].bound, TRK_BOUND_GPU);
	free(c);
	record_free(r);
}

static void a_thread_that_spins_for_a_gpu_is_not_called_computing(void **state)
{
	struct trk_record *r = record_new(8);
	struct trk_time_breakdown *c;
	struct trk_buf b;

	gpus = gpus_used = 1;
	add_rows(r, 0, 10, 1, 100, 0);
	gpus_used = 0;
	c = course_of(r);
	assert_int_equal(c->bound, TRK_BOUND_GPU);
	trk__buf_init(&b, 1000);
	terms(&b, c, 80);
	assert_string_equal(b.data, "Time     100 % on a CPU, GPUs busy\n");
	trk__buf_release(&b);
	free(c);
	record_free(r);
}

static void a_short_queue_of_a_job_that_sleeps_is_not_what_it_waits_for(void **state)
{
	struct trk_bottleneck_facts f = {
		.cores_mean = 0.01, .cores_limit = 4, .queue = {TRK_QUEUE_OTHERS, 0.88}};
	char sentence[TRK_BOTTLENECK_SIZE];

	f.split.share[TRK_WALL_ON_CPU] = 0.01;
	f.split.share[TRK_WALL_CPU_WAIT] = 0.08;
	f.split.share[TRK_WALL_OTHER] = 0.91;
	assert_int_equal(trk__bottleneck(&f, sentence), TRK_BOUND_OTHER);
	f.split.share[TRK_WALL_CPU_WAIT] = 0.25;
	assert_int_equal(trk__bottleneck(&f, sentence), TRK_BOUND_CPU_WAIT);
	/* The waits of many threads overlap with the work of one. */
	f.cores_mean = 0.6;
	f.split.share[TRK_WALL_ON_CPU] = 0.6;
	f.split.share[TRK_WALL_CPU_WAIT] = 0;
	assert_int_equal(trk__bottleneck(&f, sentence), TRK_BOUND_CPU_WAIT);
}

/* ---- phases ---- */

static void a_change_of_level_is_a_phase(void **state)
{
	struct trk_record *r = record_new(8);
	struct trk_time_breakdown *c;
	struct trk_buf b;

	add_rows(r, 0, 60, 0.2, 500, 0.7);
	add_rows(r, 60, 240, 6, 4000, 0);
	c = course_of(r);
	assert_int_equal(c->phase_count, 2);
	assert_false(c->marked);
	assert_near(c->phase[0].end_s, 60, 2);
	assert_near(c->phase[0].cores_mean, 0.2, 0.1);
	assert_int_equal(c->phase[0].bound, TRK_BOUND_DISK);
	assert_near(c->phase[1].memory_peak_mib, 4000, 1e-9);
	assert_near(c->phase[1].cores_mean, 6, 0.1);
	trk__buf_init(&b, 1000);
	terms(&b, c, 80);
	assert_non_null(strstr(
		b.data, "\nPhases   60 s (0.2 CPU, disk-bound) -> 3 m (6 CPU, CPU-bound)\n"));
	trk__buf_clear(&b);
	terms(&b, c, 50);
	assert_non_null(strstr(b.data, "\nPhases   60 s (disk-bound) -> 3 m (CPU-bound)\n"));
	trk__buf_clear(&b);
	terms(&b, c, 40);
	assert_non_null(strstr(b.data, "\nPhases   60 s -> 3 m\n"));
	trk__buf_release(&b);
	free(c);
	record_free(r);
}

static void a_steady_run_has_one_phase(void **state)
{
	struct trk_record *r = record_new(8);
	struct trk_time_breakdown *c;

	for (int i = 0; i < 600; i++)
		add_rows(r, i, i + 1, 3 + 0.05 * (i % 3), 1000 + i % 5, 0);
	c = course_of(r);
	assert_int_equal(c->phase_count, 0);
	free(c);
	record_free(r);
}

static void marks_name_the_phases(void **state)
{
	struct trk_record *r = record_new(8);
	struct trk_time_breakdown *c;

	add_rows(r, 0, 10, 0.5, 100, 0);
	add_rows(r, 10, 20, 2, 300, 0);
	assert_int_equal(
		trk__record_mark(r, &(struct trk_mark){.elapsed_ns = 1000000000, .name = "load"}),
		0);
	assert_int_equal(
		trk__record_mark(r, &(struct trk_mark){.elapsed_ns = 10000000000, .name = "train"}),
		0);
	c = course_of(r);
	assert_true(c->marked);
	assert_int_equal(c->phase_count, 3);
	assert_string_equal(c->phase[0].name, "");
	assert_string_equal(c->phase[1].name, "load");
	assert_near(c->phase[1].start_s, 1, 1e-9);
	assert_near(c->phase[1].end_s, 10, 1e-9);
	assert_near(c->phase[1].cores_mean, 0.5, 1e-9);
	assert_string_equal(c->phase[2].name, "train");
	assert_near(c->phase[2].cores_mean, 2, 1e-9);
	assert_near(c->phase[2].memory_peak_mib, 300, 1e-9);
	free(c);
	record_free(r);
}

static void more_marks_than_phases_end_in_one_that_counts_the_rest(void **state)
{
	struct trk_record *r = record_new(8);
	char name[TRK_RUN_PHASE_NAME];
	struct trk_time_breakdown *c;
	struct trk_buf b;

	add_rows(r, 0, 100, 1, 100, 0);
	for (uint64_t i = 0; i < 90; i++)
		assert_int_equal(
			trk__record_mark(
				r, &(struct trk_mark){.elapsed_ns = i * 1000000000, .name = "m"}),
			0);
	c = course_of(r);
	assert_int_equal(c->phase_count, TRK_PHASES_MAX);
	assert_near(c->phase[TRK_PHASES_MAX - 1].end_s, 100, 1e-9);
	assert_int_equal(c->phase[TRK_PHASES_MAX - 2].later, 0);
	trk__run_phase_name(&c->phase[TRK_PHASES_MAX - 1], name);
	assert_string_equal(name, "m and 26 later");
	trk__buf_init(&b, 10000);
	terms(&b, c, 80);
	assert_non_null(strstr(b.data, "and 73 more"));
	trk__buf_release(&b);
	free(c);
	record_free(r);
}

/* ---- splits ---- */

static void a_split_that_pays_is_said(void **state)
{
	struct trk_record *r = record_new(16);
	struct trk_time_breakdown *c;
	struct trk_buf b;

	add_rows(r, 0, 3600, 1, 500, 0);
	add_rows(r, 3600, 7200, 16, 60000, 0);
	c = course_of(r);
	assert_true(c->has_split && c->split.pays);
	assert_int_equal(c->split.piece_count, 2);
	trk__buf_init(&b, 1000);
	terms(&b, c, 120);
	assert_non_null(strstr(b.data, "% cheaper as 2 steps: 1 h 0 m on 1 CPU, "));
	trk__buf_release(&b);
	free(c);
	record_free(r);
}

/* Most of what it could run, and little of the run: neither lengths nor cores change by it. */
static void a_queue_of_a_job_that_sleeps_is_no_reason_against_a_split(void **state)
{
	struct trk_time_breakdown *c;

	for (int i = 0; i < 2; i++) {
		struct trk_record *r = record_new(16);

		queued = i ? 0.2 : 0.015;
		add_rows(r, 0, 3600, 0.005, 500, 0);
		add_rows(r, 3600, 7200, 0.005, 60000, 0);
		queued = 0;
		c = course_of(r);
		assert_int_equal(c->has_split, i == 0);
		free(c);
		record_free(r);
	}
}

static void the_advice_to_split_names_the_line(void **state)
{
	struct trk_record *r = record_new(16);
	struct trk_lines *l = trk__lines_new();
	struct trk_time_breakdown *c;
	uint32_t function, lane;
	struct trk_buf b;

	add_rows(r, 0, 3600, 1, 500, 0);
	add_rows(r, 3600, 7200, 16, 60000, 0);
	r->lines = l;
	l->keeps_windows = true;
	function = trk__lines_function(l, "/home/u/job.py", "main", 10);
	lane = trk__lines_lane(l, 7, 7, "python3");
	for (int i = 0; i < 120; i++) {
		struct trk_lines_count count = {
			lane,
			trk__lines_node(l, TRK_LINES_ROOT, function, i < 60 ? 11 : 12),
			{.samples = 1, .cpu_us = 1000, .wall_us = 60000000}};

		assert_int_equal(trk__lines_add(l, i * INT64_C(60000000),
						(i + 1) * INT64_C(60000000), &count, 1),
				 0);
	}
	c = course_of(r);
	assert_true(c->has_split && c->split.pays);
	assert_near(c->split.cut_s, 3600, 60);
	assert_string_equal(c->cut, "job.py:12 main()");
	assert_near(c->cut_mib, 500, 1);
	trk__buf_init(&b, 1000);
	terms(&b, c, 120);
	assert_non_null(strstr(b.data, "split at job.py:12 main()"));
	trk__buf_release(&b);
	free(c);
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_run_keeps_its_sums_and_its_peak_in_few_blocks),
		cmocka_unit_test(a_row_that_covers_no_time_is_no_block),
		cmocka_unit_test(shares_are_of_the_whole_run),
		cmocka_unit_test(a_short_last_row_counts_in_the_cores),
		cmocka_unit_test(without_the_columns_nothing_is_said),
		cmocka_unit_test(each_bottleneck_has_its_word),
		cmocka_unit_test(
			a_gpu_that_is_always_busy_is_the_bottleneck_also_while_a_thread_spins),
		cmocka_unit_test(gpus_are_busy_in_the_phases_in_which_they_compute),
		cmocka_unit_test(a_thread_that_spins_for_a_gpu_is_not_called_computing),
		cmocka_unit_test(a_short_queue_of_a_job_that_sleeps_is_not_what_it_waits_for),
		cmocka_unit_test(a_change_of_level_is_a_phase),
		cmocka_unit_test(a_steady_run_has_one_phase),
		cmocka_unit_test(marks_name_the_phases),
		cmocka_unit_test(more_marks_than_phases_end_in_one_that_counts_the_rest),
		cmocka_unit_test(a_split_that_pays_is_said),
		cmocka_unit_test(a_queue_of_a_job_that_sleeps_is_no_reason_against_a_split),
		cmocka_unit_test(the_advice_to_split_names_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
