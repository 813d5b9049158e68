/* The process tree for Windows on the simulated kernel. With a job object the totals are complete,
 * including orphans and processes that no reading found. Without one, or if it counts nothing, they
 * never exceed the truth, and the state reports that. */
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
#include "model/run.h"
#include "probe/tree/tree.h"

enum { SEEDS = 4, CALL_NS = 2000 };

#define LOOK_NS TRK_NS_PER_S

static const uint64_t medians_ms[] = {10, 50, 500, 5000};

static uint64_t now(void)
{
	return sim_now_ns;
}

#define MIB ((uint64_t) 1024 * 1024)

struct outcome {
	double told, system, truth; /* s */
	struct trk_tree_state state;
	struct trk_tree_peak peak;
	uint64_t true_peak; /* bytes */
	struct trk_process_info top[TRK_TOP_MAX];
	size_t tops;
};

/* Look once a second until the build ends, and once more. */
static void follow(uint64_t end_ns, bool is_ours, struct outcome *ret)
{
	struct trk_env env = {-1, -1, -1, now, now, now, now};
	struct trk_tree_options options = {
		.root = SIM_FIRST_PID, .subreaper = is_ours, .self = SIM_TRACKER};
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
		sim_advance(sim_now_ns + LOOK_NS < end_ns ? sim_now_ns + LOOK_NS : end_ns);
	}
	trk__tree_close_accounts(t);
	trk__tree_update(t, &state);
	ret->told = (double) state->counter[TRK_TREE_CPU] / 1e9;
	ret->system = (double) state->counter[TRK_TREE_CPU_SYSTEM] / 1e9;
	ret->truth = (double) sim_truth_ns() / 1e9;
	ret->state = *state;
	trk__tree_peak(t, &ret->peak);
	ret->true_peak = sim_truth_peak_bytes(start_ns);
	ret->tops = trk__tree_top(t, ret->top, TRK_TOP_MAX);
	trk__tree_free(t);
	assert_int_equal(sim_handles, 0);
}

static void build(uint64_t seed, uint64_t median_ms, bool is_ours, struct outcome *ret)
{
	uint64_t end;

	sim_reset(seed);
	sim_call_ns = CALL_NS;
	end = sim_build(median_ms * TRK_NS_PER_MS, 30 * TRK_NS_PER_S, 0.01);
	follow(end, is_ours, ret);
	assert_true(ret->told <= ret->truth);
}

static void a_job_object_tells_all(void **state)
{
	struct outcome o;

	(void) state;
	sim_has_job = sim_job_counts = true;
	for (size_t m = 0; m < 4; m++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			build(seed, medians_ms[m], true, &o);
			assert_int_equal(o.state.totals, TRK_TOTALS_KEPT);
			assert_true(o.told >= 0.9999 * o.truth);
			assert_true(o.system >= 0.249 * o.truth && o.system <= 0.25 * o.truth);
			assert_true(o.state.peak_commit_bytes == SIM_COMMIT_BYTES);
		}
}

/* Told of all seeds, as a share of the truth. */
static double share_of(uint64_t median_ms, bool is_ours, enum trk_tree_totals expected)
{
	double told = 0, truth = 0;
	struct outcome o;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		build(seed, median_ms, is_ours, &o);
		assert_int_equal(o.state.totals, expected);
		told += o.told;
		truth += o.truth;
	}
	print_message("# tasks of %d ms, %s, %s: %.1f %%\n", (int) median_ms,
		      is_ours ? "a job object that counts nothing" : "attached",
		      sim_keeps_handles ? "handles" : "no handles", told / truth * 100);
	return told / truth;
}

static void a_job_object_that_counts_nothing_is_noticed(void **state)
{
	static const double least[] = {0.03, 0.1, 0.5, 0.85};

	(void) state;
	sim_has_job = true;
	sim_job_counts = false;
	for (size_t m = 0; m < 4; m++)
		assert_true(share_of(medians_ms[m], true, TRK_TOTALS_ZERO) >= least[m]);
}

static void what_is_attached_to_is_summed_with_its_dead(void **state)
{
	(void) state;
	sim_has_job = false;
	assert_true(share_of(500, false, TRK_TOTALS_SAMPLED) >= 0.5);
}

static void a_handle_keeps_what_was_used_after_the_last_look(void **state)
{
	static const double more[] = {1.4, 1.4, 1.25, 1.05};

	(void) state;
	sim_has_job = false;
	for (size_t m = 0; m < 4; m++) {
		double without = share_of(medians_ms[m], false, TRK_TOTALS_SAMPLED);

		sim_keeps_handles = true;
		assert_true(share_of(medians_ms[m], false, TRK_TOTALS_SAMPLED) >=
			    more[m] * without);
		sim_keeps_handles = false;
	}
}

