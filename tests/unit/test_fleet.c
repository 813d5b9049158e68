/* The views over many jobs. Statistics are compared with known values, findings with histories
 * whose truth is known and with the same histories shuffled, in which there is nothing to find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fleet/statistics.h"
#include "fleet/words.h"
#include "fleet_synthetic.h"
#include "skip.h"

#define NOW (SYNTHETIC_NOW + 28800)

/* So many histories; fewer where memory is looked at, and not shares. */
static uint64_t of_histories(uint64_t all, uint64_t few)
{
	return checks_memory() ? few : all;
}

static void assert_near(double value, double wanted, double share)
{
	if (!(fabs(value - wanted) <= share * fabs(wanted)))
		fail_msg("%.9g is not %.9g", value, wanted);
}

/* ---- statistics ---- */

static void medians_and_roots_are_exact(void **state)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, many[101];

	for (int i = 0; i < 101; i++)
		many[i] = (i * 37) % 101;
	assert_true(trk__median(odd, 3) == 2 && trk__median(even, 4) == 2.5);
	assert_true(trk__median(many, 101) == 50 && trk__quantile(many, 101, 0.95) == 95);
	assert_true(isnan(trk__median(many, 0)) && isnan(trk__quantile(many, 0, 0.5)));
	for (double x = 1e-6; x < 1e12; x *= 7.3)
		assert_near(trk__square_root(x), sqrt(x), 1e-9);
	assert_true(trk__square_root(0) == 0 && isnan(trk__square_root(-1)));
}

static void the_normal_tail_is_that_of_the_error_function(void **state)
{
	for (double z = -4; z < 12; z += 0.13)
		assert_near(trk__normal_tail(z), erfc(z / sqrt(2)) / 2, z < 3 ? 1e-4 : 1e-6);
}

/* Chance by counting all ways, for tables so small that doubles hold them. */
static double choose(int n, int k)
{
	double ways = 1;

	for (int i = 1; i <= k; i++)
		ways = ways * (n - k + i) / i;
	return ways;
}

static void fisher_counts_all_tables_that_are_as_extreme(void **state)
{
	for (int hits = 0; hits <= 6; hits++) {
		double sum = 0;

		for (int k = hits; k <= 6; k++)
			sum += choose(10, k) * choose(20, 6 - k) / choose(30, 6);
		assert_near(trk__fisher_tail((uint32_t) hits, 10, 6, 30), sum, 1e-6);
	}
	assert_true(trk__fisher_tail(7, 10, 6, 30) == 0);
	assert_near(trk__sign_tail(9, 10), 11.0 / 1024, 1e-9);
	assert_near(trk__sign_tail(0, 10), 1, 1e-9);
}

static void a_line_is_not_moved_by_outliers(void **state)
{
	double x[30], y[30];
	struct trk_line line;

	for (int i = 0; i < 30; i++) {
		x[i] = i;
		y[i] = 5 + 0.25 * i + (i % 7 == 3 ? 100 : 0);
	}
	assert_int_equal(trk__line_fit(x, y, 30, &line), 0);
	assert_near(line.slope, 0.25, 1e-9);
	assert_near(line.level, 5, 1e-9);
	for (int i = 0; i < 30; i++)
		y[i] = i % 2;
	assert_int_equal(trk__line_fit(x, y, 30, &line), 0);
	assert_true(line.trend_p > 0.3 && line.slope == 0);
	assert_true(trk__line_fit(x, y, 2, &line) < 0);
}

static void the_budget_is_that_of_benjamini_and_hochberg(void **state)
{
	/* The example of their paper of 1995: four of fifteen. */
	double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
		      0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};

	assert_true(trk__budget(p, 15, 15, 0.05) == 0.0095);
	assert_true(trk__budget(p, 15, 1000, 0.05) == 0);
	assert_true(trk__budget(p, 0, 10, 0.05) == 0);
}

