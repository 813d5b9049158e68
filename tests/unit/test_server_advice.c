/* The server advice: run time from a histogram, billing, ranking by the cost of a run. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "advise/run_cost.h"
#include "advise/server.h"
#include "catalog/text.h"

static const char text[] = "catalogue\t1\t2026-08-17\n"
			   "source\town\t2026-08-17\tfacts\tby hand\n"
			   "vendor\tsec\t-\tBy the second\t1\t60\t-\n"
			   "vendor\thour\t-\tBy the hour\t3600\t3600\t-\n"
			   "region\tsec\there\tDE\t-\t-\tBerlin\n"
			   "region\thour\there\tDE\t-\t-\tBerlin\n"
			   "servers\tsec\town\t2026-08-17\texact\n"
			   "\tslow\t4\t16384\tx86_64\tdedicated\t2\n"
			   "\tfast\t4\t16384\tx86_64\tdedicated\t2\n"
			   "\tunmeasured\t4\t16384\tx86_64\tdedicated\t2\n"
			   "\ttight\t4\t8192\tx86_64\tdedicated\t2\n"
			   "servers\thour\town\t2026-08-17\texact\n"
			   "\tcheap\t4\t16384\tx86_64\tdedicated\t2\n"
			   "stressng\tsec\town\t2026-08-17\texact\n"
			   "\tslow\t1000\t2000\n\tfast\t2000\t8000\n\ttight\t2000\t8000\n"
			   "stressng\thour\town\t2026-08-17\texact\n"
			   "\tcheap\t1000\t2000\n"
			   "prices\tsec\there\town\t2026-08-17\texact\n"
			   "\tslow\t0.1\n\tfast\t0.2\n\tunmeasured\t0.01\n\ttight\t0.15\n"
			   "prices\thour\there\town\t2026-08-17\texact\n"
			   "\tcheap\t0.05\nend\n";

/* cmocka's own comparison is of floats. */
#define assert_near(a, b, epsilon) assert_true(fabs((a) - (b)) < (epsilon))

static int setup(void **state)
{
	static struct trk_catalog c;

	*state = &c;
	return trk__catalog_text_load(NULL, "t", text, sizeof(text) - 1, &c, NULL);
}

static int teardown(void **state)
{
	trk__catalog_release(*state);
	return 0;
}

/* Measured on a server whose two threads share a core and do 1.3 of what one does alone. */
static double shared_core_s(double cores, double vcpus)
{
	struct trk_busy_slice slice = {cores, 100};
	struct trk_server_work work = {.slices = &slice,
				       .n = 1,
				       .here_one = {10, (double) NAN},
				       .here_all = {13, 0},
				       .here_vcpus = vcpus};
	struct trk_catalog_speed same = {10, 13, ""};

	return trk__server_run_s(&work, 0, &same);
}

static void a_run_takes_as_long_as_it_took_on_the_server_that_it_ran_on(void **state)
{
	assert_near(shared_core_s(0.5, 2), 100, 1e-9);
	assert_near(shared_core_s(1.2, 2), 100, 1e-9);
	assert_near(shared_core_s(2, 2), 100, 1e-9);
	/* More busy cores than it has: it tells the speed of a thread alone. */
	assert_near(shared_core_s(2.6, 2), 200, 1e-9);
}

static double run_s(double cores, double seconds, double here, double one, double all)
{
	struct trk_busy_slice slice = {cores, seconds};
	struct trk_server_work work = {.slices = &slice, .n = 1, .here_one = {here, here}};
	struct trk_catalog_speed speed = {one, all, ""};

	return trk__server_run_s(&work, isnan(here) ? -1 : 0, &speed);
}

