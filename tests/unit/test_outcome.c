/* The end of a run: out-of-memory kills of the job, and those of a neighbour. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "recording/death.h"
#include "track/outcome.h"
#include "scratch.h"

/* As of waitpid(2). */
#define EXITED(code) ((code) << 8)
#define KILLED_BY_9  9
#define FULL_MIB     100.0

enum { JOB = 42 };

static struct trk_outcome outcome;

static const struct trk_outcome *judge(const struct trk_outcome_facts *f)
{
	memset(&outcome, 0, sizeof(outcome));
	trk__outcome_judge(f, &outcome);
	return &outcome;
}

/* A job that held 95 MiB, alone in a group of 100 MiB, and one kill as it ended. */
static struct trk_outcome_facts killed_job(int status)
{
	return (struct trk_outcome_facts){
		.reaped = true,
		.wait_status = status,
		.kills = {.in_group = 1, .member_ended = true, .at_end = true},
		.is_alone = true,
		.limit_is_own = true,
		.held_mib = 95,
		.limit_mib = FULL_MIB,
	};
}

/* A job of 3 MiB, with others in its group of which one was killed. */
static struct trk_outcome_facts neighbour_killed(int status)
{
	struct trk_outcome_facts f = killed_job(status);

	f.is_alone = false;
	f.held_mib = 3;
	f.kills.at_end = false;
	return f;
}

static void a_job_that_the_kernel_killed_ran_out_of_memory(void **state)
{
	struct trk_outcome_facts f = killed_job(KILLED_BY_9);

	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
	assert_string_equal(outcome.evidence, "oom_kill of the job's control group rose by 1");
	assert_int_equal(outcome.code, 137);
	f = killed_job(EXITED(137));
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
	f = killed_job(EXITED(3));
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
}

static void a_job_that_ends_well_keeps_its_exit_code(void **state)
{
	struct trk_outcome_facts f = killed_job(EXITED(0));

	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
	assert_non_null(strstr(outcome.evidence, "yet the job ended well"));
}

/* A worker was killed at 31 s; the job ended minutes later. */
static void the_end_is_judged_from_the_end(void **state)
{
	struct trk_outcome_facts f = killed_job(EXITED(3));

	f.kills.at_end = false;
	f.kills.first_ns = f.kills.rose_ns = 31 * TRK_NS_PER_S;
	f.kills.over_ns = 40 * TRK_NS_PER_S;
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY); /* it failed because of that */
	assert_int_equal(outcome.memory_kills, 0);
	f.kills.over_ns = 300 * TRK_NS_PER_S;
	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
	assert_int_equal(outcome.memory_kills, 1);
	assert_int_equal(outcome.memory_kill_ms, 31000);
	f.wait_status = SIGTERM;
	assert_int_equal(judge(&f)->end, TRK_END_SIGNALLED);
	assert_int_equal(outcome.signal, SIGTERM);
	assert_int_equal(outcome.memory_kills, 1);
	assert_string_equal(outcome.evidence, "");
	f.wait_status = SIGSEGV;
	assert_int_equal(judge(&f)->end, TRK_END_SIGNALLED);
	f.wait_status = KILLED_BY_9;
	assert_int_equal(judge(&f)->end, TRK_END_SIGNALLED);
	assert_non_null(strstr(outcome.evidence, "killed from outside"));
	f.wait_status = EXITED(0);
	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
	assert_int_equal(outcome.memory_kills, 1);
}

static void the_kill_of_a_neighbour_is_not_the_end_of_a_small_job(void **state)
{
	struct trk_outcome_facts f = neighbour_killed(EXITED(1));

	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
	assert_int_equal(outcome.code, 1);
	assert_non_null(strstr(outcome.evidence, "another process in the job's control group"));
	assert_non_null(strstr(outcome.evidence, "held 3 of 100 MiB"));
	f = neighbour_killed(KILLED_BY_9);
	assert_int_equal(judge(&f)->end, TRK_END_SIGNALLED);
	f = neighbour_killed(EXITED(0));
	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
	assert_string_equal(outcome.evidence, "");
}

static void a_kill_while_no_process_of_the_job_ended_is_a_neighbours(void **state)
{
	struct trk_outcome_facts f = killed_job(EXITED(1));

	f.kills.member_ended = f.kills.at_end = false;
	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
	f.wait_status = KILLED_BY_9;
	assert_int_equal(judge(&f)->end, TRK_END_SIGNALLED);
}

