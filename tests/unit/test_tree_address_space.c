/* Processes that share an address space, whose memory counts once. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
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

#include "probe/tree/private.h"
#include "skip.h"

#define MIB ((size_t) 1 << 20)

enum { SIZE = 64 * 1048576, SLACK = 4 * 1048576, STACK = 65536 };

static struct {
	int go[2], done[2]; /* orders to a process, and its answers: its pid */
} line[2];
static char *memory; /* twice SIZE: the first half is filled by the job */

static struct {
	pid_t pid, child;
	struct trk_env env;
	struct trk_tree *tree;
	uint64_t alone_bytes; /* the sum of PSS without the child */
} job;

static void answer(int i)
{
	pid_t pid = (pid_t) syscall(SYS_getpid);

	(void) !write(line[i].done[1], &pid, sizeof(pid));
}

/* f: fill the second half; e: execute a program; it ends with the test. */
static int obey(void *data)
{
	char order;

	(void) data;
	answer(1);
	while (read(line[1].go[0], &order, 1) == 1) {
		if (order == 'e')
			(void) execl("/bin/cat", "cat", (char *) NULL);
		memset(memory + SIZE, 1, SIZE);
		answer(1);
	}
	_exit(0);
}

/* e: execute a program; any other order, twice at most: create a child with these flags. */
static _Noreturn void work(int flags)
{
	static char stack[2][STACK];
	char order;

	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void) close(line[1].go[1]);
	(void) dup2(line[1].go[0], 0); /* cat ends with the test */
	memset(memory, 1, SIZE);
	answer(0);
	for (int i = 0; read(line[0].go[0], &order, 1) == 1; i++) {
		if (order == 'e')
			(void) execl("/bin/cat", "cat", (char *) NULL);
		if (i == 2)
			break;
		(void) clone(obey, stack[i] + STACK, flags | SIGCHLD, NULL);
		answer(0);
	}
	for (;;)
		(void) pause();
}

static pid_t await(int i)
{
	pid_t pid = 0;

	assert_int_equal(read(line[i].done[0], &pid, sizeof(pid)), sizeof(pid));
	return pid;
}

static pid_t tell(int i, char order)
{
	assert_int_equal(write(line[i].go[1], &order, 1), 1);
	return await(i);
}

/* The first process executes cat. */
static void execute_program(void)
{
	char path[64], name[16] = "";
	FILE *f;

	assert_int_equal(write(line[0].go[1], "e", 1), 1);
	(void) snprintf(path, sizeof(path), "/proc/%d/comm", (int) job.pid);
	while (strcmp(name, "cat\n") != 0) {
		f = fopen(path, "r");
		assert_non_null(f);
		(void) !fgets(name, sizeof(name), f);
		(void) fclose(f);
		(void) sched_yield();
	}
}

static const struct trk_tree_state *look(void)
{
	const struct trk_tree_state *s;

	job.tree->pss_budget.credit_ns = TRK_PSS_CREDIT_MAX_NS;
	trk__tree_update(job.tree, &s);
	return s;
}

/* A job whose child was created with these flags. */
static void begin(int flags)
{
	struct trk_tree_options options = {.pss_share = 0.005};
	int error;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(line[i].go), 0);
		assert_int_equal(pipe(line[i].done), 0);
	}
	memory = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	job.pid = fork();
	if (job.pid == 0)
		work(flags);
	(void) close(line[1].go[0]);
	options.root = await(0);
	assert_int_equal(trk__env_init(&job.env), 0);
	job.tree = trk__tree_new(&job.env, &options, &error);
	assert_non_null(job.tree);
	job.alone_bytes = look()->pss_bytes;
	assert_true(job.alone_bytes > SIZE - SLACK);
	assert_int_equal(write(line[0].go[1], "c", 1), 1);
	job.child = await(1);
}

static void end(void)
{
	trk__tree_free(job.tree);
	trk__env_release(&job.env);
	(void) kill(job.child, SIGKILL);
	(void) kill(job.pid, SIGKILL);
	(void) waitpid(job.pid, NULL, 0);
	for (int i = 0; i < 2; i++)
		for (int k = i; k < 2; k++) {
			(void) close(line[i].go[k]);
			(void) close(line[i].done[k]);
		}
	(void) close(line[1].done[0]);
	(void) munmap(memory, 2 * SIZE);
}

static void assert_near(uint64_t bytes, uint64_t truth)
{
	if (bytes > truth + SLACK || bytes + SLACK < truth)
		fail_msg("%.1f MiB, not %.1f MiB", (double) bytes / MIB, (double) truth / MIB);
}

static void a_child_in_the_address_space_of_its_parent_counts_once(void **state)
{
	SKIP_UNDER_VALGRIND("it knows no such clone");
	for (int i = 0; i < 2; i++) {
		const struct trk_tree_state *s;

		begin(i == 0 ? CLONE_VM : CLONE_VM | CLONE_VFORK);
		s = look();
		assert_int_equal(s->processes, 2);
		assert_near(s->pss_bytes, job.alone_bytes);
		assert_near(s->floor_bytes, job.alone_bytes);
		end();
	}
}

