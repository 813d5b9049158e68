/* The perf clock and the ledger: the arithmetic, a sampler and the totals, with clocks that the
 * test sets. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "machine.h"
#include "probe/tree/private.h"
#include "track/finish.h"
#include "sample/cpu_clocks.h"
#include "skip.h"

/* What the test itself uses is the root's own time. */
#define OWN_NS (300 * MS)

/* ---- the arithmetic ---- */

static void the_estimate_leaves_out_the_part_of_steal_that_fell_to_the_job(void **state)
{
	struct trk_cpu_clocks c = {.ledger_ns = 1 * S,
				   .perf_ns = 4 * S,
				   .knows_stolen = true,
				   .stolen_ns = 2 * S,
				   .machine_ns = 16 * S};

	/* A quarter of what kept the machine busy was the job's. */
	assert_int_equal(trk__cpu_clocks_stolen(&c), 500 * MS);
	assert_int_equal(trk__cpu_clocks_estimate(&c), 3500 * MS);
	/* All of it, where nothing else ran. /proc/stat counts ticks and may have a little less. */
	c.machine_ns = 4 * S - 10 * MS;
	assert_int_equal(trk__cpu_clocks_estimate(&c), 2 * S);
	c.stolen_ns = 0;
	assert_int_equal(trk__cpu_clocks_estimate(&c), 4 * S);
}

static void the_estimate_is_never_below_the_ledger(void **state)
{
	struct trk_cpu_clocks c = {.ledger_ns = 3 * S,
				   .perf_ns = 3100 * MS,
				   .knows_stolen = true,
				   .stolen_ns = 200 * MS,
				   .machine_ns = 3 * S};

	assert_int_equal(trk__cpu_clocks_estimate(&c), 3 * S);
	c.stolen_ns = 20 * S; /* of many other processors */
	c.machine_ns = 64 * S;
	assert_int_equal(trk__cpu_clocks_estimate(&c), 3 * S);
	c.perf_ns = 1 * S; /* it is low for processes that sleep often */
	assert_int_equal(trk__cpu_clocks_estimate(&c), 3 * S);
}

static void without_the_machines_steal_the_perf_clock_counts_for_nothing(void **state)
{
	struct trk_cpu_clocks c = {.ledger_ns = 1 * S, .perf_ns = 4 * S};

	assert_int_equal(trk__cpu_clocks_estimate(&c), 1 * S);
}

/* A step in which the perf clock of the descendants ran perf_ms, and their ledger ledger_ms. */
static void step(struct trk_cpu_clocks *c, uint64_t perf_ms, uint64_t ledger_ms, bool unseen)
{
	c->perf_ns += perf_ms * MS;
	c->ledger_ns += ledger_ms * MS;
	trk__cpu_clocks_step(c, unseen);
}

static void a_surplus_counts_only_where_processes_may_have_come_unseen(void **state)
{
	struct trk_cpu_clocks c = {.ledger_ns = 0};

	step(&c, 1200, 1000, false); /* dd, which fills the page cache */
	assert_false(trk__cpu_clocks_disagree(&c));
	step(&c, 1200, 1000, true);
	assert_true(trk__cpu_clocks_disagree(&c));
	assert_int_equal(c.surplus_ns, 200 * MS);
}

static void a_surplus_goes_when_the_children_are_waited_for(void **state)
{
	struct trk_cpu_clocks c = {.ledger_ns = 0};

	step(&c, 900, 100, true);
	assert_true(trk__cpu_clocks_disagree(&c));
	step(&c, 0, 800, false);
	assert_false(trk__cpu_clocks_disagree(&c));
	assert_int_equal(c.surplus_ns, 0);
	step(&c, 0, 800, true); /* what the perf clock misses is no credit for later */
	step(&c, 150, 0, true);
	assert_true(trk__cpu_clocks_disagree(&c));
}