static void figures_are_written_as_the_pages_have_them(void **state)
{
	char t[TRK_FLEET_WORD_SIZE];

	assert_string_equal(trk__fleet_usd(t, 5240.4), "$5,240");
	assert_string_equal(trk__fleet_usd(t, 1234567), "$1,234,567");
	assert_string_equal(trk__fleet_usd(t, 9.99), "$9.99");
	assert_string_equal(trk__fleet_usd(t, 9.996), "$10");
	assert_string_equal(trk__fleet_usd(t, 0.0421), "$0.042");
	assert_string_equal(trk__fleet_usd(t, 0.00002), "under $0.001");
	assert_string_equal(trk__fleet_usd(t, 0), "$0");
	assert_string_equal(trk__fleet_usd(t, NAN), "-");
	assert_string_equal(trk__fleet_memory(t, 62669 * TRK_MIB), "61.2 GiB");
	assert_string_equal(trk__fleet_memory(t, 65536 * TRK_MIB), "64 GiB");
	assert_string_equal(trk__fleet_memory(t, 640 * TRK_MIB), "640 MiB");
	assert_string_equal(trk__fleet_cores(t, 0), "0");
	assert_string_equal(trk__fleet_cores(t, 0.002), "< 0.01");
	assert_string_equal(trk__fleet_memory(t, 12.4 * TRK_MIB), "12 MiB");
	assert_string_equal(trk__fleet_memory(t, 1.64 * TRK_MIB), "1.6 MiB");
	assert_string_equal(trk__fleet_memory(t, 0.31 * TRK_MIB), "0.31 MiB");
	assert_string_equal(trk__fleet_memory(t, 0.005 * TRK_MIB), "0.01 MiB");
	assert_string_equal(trk__fleet_memory(t, 0.0049 * TRK_MIB), "under 0.01 MiB");
	assert_string_equal(trk__fleet_memory(t, 0 * TRK_MIB), "0 MiB");
	assert_string_equal(trk__fleet_percent(t, 0.474), "47 %");
	assert_string_equal(trk__fleet_percent(t, 0.0042), "0.4 %");
	assert_string_equal(trk__fleet_percent(t, 0), "0 %");
	assert_string_equal(trk__fleet_change(t, 0.174), "+17 %");
	assert_string_equal(trk__fleet_change(t, -0.031), "-3.1 %");
	assert_string_equal(trk__fleet_duration(t, 5760), "1 h 36 m");
	assert_string_equal(trk__fleet_duration(t, 59.97), "1 m 00 s");
	assert_string_equal(trk__fleet_duration(t, 4.2), "4.2 s");
	assert_string_equal(trk__fleet_duration(t, 0.0174), "17 ms");
	assert_string_equal(trk__fleet_duration(t, 0.0004), "under 1 ms");
	assert_string_equal(trk__fleet_duration(t, 0), "0 ms");
	assert_string_equal(trk__fleet_duration(t, NAN), "-");
	assert_string_equal(trk__fleet_date(t, 20779), "22 Nov");
	assert_string_equal(trk__fleet_date(t, 0), "1 Jan");
	assert_string_equal(trk__fleet_iso_date(t, 20779), "2026-11-22");
	assert_string_equal(trk__fleet_iso_date(t, 11016), "2000-02-29");
	assert_string_equal(trk__fleet_iso_date(t, 0), "1970-01-01");
	assert_string_equal(trk__fleet_weekday(20779), "Sun");
	assert_string_equal(trk__fleet_count(t, 18217), "18,217");
	assert_string_equal(trk__fleet_count(t, 999), "999");
}

/* ---- rows and money ---- */

static struct trk_capacity had(double value, enum trk_capacity_kind kind)
{
	return (struct trk_capacity){value, kind, ""};
}

static struct trk_past_run a_run(const char *job, double age_s)
{
	struct trk_past_run run;

	past_run_init(&run);
	(void) snprintf(run.id, sizeof(run.id), "r-%.0f", age_s);
	run.job = job;
	run.kind = "run";
	run.end_name = "exited";
	run.code = 0;
	run.start_s = NOW - age_s;
	run.duration_s = 3600;
	run.cpu_s = 7200;
	run.cpu_mean = 2;
	run.cpu_max = 3;
	run.memory.bytes = 4 * TRK_GIB;
	run.capacity[TRK_RESOURCE_CPU] = had(8, TRK_CAPACITY_REQUESTED);
	run.capacity[TRK_RESOURCE_MEMORY_MIB] = had(16384, TRK_CAPACITY_REQUESTED);
	run.ended = true;
	return run;
}

