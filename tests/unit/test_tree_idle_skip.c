/* Skipping of idle members in a large tree: what may be late, and what must not. The processes are
 * real, the time between two updates is simulated. */
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
#include "probe/tree/private.h"

#define MS  TRK_NS_PER_MS
#define MIB (UINT64_C(1) << 20)

enum { WORKERS = 90, FEW = 40, HELD = 48 };

enum command { BURN = 'b', FORK = 'f', LEAVE_CHILD = 'l', TAKE = 't', DROP = 'd', END = 'e' };

static struct pool {
	int to[WORKERS]; /* one pipe for each worker */
	int done[2];     /* one byte for each command that was obeyed */
	pid_t pid[WORKERS];
	pid_t root;
	struct trk_env env;
	struct trk_tree *tree;
	const struct trk_tree_state *state;
} pool;

static uint64_t fake_ns;

static uint64_t fake_clock(void)
{
	return fake_ns;
}

static void burn(unsigned int ms)
{
	uint64_t end = trk__clock_process_cpu_ns() + ms * MS;

	while (trk__clock_process_cpu_ns() < end)
		;
}

static void leave_a_child(void)
{
	if (fork() == 0) {
		(void) alarm(300); /* where a case fails because it was not found */
		for (;;)
			(void) pause();
	}
}

/* A worker reads pairs of a command and a number. */
static void obey(int from)
{
	unsigned char c[2];
	char *held = NULL;

	while (read(from, c, 2) == 2) {
		if (c[0] == BURN)
			burn(c[1]);
		if (c[0] == FORK || c[0] == LEAVE_CHILD)
			leave_a_child();
		if (c[0] == TAKE) {
			held = mmap(NULL, HELD * MIB, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		} else if (c[0] == DROP && held) {
			(void) munmap(held, HELD * MIB);
		}
		(void) !write(pool.done[1], c, 1);
		if (c[0] == END || c[0] == LEAVE_CHILD)
			_exit(0);
	}
	_exit(0);
}

static void be_root(const int from[WORKERS], int workers, bool reaps, int out)
{
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!reaps)
		(void) signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (int k = 0; k < WORKERS; k++) /* or the pipes would never end */
				(void) close(pool.to[k]);
			obey(from[i]);
		}
		(void) !write(out, &pid, sizeof(pid));
	}
	while (wait(NULL) > 0)
		continue;
	for (;;)
		(void) pause();
}

/* What strangers start must not decide whether anybody is skipped. */
static void tell_newest(pid_t pid)
{
	char text[64];

	(void) snprintf(text, sizeof(text), "0.00 0.00 0.00 1/100 %d\n", (int) pid);
	assert_int_equal(pwrite(pool.tree->loadavg_fd, text, strlen(text), 0), strlen(text));
}

/* Many pipes: after the start the root needs none of them. */
static void begin(int workers, bool reaps, bool skips_idle)
{
	struct trk_tree_options options = {
		.skips_idle = skips_idle, .subreaper = true, .self = getpid()};
	int from[WORKERS], up[2], error = 0;
	pid_t newest;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(pipe(up), 0);
	assert_int_equal(pipe(pool.done), 0);
	for (int i = 0; i < WORKERS; i++) {
		int end[2];

		assert_int_equal(pipe(end), 0);
		from[i] = end[0];
		pool.to[i] = end[1];
	}
	pool.root = fork();
	if (pool.root == 0)
		be_root(from, workers, reaps, up[1]);
	for (int i = 0; i < workers; i++)
		assert_int_equal(read(up[0], &pool.pid[i], sizeof(pid_t)), sizeof(pid_t));
	for (int i = 0; i < WORKERS; i++)
		(void) close(from[i]);
	(void) close(up[0]);
	(void) close(up[1]);
	assert_int_equal(trk__env_init(&pool.env), 0);
	fake_ns = TRK_NS_PER_S;
	pool.env.monotonic_ns = fake_clock;
	options.root = pool.root;
	pool.tree = trk__tree_new(&pool.env, &options, &error);
	assert_non_null(pool.tree);
	newest = trk__tree_newest_pid(pool.tree);
	(void) close(pool.tree->loadavg_fd);
	pool.tree->loadavg_fd = memfd_create("loadavg", MFD_CLOEXEC);
	assert_true(pool.tree->loadavg_fd >= 0);
	tell_newest(newest);
}