static void two_clocks_may_differ_by_three_percent_and_a_few_ticks(void **state)
{
	struct trk_cpu_clocks c = {.ledger_ns = 0};

	step(&c, 20, 0, true);
	assert_false(trk__cpu_clocks_disagree(&c));
	step(&c, 1025, 1000, true);
	assert_false(trk__cpu_clocks_disagree(&c));
	step(&c, 10, 0, true);
	assert_true(trk__cpu_clocks_disagree(&c));
}

static void what_the_first_process_did_is_left_out_of_the_surplus(void **state)
{
	struct trk_cpu_clocks c = {.knows_root = true};

	c.root_perf_ns = 2400 * MS;
	c.root_ns = 2000 * MS;
	step(&c, 2500, 2100, true);
	assert_int_equal(c.surplus_ns, 0);
	assert_false(trk__cpu_clocks_disagree(&c));
	/* Of a small child 3 % is little, however much the first process used. */
	step(&c, 50, 0, true);
	assert_true(trk__cpu_clocks_disagree(&c));
}

static void equal_clocks_prove_that_there_was_no_descendant(void **state)
{
	struct trk_cpu_clocks c = {.perf_ns = 2400 * MS,
				   .root_perf_ns = 2400 * MS,
				   .ledger_ns = 2 * S,
				   .root_ns = 2 * S};

	assert_false(trk__cpu_clocks_childless(&c));
	c.knows_root = true;
	assert_true(trk__cpu_clocks_childless(&c));
	c.surplus_ns = S;
	assert_false(trk__cpu_clocks_disagree(&c));
	c.perf_ns++;
	assert_false(trk__cpu_clocks_childless(&c));
	assert_true(trk__cpu_clocks_disagree(&c));
	/* The kernel took the clocks away at a set-user-ID program. */
	c.perf_ns = c.root_perf_ns = 100 * MS;
	assert_false(trk__cpu_clocks_childless(&c));
}

/* ---- a sampler ---- */

/* A machine with one process, the test itself: what its children used, the signals it ignores,
 * the perf clock and the machine's times are what the test says. */
struct job {
	struct machine m;
	struct trk_tree_options tree;
	char stat[64];
	int perf[2], root_perf[2];
};

static void set_process(struct job *j, double user_s, double system_s, unsigned int ignored)
{
	char text[512];
	double hz = (double) j->m.hz;

	(void) snprintf(text, sizeof(text),
			"%d (job) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 %.0f %.0f 20 0 1 0 "
			"18446744073709551 0 300 18446744073709551615 1 1 0 0 0 0 0 %u 0 0 0 0 17 "
			"0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
			(int) getpid(), user_s * hz, system_s * hz, ignored);
	live_write(&j->m.live, j->stat, text);
}

static void set_machine(struct job *j, double busy_s, double steal_s)
{
	char text[128];
	double hz = (double) j->m.hz;

	(void) snprintf(text, sizeof(text), "cpu  %.0f 0 0 1000 0 0 0 %.0f 0 0\ncpu0 1 1 1 1\n",
			busy_s * hz, steal_s * hz);
	live_write(&j->m.live, "stat", text);
}

/* The pid that was given out last. */
static void set_newest_pid(struct job *j, int pid)
{
	char text[64];

	(void) snprintf(text, sizeof(text), "0.00 0.00 0.00 1/100 %d\n", pid);
	live_write(&j->m.live, "loadavg", text);
}

