/* The budget of PSS readings, with times and costs that the test sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "probe/tree/pss_budget.h"

#define S     TRK_NS_PER_S
#define MS    TRK_NS_PER_MS
#define SHARE 0.005
#define START (1000 * S)

/* When the run of the test is at `at_ns`, this may have been spent. */
static double most_ns(uint64_t at_ns)
{
	double since_ns = (double) at_ns;

	return SHARE * (since_ns > TRK_PSS_LEAD_NS ? since_ns : TRK_PSS_LEAD_NS);
}

/* Readings that cost what was expected, as many as there is credit for, every 200 ms. Returns what
 * was spent. */
static double spend(struct trk_pss_budget *b, uint64_t from_ns, uint64_t to_ns, uint64_t cost_ns)
{
	double spent_ns = 0;

	for (uint64_t at = from_ns; at <= to_ns; at += 200 * MS) {
		trk__pss_budget_refill(b, START + at);
		while (trk__pss_budget_allows(b, (double) cost_ns)) {
			trk__pss_budget_charge(b, cost_ns);
			spent_ns += (double) cost_ns;
			assert_true(spent_ns <= most_ns(at) + 1);
		}
	}
	return spent_ns;
}

static void no_run_spends_more_than_the_share_and_a_short_one_no_more_than_is_lent(void **state)
{
	static const uint64_t costs_ns[] = {30000, 5 * MS, 25 * MS, 99 * MS};

	for (size_t i = 0; i < sizeof(costs_ns) / sizeof(costs_ns[0]); i++) {
		struct trk_pss_budget b;
		double spent_ns;

		trk__pss_budget_init(&b, SHARE, START);
		spent_ns = spend(&b, 0, 3600 * S, costs_ns[i]);
		/* Nor is any of it lost to a job that needs it all the time. */
		assert_true(spent_ns >= most_ns(3600 * S) - 2 * (double) costs_ns[i]);
	}
}

static void a_job_that_grows_to_2_gb_in_20_s_costs_100_ms(void **state)
{
	struct trk_pss_budget b;
	double spent_ns = 0;

	trk__pss_budget_init(&b, SHARE, START);
	/* A reading in each tick of what it has by then, at 5 us a MiB: 51 of them would cost 255
	 * ms. */
	for (uint64_t at = 0; at <= 20 * S; at += at < 10 * S ? 200 * MS : 1 * S) {
		uint64_t cost_ns = at / S * 100 * 5000;

		trk__pss_budget_refill(&b, START + at);
		if (!trk__pss_budget_allows(&b, (double) cost_ns))
			continue;
		trk__pss_budget_charge(&b, cost_ns);
		spent_ns += (double) cost_ns;
	}
	assert_true(spent_ns <= 0.005 * 20e9);
	assert_true(spent_ns > 0.9 * 0.005 * 20e9);
}

static void a_reading_that_costs_more_than_expected_is_paid_back(void **state)
{
	struct trk_pss_budget b;

	trk__pss_budget_init(&b, SHARE, START);
	assert_true(trk__pss_budget_allows(&b, 50e6));
	trk__pss_budget_charge(&b, 300 * MS);
	trk__pss_budget_refill(&b, START + 60 * S);
	assert_false(trk__pss_budget_allows(&b, 1));
	trk__pss_budget_refill(&b, START + 61 * S);
	assert_true(trk__pss_budget_allows(&b, 4e6));
	assert_false(trk__pss_budget_allows(&b, 6e6));
}

static void what_is_saved_is_bounded(void **state)
{
	struct trk_pss_budget b;

	trk__pss_budget_init(&b, SHARE, START);
	trk__pss_budget_refill(&b, START + 3600 * S);
	assert_true(trk__pss_budget_allows(&b, TRK_PSS_CREDIT_MAX_NS));
	assert_false(trk__pss_budget_allows(&b, TRK_PSS_CREDIT_MAX_NS + 1));
}

static void without_a_share_nothing_is_read(void **state)
{
	struct trk_pss_budget b;

	trk__pss_budget_init(&b, 0, START);
	trk__pss_budget_refill(&b, START + 3600 * S);
	assert_false(trk__pss_budget_allows(&b, 1));
	/* And with a whole core no more is lent than can be saved. */
	trk__pss_budget_init(&b, 1, START);
	assert_false(trk__pss_budget_allows(&b, TRK_PSS_CREDIT_MAX_NS + 1));
	trk__pss_budget_charge(&b, 200 * MS);
	trk__pss_budget_refill(&b, START + 300 * MS);
	assert_true(trk__pss_budget_allows(&b, 99e6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			no_run_spends_more_than_the_share_and_a_short_one_no_more_than_is_lent),
		cmocka_unit_test(a_job_that_grows_to_2_gb_in_20_s_costs_100_ms),
		cmocka_unit_test(a_reading_that_costs_more_than_expected_is_paid_back),
		cmocka_unit_test(what_is_saved_is_bounded),
		cmocka_unit_test(without_a_share_nothing_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