/* After a case that failed as well. */
static int end(void **state)
{
	pid_t left[WORKERS * 2];
	size_t n = trk__tree_pids(pool.tree, left, WORKERS * 2);

	(void) state;
	for (size_t i = 0; i < n && i < WORKERS * 2; i++)
		(void) kill(left[i], SIGKILL);
	trk__tree_free(pool.tree);
	trk__env_release(&pool.env);
	for (int i = 0; i < WORKERS; i++)
		(void) close(pool.to[i]);
	(void) close(pool.done[0]);
	(void) close(pool.done[1]);
	(void) usleep(20000);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
	(void) prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	memset(&pool, 0, sizeof(pool));
	return 0;
}

/* Growth of the CPU time that is told, ns. */
static uint64_t update(uint64_t apart_ns)
{
	uint64_t before = trk__tree_state(pool.tree)->counter[TRK_TREE_CPU];

	fake_ns += apart_ns;
	trk__tree_update(pool.tree, &pool.state);
	return pool.state->counter[TRK_TREE_CPU] - before;
}

/* Until it waits again. */
static void settle_down(pid_t pid)
{
	uint64_t before = 0, now = 1;

	while (now != before) {
		before = now;
		(void) usleep(20000);
		if (trk__clock_pid_cpu_ns(pid, &now) < 0)
			return;
	}
}

static void tell(int worker, enum command command, unsigned char number)
{
	unsigned char c[2] = {(unsigned char) command, number};

	assert_int_equal(write(pool.to[worker], c, 2), 2);
}

static void await_done(int n)
{
	for (char c; n > 0; n--)
		assert_int_equal(read(pool.done[0], &c, 1), 1);
}

static void order(int worker, enum command command, unsigned char number)
{
	tell(worker, command, number);
	await_done(1);
	settle_down(pool.pid[worker]);
}

/* All asleep, and nothing stirs: every update skips some. */
static void lull(uint64_t apart_ns)
{
	settle_down(pool.root);
	for (int i = 0; i < 100; i++)
		(void) update(apart_ns);
}

static struct process *member(int worker)
{
	return trk__tree_find(pool.tree, pool.pid[worker]);
}

/* The n-th worker that the next update will skip. */
static int next_skipped(int n)
{
	for (int i = 0; i < WORKERS; i++) {
		const struct process *p = pool.pid[i] ? member(i) : NULL;

		if (p && p->asleep && !p->skipped && n-- == 0)
			return i;
	}
	fail_msg("nobody will be skipped");
	return -1;
}

static uint64_t clocks(void)
{
	uint64_t sum = 0, ns;

	for (int i = 0; i < WORKERS; i++)
		if (pool.pid[i] && trk__clock_pid_cpu_ns(pool.pid[i], &ns) == 0)
			sum += ns;
	return sum;
}

static void every_sleeper_has_its_turn_in_two_updates(void **state)
{
	bool skipped[WORKERS];

	(void) state;
	begin(WORKERS, true, true);
	lull(TRK_NS_PER_S);
	assert_in_range(pool.state->unseen, WORKERS / 5, WORKERS * 4 / 5);
	for (int i = 0; i < WORKERS; i++)
		skipped[i] = member(i)->skipped;
	(void) update(TRK_NS_PER_S);
	for (int i = 0; i < WORKERS; i++)
		assert_true(skipped[i] != member(i)->skipped);
	assert_int_equal(pool.state->processes, WORKERS + 1);
	/* With updates far apart a turn would be long. */
	(void) update(3 * TRK_NS_PER_S);
	assert_int_equal(pool.state->unseen, 0);
	(void) update(TRK_NS_PER_S);
	assert_true(pool.state->unseen > 0);
	trk__tree_force_full(pool.tree);
	(void) update(TRK_NS_PER_S);
	assert_int_equal(pool.state->unseen, 0);
}

static void nobody_is_skipped_in_a_small_tree_or_unasked(void **state)
{
	(void) state;
	begin(FEW, true, true);
	for (int i = 0; i < 30; i++) {
		(void) update(TRK_NS_PER_S);
		assert_int_equal(pool.state->unseen, 0);
	}
	(void) end(state);
	begin(WORKERS, true, false);
	for (int i = 0; i < 30; i++) {
		(void) update(TRK_NS_PER_S);
		assert_int_equal(pool.state->unseen, 0);
	}
}