static void job_init(struct job *j, bool no_system)
{
	struct trk_tree *tree;
	struct trk_sampler_options options = {.tree = &j->tree, .no_system = no_system};
	int error = 0;

	SKIP_UNDER_VALGRIND("its own CPU time is part of the process");
	*j = (struct job){.tree = {.root = getpid(), .subreaper = true}};
	machine_init(&j->m);
	(void) snprintf(j->stat, sizeof(j->stat), "%d", (int) getpid());
	assert_int_equal(mkdirat(j->m.live.env.proc_fd, j->stat, 0700), 0);
	(void) snprintf(j->stat, sizeof(j->stat), "%d/stat", (int) getpid());
	set_process(j, 0, 0, 0);
	set_machine(j, 100, 50);
	assert_int_equal(pipe2(j->perf, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(pipe2(j->root_perf, O_CLOEXEC | O_NONBLOCK), 0);
	options.perf_fd = j->perf[0];
	options.root_perf_fd = j->root_perf[0];
	j->m.sampler = trk__sampler_new(&j->m.live.env, &options, &error);
	assert_non_null(j->m.sampler);
	set_newest_pid(j, getpid());
	tree = trk__sampler_tree(j->m.sampler);
	tree->newest_pid = tree->explained_pid = tree->last_pid = getpid();
	tree->loadavg_fd = openat(j->m.live.env.proc_fd, "loadavg", O_RDONLY | O_CLOEXEC);
}

static void job_release(struct job *j)
{
	trk__close(j->perf[0]);
	trk__close(j->perf[1]);
	trk__close(j->root_perf[0]);
	trk__close(j->root_perf[1]);
	(void) unlinkat(j->m.live.env.proc_fd, j->stat, 0);
	*strchr(j->stat, '/') = '\0';
	(void) unlinkat(j->m.live.env.proc_fd, j->stat, AT_REMOVEDIR);
	machine_release(&j->m);
}

/* Both clocks: of the whole job, and of its first process. */
static const struct trk_tree_state *tick_with_clocks(struct job *j, uint64_t perf_ns,
						     uint64_t root_perf_ns)
{
	assert_int_equal(write(j->perf[1], &perf_ns, sizeof(perf_ns)), sizeof(perf_ns));
	assert_int_equal(write(j->root_perf[1], &root_perf_ns, sizeof(root_perf_ns)),
			 sizeof(root_perf_ns));
	tick_after(&j->m, 10 * S);
	return trk__tree_state(trk__sampler_tree(j->m.sampler));
}

static const struct trk_tree_state *tick_with_perf(struct job *j, uint64_t perf_ns)
{
	return tick_with_clocks(j, perf_ns, 0);
}

static void assert_near(uint64_t value_ns, uint64_t want_ns)
{
	if (value_ns < want_ns || value_ns > want_ns + OWN_NS)
		fail_msg("%.3f s, expected %.3f s", (double) value_ns / 1e9,
			 (double) want_ns / 1e9);
}

static void total_of(struct job *j, struct trk_record *record)
{
	struct trk_finish finish = {.group_is_own = false};

	assert_int_equal(trk__record_init(record), 0);
	(void) snprintf(record->run.kind, sizeof(record->run.kind), "run");
	trk__total_cpu(&finish, j->m.sampler, record);
}

static void stolen_time_is_no_cpu_time_of_the_job(void **state)
{
	const struct trk_tree_state *s;
	struct trk_quantity *total;
	struct trk_record record;
	struct job j;

	job_init(&j, false);
	set_process(&j, 1, 3, 1u << (SIGPIPE - 1));
	set_machine(&j, 105, 50);
	s = tick_with_perf(&j, 4800 * MS); /* 20 % more, and none of it shown as steal */
	assert_null(trk__tree_dropped(s));
	assert_near(s->counter[TRK_TREE_CPU], 4 * S);
	assert_near(s->counter[TRK_TREE_CPU_SYSTEM], 3 * S);
	assert_int_equal(s->raised_cpu_ns, 0);
	total_of(&j, &record);
	total = &record.outcome.total[TRK_TOTAL_CPU_S];
	assert_int_equal(total->quality, TRK_QUALITY_EXACT);
	assert_string_equal(total->source, "process tree and wait4");
	assert_string_equal(total->reason, "");
	trk__record_release(&record);
	job_release(&j);
}

static void a_parent_that_ignores_sigchld(bool no_system)
{
	const struct trk_tree_state *s;
	struct trk_quantity *total;
	struct trk_record record;
	struct job j;

	job_init(&j, no_system);
	set_process(&j, 1, 3, 1u << (SIGCHLD - 1));
	set_machine(&j, 119, 51); /* 20 s with the steal */
	s = tick_with_perf(&j, 10 * S);
	assert_string_equal(trk__tree_dropped(s), "a process of the job ignores SIGCHLD");
	assert_true(s->counter[TRK_TREE_CPU] == 9500 * MS);
	/* Three quarters of what is known, less what the test itself used. */
	assert_true(s->counter[TRK_TREE_CPU_SYSTEM] <= 7125 * MS);
	assert_true(s->counter[TRK_TREE_CPU_SYSTEM] >= 6600 * MS);
	total_of(&j, &record);
	total = record.outcome.total;
	assert_int_equal(total[TRK_TOTAL_CPU_S].quality, TRK_QUALITY_ESTIMATED);
	assert_string_equal(total[TRK_TOTAL_CPU_S].source, "perf task-clock less stolen time");
	assert_string_equal(total[TRK_TOTAL_CPU_S].reason,
			    "a process of the job ignores SIGCHLD; the perf clock has 10.00 s, of "
			    "which steal and interrupts may have taken up to 1.00 s");
	assert_int_equal(total[TRK_TOTAL_CPU_USER_S].quality, TRK_QUALITY_ESTIMATED);
	assert_true(total[TRK_TOTAL_CPU_USER_S].value + total[TRK_TOTAL_CPU_SYSTEM_S].value ==
		    total[TRK_TOTAL_CPU_S].value);
	trk__record_release(&record);
	job_release(&j);
}

static void dropped_children_count_less_the_stolen_time(void **state)
{
	a_parent_that_ignores_sigchld(false);
	a_parent_that_ignores_sigchld(true);
}

static void every_evidence_counts(void **state)
{
	const struct trk_tree_state *s;
	struct job j;

	job_init(&j, false);
	set_process(&j, 2, 2, 0);
	trk__sampler_tree(j.m.sampler)->state.dropped_faults = 15;
	s = tick_with_perf(&j, 8 * S);
	assert_null(trk__tree_dropped(s));
	assert_near(s->counter[TRK_TREE_CPU], 4 * S);
	trk__sampler_tree(j.m.sampler)->state.dropped_faults++;
	s = tick_with_perf(&j, 8 * S);
	assert_string_equal(trk__tree_dropped(s), "children ended that no parent waited for");
	assert_true(s->counter[TRK_TREE_CPU] == 8 * S);
	job_release(&j);

	job_init(&j, false);
	set_process(&j, 2, 2, 0);
	trk__tree_lost(trk__sampler_tree(j.m.sampler));
	s = tick_with_perf(&j, 8 * S);
	assert_string_equal(trk__tree_dropped(s),
			    "another part of the tracker's process reaped the job");
	assert_true(s->counter[TRK_TREE_CPU] == 8 * S);
	job_release(&j);
}

static void what_comes_to_light_late_is_no_more_than_the_processors_can_do(void **state)
{
	double cores = (double) sysconf(_SC_NPROCESSORS_ONLN);
	const struct trk_tree_state *s;
	struct job j;

	job_init(&j, false);
	set_process(&j, 0, 0, 1u << (SIGCHLD - 1));
	(void) tick_with_perf(&j, 0);
	s = tick_with_perf(&j, 1000 * (uint64_t) cores * S);
	assert_true(value(&j.m, TRK_PROCESS_CPU_USAGE) <= cores);
	assert_near(s->counter[TRK_TREE_CPU], 10 * (uint64_t) cores * S);
	trk__sampler_force_full(j.m.sampler);
	s = tick_with_perf(&j, 1000 * (uint64_t) cores * S);
	assert_true(s->counter[TRK_TREE_CPU] == 1000 * (uint64_t) cores * S);
	job_release(&j);
}

static void a_dropped_child_that_the_perf_clock_does_not_show_makes_a_floor(void **state)
{
	struct trk_quantity *total;
	struct trk_record record;
	struct job j;

	job_init(&j, false);
	set_process(&j, 2, 2, 1u << (SIGCHLD - 1));
	(void) tick_with_perf(&j, 3 * S);
	total_of(&j, &record);
	total = &record.outcome.total[TRK_TOTAL_CPU_S];
	assert_int_equal(total->quality, TRK_QUALITY_AT_LEAST);
	assert_string_equal(
		total->reason,
		"a process of the job ignores SIGCHLD; the perf clock shows no more CPU time");
	trk__record_release(&record);
	job_release(&j);
}

static void more_on_the_perf_clock_is_said_and_not_counted(void **state)
{
	struct trk_quantity *total;
	struct trk_record record;
	struct job j;

	job_init(&j, false);
	set_process(&j, 2, 2, 0);
	set_newest_pid(&j, getpid() + 3);
	assert_near(tick_with_perf(&j, 5 * S)->counter[TRK_TREE_CPU], 4 * S);
	total_of(&j, &record);
	total = &record.outcome.total[TRK_TOTAL_CPU_S];
	assert_int_equal(total->quality, TRK_QUALITY_AT_LEAST);
	assert_non_null(strstr(total->reason, "the perf clock has 5.00 s"));
	assert_non_null(strstr(total->reason, "went unseen"));
	assert_true(total->value < 4.5);
	trk__record_release(&record);
	job_release(&j);
}

/* The same clocks, and a process that used all of the time itself. */
static void a_job_without_descendants_is_exact_whatever_the_perf_clock_has(void **state)
{
	struct trk_record record;
	struct job j;

	job_init(&j, false);
	set_newest_pid(&j, getpid() + 3);
	(void) tick_with_clocks(&j, 9 * S, 9 * S);
	total_of(&j, &record);
	assert_int_equal(record.outcome.total[TRK_TOTAL_CPU_S].quality, TRK_QUALITY_EXACT);
	trk__record_release(&record);
	job_release(&j);
}

static void without_a_perf_clock_the_pids_decide(void **state)
{
	const struct trk_quantity *total;
	struct trk_record record;
	struct job j;

	job_init(&j, false);
	set_process(&j, 2, 2, 0);
	tick_after(&j.m, 10 * S);
	total_of(&j, &record);
	total = &record.outcome.total[TRK_TOTAL_CPU_S];
	assert_int_equal(total->quality, TRK_QUALITY_EXACT);
	trk__record_release(&record);
	set_newest_pid(&j, getpid() + 1);
	tick_after(&j.m, 10 * S);
	total_of(&j, &record);
	total = &record.outcome.total[TRK_TOTAL_CPU_S];
	assert_int_equal(total->quality, TRK_QUALITY_AT_LEAST);
	assert_non_null(strstr(total->reason, "no perf counter"));
	trk__record_release(&record);
	job_release(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_estimate_leaves_out_the_part_of_steal_that_fell_to_the_job),
		cmocka_unit_test(the_estimate_is_never_below_the_ledger),
		cmocka_unit_test(without_the_machines_steal_the_perf_clock_counts_for_nothing),
		cmocka_unit_test(a_surplus_counts_only_where_processes_may_have_come_unseen),
		cmocka_unit_test(a_surplus_goes_when_the_children_are_waited_for),
		cmocka_unit_test(two_clocks_may_differ_by_three_percent_and_a_few_ticks),
		cmocka_unit_test(what_the_first_process_did_is_left_out_of_the_surplus),
		cmocka_unit_test(equal_clocks_prove_that_there_was_no_descendant),
		cmocka_unit_test(stolen_time_is_no_cpu_time_of_the_job),
		cmocka_unit_test(dropped_children_count_less_the_stolen_time),
		cmocka_unit_test(every_evidence_counts),
		cmocka_unit_test(what_comes_to_light_late_is_no_more_than_the_processors_can_do),
		cmocka_unit_test(a_dropped_child_that_the_perf_clock_does_not_show_makes_a_floor),
		cmocka_unit_test(a_job_without_descendants_is_exact_whatever_the_perf_clock_has),
		cmocka_unit_test(without_a_perf_clock_the_pids_decide),
		cmocka_unit_test(more_on_the_perf_clock_is_said_and_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
