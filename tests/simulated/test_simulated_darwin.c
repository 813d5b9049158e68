/* The tree of macOS on the simulated kernel: it never tells more than the truth, and lacks no more
 * than the work of orphans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kernel.h"
#include "probe/tree/tree.h"

enum { SEEDS = 4 };

#define LOOK_NS TRK_NS_PER_S
#define WAKE_NS (TRK_NS_PER_MS / 2) /* from an event to the answer */
#define MIB     (1024 * 1024)

static bool uses_events;

static uint64_t now(void)
{
	return sim_now_ns;
}

struct outcome {
	double told, truth, orphaned; /* s */
	struct trk_tree_state state;
	struct trk_tree_peak peak;
};

/* Let time pass, and wake the tree up shortly after each event. */
static void wait_until(struct trk_tree *t, uint64_t until_ns)
{
	while (uses_events && trk__tree_wake_fd(t) >= 0) {
		uint64_t next = sim_next_event_ns();

		if (next >= until_ns - WAKE_NS)
			break;
		sim_advance(next + WAKE_NS);
		trk__tree_wake(t);
	}
	sim_advance(until_ns);
}

/* Look every `apart_ns` until the build ends, and once more while its root is a zombie. */
static void follow(uint64_t end_ns, uint64_t apart_ns, struct outcome *ret)
{
	struct trk_env env = {-1, -1, -1, now, now, now};
	struct trk_tree_options options = {
		.root = SIM_FIRST_PID, .subreaper = true, .self = SIM_TRACKER};
	const struct trk_tree_state *state;
	int r = 0;
	struct trk_tree *t = trk__tree_new(&env, &options, &r);
	uint64_t last = 0;

	assert_non_null(t);
	while (sim_now_ns < end_ns) {
		trk__tree_update(t, &state);
		assert_true(state->counter[TRK_TREE_CPU] >= last);
		last = state->counter[TRK_TREE_CPU];
		assert_true(last <= sim_truth_ns());
		wait_until(t, sim_now_ns + apart_ns < end_ns ? sim_now_ns + apart_ns : end_ns);
	}
	trk__tree_close_accounts(t);
	trk__tree_update(t, &state);
	ret->told = (double) state->counter[TRK_TREE_CPU] / 1e9;
	ret->truth = (double) sim_truth_ns() / 1e9;
	ret->orphaned = (double) sim_orphaned_ns() / 1e9;
	ret->state = *state;
	trk__tree_peak(t, &ret->peak);
	trk__tree_free(t);
}

static void build(uint64_t seed, uint64_t median_ns, double orphans, uint64_t call_ns,
		  struct outcome *ret)
{
	uint64_t end;

	sim_reset(seed);
	sim_call_ns = call_ns;
	end = sim_build(median_ns, 30 * TRK_NS_PER_S, orphans);
	follow(end, LOOK_NS, ret);
}

static void what_parents_wait_for_is_told_in_full(void **state)
{
	static const uint64_t medians[] = {10, 50, 500, 5000};
	struct outcome o;

	(void) state;
	for (size_t m = 0; m < 4; m++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			build(seed, medians[m] * TRK_NS_PER_MS, 0, 2000, &o);
			assert_true(o.told <= o.truth);
			assert_true(o.told >= 0.999 * o.truth);
		}
}

static void orphans(double *ret_share)
{
	double told = 0, truth = 0;
	struct outcome o;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		build(seed, 50 * TRK_NS_PER_MS, 0.01, 2000, &o);
		assert_true(o.told <= o.truth);
		/* An orphan that its parent never had seen is missing from its birth on. */
		assert_true(o.told >= o.truth - 2.5 * o.orphaned - 0.01 * o.truth);
		assert_true(o.state.loses_orphans);
		told += o.told;
		truth += o.truth;
	}
	print_message("# tasks of 50 ms, one orphan in 100: %.1f %%\n", told / truth * 100);
	*ret_share = told / truth;
}

static void no_more_than_the_work_of_orphans_is_missing(void **state)
{
	double share;

	(void) state;
	uses_events = false;
	orphans(&share);
	assert_true(share >= 0.9);
}

static void orphans_are_followed_by_events(void **state)
{
	double share;

	(void) state;
	uses_events = true;
	orphans(&share);
	uses_events = false;
	assert_true(share >= 0.97);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_parents_wait_for_is_told_in_full),
		cmocka_unit_test(no_more_than_the_work_of_orphans_is_missing),
		cmocka_unit_test(orphans_are_followed_by_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