static int add_run(struct trk_fleet_rows *rows, struct trk_past_run *run)
{
	run->end = trk__past_run_end(run);
	return trk__fleet_rows_add(rows, run);
}

static struct trk_fleet_run taken(struct trk_past_run *past)
{
	struct trk_fleet_rows rows;
	struct trk_fleet_run run;

	trk__fleet_rows_init(&rows, NOW, 0);
	assert_int_equal(add_run(&rows, past), 0);
	assert_int_equal(trk__fleet_rows_sort(&rows), 0);
	run = rows.run[0];
	trk__fleet_rows_release(&rows);
	return run;
}

static void a_cost_is_divided_into_used_idle_and_failed(void **state)
{
	struct trk_past_run past = a_run("a", 7200);
	double cores = 8 * 0.0373, memory = 16 * 0.00433;
	struct trk_fleet_run run = taken(&past);

	assert_true(run.estimated);
	assert_near(run.usd, cores + memory, 1e-9);
	assert_near(run.idle_cores_usd, cores * 6 / 8, 1e-9);
	assert_near(run.idle_memory_usd, memory * 12 / 16, 1e-9);
	assert_true(run.failed_usd == 0);
	past.cost_usd = 10;
	run = taken(&past);
	assert_true(!run.estimated && run.usd == 10);
	assert_near(run.idle_cores_usd, 10 * cores / (cores + memory) * 6 / 8, 1e-9);
	past.code = 1;
	run = taken(&past);
	assert_true(run.failed_usd == 10 && run.idle_cores_usd == 0 && run.idle_memory_usd == 0);
}

/* What the overview says of six runs of 10 h on two GPUs. */
static void gpu_finding(double used, double vram_mib, enum trk_capacity_kind kind,
			struct trk_fleet_finding *ret)
{
	struct trk_fleet_rows rows;
	struct trk_fleet_views v;

	trk__fleet_rows_init(&rows, NOW, 0);
	for (int i = 6; i > 0; i--) {
		struct trk_past_run past = a_run("infer", i * 86400);

		past.duration_s = 36000;
		past.gpu_mean = used;
		past.vram.bytes = vram_mib * TRK_MIB;
		past.capacity[TRK_RESOURCE_GPU] = had(2, kind);
		assert_int_equal(add_run(&rows, &past), 0);
	}
	assert_int_equal(trk__fleet_rows_sort(&rows), 0);
	assert_int_equal(trk__fleet_views_make(&rows, 30, NULL, &v), 0);
	memset(ret, 0, sizeof(*ret));
	ret->kind = TRK_FLEET_FINDING_KINDS;
	for (size_t i = 0; i < v.overview.findings; i++)
		if (v.overview.finding[i].kind >= TRK_FLEET_GPU_UNUSED)
			*ret = v.overview.finding[i];
	trk__fleet_views_release(&v);
	trk__fleet_rows_release(&rows);
}

static void gpus_that_were_requested_and_not_needed_are_named(void **state)
{
	struct trk_fleet_finding f;

	gpu_finding(0, 300, TRK_CAPACITY_REQUESTED, &f);
	assert_int_equal(f.kind, TRK_FLEET_GPU_UNUSED);
	assert_string_equal(f.head, "infer");
	assert_string_equal(f.text,
			    "requested GPUs for 120 GPU-hours in 6 runs and used none of them. "
			    "Request no GPU for it.");
	gpu_finding(0.2, 4096, TRK_CAPACITY_LIMIT, &f);
	assert_int_equal(f.kind, TRK_FLEET_GPU_TOO_BIG);
	assert_string_equal(f.text,
			    "used 10 % of 120 GPU-hours in 6 runs, and at most 4 GiB of GPU "
			    "memory. A smaller GPU, or a share of one, is enough.");
	/* Used, full, unknown, or the machine's: nothing is said. */
	gpu_finding(0.4, 4096, TRK_CAPACITY_REQUESTED, &f);
	assert_int_equal(f.kind, TRK_FLEET_FINDING_KINDS);
	gpu_finding(0.2, 40000, TRK_CAPACITY_REQUESTED, &f);
	assert_int_equal(f.kind, TRK_FLEET_FINDING_KINDS);
	gpu_finding(0.2, NAN, TRK_CAPACITY_REQUESTED, &f);
	assert_int_equal(f.kind, TRK_FLEET_FINDING_KINDS);
	gpu_finding(NAN, 300, TRK_CAPACITY_REQUESTED, &f);
	assert_int_equal(f.kind, TRK_FLEET_FINDING_KINDS);
	gpu_finding(0, 300, TRK_CAPACITY_MACHINE, &f);
	assert_int_equal(f.kind, TRK_FLEET_FINDING_KINDS);
}

