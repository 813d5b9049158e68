/* Processes whose main thread has ended before the others. The kernel shows them as zombies. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/tree/private.h"
#include "skip.h"

#define MIB (1 << 20)

enum { THREADS = 2, STRANGERS = 15, SIZE = 64 * MIB };

/* How the two threads are told what to do, and tell who they are. */
static struct {
	int go[2];
	pid_t tid;
} line[THREADS];
static int told[2];

/* A child that does not outlive a test that fails. */
static pid_t fork_mortal(void)
{
	pid_t pid = fork();

	if (pid == 0)
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void burn(uint64_t ns)
{
	uint64_t start = trk__clock_thread_cpu_ns();

	while (trk__clock_thread_cpu_ns() - start < ns)
		;
}

/* m: touch memory; c: use the CPU; f: fork; e: end this thread; x: end them all. */
static void *obey(void *data)
{
	int i = (int) (intptr_t) data;
	pid_t tid = (pid_t) syscall(SYS_gettid);
	char order = 0, *memory;

	(void) !write(told[1], &tid, sizeof(tid));
	while (order != 'e' && read(line[i].go[0], &order, 1) == 1) {
		if (order == 'm') {
			memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			memset(memory, 1, SIZE);
		} else if (order == 'c') {
			burn(200 * TRK_NS_PER_MS);
		} else if (order == 'f' && fork_mortal() == 0) {
			(void) pause();
			_exit(0);
		}
		if (order == 'x') /* not by exit(), at which a sanitizer starts a process */
			_exit(0);
		if (order != 'e')
			(void) !write(told[1], &tid, sizeof(tid));
	}
	return NULL;
}

static void tell(int i, char order)
{
	pid_t tid;

	assert_int_equal(write(line[i].go[1], &order, 1), 1);
	if (order != 'e' && order != 'x')
		assert_int_equal(read(told[0], &tid, sizeof(tid)), sizeof(tid));
}

static void await_zombie(pid_t pid)
{
	char path[64], text[1024] = "";

	(void) snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	for (int i = 0; i < 12000 && !strstr(text, ") Z "); i++) {
		(void) usleep(10000);
		assert_true(trk__read_at(AT_FDCWD, path, text, sizeof(text)) > 0);
	}
}

/* Until one thread fewer is there. */
static void await_end_of(pid_t pid, pid_t tid)
{
	char path[64];

	(void) snprintf(path, sizeof(path), "/proc/%d/task/%d", (int) pid, (int) tid);
	for (int i = 0; i < 12000 && access(path, F_OK) == 0; i++)
		(void) usleep(10000);
}

static pid_t start(void)
{
	pid_t pid;

	assert_int_equal(pipe(told), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pipe(line[i].go), 0);
	pid = fork_mortal();
	if (pid == 0) {
		pthread_t thread;

		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&thread, NULL, obey, (void *) (intptr_t) i) != 0)
				_exit(1);
		pthread_exit(NULL);
	}
	return pid;
}

static void end(pid_t pid)
{
	(void) kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (int k = 0; k < 2; k++) {
		(void) close(told[k]);
		for (int i = 0; i < THREADS; i++)
			(void) close(line[i].go[k]);
	}
}

/* Which thread answers to which line is known from what it says first. */
static void learn_threads(void)
{
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(read(told[0], &line[i].tid, sizeof(pid_t)), sizeof(pid_t));
	/* They may have spoken in either order. */
	assert_int_equal(write(line[0].go[1], "?", 1), 1);
	assert_int_equal(read(told[0], &line[0].tid, sizeof(pid_t)), sizeof(pid_t));
	assert_int_equal(write(line[1].go[1], "?", 1), 1);
	assert_int_equal(read(told[0], &line[1].tid, sizeof(pid_t)), sizeof(pid_t));
}

static struct trk_tree *tree_of(pid_t root, struct trk_env *env)
{
	struct trk_tree_options options = {.root = root, .pss_share = 0.005};
	struct trk_tree *t;
	int error = 0;

	assert_int_equal(trk__env_init(env), 0);
	t = trk__tree_new(env, &options, &error);
	assert_non_null(t);
	return t;
}

