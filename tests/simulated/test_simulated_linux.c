/* The process tree for Linux on the simulated kernel. Its totals are exact up to the kernel's
 * ticks, including orphans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kernel.h"
#include "probe/tree/tree.h"

enum { SEEDS = 2 };

static uint64_t now(void)
{
	return sim_now_ns;
}

/* The tracker waits for its children when they end. */
static void wait_until(struct trk_tree *t, uint64_t until_ns)
{
	const uint64_t step_ns = TRK_NS_PER_MS;
	const struct sim_process *p;

	while (sim_now_ns < until_ns) {
		sim_advance(sim_now_ns + step_ns < until_ns ? sim_now_ns + step_ns : until_ns);
		while ((p = sim_next_ended())) {
			uint64_t used = sim_own_ns(p, p->end_ns) + sim_inherited_ns(p, p->end_ns);
			struct trk_usage usage = {
				.user_ns = used - used / 4,
				.system_ns = used / 4,
				.minor_faults = sim_faults(used),
			};

			trk__tree_reaped(t, p->pid, &usage);
		}
	}
}

/* Returns what is told, s; *ret_truth likewise. */
static double build(uint64_t seed, uint64_t median_ns, double orphans, double *ret_truth)
{
	struct trk_tree_options options = {.root = SIM_FIRST_PID,
					   .subreaper = true,
					   .self = SIM_TRACKER,
					   .figures_only = true};
	struct trk_env env = {-1, -1, -1, now, now, now, now};
	const struct trk_tree_state *state = NULL;
	struct trk_tree *t;
	uint64_t end;
	double told;
	int r = 0;

	sim_reset(seed);
	sim_call_ns = 20000;
	end = sim_build(median_ns, 20 * TRK_NS_PER_S, orphans);
	env.proc_fd = sim_files_open();
	t = trk__tree_new(&env, &options, &r);
	assert_non_null(t);
	while (sim_now_ns < end) {
		sim_files_write();
		trk__tree_update(t, &state);
		assert_true(state->counter[TRK_TREE_CPU] <= sim_truth_ns());
		wait_until(t, sim_now_ns + TRK_NS_PER_S < end ? sim_now_ns + TRK_NS_PER_S : end);
	}
	wait_until(t, end + 60 * TRK_NS_PER_S); /* until the last orphan has ended */
	sim_files_write();
	trk__tree_close_accounts(t);
	trk__tree_update(t, &state);
	assert_null(trk__tree_dropped(state));
	told = (double) state->counter[TRK_TREE_CPU] / 1e9;
	*ret_truth = (double) sim_truth_ns() / 1e9;
	trk__tree_free(t);
	sim_files_close();
	return told;
}

static void the_whole_job_is_told(void **state)
{
	static const uint64_t medians[] = {10, 50, 500};
	double truth, told;

	for (size_t m = 0; m < 3; m++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			told = build(seed, medians[m] * TRK_NS_PER_MS, 0.01, &truth);
			print_message("# tasks of %d ms: %.3f of %.3f s\n", (int) medians[m], told,
				      truth);
			assert_true(told <= truth);
			assert_true(told >= 0.999 * truth);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_job_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
