/* Attached processes: which processes belong to the tree, and what they used before. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/tree/private.h"
#include "probe/tree/pss_budget.h"
#include "skip.h"

#define MIB ((size_t) 1 << 20)

enum {
	SIZE = 64 * 1048576,
	TICKS_US = 20000, /* the kernel tells the starts of processes apart in ticks of 10 ms */
};

struct worker {
	pid_t pid;
	int go[2], done[2];
};

/* Each order leaves an orphan in the worker's process group, and answers its pid. */
static _Noreturn void work(const struct worker *w, pid_t group)
{
	char order;

	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void) setpgid(0, group);
	(void) close(w->go[1]);
	(void) !write(w->done[1], &group, sizeof(group));
	while (read(w->go[0], &order, 1) == 1) {
		pid_t child = fork(), orphan;

		if (child == 0) {
			orphan = fork();
			if (orphan == 0) {
				(void) !read(w->go[0], &order, 1); /* until the test ends */
				_exit(0);
			}
			_exit(write(w->done[1], &orphan, sizeof(orphan)) != sizeof(orphan));
		}
		(void) waitpid(child, NULL, 0);
		(void) pause();
	}
	_exit(0);
}

static void start(struct worker *w, pid_t group)
{
	pid_t answer;

	assert_int_equal(pipe(w->go), 0);
	assert_int_equal(pipe(w->done), 0);
	w->pid = fork();
	if (w->pid == 0)
		work(w, group);
	assert_int_equal(read(w->done[0], &answer, sizeof(answer)), sizeof(answer));
}

static pid_t orphan_of(struct worker *w)
{
	pid_t orphan;

	assert_int_equal(write(w->go[1], "o", 1), 1);
	assert_int_equal(read(w->done[0], &orphan, sizeof(orphan)), sizeof(orphan));
	return orphan;
}

static void end(struct worker *w, pid_t orphan)
{
	(void) kill(orphan, SIGKILL);
	(void) kill(w->pid, SIGKILL);
	assert_int_equal(waitpid(w->pid, NULL, 0), w->pid);
	for (int k = 0; k < 2; k++) {
		(void) close(w->go[k]);
		(void) close(w->done[k]);
	}
}

static struct trk_tree *attach(const struct trk_env *env, pid_t pid)
{
	/* The workers' parent is this process, which plays the shell and not the tracker. */
	struct trk_tree_options options = {.root = pid, .pss_share = TRK_TREE_PSS_SHARE};
	const struct trk_tree_state *s;
	struct trk_tree *t;
	int error;

	(void) usleep(TICKS_US);
	t = trk__tree_new(env, &options, &error);
	assert_non_null(t);
	trk__tree_update(t, &s);
	(void) usleep(TICKS_US);
	return t;
}

static void look(struct trk_tree *t, const struct trk_tree_state **ret)
{
	t->next_sweep_ns = 0;
	trk__tree_update(t, ret);
}

static void an_orphan_in_the_roots_process_group_belongs_to_the_tree(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct trk_tree *t;
	struct worker w;
	pid_t orphan;

	assert_int_equal(trk__env_init(&env), 0);
	start(&w, 0);
	t = attach(&env, w.pid);
	orphan = orphan_of(&w);
	look(t, &s);
	for (int i = 0; s->processes != 2 && i < 500; i++) { /* until its parent has ended */
		(void) usleep(TICKS_US);
		look(t, &s);
	}
	assert_non_null(trk__tree_find(t, orphan));
	assert_int_equal(s->processes, 2);
	trk__tree_free(t);
	end(&w, orphan);
	trk__env_release(&env);
}

static void an_orphan_of_another_command_of_a_pipeline_does_not(void **state)
{
	const struct trk_tree_state *s;
	struct worker w, other;
	struct trk_env env;
	struct trk_tree *t;
	pid_t orphan;

	assert_int_equal(trk__env_init(&env), 0);
	start(&w, 0);
	start(&other, w.pid);
	t = attach(&env, w.pid);
	orphan = orphan_of(&other);
	look(t, &s);
	assert_null(trk__tree_find(t, orphan));
	assert_int_equal(s->processes, 1);
	trk__tree_free(t);
	end(&other, orphan);
	end(&w, orphan);
	trk__env_release(&env);
}

static void what_a_process_holds_when_it_is_attached_to_is_a_floor_without_readings(void **state)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct trk_tree_state *s;
	struct trk_tree_peak peak;
	struct trk_env env;
	struct trk_tree *t;
	int error;

	SKIP_UNDER_VALGRIND("its own memory is part of each");
	assert_ptr_not_equal(memory, MAP_FAILED);
	memset(memory, 1, SIZE);
	assert_int_equal(trk__env_init(&env), 0);
	t = trk__tree_new(&env, &(struct trk_tree_options){.root = getpid()}, &error);
	assert_non_null(t);
	trk__tree_update(t, &s);
	(void) munmap(memory, SIZE);
	trk__tree_update(t, &s);
	trk__tree_peak(t, &peak);
	assert_true(peak.floor_bytes > SIZE && peak.bytes >= peak.floor_bytes);
	trk__tree_free(t);
	/* What it held before is no part of the run. */
	t = trk__tree_new(&env, &(struct trk_tree_options){.root = getpid()}, &error);
	assert_non_null(t);
	trk__tree_update(t, &s);
	trk__tree_peak(t, &peak);
	assert_true(peak.floor_bytes < s->rss_bytes + MIB);
	trk__tree_free(t);
	trk__env_release(&env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_orphan_in_the_roots_process_group_belongs_to_the_tree),
		cmocka_unit_test(an_orphan_of_another_command_of_a_pipeline_does_not),
		cmocka_unit_test(
			what_a_process_holds_when_it_is_attached_to_is_a_floor_without_readings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