/* Nothing has run yet, and a job object says so: it is not taken for a dead one. */
static void a_job_that_only_sleeps_is_no_fault(void **state)
{
	struct outcome o;

	(void) state;
	sim_has_job = true;
	sim_job_counts = false;
	sim_reset(1);
	sim_call_ns = CALL_NS;
	(void) sim_start(-1, sim_now_ns, sim_now_ns + 5 * TRK_NS_PER_S, 0.001);
	follow(sim_now_ns + 4 * TRK_NS_PER_S, true, &o);
	assert_int_equal(o.state.totals, TRK_TOTALS_SAMPLED);
}

/* ---- peaks of memory ---- */

/* A job of three: the first grows and shrinks, the second ends early, the third begins late. */
static void start_three(uint64_t start)
{
	(void) sim_start(-1, start, start + 9 * TRK_NS_PER_S, 0.1);
	(void) sim_start(0, start, start + 4500 * TRK_NS_PER_MS, 0.1);
	(void) sim_start(0, start + 5500 * TRK_NS_PER_MS, start + 9 * TRK_NS_PER_S, 0.1);
	sim[1].bytes = 300 * MIB;
	sim[2].bytes = 350 * MIB;
	sim_rise(0, 100 * MIB, start + 1500 * TRK_NS_PER_MS, 2 * TRK_NS_PER_S);
}

static void the_peak_is_the_largest_sum_also_of_the_dead(void **state)
{
	struct outcome o;

	(void) state;
	for (int with_job = 0; with_job < 2; with_job++) {
		sim_has_job = sim_job_counts = with_job;
		sim_reset(1);
		start_three(sim_now_ns);
		follow(sim_now_ns + 8 * TRK_NS_PER_S, with_job, &o);
		assert_true(o.true_peak == 410 * MIB);
		assert_true(o.peak.bytes == o.true_peak && !o.peak.is_floor);
		assert_true(o.peak.floor_bytes <= o.true_peak);
	}
}

static void each_process_has_its_own_peak(void **state)
{
	struct outcome o;

	(void) state;
	sim_has_job = sim_job_counts = true;
	sim_reset(1);
	start_three(sim_now_ns);
	follow(sim_now_ns + 8 * TRK_NS_PER_S, true, &o);
	assert_int_equal(o.tops, 3);
	for (size_t i = 0; i < o.tops; i++)
		assert_true(o.top[i].peak_bytes ==
			    sim_peak_bytes(&sim[o.top[i].pid - SIM_FIRST_PID], sim_now_ns));
}

static void a_build_holds_what_is_told(void **state)
{
	struct outcome o;

	(void) state;
	sim_has_job = sim_job_counts = true;
	for (size_t m = 0; m < 4; m++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			build(seed, medians_ms[m], true, &o);
			assert_true(o.peak.bytes <= o.true_peak);
			assert_true((double) o.peak.bytes >= 0.75 * (double) o.true_peak);
			assert_true(o.peak.floor_bytes <= o.true_peak);
		}
}

/* ---- who belongs to the job ---- */

/* Neither a process of another job, older or younger, nor what it starts. */
static void a_stranger_is_no_member(void **state)
{
	uint64_t start;
	struct outcome o;

	(void) state;
	for (int kind = 0; kind < 3; kind++) {
		sim_has_job = kind < 2;
		sim_job_counts = kind == 0;
		sim_reset(1);
		start = sim_now_ns;
		(void) sim_start(-1, start, start + 9 * TRK_NS_PER_S, 0.5);
		(void) sim_start(-1, 0, start + 9 * TRK_NS_PER_S, 1);
		(void) sim_start(-1, start + 1500 * TRK_NS_PER_MS, start + 9 * TRK_NS_PER_S, 1);
		(void) sim_start(2, start + 2500 * TRK_NS_PER_MS, start + 9 * TRK_NS_PER_S, 1);
		sim[1].is_stranger = sim[2].is_stranger = true;
		sim[3].bytes = 500 * MIB;
		follow(start + 8 * TRK_NS_PER_S, kind < 2, &o);
		assert_true(o.told <= o.truth && o.told >= 0.99 * o.truth);
		assert_true(o.peak.bytes == o.true_peak);
		assert_int_equal(o.state.peak_processes, 1);
		assert_int_equal(o.state.outside_of_job, 0);
	}
}