static void a_cost_that_nothing_tells_is_unknown(void **state)
{
	struct trk_past_run past = a_run("a", 7200);
	struct trk_fleet_run run;

	past.capacity[TRK_RESOURCE_CPU].kind = TRK_CAPACITY_MACHINE;
	past.capacity[TRK_RESOURCE_MEMORY_MIB].kind = TRK_CAPACITY_MACHINE;
	run = taken(&past);
	assert_true(isnan(run.usd) && !run.estimated && run.asked_cores == 8);
	past.memory.bytes = NAN;
	past.cost_usd = 1;
	run = taken(&past);
	assert_true(isnan(run.idle_memory_usd) && run.idle_cores_usd > 0);
}

static void ends_and_tags_are_told_apart(void **state)
{
	struct trk_past_run past = a_run("a", 7200);

	assert_true(taken(&past).end == TRK_FLEET_OK);
	past.code = 3;
	assert_true(taken(&past).end == TRK_FLEET_FAILED);
	past.code = 143;
	assert_true(taken(&past).end == TRK_FLEET_STOPPED);
	past.ended = false;
	assert_true(taken(&past).end == TRK_FLEET_RUNNING);
	past.ended = true;
	past.end_name = "timeout";
	assert_true(taken(&past).end == TRK_FLEET_TIME_LIMIT);
	past.end_name = "out_of_memory";
	assert_true(taken(&past).end == TRK_FLEET_OUT_OF_MEMORY);
	past.end_name = "tracker_died";
	assert_true(taken(&past).end == TRK_FLEET_STOPPED);
	past.tags = "codec=x\nowner=ann\nteam=\nversion=2\n";
	assert_true(taken(&past).trait[TRK_FLEET_USER] != 0);
	assert_true(taken(&past).trait[TRK_FLEET_TEAM] == 0);
	assert_true(taken(&past).trait[TRK_FLEET_CODE] != 0);
}

static void jobs_are_by_name_and_scope_in_the_order_of_time(void **state)
{
	struct trk_past_run a = a_run("a", 10), b = a_run("a", 20), c = a_run("a", 30);
	struct trk_fleet_rows rows;
	size_t at;

	b.scope = "/x";
	trk__fleet_rows_init(&rows, NOW, 0);
	assert_int_equal(trk__fleet_rows_add(&rows, &c), 0); /* not newest first */
	assert_int_equal(trk__fleet_rows_add(&rows, &b), 0);
	assert_int_equal(trk__fleet_rows_add(&rows, &a), 0);
	a.start_s = NOW + 100; /* of a clock that is ahead */
	assert_int_equal(trk__fleet_rows_add(&rows, &a), 0);
	a.kind = "system";
	assert_int_equal(trk__fleet_rows_add(&rows, &a), 0);
	assert_int_equal(trk__fleet_rows_sort(&rows), 0);
	assert_int_equal(rows.count, 3);
	assert_int_equal(rows.jobs, 2);
	at = trk__fleet_find_job(&rows, "a", NULL);
	assert_int_equal(rows.job[at].count, 2);
	assert_string_equal(rows.run[rows.job[at].first].past.id, "r-30");
	at = trk__fleet_find_job(&rows, "a", "/x");
	assert_int_equal(rows.job[at].count, 1);
	assert_int_equal(trk__fleet_find_job(&rows, "b", NULL), rows.jobs);
	trk__fleet_rows_release(&rows);
}