static void a_lone_sleeper_is_found_one_update_late_but_no_faster_than_it_runs(void **state)
{
	uint64_t before, shown;
	int worker;

	(void) state;
	begin(WORKERS, true, true);
	lull(20 * MS);
	worker = next_skipped(0);
	before = clocks();
	order(worker, BURN, 50);
	shown = update(20 * MS);
	assert_true(member(worker)->skipped);
	assert_int_equal(shown, 0);
	/* It is found: 50 ms cannot have been used by one thread in 20 ms. */
	assert_int_equal(update(20 * MS), 20 * MS);
	assert_true(pool.state->late_cpu_ns >= 30 * MS);
	shown = 20 * MS;
	for (int i = 0; i < 10; i++) {
		uint64_t more = update(20 * MS);

		assert_true(more <= 20 * MS);
		shown += more;
	}
	assert_int_equal(pool.state->late_cpu_ns, 0);
	assert_int_equal(shown, clocks() - before);
}

static void the_last_update_is_exact_at_once(void **state)
{
	uint64_t before;
	int worker;

	(void) state;
	begin(WORKERS, true, true);
	lull(20 * MS);
	worker = next_skipped(0);
	before = clocks();
	order(worker, BURN, 50);
	(void) update(20 * MS);
	assert_true(member(worker)->skipped);
	trk__tree_close_accounts(pool.tree);
	assert_int_equal(update(1 * MS), clocks() - before);
	assert_int_equal(pool.state->late_cpu_ns, 0);
	assert_int_equal(pool.state->unseen, 0);
}

static void the_tree_is_shown_no_faster_than_the_machine(void **state)
{
	uint64_t before, shown;
	int one, two;

	(void) state;
	begin(WORKERS, true, true);
	lull(20 * MS);
	pool.tree->cores = 1;
	one = next_skipped(0);
	two = next_skipped(1);
	before = clocks();
	order(one, BURN, 18);
	order(two, BURN, 18);
	assert_int_equal(update(20 * MS), 0);
	assert_int_equal(update(20 * MS), 20 * MS);
	assert_true(pool.state->late_cpu_ns > 0);
	/* The rest fits into the next, but for what valgrind adds to a burn. */
	for (shown = 20 * MS; pool.state->late_cpu_ns > 0;) {
		uint64_t more = update(20 * MS);

		assert_true(more > 0 && more <= 20 * MS);
		shown += more;
	}
	assert_int_equal(shown, clocks() - before);
	assert_int_equal(pool.state->late_cpu_ns, 0);
}

static void a_pool_that_wakes_together_is_seen_in_one_update(void **state)
{
	uint64_t before;

	(void) state;
	begin(WORKERS, true, true);
	lull(TRK_NS_PER_S / 10);
	assert_true(pool.state->unseen > 0);
	before = clocks();
	for (int i = 0; i < WORKERS; i++)
		tell(i, BURN, 1);
	await_done(WORKERS);
	for (uint64_t last = 0; last != clocks(); (void) usleep(20000))
		last = clocks();
	assert_int_equal(update(TRK_NS_PER_S / 10), clocks() - before);
	assert_int_equal(pool.state->unseen, 0);
}

static void a_sleeper_that_dies_unseen_is_not_counted_twice(void **state)
{
	uint64_t used, grown = 0;
	int worker;

	(void) state;
	begin(WORKERS, true, true);
	for (int i = 0; i < WORKERS; i += 10)
		order(i, BURN, 60);
	for (int i = 0; i < 3; i++)
		(void) update(TRK_NS_PER_S);
	lull(TRK_NS_PER_S);
	for (worker = 0; worker < WORKERS; worker++)
		if (member(worker)->own[TRK_TREE_CPU] > 50 * MS && member(worker)->asleep &&
		    !member(worker)->skipped)
			break;
	if (worker ==
	    WORKERS) { /* all of them have their turn next: one update later they do not */
		(void) update(TRK_NS_PER_S);
		for (worker = 0; worker < WORKERS; worker++)
			if (member(worker)->own[TRK_TREE_CPU] > 50 * MS && !member(worker)->skipped)
				break;
	}
	assert_true(worker < WORKERS);
	used = member(worker)->own[TRK_TREE_CPU];
	tell(worker, END, 0);
	await_done(1);
	while (kill(pool.pid[worker], 0) == 0) /* until its parent has waited for it */
		(void) usleep(1000);
	settle_down(pool.root);
	for (int i = 0; i < 6; i++) {
		grown += update(TRK_NS_PER_S);
		assert_int_equal(pool.state->processes, WORKERS);
	}
	/* What it used to end, and the ticks that its parent's figure is cut to. */
	assert_true(grown < used / 2);
	assert_null(member(worker));
}