/* What Windows starts outside of the job object, for a member, counts until its last look. */
static void a_child_outside_of_the_job_object_is_charged_once(void **state)
{
	uint64_t start;
	struct outcome o;
	int outside;

	(void) state;
	sim_has_job = sim_job_counts = true;
	sim_reset(1);
	start = sim_now_ns;
	(void) sim_start(-1, start, start + 9 * TRK_NS_PER_S, 0.5);
	(void) sim_start(0, start + 300 * TRK_NS_PER_MS, start + 9 * TRK_NS_PER_S, 0.8);
	outside = sim_start(0, start + 1500 * TRK_NS_PER_MS, start + 6500 * TRK_NS_PER_MS, 1);
	(void) sim_start(outside, start + 2500 * TRK_NS_PER_MS, start + 5500 * TRK_NS_PER_MS, 1);
	sim[outside].is_outside = true;
	sim[outside].bytes = 200 * MIB;
	for (uint64_t s = 0; s < 8; s++) /* seen by the job object alone */
		(void) sim_start(0, start + s * TRK_NS_PER_S + 200 * TRK_NS_PER_MS,
				 start + s * TRK_NS_PER_S + 900 * TRK_NS_PER_MS, 1);
	follow(start + 8 * TRK_NS_PER_S, true, &o);
	assert_int_equal(o.state.totals, TRK_TOTALS_KEPT);
	assert_int_equal(o.state.outside_of_job, 2);
	assert_true(o.told <= o.truth && o.told >= o.truth - 3.1); /* two looks each */
	assert_true(o.system <= 0.25 * o.truth && o.system >= 0.24 * o.told);
}

/* Every process of this build is in the job object, also one that ends after the list was read and
 * before the job object is asked. */
static void no_member_of_the_job_object_is_called_outside(void **state)
{
	struct outcome o;

	(void) state;
	sim_has_job = sim_job_counts = true;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		sim_reset(seed);
		sim_call_ns = 20 * TRK_NS_PER_MS;
		follow(sim_build(50 * TRK_NS_PER_MS, 30 * TRK_NS_PER_S, 0.01), true, &o);
		assert_int_equal(o.state.outside_of_job, 0);
	}
}

/* ---- pids that are used again ---- */

static void a_process_with_the_pid_of_a_member_is_none(void **state)
{
	uint64_t start;
	struct outcome o;
	int child, other;

	(void) state;
	sim_has_job = sim_job_counts = false;
	sim_reset(1);
	start = sim_now_ns;
	(void) sim_start(-1, start, start + 5 * TRK_NS_PER_S, 0.1);
	child = sim_start(0, start, start + 1500 * TRK_NS_PER_MS, 0.5);
	other = sim_start(-1, start + 1600 * TRK_NS_PER_MS, start + 5 * TRK_NS_PER_S, 1);
	sim_reuse_pid(other, child);
	follow(start + 4 * TRK_NS_PER_S, false, &o);
	o.truth -= (double) sim_own_ns(&sim[other], sim_now_ns) / 1e9;
	assert_true(o.told <= o.truth && o.told >= 0.7 * o.truth);
}

/* Windows goes on to name the pid of a parent that has ended. */
static void a_process_older_than_its_parent_is_no_child(void **state)
{
	uint64_t start;
	struct outcome o;
	int other, ended, left, member;

	(void) state;
	sim_has_job = sim_job_counts = false;
	sim_reset(1);
	start = sim_now_ns;
	(void) sim_start(-1, start, start + 5 * TRK_NS_PER_S, 0.1);
	other = sim_start(-1, 0, start + 5 * TRK_NS_PER_S, 0);
	ended = sim_start(other, 0, start - 1, 0);
	left = sim_start(ended, 0, start + 5 * TRK_NS_PER_S, 1);
	member = sim_start(0, start + 500 * TRK_NS_PER_MS, start + 5 * TRK_NS_PER_S, 0.5);
	sim_reuse_pid(member, ended);
	follow(start + 4 * TRK_NS_PER_S, false, &o);
	o.truth -= (double) sim_own_ns(&sim[left], sim_now_ns) / 1e9;
	assert_true(o.told <= o.truth && o.told >= 0.99 * o.truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_object_tells_all),
		cmocka_unit_test(a_job_object_that_counts_nothing_is_noticed),
		cmocka_unit_test(what_is_attached_to_is_summed_with_its_dead),
		cmocka_unit_test(a_handle_keeps_what_was_used_after_the_last_look),
		cmocka_unit_test(a_job_that_only_sleeps_is_no_fault),
		cmocka_unit_test(the_peak_is_the_largest_sum_also_of_the_dead),
		cmocka_unit_test(each_process_has_its_own_peak),
		cmocka_unit_test(a_build_holds_what_is_told),
		cmocka_unit_test(a_stranger_is_no_member),
		cmocka_unit_test(a_child_outside_of_the_job_object_is_charged_once),
		cmocka_unit_test(no_member_of_the_job_object_is_called_outside),
		cmocka_unit_test(a_process_with_the_pid_of_a_member_is_none),
		cmocka_unit_test(a_process_older_than_its_parent_is_no_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
