/* The process tree: its ledger on simulated processes, discovery and totals on real ones. */
#include <errno.h>
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/linux/pid_children.h"
#include "probe/linux/pid_io.h"
#include "probe/tree/private.h"
#include "skip.h"

#define S TRK_NS_PER_S

/* ---- the ledger ---- */

enum { PARENT, CHILD, GRANDCHILD, FAMILY };

static void family(struct trk_tree *t, struct process p[FAMILY])
{
	*t = (struct trk_tree){.process = p, .count = FAMILY, .tick_ns = 10000000};
	t->slots = 16;
	t->slot = calloc(t->slots, sizeof(*t->slot));
	assert_non_null(t->slot);
	memset(p, 0, FAMILY * sizeof(*p));
	for (int i = 0; i < FAMILY; i++) {
		p[i].pid = 100 + i;
		p[i].ppid = 99 + i;
		p[i].start_ticks = 1;
		/* The hash of members.c, on a table without collisions. */
		t->slot[((size_t) p[i].pid * 2654435761u) & (t->slots - 1)] = (uint32_t) i + 1;
	}
	for (int i = 0; i < FAMILY; i++)
		assert_ptr_equal(trk__tree_find(t, p[i].pid), &p[i]);
}

static void look(struct trk_tree *t, struct process *p, uint64_t own_ns, uint64_t inherited_ns)
{
	uint64_t own[TRK_TREE_COUNTERS] = {[TRK_TREE_CPU] = own_ns};
	uint64_t inherited[TRK_TREE_COUNTERS] = {[TRK_TREE_CPU] = inherited_ns};

	trk__ledger_read(t, p, own, inherited);
}

static uint64_t settle(struct trk_tree *t)
{
	trk__ledger_settle(t);
	return t->ledger[TRK_TREE_CPU];
}

static void a_reaped_child_is_not_counted_twice(void **state)
{
	struct process p[FAMILY];
	struct trk_tree t;

	family(&t, p);
	look(&t, &p[PARENT], 1 * S, 0);
	look(&t, &p[CHILD], 5 * S, 0);
	assert_int_equal(settle(&t), 6 * S);
	/* It used one second more before it was reaped. */
	look(&t, &p[PARENT], 1 * S, 6 * S);
	p[CHILD].vanished = true;
	assert_int_equal(settle(&t), 7 * S);
	free(t.slot);
}

static void a_child_gone_before_its_time_arrives_makes_no_spike_and_no_loss(void **state)
{
	struct process p[FAMILY];
	struct trk_tree t;

	family(&t, p);
	look(&t, &p[PARENT], 0, 0);
	look(&t, &p[CHILD], 5 * S, 0);
	assert_int_equal(settle(&t), 5 * S);
	/* The parent was read before the child ended. */
	look(&t, &p[PARENT], 1 * S, 0);
	p[CHILD].vanished = true;
	assert_int_equal(settle(&t), 6 * S);
	p[CHILD].vanished = false;
	t.count = 1;
	look(&t, &p[PARENT], 1 * S, 6 * S);
	assert_int_equal(settle(&t), 7 * S);
	free(t.slot);
}

static void what_never_arrives_does_not_hide_later_news(void **state)
{
	struct process p[FAMILY];
	struct trk_tree t;

	family(&t, p);
	look(&t, &p[PARENT], 0, 0);
	look(&t, &p[CHILD], 5 * S, 0);
	(void) settle(&t);
	p[CHILD].vanished = true;
	look(&t, &p[PARENT], 0, 0);
	assert_int_equal(settle(&t), 5 * S);
	p[CHILD].vanished = false;
	t.count = 1;
	look(&t, &p[PARENT], 0, 0); /* the kernel reaped it: nothing comes */
	(void) settle(&t);
	look(&t, &p[PARENT], 0, 3 * S); /* unseen children of 3 s */
	/* Less the 20 ms that may be missing by the cut to ticks. */
	assert_in_range(settle(&t), 8 * S - 20000000, 8 * S);
	free(t.slot);
}