static void nothing_is_a_view_too(void **state)
{
	struct synthetic none = {.count = 0};
	struct views v;

	assert_int_equal(views_make(&none, 30, &v), 0);
	assert_true(v.o.findings == 0 && v.o.changes == 0 && v.o.sum.runs == 0);
	assert_true(!v.o.spend.forecast.known && isnan(v.o.median_cores_share));
	assert_string_equal(v.o.headline, "");
	views_release(&v);
}

/* ---- what is true is found ---- */

static const struct truth all_of_it = {
	.seed = 1,
	.jobs = SYNTHETIC_JOBS,
	.days = SYNTHETIC_DAYS,
	.runs_a_day = 1.1,
	.failing_share = 0.01,
	.growing = true,
	.slower = true,
	.cluster = true,
	.slow_node = true,
	.odd_day = true,
	.over = true,
};

static const struct trk_fleet_finding *find(const struct views *v, enum trk_fleet_finding_kind kind)
{
	size_t at = 0;

	while (at < v->o.findings && v->o.finding[at].kind != kind)
		at++;
	if (at == v->o.findings)
		fail_msg("no finding of kind %s", trk__fleet_finding_names[kind]);
	return &v->o.finding[at < v->o.findings ? at : 0];
}

static void check_growth(const struct views *v)
{
	const struct trk_fleet_finding *f = find(v, TRK_FLEET_WILL_FAIL);

	assert_string_equal(f->head, "job-000");
	assert_true(f->job->growth.days_left > 4 && f->job->growth.days_left < 10);
	assert_near(f->job->growth.a_day, 0.0065, 0.15);
	assert_true(f->job->ask_bytes > 65536 * TRK_MIB);
	assert_int_equal(v->o.will_fail, 1);
	assert_int_equal(f->job->rating, TRK_FLEET_SOON);
}

static void check_drift(const struct views *v)
{
	const struct trk_fleet_finding *f = find(v, TRK_FLEET_SLOWER);
	const struct trk_fleet_drift *d = &f->job->drift;

	assert_string_equal(f->head, "job-001");
	assert_near(d->change, 0.2, 0.2);
	assert_near(NOW - d->from_s, 11.5 * SYNTHETIC_DAY, 0.2);
	assert_int_equal(d->ways, 1);
	assert_int_equal(d->way[0].trait, TRK_FLEET_CODE);
	assert_string_equal(trk__fleet_text(&v->rows, d->way[0].since), "c2");
	assert_true(d->machine_same);
}

static void check_cluster(const struct views *v)
{
	const struct trk_fleet_finding *f = find(v, TRK_FLEET_FAILING);
	const struct trk_fleet_cluster *c = &v->o.clusters->cluster[0];

	assert_int_equal(f->jobs, 3);
	assert_int_equal(c->by, TRK_FLEET_IMAGE);
	assert_int_equal(c->cause, TRK_FLEET_OUT_OF_MEMORY);
	assert_string_equal(trk__fleet_text(&v->rows, c->value), "corpus:3.2");
	assert_string_equal(trk__fleet_text(&v->rows, c->instead), "corpus:3.1");
	assert_int_equal(c->failed_without, 0);
}

static void check_rest(const struct views *v)
{
	const struct trk_fleet_finding *f = find(v, TRK_FLEET_SLOW_MACHINE);
	const struct trk_fleet_job *job = v->o.change[0];

	assert_string_equal(f->head, "node-17");
	assert_string_equal(job->name->name, "job-006");
	assert_true(job->rating == TRK_FLEET_OVER && job->ask_cores <= 4);
	assert_true(job->ask_bytes > 27000 * TRK_MIB && job->ask_bytes < 40000 * TRK_MIB);
	assert_true(job->saves_usd_month > 0.6 * job->month.usd &&
		    job->saves_usd_month < trk__fleet_waste_usd(&job->month));
	assert_int_equal(v->o.spend.odd_count, 1);
	assert_in_range(trk__fleet_day(&v->rows, NOW) - 9, v->o.spend.odd[0].day,
			v->o.spend.odd[0].last_day);
	assert_string_equal(v->rows.job[v->o.spend.odd[0].job].name, "job-005");
}