static void run_time_follows_the_histogram(void **state)
{
	assert_near(run_s(0, 100, 10, 20, 80), 100, 1e-9);  /* waiting stays */
	assert_near(run_s(1, 100, 10, 20, 80), 50, 1e-9);   /* twice as fast */
	assert_near(run_s(0.5, 100, 10, 20, 80), 75, 1e-9); /* only the busy half */
	assert_near(run_s(4, 100, 10, 20, 80), 50, 1e-9);   /* four cores, enough threads */
	assert_near(run_s(8, 100, 10, 20, 80), 100, 1e-9);  /* stretched by all threads */
	assert_near(run_s(4, 100, 10, 10, 20), 200, 1e-9);  /* a vCPU is not a core */
	assert_near(run_s(4, 100, (double) NAN, 10, 20), 200, 1e-9); /* equally fast threads */
	assert_near(run_s(1, 100, (double) NAN, 777, 999), 100, 1e-9);
}

static void bills_whole_steps_and_the_minimum(void **state)
{
	struct trk_catalog_vendor second = {.step_s = 1, .minimum_s = 60};
	struct trk_catalog_vendor hour = {.step_s = 3600, .minimum_s = 3600};

	assert_near(trk__server_billed_s(&second, 5), 60, 1e-9);
	assert_near(trk__server_billed_s(&second, 60.2), 61, 1e-9);
	assert_near(trk__server_billed_s(&second, 61), 61, 1e-9);
	assert_near(trk__server_billed_s(&hour, 300), 3600, 1e-9);
	assert_near(trk__server_billed_s(&hour, 3600), 3600, 1e-9);
	assert_near(trk__server_billed_s(&hour, 3601), 7200, 1e-9);
}

static const char *name(const struct trk_catalog *c, const struct trk_server_estimate *e)
{
	size_t n;

	return trk__catalog_text(c, trk__catalog_servers(c, &n)[e->offer.server].name);
}

/* A job of 1000 s on four cores of a machine like "slow", whose own two cores' worth of threads it
 * would need for 2000 s. */
static void ranks_by_the_run_and_shows_the_cheapest_hour_beside_it(void **state)
{
	struct trk_busy_slice slice = {4, 1000};
	struct trk_server_work work = {.slices = &slice, .n = 1, .here_one = {17000, (double) NAN}};
	struct trk_catalog_query q = {.memory_bytes = UINT64_C(8) << 30};
	struct trk_server_advice a;

	assert_int_equal(trk__server_advise(*state, &q, &work, &a), 0);
	assert_int_equal(a.n, 4);
	assert_string_equal(name(*state, &a.list[0]), "fast");
	assert_near(a.list[0].run_s, 500, 1e-6);
	assert_near(a.list[0].cost_usd, 0.2 * 500 / 3600, 1e-9);
	assert_string_equal(name(*state, &a.list[1]), "cheap"); /* 2000 s, billed an hour */
	assert_near(a.list[1].billed_s, 3600, 1e-9);
	assert_string_equal(name(*state, &a.list[2]), "slow");
	assert_string_equal(name(*state, &a.list[3]), "unmeasured"); /* last, however cheap */
	assert_false(a.list[3].speed_known);
	assert_string_equal(name(*state, &a.list[a.cheapest_hour]), "unmeasured");
	/* "tight" would cost less, and lacks memory. */
	assert_int_equal(a.nears, 1);
	assert_string_equal(name(*state, &a.near[0]), "tight");
	assert_int_equal(a.near[0].offer.unmet, TRK_NEED_MEMORY);
	trk__server_advice_release(&a);
}

static const char aged[] = "catalogue\t1\t2026-08-17\n"
			   "source\told\t2024-01-01\tfacts\tby hand\n"
			   "source\tnew\t2026-08-17\tfacts\tby hand\n"
			   "vendor\tv\t-\tBy the second\t1\t60\t-\n"
			   "region\tv\tnear\tDE\t-\t-\tBerlin\n"
			   "region\tv\tfar\tDE\t-\t-\tBonn\n"
			   "servers\tv\tnew\t2026-08-17\texact\n"
			   "\tlisted-twice\t4\t16384\tx86_64\tdedicated\t2\n"
			   "\tlong-ago\t4\t16384\tx86_64\tdedicated\t2\n"
			   "\tdear\t4\t16384\tx86_64\tdedicated\t2\n"
			   "\tearlier\t4\t16384\tx86_64\tdedicated\t2\tmetal,previous\n"
			   "prices\tv\tnear\tnew\t2026-08-17\texact\n"
			   "\tlisted-twice\t0.2\n\tdear\t0.9\n\tearlier\t0.01\n"
			   "prices\tv\tfar\told\t2024-01-01\test\n"
			   "\tlisted-twice\t0.1\n\tlong-ago\t0.05\nend\n";