/* Page faults of a process, and of the children that it has waited for. */
static void look_at_faults(struct trk_tree *t, struct process *p, uint64_t faults,
			   uint64_t inherited_faults)
{
	uint64_t own[TRK_TREE_COUNTERS] = {[TRK_TREE_MINOR_FAULTS] = faults};
	uint64_t inherited[TRK_TREE_COUNTERS] = {[TRK_TREE_MINOR_FAULTS] = inherited_faults};

	trk__ledger_read(t, p, own, inherited);
}

static void a_child_that_no_parent_received_is_evidence_after_one_update(void **state)
{
	for (int is_waited_for = 0; is_waited_for < 2; is_waited_for++) {
		struct process p[FAMILY];
		struct trk_tree t;

		family(&t, p);
		look_at_faults(&t, &p[PARENT], 100, 0);
		look_at_faults(&t, &p[CHILD], 50, 0);
		(void) settle(&t);
		p[CHILD].vanished = true;
		(void) settle(&t);
		assert_null(trk__tree_dropped(&t.state)); /* it may still arrive */
		p[CHILD].vanished = false;
		t.count = 1;
		look_at_faults(&t, &p[PARENT], 100, is_waited_for ? 50 : 0);
		(void) settle(&t);
		assert_int_equal(t.state.dropped_faults, is_waited_for ? 0 : 50);
		assert_int_equal(trk__tree_dropped(&t.state) == NULL, is_waited_for);
		free(t.slot);
	}
}

static void at_the_end_nothing_is_waited_for(void **state)
{
	for (int is_waited_for = 0; is_waited_for < 2; is_waited_for++) {
		struct trk_usage usage = {.minor_faults = is_waited_for ? 150 : 100};
		struct process p[FAMILY];
		struct trk_tree t;

		family(&t, p);
		look_at_faults(&t, &p[PARENT], 100, 0);
		look_at_faults(&t, &p[CHILD], 50, 0);
		(void) settle(&t);
		trk__tree_close_accounts(&t);
		trk__tree_reaped(&t, p[PARENT].pid, &usage);
		p[PARENT].vanished = p[CHILD].vanished = true;
		(void) settle(&t);
		assert_int_equal(trk__tree_dropped(&t.state) == NULL, is_waited_for);
		free(t.slot);
	}
}

static void a_chain_that_vanishes_at_once_goes_to_the_living_ancestor(void **state)
{
	struct process p[FAMILY];
	struct trk_tree t;

	family(&t, p);
	look(&t, &p[PARENT], 0, 0);
	look(&t, &p[CHILD], 1 * S, 2 * S);
	look(&t, &p[GRANDCHILD], 4 * S, 0);
	assert_int_equal(settle(&t), 7 * S);
	p[CHILD].vanished = p[GRANDCHILD].vanished = true;
	look(&t, &p[PARENT], 0, 7 * S + S / 2);
	assert_int_equal(settle(&t), 7 * S + S / 2);
	free(t.slot);
}

static void what_the_caller_reaps_arrives_through_the_pool(void **state)
{
	struct trk_usage usage = {.user_ns = 6 * S};
	struct process p[FAMILY];
	struct trk_tree t;

	family(&t, p);
	look(&t, &p[PARENT], 5 * S, 0);
	assert_int_equal(settle(&t), 5 * S);
	trk__tree_reaped(&t, p[PARENT].pid, &usage);
	p[PARENT].vanished = true;
	p[CHILD].vanished = p[GRANDCHILD].vanished = true;
	assert_int_equal(settle(&t), 6 * S);
	free(t.slot);
}

/* An orphan that came and went between two looks. */
static void what_was_reaped_and_never_seen_counts_as_well(void **state)
{
	struct trk_usage usage = {.user_ns = 4 * S};
	struct process p[FAMILY];
	struct trk_tree t;

	family(&t, p);
	look(&t, &p[PARENT], 5 * S, 0);
	assert_int_equal(settle(&t), 5 * S);
	trk__tree_reaped(&t, 12345, &usage);
	assert_int_equal(settle(&t), 9 * S);
	assert_int_equal(settle(&t), 9 * S);
	free(t.slot);
}

static void what_a_process_used_before_we_attached_is_not_counted(void **state)
{
	struct process p[FAMILY];
	struct trk_tree t;

	family(&t, p);
	t.start_ticks = 1000;
	p[PARENT].fresh = true;
	look(&t, &p[PARENT], 50 * S, 20 * S);
	assert_int_equal(settle(&t), 0);
	look(&t, &p[PARENT], 51 * S, 20 * S);
	assert_int_equal(settle(&t), 1 * S);
	free(t.slot);
}