static void what_was_put_in_is_found_and_nothing_else(void **state)
{
	for (uint64_t seed = 1; seed <= of_histories(4, IS_SANITIZED ? 4 : 1); seed++) {
		struct truth t = all_of_it;
		struct synthetic s;
		struct views v;

		t.seed = seed;
		synthetic_make(&t, &s);
		assert_int_equal(views_make(&s, 30, &v), 0);
		check_growth(&v);
		check_drift(&v);
		check_cluster(&v);
		check_rest(&v);
		if (v.o.findings != 4)
			fail_msg("seed %d: %zu findings", (int) seed, v.o.findings);
		views_release(&v);
		synthetic_release(&s);
	}
}

/* ---- what is not there is not found ---- */

static size_t told(const struct views *v)
{
	return v->o.findings + v->o.spend.odd_count;
}

static void noise_alone_is_told_in_one_history_of_twenty(void **state)
{
	size_t wrong = 0;

	for (uint64_t seed = 1001; seed <= 1000 + of_histories(40, 1); seed++) {
		struct truth t = {.seed = seed,
				  .jobs = SYNTHETIC_JOBS,
				  .days = SYNTHETIC_DAYS,
				  .runs_a_day = 1.1,
				  .failing_share = 0.03};
		struct synthetic s;
		struct views v;

		synthetic_make(&t, &s);
		assert_int_equal(views_make(&s, 30, &v), 0);
		wrong += told(&v) > 0;
		views_release(&v);
		synthetic_release(&s);
	}
	/* 2 are expected of 40; 5 or more would be a chance of 1 in 20. */
	if (wrong > 4)
		fail_msg("%zu of 40 histories of noise were told something of", wrong);
}

/* How a run went, without when it was and what it had. */
static void swap_courses(struct trk_past_run *a, struct trk_past_run *b)
{
	struct trk_past_run was = *a;

#define SWAP(field) a->field = b->field, b->field = was.field
	SWAP(duration_s);
	SWAP(cpu_s);
	SWAP(cpu_mean);
	SWAP(cpu_max);
	SWAP(memory.bytes);
	SWAP(code);
	SWAP(end_name);
	SWAP(end);
}

static void shuffle(struct synthetic *s)
{
	size_t *of_job = calloc(s->count, sizeof(*of_job));

	assert_non_null(of_job);
	for (size_t job = 0; job < SYNTHETIC_JOBS; job++) {
		char name[16];
		size_t n = 0;

		(void) snprintf(name, sizeof(name), "job-%03zu", job);
		for (size_t i = 0; i < s->count; i++)
			if (!strcmp(s->run[i].job, name))
				of_job[n++] = i;
		for (size_t i = n; i-- > 1;) {
			size_t k = (size_t) (synthetic_uniform(s) * (double) (i + 1));

			if (k != i)
				swap_courses(&s->run[of_job[i]], &s->run[of_job[k]]);
		}
	}
	free(of_job);
}

static void shuffled_within_each_job_nothing_is_found(void **state)
{
	size_t wrong = 0;

	for (uint64_t seed = 1; seed <= of_histories(12, 1); seed++) {
		struct truth t = all_of_it;
		struct synthetic s;
		struct views v;

		t.seed = seed;
		t.cluster = t.odd_day =
			false; /* jobs that fail more, and days that were busier, stay */
		synthetic_make(&t, &s);
		shuffle(&s);
		assert_int_equal(views_make(&s, 30, &v), 0);
		wrong += told(&v) > 0;
		views_release(&v);
		synthetic_release(&s);
	}
	if (wrong > 2)
		fail_msg("%zu of 12 shuffled histories were told something of", wrong);
}

