/* Swap, huge pages and pages of files of a tree whose members' files say what they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "probe/tree/private.h"
#include "scratch.h"

#define MIB (UINT64_C(1) << 20)

enum { MEMBERS = 3, FIRST_PID = 11 };

static char root[64];
static struct trk_env env;
static struct process member[MEMBERS];
static struct trk_tree tree;

static uint64_t no_time(void)
{
	return 0;
}

static void put_status(int i, unsigned int swap_mib, unsigned int huge_mib)
{
	char path[64], text[256];

	(void) snprintf(path, sizeof(path), "proc/%d/status", FIRST_PID + i);
	(void) snprintf(text, sizeof(text),
			"Name:\tx\nVmHWM:\t8 kB\nVmRSS:\t8 kB\nVmSwap:\t%u kB\n"
			"HugetlbPages:\t%u kB\nThreads:\t1\n",
			swap_mib * 1024, huge_mib * 1024);
	put_below(root, path, text);
	member[i].clock_ns++; /* it ran */
}

static int begin(void **state)
{
	(void) state;
	(void) snprintf(root, sizeof(root), "/tmp/trk-outside.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	put_below(root, "proc/meminfo", "MemTotal: 1 kB\n");
	put_below(root, "sys/fs/cgroup/x", "");
	if (trk__env_init_at(&env, root) < 0)
		return -1;
	env.thread_cpu_ns = no_time;
	tree = (struct trk_tree){.env = env, .process = member, .count = MEMBERS};
	tree.outside_budget.credit_ns = 1e9;
	for (int i = 0; i < MEMBERS; i++) {
		member[i] = (struct process){.pid = FIRST_PID + i};
		put_status(i, 0, 0);
	}
	return 0;
}

static int end(void **state)
{
	char command[96];

	(void) state;
	trk__env_release(&env);
	(void) snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void assert_between(const struct trk_tree_outside *is, uint64_t least, uint64_t best,
			   uint64_t most)
{
	assert_true(is->is_known);
	assert_int_equal(is->least / MIB, least);
	assert_int_equal(is->best / MIB, best);
	assert_int_equal(is->most / MIB, most);
}

static void a_machine_that_uses_neither_needs_no_reading(void **state)
{
	put_status(0, 50, 50); /* would be found */
	trk__tree_look_outside(&tree, 0, 0);
	assert_between(&tree.state.swap, 0, 0, 0);
	assert_between(&tree.state.huge, 0, 0, 0);
	assert_false(member[0].has_outside);
}

static void programs_of_their_own_add_up_in_swap_and_may_share_huge_pages(void **state)
{
	put_status(0, 30, 40);
	put_status(1, 20, 40);
	trk__tree_look_outside(&tree, 500 * MIB, 500 * MIB);
	assert_between(&tree.state.swap, 50, 50, 50);
	assert_between(&tree.state.huge, 40, 80, 80);
}

static void forks_may_share_what_is_swapped_out(void **state)
{
	for (int i = 0; i < MEMBERS; i++) {
		member[i].shares = i > 0;
		put_status(i, 30, 0);
	}
	trk__tree_look_outside(&tree, 500 * MIB, 0);
	assert_between(&tree.state.swap, 60, 90, 90);
	for (int i = 1; i < MEMBERS; i++) { /* by smaps_rollup */
		member[i].has_swap_share = true;
		member[i].swap_share = 0.75;
	}
	trk__tree_look_outside(&tree, 500 * MIB, 0);
	assert_between(&tree.state.swap, 60, 75, 90);
}

static void no_more_is_held_than_the_machine_has_in_use(void **state)
{
	for (int i = 0; i < MEMBERS; i++)
		put_status(i, 30, 30);
	trk__tree_look_outside(&tree, 70 * MIB, 45 * MIB);
	assert_between(&tree.state.swap, 70, 70, 70);
	assert_between(&tree.state.huge, 30, 45, 45);
}

static void a_member_that_sleeps_is_read_again_when_the_machine_swaps(void **state)
{
	trk__tree_look_outside(&tree, 100 * MIB, 0);
	put_status(0, 30, 0);
	member[0].clock_ns--; /* it sleeps, and is swapped out */
	trk__tree_look_outside(&tree, 100 * MIB, 0);
	assert_between(&tree.state.swap, 0, 0, 0);
	trk__tree_look_outside(&tree, 130 * MIB, 0);
	assert_between(&tree.state.swap, 30, 30, 30);
}

static void a_member_that_ended_holds_nothing(void **state)
{
	put_status(0, 30, 30);
	trk__tree_look_outside(&tree, 100 * MIB, 100 * MIB);
	member[0].zombie = true;
	trk__tree_look_outside(&tree, 100 * MIB, 100 * MIB);
	assert_between(&tree.state.swap, 0, 0, 0);
	assert_between(&tree.state.huge, 0, 0, 0);
}

static void without_budget_the_figures_are_not_known(void **state)
{
	put_status(0, 30, 0);
	tree.outside_budget.credit_ns = 100;
	trk__tree_look_outside(&tree, 100 * MIB, 0);
	assert_false(tree.state.swap.is_known || tree.state.huge.is_known);
	tree.outside_budget.credit_ns = 1e9;
	trk__tree_look_outside(&tree, 100 * MIB, 0);
	assert_between(&tree.state.swap, 30, 30, 30);
}

static void only_unchanged_pages_of_files_can_be_dropped(void **state)
{
	struct trk_pid_smaps s = {.pss_file_bytes = 300 * MIB,
				  .pss_shmem_bytes = 60 * MIB,
				  .anon_bytes = 50 * MIB,
				  .dirty_bytes = (50 + 60 + 40) * MIB};

	tree.mapped = (struct amount){.best = 500 * MIB};
	for (int i = 0; i < 2; i++) { /* two map the same */
		member[i].read_update = 1;
		member[i].mapped_bytes = 720 * MIB;
		member[i].share = 0.5;
		member[i].round_mapped = 360 * MIB;
	}
	trk__files_take(&member[0], &s);
	assert_int_equal((trk__tree_file_bytes(&tree) + MIB / 2) / MIB, 300 - 40);
	member[0].mapped_bytes /= 2; /* it has unmapped half since */
	assert_int_equal((trk__tree_file_bytes(&tree) + MIB / 2) / MIB, 130);
	member[0].mapped_bytes *= 2;
	trk__files_take(&member[1], &s);
	assert_int_equal(trk__tree_file_bytes(&tree) / MIB, 500); /* no more than is mapped */
	member[0].read_update = member[1].read_update = 0;        /* unknown: nothing is claimed */
	assert_int_equal(trk__tree_file_bytes(&tree), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(a_machine_that_uses_neither_needs_no_reading),
		CASE(programs_of_their_own_add_up_in_swap_and_may_share_huge_pages),
		CASE(forks_may_share_what_is_swapped_out),
		CASE(no_more_is_held_than_the_machine_has_in_use),
		CASE(a_member_that_sleeps_is_read_again_when_the_machine_swaps),
		CASE(a_member_that_ended_holds_nothing),
		CASE(without_budget_the_figures_are_not_known),
		CASE(only_unchanged_pages_of_files_can_be_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