static void the_table_of_processes_leaves_out_what_was_used_before_we_attached(void **state)
{
	struct process p[FAMILY];
	struct trk_process_info top[FAMILY];
	struct trk_tree t;

	family(&t, p);
	t.start_ticks = 1000;
	p[PARENT].fresh = true;
	p[CHILD].start_ticks = 2000;
	p[CHILD].fresh = true;
	look(&t, &p[PARENT], 50 * S, 20 * S);
	look(&t, &p[PARENT], 51 * S, 20 * S);
	look(&t, &p[CHILD], 3 * S, 0);
	p[PARENT].hwm_bytes = p[PARENT].base_hwm_bytes = 900;
	p[PARENT].most_rss_bytes = 100;
	p[CHILD].hwm_bytes = 200;
	assert_int_equal(trk__tree_top(&t, top, FAMILY), FAMILY);
	for (int i = 0; i < FAMILY; i++) {
		if (top[i].pid == p[PARENT].pid) {
			assert_int_equal(top[i].cpu_ns, 1 * S);
			assert_int_equal(top[i].peak_bytes, 100);
		} else if (top[i].pid == p[CHILD].pid) {
			assert_int_equal(top[i].cpu_ns, 3 * S);
			assert_int_equal(top[i].peak_bytes, 200);
		}
	}
	p[PARENT].hwm_bytes = 1000; /* a new peak */
	trk__tree_remember(&t, &p[PARENT]);
	assert_int_equal(t.exited_memory[0].peak_bytes, 1000);
	free(t.programs.span);
	free(t.slot);
}

/* ---- real processes ---- */

static void nap(void)
{
	(void) usleep(50000);
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void) pause();
		_exit(0);
	}
	return pid;
}

static struct trk_tree *tree_of(pid_t root, struct trk_env *env, bool subreaper)
{
	struct trk_tree_options options = {.root = root,
					   .subreaper = subreaper,
					   .self = subreaper ? getpid() : 0,
					   .pss_share = 0.005};
	struct trk_tree *t;
	int error = 0;

	assert_int_equal(trk__env_init(env), 0);
	t = trk__tree_new(env, &options, &error);
	assert_non_null(t);
	return t;
}

static void finds_every_child_past_the_first_table(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct trk_tree *t;
	pid_t pid[150];

	t = tree_of(getpid(), &env, false);
	for (int i = 0; i < 150; i++)
		pid[i] = sleeper();
	trk__tree_update(t, &s);
	assert_int_equal(s->processes, 151);
	assert_true(s->pss_bytes > 0 && s->pss_bytes <= s->rss_bytes);
	for (int i = 0; i < 150; i++)
		(void) kill(pid[i], SIGKILL);
	for (int i = 0; i < 150; i++)
		(void) waitpid(pid[i], NULL, 0);
	trk__tree_update(t, &s);
	assert_int_equal(s->processes, 1);
	assert_int_equal(s->peak_processes, 151);
	assert_false(s->root_gone);
	trk__tree_free(t);
	trk__env_release(&env);
}

static void *fork_in_thread(void *data)
{
	*(pid_t *) data = sleeper();
	return NULL;
}