/* One job whose run time makes a step; the runs since then until it is told, or 0. */
static size_t runs_until_told(struct synthetic *s, double step, double noise)
{
	enum { BEFORE = 40, SINCE = 10 };
	struct trk_past_run past[BEFORE + SINCE];
	struct trk_fleet_job job;

	for (size_t i = 0; i < BEFORE + SINCE; i++) {
		past[i] = a_run("a", (double) (BEFORE + SINCE - i) * 7200);
		past[i].duration_s =
			1000 * exp(noise * synthetic_normal(s)) * (i >= BEFORE ? 1 + step : 1);
	}
	for (size_t n = step > 0 ? 1 : SINCE; n <= SINCE; n++) {
		struct trk_fleet_rows rows;
		bool known;

		trk__fleet_rows_init(&rows, NOW, 0);
		for (size_t i = BEFORE + n; i-- > 0;)
			assert_int_equal(add_run(&rows, &past[i]), 0);
		assert_int_equal(trk__fleet_rows_sort(&rows), 0);
		assert_int_equal(trk__fleet_job_make(&rows, 0, 0, &job), 0);
		known = job.drift.known;
		trk__fleet_rows_release(&rows);
		if (known)
			return n;
	}
	return 0;
}

static void a_step_of_a_fifth_is_told_within_three_runs(void **state)
{
	struct synthetic s = {.state = 77};
	size_t in_time = 0, wrong = 0, steps = of_histories(200, 10);

	for (size_t i = 0; i < steps; i++) {
		double noise = 0.01 + 0.03 * synthetic_uniform(&s);
		size_t n = runs_until_told(&s, 0.2, noise);

		in_time += n > 0 && n <= 3;
		wrong += runs_until_told(&s, 0, noise) > 0;
	}
	if (in_time * 100 < steps * 85 || wrong * 100 > steps * 3)
		fail_msg("%zu of %zu in time, %zu wrong", in_time, steps, wrong);
}

/* ---- the figures agree ---- */

static void add_up(const struct trk_fleet_group *group, size_t n, struct trk_fleet_sum *ret)
{
	for (size_t i = 0; i < n; i++)
		trk__fleet_sum_merge(ret, &group[i].sum);
}

static void jobs_days_and_teams_add_up_to_the_whole(void **state)
{
	struct trk_fleet_sum days = {.runs = 0}, teams = {.runs = 0};
	struct truth t = all_of_it;
	struct synthetic s;
	struct views v;

	synthetic_make(&t, &s);
	/* From a midnight on, as days are whole. */
	assert_int_equal(views_make(&s, 30 + 8.0 / 24, &v), 0);
	for (size_t i = 0; i < v.o.spend.count; i++)
		trk__fleet_sum_merge(&days, &v.o.spend.day[i].sum);
	add_up(v.o.group[TRK_FLEET_TEAM], v.o.groups[TRK_FLEET_TEAM], &teams);
	assert_int_equal(days.runs, v.o.sum.runs);
	assert_int_equal(teams.runs, v.o.sum.runs);
	assert_near(days.usd, v.o.sum.usd, 1e-9);
	assert_near(teams.usd, v.o.sum.usd, 1e-9);
	assert_near(trk__fleet_waste_usd(&days), trk__fleet_waste_usd(&v.o.sum), 1e-9);
	assert_true(v.o.sum.failed_usd > 0 && v.o.sum.idle_cores_usd > 0);
	assert_true(trk__fleet_waste_usd(&v.o.sum) < v.o.sum.usd);
	assert_true(v.o.saves_all_usd_month < trk__fleet_waste_usd(&v.o.sum));
	views_release(&v);
	synthetic_release(&s);
}

