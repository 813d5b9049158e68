/* The process tree for macOS on the simulated kernel. Its totals never exceed the truth, and lack
 * at most the CPU time of orphans. */
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
#define MIB     ((uint64_t) 1024 * 1024)

static bool uses_events, is_attached, is_one_process;

static uint64_t now(void)
{
	return sim_now_ns;
}

struct outcome {
	double told, truth, orphaned; /* s */
	struct trk_tree_state state;
	struct trk_tree_peak peak;
	uint64_t true_peak; /* bytes */
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
	struct trk_env env = {-1, -1, -1, now, now, now, now};
	struct trk_tree_options options = {.root = SIM_FIRST_PID,
					   .subreaper = !is_attached,
					   .one_process = is_one_process,
					   .self = SIM_TRACKER};
	const struct trk_tree_state *state;
	int r = 0;
	struct trk_tree *t = trk__tree_new(&env, &options, &r);
	uint64_t last = 0, start_ns = sim_now_ns;

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
	ret->true_peak = sim_truth_peak_bytes(start_ns);
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

/* ---- small jobs ---- */

static double seconds_of(int process, uint64_t at_ns)
{
	return (double) sim_own_ns(&sim[process], at_ns) / 1e9;
}

static void the_last_second_of_a_zombie_is_told(void **state)
{
	struct outcome o;

	(void) state;
	sim_reset(1);
	(void) sim_start(-1, sim_now_ns, sim_now_ns + 2900 * TRK_NS_PER_MS, 1);
	follow(sim_now_ns + 2900 * TRK_NS_PER_MS, LOOK_NS, &o);
	assert_true(o.told <= o.truth && o.told >= 0.999 * o.truth);
}

static void a_process_with_the_pid_of_a_member_is_none(void **state)
{
	uint64_t start;
	struct outcome o;
	int child, other;

	(void) state;
	sim_reset(1);
	start = sim_now_ns;
	(void) sim_start(-1, start, start + 5 * TRK_NS_PER_S, 0.1);
	child = sim_start(0, start, start + 1500 * TRK_NS_PER_MS, 0.5);
	other = sim_start(-1, start + 1600 * TRK_NS_PER_MS, start + 5 * TRK_NS_PER_S, 1);
	sim_reuse_pid(other, child);
	follow(start + 4 * TRK_NS_PER_S, LOOK_NS, &o);
	o.truth -= seconds_of(other, sim_now_ns);
	assert_true(o.told <= o.truth && o.told >= 0.999 * o.truth);
}

static void one_process_is_told_without_its_children(void **state)
{
	struct outcome o;

	(void) state;
	sim_reset(1);
	(void) sim_start(-1, sim_now_ns, sim_now_ns + 4 * TRK_NS_PER_S, 0.5);
	(void) sim_start(0, sim_now_ns, sim_now_ns + 1500 * TRK_NS_PER_MS, 1);
	is_one_process = true;
	follow(sim_now_ns + 4 * TRK_NS_PER_S, LOOK_NS, &o);
	is_one_process = false;
	o.truth = seconds_of(0, sim_now_ns);
	assert_true(o.told <= o.truth && o.told >= 0.999 * o.truth);
}

static void what_was_used_before_the_tracker_came_is_not_told(void **state)
{
	struct outcome o;
	double before;

	(void) state;
	sim_reset(1);
	(void) sim_start(-1, 0, sim_now_ns + 4 * TRK_NS_PER_S, 0.5);
	(void) sim_start(0, 0, sim_now_ns - 1, 1);
	before = (double) sim_truth_ns() / 1e9;
	is_attached = true;
	follow(sim_now_ns + 3 * TRK_NS_PER_S, LOOK_NS, &o);
	is_attached = false;
	o.truth -= before;
	assert_true(o.told <= o.truth && o.told >= 0.999 * o.truth);
}

/* The time of a child that no parent receives may not be taken from what its parent receives
 * later. */
static void what_a_parent_ignores_hides_nothing_else(void **state)
{
	uint64_t start, child_end;
	struct outcome o;
	int middle, child;

	(void) state;
	sim_reset(1);
	start = sim_now_ns;
	child_end = start + 1500 * TRK_NS_PER_MS;
	(void) sim_start(-1, start, start + 10 * TRK_NS_PER_S, 0.02);
	middle = sim_start(0, start, start + 6900 * TRK_NS_PER_MS, 0.9);
	sim[middle].ignores = true;
	child = sim_start(middle, start, child_end, 1);
	follow(start + 9 * TRK_NS_PER_S, LOOK_NS, &o);
	o.truth -= seconds_of(child, child_end) - seconds_of(child, start + TRK_NS_PER_S);
	assert_true(o.told <= 1.001 * o.truth && o.told >= 0.999 * o.truth);
}

/* ---- peaks of memory ---- */

static bool holds_what_is_told(const struct outcome *o, double share)
{
	return o->peak.bytes <= o->true_peak && o->peak.floor_bytes <= o->true_peak &&
	       (double) o->peak.bytes >= share * (double) o->true_peak;
}

/* A process with children of 10 MiB each, all of which live for 9 s. Returns when it begins. */
static uint64_t start_job(int children)
{
	sim_reset(1);
	for (int i = 0; i <= children; i++)
		(void) sim_start(i ? 0 : -1, sim_now_ns, sim_now_ns + 9 * TRK_NS_PER_S, 0.1);
	return sim_now_ns;
}

/* Both rise between two looks, one after the other. */
static void the_higher_of_two_rises_is_told(void **state)
{
	uint64_t start;
	struct outcome o;

	(void) state;
	for (int first = 0; first < 2; first++) {
		start = start_job(2);
		sim_rise(1 + first, 300 * MIB, start + 2200 * TRK_NS_PER_MS, 100 * TRK_NS_PER_MS);
		sim_rise(2 - first, 80 * MIB, start + 2600 * TRK_NS_PER_MS, 100 * TRK_NS_PER_MS);
		follow(start + 5 * TRK_NS_PER_S, LOOK_NS, &o);
		assert_true(o.true_peak == 330 * MIB);
		assert_true(holds_what_is_told(&o, 1));
	}
}

/* The largest footprint of a life stays readable, but it is of one moment: not of when others are
 * large. */
static void a_peak_of_a_life_counts_at_its_own_time_alone(void **state)
{
	static const uint64_t rises_ms[] = {1200, 2200}; /* before its first look, and after it */
	uint64_t start;
	struct outcome o;

	(void) state;
	for (size_t i = 0; i < 2; i++) {
		start = start_job(0);
		(void) sim_start(0, start + 1100 * TRK_NS_PER_MS, start + 9 * TRK_NS_PER_S, 0.1);
		(void) sim_start(0, start + 4500 * TRK_NS_PER_MS, start + 9 * TRK_NS_PER_S, 0.1);
		sim_rise(1, 300 * MIB, start + rises_ms[i] * TRK_NS_PER_MS, 100 * TRK_NS_PER_MS);
		sim[2].bytes = 300 * MIB;
		follow(start + 7 * TRK_NS_PER_S, LOOK_NS, &o);
		assert_true(o.true_peak == 320 * MIB);
		assert_true(holds_what_is_told(&o, 1));
	}
}

/* It rises after its last look, and ends: its parent has not waited for it yet. */
static void the_peak_of_a_zombie_is_told(void **state)
{
	uint64_t start;
	struct outcome o;

	(void) state;
	start = start_job(1);
	sim[1].end_ns = start + 3700 * TRK_NS_PER_MS;
	sim[1].zombie_ns = 2 * TRK_NS_PER_S;
	sim_rise(1, 300 * MIB, start + 3200 * TRK_NS_PER_MS, 400 * TRK_NS_PER_MS);
	follow(start + 7 * TRK_NS_PER_S, LOOK_NS, &o);
	assert_true(o.true_peak == 320 * MIB);
	assert_true(holds_what_is_told(&o, 0.96) && o.peak.is_floor);
}

static void the_peak_of_the_dead_is_kept(void **state)
{
	uint64_t start;
	struct outcome o;

	(void) state;
	start = start_job(2);
	sim[1].end_ns = sim[2].end_ns = start + 2500 * TRK_NS_PER_MS;
	sim[1].bytes = sim[2].bytes = 200 * MIB;
	follow(start + 7 * TRK_NS_PER_S, LOOK_NS, &o);
	assert_true(o.true_peak == 410 * MIB);
	assert_true(holds_what_is_told(&o, 1));
}

static void a_peak_from_before_the_tracker_came_is_not_told(void **state)
{
	uint64_t start;
	struct outcome o;

	(void) state;
	start = start_job(0);
	sim[0].born_ns = 0;
	sim_rise(0, 300 * MIB, start / 2, start / 4);
	is_attached = true;
	follow(start + 5 * TRK_NS_PER_S, LOOK_NS, &o);
	is_attached = false;
	assert_true(o.true_peak == 10 * MIB);
	assert_true(holds_what_is_told(&o, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_parents_wait_for_is_told_in_full),
		cmocka_unit_test(no_more_than_the_work_of_orphans_is_missing),
		cmocka_unit_test(orphans_are_followed_by_events),
		cmocka_unit_test(the_last_second_of_a_zombie_is_told),
		cmocka_unit_test(a_process_with_the_pid_of_a_member_is_none),
		cmocka_unit_test(one_process_is_told_without_its_children),
		cmocka_unit_test(what_was_used_before_the_tracker_came_is_not_told),
		cmocka_unit_test(what_a_parent_ignores_hides_nothing_else),
		cmocka_unit_test(the_higher_of_two_rises_is_told),
		cmocka_unit_test(a_peak_of_a_life_counts_at_its_own_time_alone),
		cmocka_unit_test(the_peak_of_a_zombie_is_told),
		cmocka_unit_test(the_peak_of_the_dead_is_kept),
		cmocka_unit_test(a_peak_from_before_the_tracker_came_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