static void finds_the_child_of_a_thread(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct trk_tree *t;
	pthread_t thread;
	pid_t pid = 0;

	t = tree_of(getpid(), &env, false);
	assert_int_equal(pthread_create(&thread, NULL, fork_in_thread, &pid), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	trk__tree_update(t, &s);
	assert_int_equal(s->processes, 2);
	(void) kill(pid, SIGKILL);
	(void) waitpid(pid, NULL, 0);
	trk__tree_free(t);
	trk__env_release(&env);
}

static void keeps_a_daemon_that_comes_to_the_subreaper(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct trk_tree *t;
	pid_t root, left[4];

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	root = fork();
	if (root == 0) {
		nap();
		if (fork() == 0) {
			(void) setsid();
			if (fork() == 0)
				(void) pause();
			_exit(0);
		}
		(void) wait(NULL);
		(void) pause();
		_exit(0);
	}
	t = tree_of(root, &env, true);
	for (int i = 0; i < 40; i++) {
		nap();
		trk__tree_update(t, &s);
		if (i > 4 && s->processes == 2)
			break;
	}
	assert_int_equal(s->processes, 2);
	assert_int_equal(trk__tree_pids(t, left, 4), 2);
	for (int i = 0; i < 2; i++)
		(void) kill(left[i], SIGKILL);
	while (wait(NULL) > 0)
		continue;
	trk__tree_update(t, &s);
	assert_true(s->root_gone);
	(void) prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	trk__tree_free(t);
	trk__env_release(&env);
}

/* Forks one process for each byte that comes through the pipe. */
static pid_t forker(int from)
{
	pid_t pid = fork();

	if (pid == 0) {
		char c;

		(void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* should a test fail */
		while (read(from, &c, 1) == 1)
			(void) sleeper();
		_exit(0);
	}
	return pid;
}

/* Until it has so many, however slow the machine. */
static void await_children(const struct trk_env *env, pid_t pid, int count)
{
	pid_t child[8];

	for (int i = 0; i < 400 && trk__pid_children_read(env->proc_fd, pid, child, 8) < count; i++)
		nap();
}

static void finds_a_child_among_strangers_without_a_look_at_them(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct trk_tree *t;
	pid_t pid, examined, stranger[30];
	int end[2];

	assert_int_equal(pipe(end), 0);
	pid = forker(end[0]);
	t = tree_of(pid, &env, false);
	t->options.pss_share = 0; /* a reading of PSS looks for all newcomers */
	trk__tree_update(t, &s);
	examined = t->last_pid;
	for (int round = 1; round <= 2; round++) {
		for (int i = 0; i < 15; i++)
			stranger[(round - 1) * 15 + i] = sleeper();
		assert_int_equal(write(end[1], "x", 1), 1);
		await_children(&env, pid, round);
		t->next_range_ns = t->next_sweep_ns = UINT64_MAX; /* however slow the machine */
		trk__tree_update(t, &s);
		assert_int_equal(s->processes, 1 + round);
		assert_int_equal(t->last_pid, examined);
		assert_true(t->gate_pid > examined);
	}
	/* Those that came in another way have their turn later. */
	t->next_range_ns = 0;
	trk__tree_update(t, &s);
	assert_true(t->last_pid > examined);
	assert_int_equal(s->processes, 3);
	for (size_t i = 1; i < t->count; i++)
		(void) kill(t->process[i].pid, SIGKILL);
	for (int i = 0; i < 30; i++) {
		(void) kill(stranger[i], SIGKILL);
		(void) waitpid(stranger[i], NULL, 0);
	}
	(void) close(end[1]);
	(void) kill(pid, SIGKILL);
	(void) waitpid(pid, NULL, 0);
	(void) close(end[0]);
	trk__tree_free(t);
	trk__env_release(&env);
}

/* A member that hardly runs: one write for each byte that comes through the pipe. */
static pid_t writer(int from)
{
	static const char text[65536];
	pid_t pid = fork();

	if (pid == 0) {
		int out = open("/dev/null", O_WRONLY);
		char c;

		(void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test fail */
		while (read(from, &c, 1) == 1)
			(void) !write(out, text, sizeof(text));
		_exit(0);
	}
	return pid;
}

/* Wait until the kernel shows that it has written so many bytes. */
static void await_written(pid_t pid, uint64_t bytes)
{
	char path[40], text[512];
	struct trk_pid_io io = {0};

	(void) snprintf(path, sizeof(path), "%d/io", (int) pid);
	while (io.write_chars < bytes) {
		TRK_FD_CLEANUP int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		nap();
		assert_true(trk__read_at(proc, path, text, sizeof(text)) > 0);
		assert_int_equal(trk__pid_io_parse(text, strlen(text), &io), 0);
	}
}

static void bytes_of_a_member_that_hardly_runs_are_found_soon(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct trk_tree *t;
	uint64_t before;
	int updates = 0, end[2];
	pid_t pid;

	SKIP_UNDER_VALGRIND("it writes, too, and is slow");
	assert_int_equal(pipe(end), 0);
	pid = writer(end[0]);
	t = tree_of(pid, &env, false);
	for (int i = 0; i < 3; i++)
		trk__tree_update(t, &s);
	before = s->counter[TRK_TREE_WRITE_CHARS];
	for (uint64_t round = 1; round <= 7; round++) {
		assert_int_equal(write(end[1], "x", 1), 1);
		await_written(pid, round * 65536);
		trk__tree_update(t, &s);
	}
	/* Most of it while it goes on, and all when it stands still, before the rare full look. */
	assert_true(s->counter[TRK_TREE_WRITE_CHARS] >= before + 2 * 65536);
	while (s->counter[TRK_TREE_WRITE_CHARS] < before + 7 * 65536 && updates < 10) {
		trk__tree_update(t, &s);
		updates++;
	}
	assert_true(updates < 10);
	assert_int_equal(s->counter[TRK_TREE_WRITE_CHARS], before + 7 * 65536);
	(void) close(end[1]);
	(void) kill(pid, SIGKILL);
	(void) waitpid(pid, NULL, 0);
	(void) close(end[0]);
	trk__tree_free(t);
	trk__env_release(&env);
}

static void growth_between_two_files_of_one_look_is_not_counted_twice(void **state)
{
	const size_t size = 64 << 20;
	const struct trk_tree_state *s;
	struct trk_env env;
	struct trk_tree *t;
	struct process *p;
	char *memory;

	SKIP_UNDER_VALGRIND("its own memory is part of the process");
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	memset(memory, 1, size);
	t = tree_of(getpid(), &env, false);
	trk__tree_update(t, &s);
	p = trk__tree_find(t, getpid());
	assert_true(p->hwm_bytes >= size);
	/* As if statm had been read before all of that was touched, and VmHWM after it. */
	p->hwm_excess_bytes = p->hwm_bytes - size / 4;
	p->rss_bytes = size / 4;
	p->read_update = 0;
	t->state.peak_bytes = 0;
	t->update++;
	trk__memory_update(t);
	assert_in_range(t->state.peak_bytes, size / 2, p->hwm_bytes + size / 4);
	(void) munmap(memory, size);
	trk__tree_free(t);
	trk__env_release(&env);
}

static char *touched(size_t size, int flags)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	memset(memory, 1, size);
	return memory;
}

static void growth_of_its_own_pages_needs_no_reading(void **state)
{
	const uint64_t size = 64 << 20;
	const struct trk_tree_state *s;
	struct trk_env env;
	struct process *p;
	struct trk_tree *t;
	uint64_t before;
	char *own, *shared;

	SKIP_UNDER_VALGRIND("its own memory is part of the process");
	own = touched(size, MAP_PRIVATE);
	t = tree_of(getpid(), &env, false);
	trk__tree_update(t, &s);
	p = trk__tree_find(t, getpid());
	assert_int_equal(p->read_update, t->update);
	before = s->pss_bytes;
	(void) munmap(own, size);
	own = touched(2 * size, MAP_PRIVATE);
	trk__tree_update(t, &s);
	assert_int_not_equal(p->read_update, t->update);
	assert_in_range(s->pss_bytes, before + size * 95 / 100, before + size * 105 / 100);
	/* Whose shared pages are, a reading alone tells. */
	shared = touched(size, MAP_SHARED);
	trk__tree_update(t, &s);
	assert_int_equal(p->read_update, t->update);
	(void) munmap(own, 2 * size);
	(void) munmap(shared, size);
	trk__tree_free(t);
	trk__env_release(&env);
}

/* A process with `size` bytes of its own that forks when a byte comes through `from`, and says
 * so. */
static pid_t sharer(size_t size, int from, int to)
{
	pid_t pid = fork();

	if (pid == 0) {
		char c, *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			_exit(1);
		memset(memory, 1, size);
		while (write(to, "x", 1) == 1 && read(from, &c, 1) == 1)
			if (fork() == 0) {
				(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
				(void) pause();
				_exit(0);
			}
		_exit(0);
	}
	return pid;
}

static void memory_that_workers_share_counts_once_while_they_are_forked(void **state)
{
	const size_t size = 64 << 20;
	const struct trk_tree_state *s;
	struct trk_env env;
	struct trk_tree *t;
	pid_t root, left[16];
	int go[2], done[2];
	size_t n;
	char c;

	SKIP_UNDER_VALGRIND("its own memory is part of each process");
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	root = fork();
	if (root == 0) {
		(void) close(go[1]); /* so that all end with us */
		(void) sharer(size, go[0], done[1]);
		(void) wait(NULL);
		_exit(0);
	}
	assert_int_equal(read(done[0], &c, 1), 1);
	t = tree_of(root, &env, false);
	trk__tree_update(t, &s);
	/* One at first, then several between two updates. */
	for (int round = 0, workers[] = {1, 7}; round < 2; round++) {
		for (int i = 0; i < workers[round]; i++) {
			assert_int_equal(write(go[1], "x", 1), 1);
			assert_int_equal(read(done[0], &c, 1), 1);
		}
		t->pss_budget.credit_ns = TRK_PSS_CREDIT_MAX_NS; /* all that it ever has */
		trk__tree_update(t, &s);
		assert_in_range(s->pss_bytes, size - size / 32, size + size / 8);
		assert_in_range(s->peak_bytes, size, size + size / 8);
	}
	assert_int_equal(s->processes, 10);
	n = trk__tree_pids(t, left, 16);
	for (size_t i = 0; i < n; i++)
		(void) kill(left[i], SIGKILL);
	(void) waitpid(root, NULL, 0);
	for (int i = 0; i < 2; i++) {
		(void) close(go[i]);
		(void) close(done[i]);
	}
	trk__tree_free(t);
	trk__env_release(&env);
}

/* Whoever started it may never wait for it. */
static void a_root_that_nobody_has_waited_for_has_ended(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct trk_tree *t;
	siginfo_t info;
	pid_t root = sleeper();

	t = tree_of(root, &env, false);
	trk__tree_update(t, &s);
	assert_false(s->root_gone);
	(void) kill(root, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t) root, &info, WEXITED | WNOWAIT), 0);
	trk__tree_update(t, &s);
	assert_true(s->root_gone);
	assert_int_equal(s->processes, 0);
	assert_int_equal(waitpid(root, NULL, 0), root);
	trk__tree_free(t);
	trk__env_release(&env);
}

static void *outlive_the_main_thread(void *data)
{
	(void) data;
	(void) pause();
	return NULL;
}

static void a_root_whose_main_thread_alone_has_ended_goes_on(void **state)
{
	const struct trk_tree_state *s;
	char path[64], text[1024] = "";
	struct trk_env env;
	struct trk_tree *t;
	pid_t root = fork();

	if (root == 0) {
		pthread_t thread;

		nap();
		if (pthread_create(&thread, NULL, outlive_the_main_thread, NULL) == 0)
			pthread_exit(NULL);
		_exit(1);
	}
	t = tree_of(root, &env, false);
	(void) snprintf(path, sizeof(path), "/proc/%d/stat", (int) root);
	for (int i = 0; i < 400 && !strstr(text, ") Z "); i++) {
		nap();
		assert_true(trk__read_at(AT_FDCWD, path, text, sizeof(text)) > 0);
	}
	trk__tree_update(t, &s);
	assert_false(s->root_gone);
	(void) kill(root, SIGKILL);
	assert_int_equal(waitpid(root, NULL, 0), root);
	trk__tree_update(t, &s);
	assert_true(s->root_gone);
	trk__tree_free(t);
	trk__env_release(&env);
}

static void a_pid_that_does_not_exist_is_refused(void **state)
{
	struct trk_tree_options options = {.root = INT32_MAX};
	struct trk_env env;
	int error = 0;

	assert_int_equal(trk__env_init(&env), 0);
	assert_null(trk__tree_new(&env, &options, &error));
	assert_int_equal(error, -ESRCH);
	trk__env_release(&env);
}

/* An update in which the last pid was `newest`, and processes were found on the pids from `first`
 * to `last`: members, or strangers. */
static void count_pids(struct trk_tree *t, pid_t newest, pid_t first, pid_t last, bool are_members)
{
	trk__peaks_begin(t, newest);
	for (pid_t pid = first; pid <= last; pid++)
		trk__peaks_explain(t, pid, are_members);
	trk__peaks_count_unseen(t);
}

static void pids_that_no_process_was_found_on_are_counted(void **state)
{
	struct trk_tree t = {.huge_page_bytes = 1, .newest_pid = 100};

	count_pids(&t, 103, 101, 103, true);
	assert_int_equal(t.state.unseen_pids, 0);
	assert_int_equal(t.state.unseen_updates, 0);
	count_pids(&t, 106, 105, 106, false); /* 104 came and went */
	assert_int_equal(t.state.unseen_pids, 1);
	assert_int_equal(t.state.unseen_updates, 1);
	count_pids(&t, 106, 104, 104, true); /* it is found after all */
	assert_int_equal(t.state.unseen_pids, 0);
	assert_int_equal(t.state.unseen_updates, 1);
	count_pids(&t, 106, 107, 108, true); /* younger than the last pid was when it was read */
	count_pids(&t, 109, 109, 109, false);
	assert_int_equal(t.state.unseen_pids, 0);
	assert_int_equal(t.state.unseen_updates, 1);
}

static void after_the_pids_have_wrapped_any_number_may_be_unseen(void **state)
{
	struct trk_tree t = {.huge_page_bytes = 1, .newest_pid = 100};

	count_pids(&t, 5, 1, 0, true);
	assert_true(t.state.unseen_pids == UINT64_MAX);
	count_pids(&t, 6, 6, 6, true);
	assert_true(t.state.unseen_pids == UINT64_MAX);
	t = (struct trk_tree){.huge_page_bytes = 1, .newest_pid = -1}; /* attached */
	count_pids(&t, 6, 6, 6, true);
	assert_true(t.state.unseen_pids == UINT64_MAX);
}

static void threads_of_the_only_process_explain_as_many_pids(void **state)
{
	struct trk_tree_state s = {.unseen_pids = 3, .most_threads = 4, .alone = true};

	assert_false(trk__tree_has_unseen(&s));
	s.unseen_pids++;
	assert_true(trk__tree_has_unseen(&s));
	s.unseen_pids = 1;
	s.alone = false; /* its threads may be counted as a member's that has gone */
	assert_true(trk__tree_has_unseen(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reaped_child_is_not_counted_twice),
		cmocka_unit_test(a_child_gone_before_its_time_arrives_makes_no_spike_and_no_loss),
		cmocka_unit_test(what_never_arrives_does_not_hide_later_news),
		cmocka_unit_test(a_child_that_no_parent_received_is_evidence_after_one_update),
		cmocka_unit_test(at_the_end_nothing_is_waited_for),
		cmocka_unit_test(a_chain_that_vanishes_at_once_goes_to_the_living_ancestor),
		cmocka_unit_test(what_the_caller_reaps_arrives_through_the_pool),
		cmocka_unit_test(what_was_reaped_and_never_seen_counts_as_well),
		cmocka_unit_test(what_a_process_used_before_we_attached_is_not_counted),
		cmocka_unit_test(
			the_table_of_processes_leaves_out_what_was_used_before_we_attached),
		cmocka_unit_test(finds_every_child_past_the_first_table),
		cmocka_unit_test(finds_the_child_of_a_thread),
		cmocka_unit_test(keeps_a_daemon_that_comes_to_the_subreaper),
		cmocka_unit_test(a_root_that_nobody_has_waited_for_has_ended),
		cmocka_unit_test(a_root_whose_main_thread_alone_has_ended_goes_on),
		cmocka_unit_test(finds_a_child_among_strangers_without_a_look_at_them),
		cmocka_unit_test(bytes_of_a_member_that_hardly_runs_are_found_soon),
		cmocka_unit_test(memory_that_workers_share_counts_once_while_they_are_forked),
		cmocka_unit_test(growth_between_two_files_of_one_look_is_not_counted_twice),
		cmocka_unit_test(growth_of_its_own_pages_needs_no_reading),
		cmocka_unit_test(a_pid_that_does_not_exist_is_refused),
		cmocka_unit_test(pids_that_no_process_was_found_on_are_counted),
		cmocka_unit_test(after_the_pids_have_wrapped_any_number_may_be_unseen),
		cmocka_unit_test(threads_of_the_only_process_explain_as_many_pids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