static void all_of_it_is_seen_though_its_main_thread_has_ended(void **state)
{
	const struct trk_tree_state *s;
	struct trk_process_info top[4];
	struct trk_env env;
	struct trk_tree *t;
	uint64_t cpu_ns;
	pid_t root;

	SKIP_UNDER_VALGRIND("its main thread does not end alone");
	root = start();
	await_zombie(root);
	learn_threads();
	t = tree_of(root, &env);
	trk__tree_update(t, &s);
	assert_false(s->root_gone);
	assert_int_equal(s->processes, 1);
	assert_int_equal(s->threads, THREADS);
	cpu_ns = s->counter[TRK_TREE_CPU];
	tell(0, 'm');
	tell(1, 'c');
	trk__tree_update(t, &s);
	assert_in_range(s->rss_bytes, SIZE, SIZE + 32 * MIB);
	assert_in_range(s->pss_bytes, SIZE, SIZE + 32 * MIB);
	assert_in_range(s->peak_bytes, SIZE, SIZE + 32 * MIB);
	assert_true(trk__memory_read(t, &t->process[0])); /* smaps_rollup */
	assert_in_range(s->counter[TRK_TREE_CPU], cpu_ns + 200 * TRK_NS_PER_MS, 10 * TRK_NS_PER_S);
	assert_int_equal(trk__tree_pids(t, NULL, 0), 1);
	assert_int_equal(trk__tree_top(t, top, 4), 1);
	assert_non_null(strstr(top[0].command, "tree_live_thread"));
	assert_true(top[0].peak_bytes >= SIZE);
	trk__tree_free(t);
	trk__env_release(&env);
	end(root);
}

static void another_thread_speaks_when_the_first_one_ends(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct trk_tree *t;
	pid_t root, first;
	int i;

	root = start();
	await_zombie(root);
	learn_threads();
	t = tree_of(root, &env);
	tell(0, 'm');
	trk__tree_update(t, &s);
	first = t->process[0].live_thread;
	i = first == line[0].tid ? 0 : 1;
	assert_int_equal(first, line[i].tid);
	tell(i, 'e');
	await_end_of(root, first);
	tell(1 - i, 'c');
	trk__tree_update(t, &s);
	assert_int_equal(t->process[0].live_thread, line[1 - i].tid);
	assert_int_equal(s->threads, 1);
	assert_true(s->rss_bytes >= SIZE);
	/* And when none is left it has ended. */
	tell(1 - i, 'x');
	for (int n = 0; n < 12000 && !s->root_gone; n++) {
		(void) usleep(10000);
		t->process[0].dirty = true;
		trk__tree_update(t, &s);
	}
	assert_true(s->root_gone);
	assert_int_equal(s->processes, 0);
	assert_int_equal(s->rss_bytes, 0);
	trk__tree_free(t);
	trk__env_release(&env);
	end(root);
}

/* Not in its main thread's list of children, which is all that is looked at among many
 * newcomers. */
static void what_its_last_thread_forks_is_found_among_strangers(void **state)
{
	const struct trk_tree_state *s;
	pid_t root, stranger[STRANGERS];
	struct trk_env env;
	struct trk_tree *t;

	root = start();
	await_zombie(root);
	learn_threads();
	tell(1, 'e');
	await_end_of(root, line[1].tid);
	t = tree_of(root, &env);
	t->options.pss_share = 0; /* a reading of PSS looks for all newcomers */
	trk__tree_update(t, &s);
	assert_int_equal(s->threads, 1);
	for (int i = 0; i < STRANGERS; i++) {
		stranger[i] = fork_mortal();
		if (stranger[i] == 0) {
			(void) pause();
			_exit(0);
		}
	}
	tell(0, 'f');
	tell(0, 'c');
	t->next_range_ns = t->next_sweep_ns = UINT64_MAX; /* however slow the machine */
	trk__tree_update(t, &s);
	assert_int_equal(s->processes, 2);
	for (size_t i = 1; i < t->count; i++)
		(void) kill(t->process[i].pid, SIGKILL);
	for (int i = 0; i < STRANGERS; i++) {
		(void) kill(stranger[i], SIGKILL);
		(void) waitpid(stranger[i], NULL, 0);
	}
	trk__tree_free(t);
	trk__env_release(&env);
	end(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_seen_though_its_main_thread_has_ended),
		cmocka_unit_test(another_thread_speaks_when_the_first_one_ends),
		cmocka_unit_test(what_its_last_thread_forks_is_found_among_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