static void a_small_job_in_its_own_full_group_was_not_the_largest(void **state)
{
	struct trk_outcome_facts f = killed_job(KILLED_BY_9);

	f.is_alone = false;
	f.held_mib = 3;
	assert_int_equal(judge(&f)->end, TRK_END_SIGNALLED);
	/* The limit of a group above is shared: a small job may be the largest there is in its
	 * own. */
	f.limit_is_own = false;
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
	f.limit_is_own = true;
	f.held_mib = NAN;
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
}

static void a_count_that_other_groups_share_proves_less(void **state)
{
	struct trk_outcome_facts f = killed_job(EXITED(1));

	f.kills.is_shared = true;
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
	f.held_mib = 30;
	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
}

static void a_kill_in_a_related_group_is_no_evidence(void **state)
{
	struct trk_outcome_facts f = neighbour_killed(EXITED(1));

	f.held_mib = 95;
	f.is_alone = true;
	f.kills = (struct trk_kills){.above = 1, .on_machine = 1, .above_path = "/batch"};
	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
	assert_string_equal(
		outcome.evidence,
		"the kernel killed a process in another group below /batch, out of memory");
	f.held_mib = 3;
	f.wait_status = KILLED_BY_9;
	assert_int_equal(judge(&f)->end, TRK_END_SIGNALLED);
	assert_non_null(strstr(outcome.evidence, "another group below /batch"));
}

static void a_kill_on_the_machine_counts_for_a_large_job_that_was_killed(void **state)
{
	struct trk_outcome_facts f = killed_job(KILLED_BY_9);

	f.kills = (struct trk_kills){.on_machine = 1};
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
	f.held_mib = 30;
	assert_int_equal(judge(&f)->end, TRK_END_SIGNALLED);
	assert_non_null(strstr(outcome.evidence, "no out-of-memory kill"));
}

static void a_kill_in_a_group_that_the_job_entered_must_fit_as_well(void **state)
{
	struct trk_outcome_facts f = killed_job(EXITED(7));

	f.kills = (struct trk_kills){.on_machine = 1};
	f.entered = "oom_kill of control group /b, which the job entered, is 1";
	f.entered_limit_mib = FULL_MIB;
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
	assert_string_equal(outcome.evidence, f.entered);
	f.held_mib = 30;
	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
	f.wait_status = KILLED_BY_9;
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
	f.held_mib = 3;
	assert_int_equal(judge(&f)->end, TRK_END_SIGNALLED);
}

static void a_process_that_was_attached_to_is_judged_by_its_group_and_size(void **state)
{
	struct trk_outcome_facts f = killed_job(0);

	f.reaped = false;
	f.is_alone = false;
	f.root_ended = true;
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
	f.held_mib = 3;
	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
	f.is_alone = true;
	assert_int_equal(judge(&f)->end, TRK_END_OUT_OF_MEMORY);
	f.kills.is_shared = true;
	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
	f.held_mib = 95;
	f.kills.at_end = false;
	assert_int_equal(judge(&f)->end, TRK_END_EXITED);
}

/* ---- the counts ---- */

static char scratch[64];
static struct trk_env env;
static struct trk_cgroup cg;

static void put(const char *path, const char *text)
{
	put_below(scratch, path, text);
}

static int begin_scratch(void **state)
{
	(void) snprintf(scratch, sizeof(scratch), "/tmp/test_end.XXXXXX");
	if (!mkdtemp(scratch))
		return -1;
	put("proc/42/cgroup", "0::/batch/job\n");
	put("proc/vmstat", "oom_kill 7\n");
	put("sys/fs/cgroup/cgroup.procs", "");
	put("sys/fs/cgroup/cgroup.controllers", "memory\n");
	put("sys/fs/cgroup/batch/memory.max", "104857600\n");
	put("sys/fs/cgroup/batch/memory.events", "oom_kill 5\n");
	put("sys/fs/cgroup/batch/job/cgroup.procs", "42\n");
	put("sys/fs/cgroup/batch/job/cgroup.events", "populated 1\n");
	return 0;
}

static void open_job(struct trk_kills *k)
{
	assert_int_equal(trk__env_init_at(&env, scratch), 0);
	assert_int_equal(trk__cgroup_open(&cg, &env, JOB), 0);
	trk__kills_begin(k, &env, &cg);
}

static int end_scratch(void **state)
{
	char command[128];

	trk__cgroup_release(&cg);
	trk__env_release(&env);
	(void) snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	return system(command);
}