static void a_sleeper_that_forks_unseen_has_its_child_found_at_once(void **state)
{
	(void) state;
	begin(WORKERS, true, true);
	lull(TRK_NS_PER_S);
	pool.tree->next_range_ns = pool.tree->next_sweep_ns = UINT64_MAX;
	order(next_skipped(0), FORK, 0);
	tell_newest(pool.tree->gate_pid + 1);
	(void) update(TRK_NS_PER_S);
	assert_true(pool.state->unseen > 0);
	assert_int_equal(pool.state->processes, WORKERS + 2);
}

static void a_sleeper_that_forks_and_dies_leaves_its_child_in_the_tree(void **state)
{
	int worker;

	(void) state;
	begin(WORKERS, false, true); /* a root that ignores SIGCHLD sees nothing of it */
	lull(TRK_NS_PER_S);
	pool.tree->next_range_ns = pool.tree->next_sweep_ns = UINT64_MAX;
	worker = next_skipped(0);
	tell(worker, LEAVE_CHILD, 0);
	await_done(1);
	while (kill(pool.pid[worker], 0) == 0)
		(void) usleep(1000);
	tell_newest(pool.tree->gate_pid + 1);
	(void) update(TRK_NS_PER_S);
	(void) update(TRK_NS_PER_S);
	assert_null(member(worker));
	assert_int_equal(pool.state->processes, WORKERS + 1); /* one less, one more */
}

static void memory_that_a_sleeper_freed_unseen_makes_no_peak(void **state)
{
	int sleeper, other = WORKERS - 1;
	uint64_t before;

	(void) state;
	begin(WORKERS, true, true);
	for (int i = 0; i < 9; i++)
		order(i, TAKE, 0);
	lull(2 * TRK_NS_PER_S);
	for (int i = 0; i < 6; i++) { /* the other does not sleep */
		order(other, BURN, 1);
		(void) update(2 * TRK_NS_PER_S);
	}
	for (sleeper = 0; sleeper < 9; sleeper++)
		if (!member(sleeper)->skipped)
			break;
	if (sleeper == 9) {
		sleeper = 0;
		order(other, BURN, 1);
		(void) update(2 * TRK_NS_PER_S);
	}
	before = pool.state->peak_pss_bytes;
	order(sleeper, DROP, 0);
	order(other, TAKE, 0);
	(void) update(2 * TRK_NS_PER_S);
	assert_true(member(sleeper)->skipped);
	assert_true(member(other)->rss_bytes >= HELD * MIB);
	assert_true(pool.state->pss_bytes >= before + HELD / 2 * MIB);
	assert_true(pool.state->peak_pss_bytes < before + HELD / 2 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_sleeper_has_its_turn_in_two_updates, end),
		cmocka_unit_test_teardown(nobody_is_skipped_in_a_small_tree_or_unasked, end),
		cmocka_unit_test_teardown(
			a_lone_sleeper_is_found_one_update_late_but_no_faster_than_it_runs, end),
		cmocka_unit_test_teardown(the_last_update_is_exact_at_once, end),
		cmocka_unit_test_teardown(the_tree_is_shown_no_faster_than_the_machine, end),
		cmocka_unit_test_teardown(a_pool_that_wakes_together_is_seen_in_one_update, end),
		cmocka_unit_test_teardown(a_sleeper_that_dies_unseen_is_not_counted_twice, end),
		cmocka_unit_test_teardown(a_sleeper_that_forks_unseen_has_its_child_found_at_once,
					  end),
		cmocka_unit_test_teardown(
			a_sleeper_that_forks_and_dies_leaves_its_child_in_the_tree, end),
		cmocka_unit_test_teardown(memory_that_a_sleeper_freed_unseen_makes_no_peak, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