/* What led would lead by the price alone, were it not for its date. */
static void an_old_price_comes_last_and_never_hides_a_newer_one(void **state)
{
	struct trk_busy_slice slice = {4, 1000};
	struct trk_server_work work = {.slices = &slice, .n = 1, .here_one = {NAN, NAN}};
	struct trk_catalog_query q = {.vcpus = 1, .today = 20260901};
	struct trk_server_advice a;
	struct trk_catalog c;

	assert_int_equal(trk__catalog_text_load(NULL, "t", aged, sizeof(aged) - 1, &c, NULL), 0);
	assert_int_equal(trk__server_advise(&c, &q, &work, &a), 0);
	assert_int_equal(a.n, 3);
	assert_string_equal(name(&c, &a.list[0]), "listed-twice");
	assert_int_equal(a.list[0].offer.units, 20000); /* not the old 0.1 */
	assert_string_equal(name(&c, &a.list[1]), "dear");
	assert_string_equal(name(&c, &a.list[2]), "long-ago");
	assert_true(a.list[2].offer.old);
	assert_int_equal(a.cheapest_hour, 0);
	assert_int_equal(a.cheapest_run, 0);
	trk__server_advice_release(&a);
	q.today = 0; /* no day, no age */
	assert_int_equal(trk__server_advise(&c, &q, &work, &a), 0);
	assert_string_equal(name(&c, &a.list[0]), "long-ago");
	trk__server_advice_release(&a);
	trk__catalog_release(&c);
}

static void a_previous_generation_is_offered_where_it_is_asked_for(void **state)
{
	struct trk_catalog_query q = {.vcpus = 1, .today = 20260901, .previous_generation = true};
	struct trk_catalog_offer *offers, nearest;
	unsigned int binding = 0;
	struct trk_catalog c;
	size_t n;

	assert_int_equal(trk__catalog_text_load(NULL, "t", aged, sizeof(aged) - 1, &c, NULL), 0);
	assert_int_equal(trk__catalog_search(&c, &q, &offers, &n), 0);
	assert_int_equal(n, 4);
	assert_string_equal(trk__catalog_server_name(&c, offers[0].server), "earlier");
	free(offers);
	q.previous_generation = false;
	assert_int_equal(trk__catalog_search(&c, &q, &offers, &n), 0);
	assert_int_equal(n, 3);
	free(offers);
	q.vcpus = 64;
	assert_int_equal(trk__catalog_nearest(&c, &q, &nearest, &binding), 0);
	assert_string_not_equal(trk__catalog_server_name(&c, nearest.server), "earlier");
	trk__catalog_release(&c);
}

static void the_age_of_a_price_is_told_in_the_unit_that_fits(void **state)
{
	char age[16];

	assert_int_equal(trk__catalog_age_days(20240228, 20240301), 2); /* a leap year */
	assert_int_equal(trk__catalog_age_days(20260101, 20270101), 365);
	assert_true(trk__catalog_age_days(0, 20270101) < 0);
	assert_true(trk__catalog_age_days(20270101, 20260101) < 0);
	assert_string_equal(trk__catalog_age(1, age), "1 day");
	assert_string_equal(trk__catalog_age(45, age), "45 days");
	assert_string_equal(trk__catalog_age(125, age), "4 months");
	assert_string_equal(trk__catalog_age(1205, age), "3.3 years");
	assert_string_equal(trk__catalog_age(-1, age), "");
}