static void kills_are_counted_from_the_start_and_dated(void **state)
{
	static const char events[] = "sys/fs/cgroup/batch/job/memory.events";
	struct trk_kills k;

	put(events, "oom_kill 2\n");
	open_job(&k);
	trk__kills_look(&k, &cg, 1 * TRK_NS_PER_S, 3, false);
	assert_int_equal(k.in_group, 0);
	put(events, "oom_kill 3\n");
	trk__kills_look(&k, &cg, 2 * TRK_NS_PER_S, 3, false);
	assert_int_equal(k.in_group, 1);
	assert_false(k.member_ended);
	/* The victim needs a moment to end. */
	trk__kills_look(&k, &cg, 3 * TRK_NS_PER_S, 4, false);
	assert_true(k.member_ended);
	assert_false(k.at_end);
	/* Long after. */
	trk__kills_look(&k, &cg, 9 * TRK_NS_PER_S, 5, true);
	assert_false(k.at_end);
	put("proc/vmstat", "oom_kill 9\n");
	put("sys/fs/cgroup/batch/memory.events", "oom_kill 6\n");
	trk__kills_end(&k, &env, &cg);
	assert_int_equal(k.above, 1);
	assert_string_equal(k.above_path, "/batch");
	assert_int_equal(k.on_machine, 2);
}

static void a_kill_that_ends_the_job_is_seen_at_the_end(void **state)
{
	struct trk_kills k;

	put("sys/fs/cgroup/batch/job/memory.events", "oom_kill 0\n");
	open_job(&k);
	trk__kills_look(&k, &cg, 1 * TRK_NS_PER_S, 0, false);
	put("sys/fs/cgroup/batch/job/memory.events", "oom_kill 1\n");
	trk__kills_look(&k, &cg, 2 * TRK_NS_PER_S, 1, true);
	assert_true(k.member_ended);
	assert_true(k.at_end);
}

static void without_the_controller_the_group_above_counts(void **state)
{
	struct trk_kills k;

	open_job(&k);
	assert_true(k.knows_group);
	assert_true(k.is_shared);
	put("sys/fs/cgroup/batch/memory.events", "oom_kill 6\n");
	trk__kills_look(&k, &cg, TRK_NS_PER_S, 1, false);
	assert_int_equal(k.in_group, 1);
}

/* ---- a recording without an end ---- */

static const char boot[] = "c0ffee00-0000-4000-8000-000000000001\n";

static void a_limit_is_the_end_also_if_its_job_could_not_be_ended(void **state)
{
	struct trk_outcome_facts f = killed_job(KILLED_BY_9);

	f.limit = TRK_END_TIMEOUT;
	f.limit_text = "too long; could not be ended: 7 (sh): stuck in the kernel";
	assert_int_equal(judge(&f)->end, TRK_END_TIMEOUT);
	assert_int_equal(outcome.signal, 9);
	f.reaped = false;
	f.lost = true;
	assert_int_equal(judge(&f)->end, TRK_END_TIMEOUT);
	assert_string_equal(outcome.evidence, f.limit_text);
	assert_int_equal(outcome.code, -1);
}

/* The last sample held so much of a limit of 100 MiB. */
static void explain(struct trk_record *record, double last_mib)
{
	record->outcome = (struct trk_outcome){.end = TRK_END_TRACKER_DIED, .code = -1};
	record->last_memory_mib = last_mib;
	trk__quantity_set(&record->run.limit[TRK_LIMIT_MEMORY_MIB], FULL_MIB, TRK_QUALITY_EXACT,
			  "memory.max", NULL);
	trk__death_explain(&env, record);
}

static void says(const struct trk_record *record, const char *part)
{
	if (!strstr(record->outcome.evidence, part))
		fail_msg("\"%s\" is not in \"%s\"", part, record->outcome.evidence);
}

static void a_tracker_that_was_killed_with_its_job_ran_out_of_memory(void **state)
{
	static const char events[] = "sys/fs/cgroup/batch/job/memory.events";
	static struct trk_record record;
	struct trk_kills unused;

	put("proc/sys/kernel/random/boot_id", boot);
	put(events, "oom_kill 2\n");
	open_job(&unused);
	trk__death_note(&env, &cg, &record.run.kills);
	explain(&record, 98);
	says(&record, "no out-of-memory kill");
	assert_int_equal(record.outcome.end, TRK_END_TRACKER_DIED);
	put(events, "oom_kill 5\n");
	explain(&record, 98);
	says(&record, "likely killed");
	says(&record, "risen by 3 since the start; the last sample held 98 MiB of 100 MiB");
	assert_int_equal(record.outcome.end, TRK_END_OUT_OF_MEMORY);
	explain(&record, 0.25);
	says(&record, "perhaps killed");
	says(&record, "the last sample held 0.25 MiB of 100 MiB");
	assert_int_equal(record.outcome.end, TRK_END_TRACKER_DIED);
	/* After another boot the counts say nothing. */
	put("proc/sys/kernel/random/boot_id", "c0ffee00-0000-4000-8000-000000000002\n");
	explain(&record, 98);
	assert_string_equal(record.outcome.evidence,
			    "likely out of memory; the last sample held 98 MiB of 100 MiB");
	explain(&record, 10);
	assert_string_equal(record.outcome.evidence, "");
}

