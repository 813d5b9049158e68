/* Current counters of real processes and of this machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "resource_tracker.h"

static useconds_t tick_us; /* how often the children wake up; 0: never */

/* A process that burns so much CPU time, says so, then waits to be killed; `children` of its own
 * wait with it. */
static pid_t start_family(long ms, int children)
{
	struct timespec now = {0, 0};
	int pipes[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid > 0) {
		(void) close(pipes[1]);
		assert_int_equal(read(pipes[0], &byte, 1), 1);
		(void) close(pipes[0]);
		return pid;
	}
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* should a test fail */
	pid = getpid();
	for (int i = 0; i < children; i++)
		if (fork() == 0) {
			(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (getppid() == pid) /* which may have died before that */
				(void) (tick_us ? usleep(tick_us) : pause());
			_exit(0);
		}
	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms)
		(void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	(void) !write(pipes[1], "", 1);
	for (;;)
		(void) pause();
}

static void end_family(pid_t pid)
{
	(void) kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void) closedir(dir);
	return n;
}

static void what_was_used_before_counts_and_stays_after_the_end(void **state)
{
	pid_t pid = start_family(300, 0);
	struct trk_process_counters a, b;
	struct trk_counters *c;

	assert_int_equal(trk_counters_of_process(pid, 0, &c), 0);
	assert_int_equal(trk_counters_process(c, &a), 0);
	assert_true(a.user_s + a.system_s >= 0.299);
	assert_true(a.user_s + a.system_s < 30);
	assert_true(a.memory_mib > 0);
	assert_int_equal(a.processes, 1);
	assert_false(a.gone);
	end_family(pid);
	assert_int_equal(trk_counters_process(c, &b), 0);
	assert_true(b.gone);
	assert_int_equal(b.processes, 0);
	assert_true(b.memory_mib == 0);
	assert_true(b.user_s >= a.user_s && b.system_s >= a.system_s);
	trk_counters_free(c);
}

static void a_tree_counts_its_children_and_one_process_does_not(void **state)
{
	pid_t pid = start_family(0, 3);
	struct trk_process_counters tree, alone;
	struct trk_counters *c;

	assert_int_equal(trk_counters_of_process(pid, 0, &c), 0);
	assert_int_equal(trk_counters_process(c, &tree), 0);
	trk_counters_free(c);
	assert_int_equal(trk_counters_of_process(pid, 1, &c), 0);
	assert_int_equal(trk_counters_process(c, &alone), 0);
	trk_counters_free(c);
	assert_int_equal(tree.processes, 4);
	assert_int_equal(alone.processes, 1);
	assert_true(tree.memory_mib > alone.memory_mib);
	end_family(pid);
}

/* Descriptors that three readings of a new object keep of a family of 21. */
static int kept_by_three_readings(pid_t pid)
{
	struct trk_process_counters now;
	struct trk_counters *c;
	int before, kept;

	assert_int_equal(trk_counters_of_process(pid, 0, &c), 0);
	before = open_descriptors();
	for (int i = 0; i < 3; i++)
		assert_int_equal(trk_counters_process(c, &now), 0);
	kept = open_descriptors() - before;
	trk_counters_free(c);
	assert_int_equal(now.processes, 21);
	return kept;
}

static void no_descriptor_is_kept_for_a_process_that_is_asleep(void **state)
{
	pid_t pid = start_family(0, 20);
	int kept = 20;

	/* Not all are asleep at once, and a sanitizer's own thread wakes up now and then. */
	for (int i = 0; i < 2000 && kept > 0; i++) {
		(void) usleep(5000);
		kept = kept_by_three_readings(pid);
	}
	end_family(pid);
	assert_int_equal(kept, 0);
}

/* Readings until so many descriptors are kept; as many as there are after a while if it never
 * is. */
static int kept_of(struct trk_counters *c, int before, int wanted)
{
	struct trk_process_counters now;
	int kept = 0;

	for (int i = 0; i < 40 && kept != wanted; i++) {
		(void) usleep(5000);
		assert_int_equal(trk_counters_process(c, &now), 0);
		kept = open_descriptors() - before;
	}
	return kept;
}

static void few_descriptors_are_kept_of_all_trees_together(void **state)
{
	struct rlimit old, low = {.rlim_cur = 80};
	struct trk_counters *a, *b;
	pid_t pid;
	int before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	tick_us = 1000;
	pid = start_family(0, 20);
	tick_us = 0;
	assert_int_equal(trk_counters_of_process(pid, 0, &a), 0);
	assert_int_equal(trk_counters_of_process(pid, 0, &b), 0);
	before = open_descriptors();
	assert_int_equal(kept_of(a, before, 10), 10); /* an eighth of 80 */
	assert_int_equal(kept_of(b, before, 11), 10);
	assert_int_equal(kept_of(a, before, 11), 10);
	trk_counters_free(a);
	trk_counters_free(b);
	assert_int_equal(trk_counters_of_process(pid, 0, &a), 0);
	before = open_descriptors();
	assert_int_equal(kept_of(a, before, 10), 10); /* they are free again */
	trk_counters_free(a);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	end_family(pid);
}