static void short_runs_shun_the_hour(void **state)
{
	struct trk_busy_slice slice = {1, 100};
	struct trk_server_work work = {.slices = &slice, .n = 1, .here_one = {17000, (double) NAN}};
	struct trk_catalog_query q = {.vcpus = 1};
	struct trk_server_advice a;

	assert_int_equal(trk__server_advise(*state, &q, &work, &a), 0);
	for (size_t i = 0; i < a.n; i++)
		if (!strcmp(name(*state, &a.list[i]), "slow"))
			assert_near(a.list[i].billed_s, 100, 1e-9);
		else if (!strcmp(name(*state, &a.list[i]), "cheap"))
			assert_near(a.list[i].cost_usd, 0.05, 1e-9);
	trk__server_advice_release(&a);
}

static void a_finished_run_has_a_price_and_idle_parts(void **state)
{
	const struct trk_catalog *c = *state;
	int vendor = trk__catalog_find_vendor(c, "sec");
	int server = trk__catalog_find_server(c, vendor, "slow");
	int region = trk__catalog_find_region(c, vendor, "here");
	struct trk_run_use use = {3600, 3600, 0, (double) NAN};
	struct trk_run_cost cost;
	double cpu = 4 * 0.0373, memory = 16 * 0.00433;

	assert_int_equal(trk__server_run_cost(c, server, region, &use, &cost), 0);
	assert_near(cost.usd, 0.1, 1e-9);
	assert_string_equal(cost.source, "own");
	assert_int_equal(cost.date, 20260817);
	assert_near(cost.idle_cpu_usd, 0.1 * cpu / (cpu + memory) * 0.75, 1e-9);
	assert_near(cost.idle_memory_usd, 0.1 * memory / (cpu + memory), 1e-9);
	use.cpu_s = use.peak_bytes = (double) NAN;
	use.usd_per_hour = 7; /* what was really paid */
	assert_int_equal(trk__server_run_cost(c, server, region, &use, &cost), 0);
	assert_near(cost.usd, 7, 1e-9);
	assert_true(isnan(cost.idle_cpu_usd) && isnan(cost.idle_memory_usd));
	use.usd_per_hour = (double) NAN;
	assert_int_equal(
		trk__server_run_cost(
			c, server,
			trk__catalog_find_region(c, trk__catalog_find_vendor(c, "hour"), "here"),
			&use, &cost),
		-ENOENT);
}

static void speeds_are_compared_by_the_same_measure(void **state)
{
	struct trk_busy_slice slice = {1, 100};
	struct trk_server_work work = {.slices = &slice, .n = 1, .here_one = {NAN, NAN}};
	struct trk_catalog_server here = {.vcpus = 1,
					  .threads_per_core = 1,
					  .coremark = 20000,
					  .one_thread = 500,
					  .all_threads = 500};
	struct trk_catalog_server there = {.vcpus = 1, .threads_per_core = 1, .coremark = 40000};
	double seconds = 0;

	trk__server_measured_on(&work, &here);
	assert_true(trk__server_run_on(&work, &there, &seconds));
	assert_near(seconds, 50, 1e-9); /* CoreMark of both, not 40000 beside 17 x 500 */
	there.one_thread = there.all_threads = 2000;
	assert_true(trk__server_run_on(&work, &there, &seconds));
	assert_near(seconds, 25, 1e-9); /* stress-ng of both */
	there = (struct trk_catalog_server){.vcpus = 4, .threads_per_core = 2};
	assert_false(trk__server_run_on(&work, &there, &seconds));
	assert_near(seconds, 100, 1e-9); /* nothing known: one thread is one thread */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_takes_as_long_as_it_took_on_the_server_that_it_ran_on),
		cmocka_unit_test(run_time_follows_the_histogram),
		cmocka_unit_test(speeds_are_compared_by_the_same_measure),
		cmocka_unit_test(bills_whole_steps_and_the_minimum),
		cmocka_unit_test(ranks_by_the_run_and_shows_the_cheapest_hour_beside_it),
		cmocka_unit_test(an_old_price_comes_last_and_never_hides_a_newer_one),
		cmocka_unit_test(a_previous_generation_is_offered_where_it_is_asked_for),
		cmocka_unit_test(the_age_of_a_price_is_told_in_the_unit_that_fits),
		cmocka_unit_test(short_runs_shun_the_hour),
		cmocka_unit_test(a_finished_run_has_a_price_and_idle_parts),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