static void a_recording_names_no_file_outside_of_the_control_groups(void **state)
{
	static const char *const dirs[] = {"../../../../outside", "./../../../outside", "outside"};
	static struct trk_record record;
	struct trk_kills unused;
	struct stat st;
	char path[128];

	put("proc/sys/kernel/random/boot_id", boot);
	put("outside/memory.events", "oom_kill 5\n");
	open_job(&unused);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		struct trk_run_group *group = &record.run.kills.group[0];

		(void) snprintf(path, sizeof(path), "%s/outside", scratch);
		assert_int_equal(stat(path, &st), 0);
		trk__death_note(&env, &cg, &record.run.kills);
		*group = (struct trk_run_group){.inode = (uint64_t) st.st_ino};
		(void) snprintf(group->dir, sizeof(group->dir), "%s", i == 2 ? path : dirs[i]);
		explain(&record, 98);
		assert_null(strstr(record.outcome.evidence, "risen"));
	}
}

static void the_group_above_tells_when_the_jobs_own_has_gone(void **state)
{
	static struct trk_record record;
	struct trk_kills unused;

	put("proc/sys/kernel/random/boot_id", boot);
	put("sys/fs/cgroup/batch/job/memory.events", "oom_kill 2\n");
	open_job(&unused);
	trk__death_note(&env, &cg, &record.run.kills);
	assert_int_equal(unlinkat(env.cgroup_fd, "batch/job/memory.events", 0), 0);
	put("sys/fs/cgroup/batch/memory.events", "oom_kill 6\n");
	put("proc/vmstat", "oom_kill 9\n");
	explain(&record, 98);
	says(&record, "oom_kill of /batch, above the job's group, has risen by 1");
	assert_int_equal(record.outcome.end, TRK_END_TRACKER_DIED);
	assert_int_equal(unlinkat(env.cgroup_fd, "batch/memory.events", 0), 0);
	explain(&record, 98);
	says(&record, "likely out of memory: oom_kill of the machine has risen by 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_is_the_end_also_if_its_job_could_not_be_ended),
		cmocka_unit_test(a_job_that_the_kernel_killed_ran_out_of_memory),
		cmocka_unit_test(a_job_that_ends_well_keeps_its_exit_code),
		cmocka_unit_test(the_end_is_judged_from_the_end),
		cmocka_unit_test(the_kill_of_a_neighbour_is_not_the_end_of_a_small_job),
		cmocka_unit_test(a_kill_while_no_process_of_the_job_ended_is_a_neighbours),
		cmocka_unit_test(a_small_job_in_its_own_full_group_was_not_the_largest),
		cmocka_unit_test(a_count_that_other_groups_share_proves_less),
		cmocka_unit_test(a_kill_in_a_related_group_is_no_evidence),
		cmocka_unit_test(a_kill_on_the_machine_counts_for_a_large_job_that_was_killed),
		cmocka_unit_test(a_kill_in_a_group_that_the_job_entered_must_fit_as_well),
		cmocka_unit_test(a_process_that_was_attached_to_is_judged_by_its_group_and_size),
		cmocka_unit_test_setup_teardown(kills_are_counted_from_the_start_and_dated,
						begin_scratch, end_scratch),
		cmocka_unit_test_setup_teardown(a_kill_that_ends_the_job_is_seen_at_the_end,
						begin_scratch, end_scratch),
		cmocka_unit_test_setup_teardown(without_the_controller_the_group_above_counts,
						begin_scratch, end_scratch),
		cmocka_unit_test_setup_teardown(
			a_tracker_that_was_killed_with_its_job_ran_out_of_memory, begin_scratch,
			end_scratch),
		cmocka_unit_test_setup_teardown(
			a_recording_names_no_file_outside_of_the_control_groups, begin_scratch,
			end_scratch),
		cmocka_unit_test_setup_teardown(the_group_above_tells_when_the_jobs_own_has_gone,
						begin_scratch, end_scratch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