static void there_are_none_of_a_process_that_is_not(void **state)
{
	struct trk_counters *c = NULL;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(trk_counters_of_process(pid, 0, &c), -ESRCH);
	assert_int_equal(trk_counters_of_process(0, 0, &c), -ESRCH);
	assert_int_equal(trk_counters_of_process(-1, 0, &c), -ESRCH);
	assert_null(c);
	trk_counters_free(NULL);
}

static void the_machine_has_its_memory_disks_and_file_systems(void **state)
{
	struct trk_machine_counters a, b;
	double x, y, z, total = (double) sysconf(_SC_PHYS_PAGES) * (double) sysconf(_SC_PAGESIZE);
	struct trk_counters *c;
	const char *name;
	size_t n = 0;

	assert_int_equal(trk_counters_of_machine(&c), 0);
	assert_int_equal(trk_counters_machine(c, &a), 0);
	assert_true(a.processes >= 1);
	assert_true(a.user_s > 0 && a.system_s > 0);
	assert_true(a.memory_free_mib > 0);
	assert_true((a.memory_used_mib + a.memory_free_mib) * 1024 * 1024 <= total);
	while (trk_counters_disk(c, n, &name, &x, &y) == 0) {
		assert_true(*name && x >= 0 && y >= 0);
		n++;
	}
	for (n = 0; trk_counters_mount(c, n, &name, &x, &y, &z) == 0; n++) {
		assert_true(name[0] == '/');
		assert_true(x > 0 && y >= 0 && z >= 0 && y + z <= x);
	}
	assert_int_equal(trk_counters_disk(c, SIZE_MAX, &name, &x, &y), -ENOENT);
	assert_int_equal(trk_counters_mount(c, SIZE_MAX, &name, &x, &y, &z), -ENOENT);
	assert_int_equal(trk_counters_machine(c, &b), 0);
	assert_true(b.user_s >= a.user_s && b.net_recv_bytes >= a.net_recv_bytes);
	trk_counters_free(c);
}

static void one_kind_is_not_the_other(void **state)
{
	struct trk_machine_counters machine = {.processes = 7};
	struct trk_process_counters process = {.processes = 7};
	struct trk_counters *c;
	const char *name;
	double x, y;

	assert_int_equal(trk_counters_of_machine(&c), 0);
	assert_int_equal(trk_counters_process(c, &process), -EINVAL);
	assert_int_equal(process.processes, 7);
	trk_counters_free(c);
	assert_int_equal(trk_counters_of_process(getpid(), 0, &c), 0);
	assert_int_equal(trk_counters_machine(c, &machine), -EINVAL);
	assert_true(machine.processes == 7);
	assert_int_equal(trk_counters_disk(c, 0, &name, &x, &y), -ENOENT);
	trk_counters_free(c);
}

static int wakes[2];

static void *report_and_wait(void *ret)
{
	pid_t tid = (pid_t) syscall(SYS_gettid);
	char c;

	assert_int_equal(write(*(int *) ret, &tid, sizeof(tid)), sizeof(tid));
	(void) !read(wakes[0], &c, 1);
	return NULL;
}

static void the_id_of_a_thread_stands_for_its_process(void **state)
{
	struct trk_process_counters now;
	struct trk_counters *c;
	pthread_t thread;
	int ids[2];
	pid_t tid;

	(void) state;
	assert_int_equal(pipe(wakes), 0);
	assert_int_equal(pipe(ids), 0);
	assert_int_equal(pthread_create(&thread, NULL, report_and_wait, &ids[1]), 0);
	assert_int_equal(read(ids[0], &tid, sizeof(tid)), sizeof(tid));
	assert_true(tid != getpid());
	assert_int_equal(trk_counters_of_process(tid, 1, &c), 0);
	assert_int_equal(write(wakes[1], "x", 1), 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
		(void) usleep(1000);
	assert_int_equal(trk_counters_process(c, &now), 0);
	assert_false(now.gone);
	assert_true(now.memory_mib > 0);
	trk_counters_free(c);
	for (int i = 0; i < 2; i++) {
		(void) close(wakes[i]);
		(void) close(ids[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_id_of_a_thread_stands_for_its_process),
		cmocka_unit_test(what_was_used_before_counts_and_stays_after_the_end),
		cmocka_unit_test(a_tree_counts_its_children_and_one_process_does_not),
		cmocka_unit_test(no_descriptor_is_kept_for_a_process_that_is_asleep),
		cmocka_unit_test(few_descriptors_are_kept_of_all_trees_together),
		cmocka_unit_test(there_are_none_of_a_process_that_is_not),
		cmocka_unit_test(the_machine_has_its_memory_disks_and_file_systems),
		cmocka_unit_test(one_kind_is_not_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