static void what_it_fills_while_its_parent_sleeps_counts(void **state)
{
	SKIP_UNDER_VALGRIND("it knows no such clone");
	begin(CLONE_VM);
	assert_int_equal(await(0), job.pid);
	(void) look();
	assert_int_equal(tell(1, 'f'), job.child);
	assert_near(look()->pss_bytes, job.alone_bytes + SIZE);
	end();
}

static void it_counts_by_itself_once_its_parent_has_ended(void **state)
{
	SKIP_UNDER_VALGRIND("it knows no such clone");
	begin(CLONE_VM);
	(void) look();
	(void) kill(job.pid, SIGKILL);
	assert_int_equal(waitpid(job.pid, NULL, 0), job.pid);
	assert_near(look()->pss_bytes, job.alone_bytes);
	assert_int_equal(look()->processes, 1);
	end();
}

static void two_count_once_when_their_parent_has_ended(void **state)
{
	pid_t second;

	SKIP_UNDER_VALGRIND("it knows no such clone");
	begin(CLONE_VM);
	assert_int_equal(write(line[0].go[1], "c", 1), 1);
	second = await(1);
	assert_int_equal(look()->processes, 3);
	(void) kill(job.pid, SIGKILL);
	assert_int_equal(waitpid(job.pid, NULL, 0), job.pid);
	for (int i = 0; i < 3; i++)
		assert_near(look()->pss_bytes, job.alone_bytes);
	assert_int_equal(look()->processes, 2);
	(void) kill(second, SIGKILL);
	end();
}

static void two_count_once_when_their_parent_has_executed_a_program(void **state)
{
	pid_t second;

	SKIP_UNDER_VALGRIND("it knows no such clone");
	begin(CLONE_VM);
	assert_int_equal(write(line[0].go[1], "c", 1), 1);
	second = await(1);
	assert_int_equal(look()->processes, 3);
	execute_program();
	for (int i = 0; i < 3; i++)
		assert_near(look()->pss_bytes, job.alone_bytes);
	assert_int_equal(look()->processes, 3);
	(void) kill(second, SIGKILL);
	end();
}

static void it_counts_by_itself_once_it_has_executed_a_program(void **state)
{
	const struct process *child;

	SKIP_UNDER_VALGRIND("it knows no such clone");
	begin(CLONE_VM | CLONE_VFORK);
	(void) look();
	child = trk__tree_find(job.tree, job.child);
	assert_non_null(child);
	assert_int_equal(child->pss_bytes, 0);
	assert_int_equal(write(line[1].go[1], "e", 1), 1);
	assert_int_equal(await(0), job.pid); /* vfork returns once the child has executed */
	(void) look();
	child = trk__tree_find(job.tree, job.child);
	assert_non_null(child);
	assert_true(child->pss_bytes > 0 && child->pss_bytes < SIZE / 2);
	end();
}

/* seccomp holds for the calling thread alone. */
static void *look_without_kcmp(void *ret)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		*(struct trk_tree_state *) ret = *look();
	return NULL;
}

static void look_refused(struct trk_tree_state *ret)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, look_without_kcmp, ret), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void where_kcmp_is_refused_one_address_space_counts_once(void **state)
{
	struct trk_tree_state s = {.processes = 0};

	SKIP_UNDER_VALGRIND("it knows no such clone");
	begin(CLONE_VM | CLONE_VFORK);
	look_refused(&s);
	assert_int_equal(s.processes, 2);
	assert_near(s.pss_bytes, job.alone_bytes);
	assert_near(s.floor_bytes, job.alone_bytes);
	assert_true(s.least_bytes <= job.alone_bytes + SLACK);
	assert_true(s.most_bytes + SLACK >= job.alone_bytes);
	end();
}

static void where_kcmp_is_refused_a_fork_counts_what_it_has_of_its_own(void **state)
{
	struct trk_tree_state s = {.processes = 0};

	SKIP_UNDER_VALGRIND("its own memory is part of each");
	begin(0);
	look_refused(&s);
	assert_int_equal(s.processes, 2);
	assert_near(s.pss_bytes, job.alone_bytes);
	assert_int_equal(tell(1, 'f'), job.child);
	look_refused(&s);
	assert_near(s.pss_bytes, job.alone_bytes + SIZE);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_in_the_address_space_of_its_parent_counts_once),
		cmocka_unit_test(what_it_fills_while_its_parent_sleeps_counts),
		cmocka_unit_test(it_counts_by_itself_once_its_parent_has_ended),
		cmocka_unit_test(two_count_once_when_their_parent_has_ended),
		cmocka_unit_test(two_count_once_when_their_parent_has_executed_a_program),
		cmocka_unit_test(it_counts_by_itself_once_it_has_executed_a_program),
		cmocka_unit_test(where_kcmp_is_refused_one_address_space_counts_once),
		cmocka_unit_test(where_kcmp_is_refused_a_fork_counts_what_it_has_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