static void the_forecast_holds_what_came(void **state)
{
	size_t inside = 0, days = 0;

	for (uint64_t seed = 501; seed <= 500 + of_histories(10, 2); seed++) {
		struct truth t = {.seed = seed,
				  .jobs = 60,
				  .days = SYNTHETIC_DAYS,
				  .runs_a_day = 3,
				  .failing_share = 0.01};
		struct synthetic s;
		struct trk_fleet_days before, after;
		struct trk_fleet_rows rows;
		double cut = NOW - 15 * SYNTHETIC_DAY;

		synthetic_make(&t, &s);
		trk__fleet_rows_init(&rows, NOW, 0);
		for (size_t i = 0; i < s.count; i++)
			assert_int_equal(trk__fleet_rows_add(&rows, &s.run[i]), 0);
		assert_int_equal(trk__fleet_rows_sort(&rows), 0);
		assert_int_equal(trk__fleet_days_make(&rows, cut, 0, &after), 0);
		rows.now_s = cut; /* the days after it are not looked at */
		assert_int_equal(trk__fleet_days_make(&rows, cut, 0, &before), 0);
		assert_true(before.forecast.known);
		for (size_t i = 0; i < 14; i++) {
			double usd = after.day[i + 1].sum.usd;

			assert_int_equal(after.day[i + 1].day,
					 before.forecast.first_day + (long) i);
			inside += fabs(usd - before.forecast.usd[i]) <= before.forecast.band_usd[i];
			days++;
		}
		trk__fleet_days_release(&before);
		trk__fleet_days_release(&after);
		trk__fleet_rows_release(&rows);
		synthetic_release(&s);
	}
	/* Nine of ten, as the band says; of two histories no share can be told. */
	if (inside * 100 < days * of_histories(80, 30))
		fail_msg("%zu of %zu days within the band", inside, days);
}

static void under_four_weeks_nothing_is_expected(void **state)
{
	struct truth t = {.seed = 3, .jobs = 20, .days = 27, .runs_a_day = 3};
	struct synthetic s;
	struct views v;

	synthetic_make(&t, &s);
	assert_int_equal(views_make(&s, 30, &v), 0);
	assert_false(v.o.spend.forecast.known);
	assert_int_equal(v.o.spend.odd_count, 0);
	assert_false(v.o.has_before);
	views_release(&v);
	synthetic_release(&s);
}

static void a_job_of_few_runs_is_no_waste(void **state)
{
	struct trk_past_run past = a_run("a", 7200);
	struct trk_fleet_rows rows;
	struct trk_fleet_job job;

	trk__fleet_rows_init(&rows, NOW, 0);
	assert_int_equal(add_run(&rows, &past), 0);
	assert_int_equal(trk__fleet_rows_sort(&rows), 0);
	assert_int_equal(trk__fleet_job_make(&rows, 0, NOW - 86400, &job), 0);
	assert_int_equal(job.rating, TRK_FLEET_FEW);
	assert_true(job.saves_usd_month == 0);
	assert_true(isnan(job.noise_share) && !job.growth.known && !job.drift.known);
	trk__fleet_rows_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(medians_and_roots_are_exact),
		cmocka_unit_test(the_normal_tail_is_that_of_the_error_function),
		cmocka_unit_test(fisher_counts_all_tables_that_are_as_extreme),
		cmocka_unit_test(a_line_is_not_moved_by_outliers),
		cmocka_unit_test(the_budget_is_that_of_benjamini_and_hochberg),
		cmocka_unit_test(figures_are_written_as_the_pages_have_them),
		cmocka_unit_test(a_cost_is_divided_into_used_idle_and_failed),
		cmocka_unit_test(gpus_that_were_requested_and_not_needed_are_named),
		cmocka_unit_test(a_cost_that_nothing_tells_is_unknown),
		cmocka_unit_test(ends_and_tags_are_told_apart),
		cmocka_unit_test(jobs_are_by_name_and_scope_in_the_order_of_time),
		cmocka_unit_test(nothing_is_a_view_too),
		cmocka_unit_test(what_was_put_in_is_found_and_nothing_else),
		cmocka_unit_test(noise_alone_is_told_in_one_history_of_twenty),
		cmocka_unit_test(shuffled_within_each_job_nothing_is_found),
		cmocka_unit_test(a_step_of_a_fifth_is_told_within_three_runs),
		cmocka_unit_test(jobs_days_and_teams_add_up_to_the_whole),
		cmocka_unit_test(the_forecast_holds_what_came),
		cmocka_unit_test(under_four_weeks_nothing_is_expected),
		cmocka_unit_test(a_job_of_few_runs_is_no_waste),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
