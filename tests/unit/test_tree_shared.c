/* Memory that members share, on real processes whose pages are known. The figure is the memory of the
 * tree, independent of which member maps, unmaps or writes it, counts no page twice, and lies
 * between its bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/tree/private.h"
#include "skip.h"

#define MIB ((size_t) 1 << 20)

enum {
	WORKERS = 6,
	SHARED_MIB = 24, /* MAP_SHARED, filled by the root */
	COPIED_MIB = 24, /* private, filled by the root before it forks */
	OWN_MIB = 4,     /* a step of a worker's own memory */
	ROUNDS = 40,
	READING_NS = 500000,
	LOOKS = 1000, /* at most, at the kernel's counter: other programs may make some useless */
	SEEDS = IS_SANITIZED ? 1 : 6, /* the slack of a sanitizer hides what they would find */
};

/* The programs themselves: a sanitizer's copy of memory grows with what they touch. */
#if IS_SANITIZED
enum { SLACK_MIB = 100 };
#else
enum { SLACK_MIB = 3 };
#endif

/* Commands to a worker. */
enum order { READ_SHARED, WRITE_COPIED, GROW, LEAVE, ORDERS };

struct worker {
	pid_t pid; /* 0: not there */
	int go, done;
	size_t written_mib, own_mib; /* of COPIED_MIB, and of its own */
};

static char *shared, *copied;

static void touch(char *at, size_t bytes, bool write)
{
	for (size_t i = 0; i < bytes; i += 4096) {
		if (write)
			at[i] = 1;
		else
			(void) *(volatile char *) (at + i);
	}
}

static char *map(size_t bytes, int flags)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	(void) madvise(at, bytes, MADV_NOHUGEPAGE);
	return at;
}

/* Obeys orders of two bytes, the order and an amount in MiB, and answers each. */
static _Noreturn void work(int go, int done)
{
	unsigned char order[2];
	size_t written = 0;

	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(go, order, 2) == 2) {
		size_t bytes = order[1] * MIB;

		if (order[0] == READ_SHARED)
			touch(shared, bytes, false);
		else if (order[0] == WRITE_COPIED)
			touch(copied + written, bytes, true);
		else if (order[0] == GROW)
			touch(map(bytes, MAP_PRIVATE), bytes, true);
		if (order[0] == WRITE_COPIED)
			written += bytes;
		if (order[0] == LEAVE || write(done, "x", 1) != 1)
			_exit(0);
	}
	_exit(0);
}

static void hire(struct worker *w)
{
	int go[2], done[2];

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	*w = (struct worker){.pid = fork(), .go = go[1], .done = done[0]};
	if (w->pid == 0)
		work(go[0], done[1]);
	(void) close(go[0]);
	(void) close(done[1]);
}

static void tell(struct worker *w, enum order order, size_t mib)
{
	unsigned char text[2] = {(unsigned char) order, (unsigned char) mib};
	char c;

	assert_int_equal(write(w->go, text, 2), 2);
	if (order != LEAVE) {
		assert_int_equal(read(w->done, &c, 1), 1);
		return;
	}
	(void) close(w->go);
	(void) close(w->done);
	assert_int_equal(waitpid(w->pid, NULL, 0), w->pid);
	w->pid = 0;
}

static void do_something(struct worker *w, unsigned int *seed)
{
	size_t amount = (size_t) rand_r(seed);

	if (w->pid == 0) {
		hire(w);
		return;
	}
	switch (rand_r(seed) % ORDERS) {
	case READ_SHARED:
		tell(w, READ_SHARED, 1 + amount % SHARED_MIB);
		break;
	case WRITE_COPIED:
		amount %= 8;
		if (amount > COPIED_MIB - w->written_mib)
			amount = COPIED_MIB - w->written_mib;
		tell(w, WRITE_COPIED, amount);
		w->written_mib += amount;
		break;
	case GROW:
		tell(w, GROW, OWN_MIB);
		w->own_mib += OWN_MIB;
		break;
	default:
		tell(w, LEAVE, 0);
		break;
	}
}

static size_t truth_of(const struct worker w[WORKERS])
{
	size_t mib = SHARED_MIB + COPIED_MIB;

	for (int i = 0; i < WORKERS; i++)
		if (w[i].pid)
			mib += w[i].written_mib + w[i].own_mib;
	return mib;
}

static void count(const struct trk_tree_state *s, const struct worker w[WORKERS], unsigned int seed,
		  int round, size_t part)
{
	size_t truth = truth_of(w), sum = s->pss_bytes / MIB;

	if (sum > truth + truth / part + SLACK_MIB || sum + truth / part + SLACK_MIB < truth)
		fail_msg("seed %u, round %d: the tree holds %zu MiB, the figure is %zu MiB", seed,
			 round, truth, sum);
	if (s->least_bytes / MIB > truth + SLACK_MIB || s->most_bytes / MIB < truth)
		fail_msg("seed %u, round %d: %zu MiB are not between %zu and %zu MiB", seed, round,
			 truth, (size_t) (s->least_bytes / MIB), (size_t) (s->most_bytes / MIB));
}

/* Each reading costs the same, however slow the machine is. */
static uint64_t reading_clock(void)
{
	static uint64_t ns;

	ns += READING_NS;
	return ns;
}

/* The root of the tree is this very process. readings: as many as an update may take. part: of the
 * truth, that the sum may be off by. */
static void play(unsigned int seed, size_t readings, size_t part)
{
	struct trk_tree_options options = {
		.root = getpid(), .pss_share = 0.005, .subreaper = true, .self = 0};
	struct worker w[WORKERS] = {{.pid = 0}};
	const struct trk_tree_state *s;
	unsigned int state = seed;
	struct trk_env env;
	struct trk_tree *t;
	int error;

	assert_int_equal(trk__env_init(&env), 0);
	env.thread_cpu_ns = reading_clock;
	t = trk__tree_new(&env, &options, &error);
	assert_non_null(t);
	trk__tree_update(t, &s);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = rand_r(&state) % 4; i >= 0; i--)
			do_something(&w[rand_r(&state) % WORKERS], &state);
		t->pss_budget.credit_ns = TRK_PSS_RESERVE_NS + (double) (readings * READING_NS);
		trk__tree_update(t, &s);
		count(s, w, seed, round, part);
	}
	for (int i = 0; i < WORKERS; i++)
		if (w[i].pid)
			tell(&w[i], LEAVE, 0);
	trk__tree_free(t);
	trk__env_release(&env);
}

static int fill(void **state)
{
	shared = map(SHARED_MIB * MIB, MAP_SHARED);
	copied = map(COPIED_MIB * MIB, MAP_PRIVATE);
	touch(shared, SHARED_MIB * MIB, true);
	touch(copied, COPIED_MIB * MIB, true);
	return 0;
}

static int drop(void **state)
{
	(void) munmap(shared, SHARED_MIB * MIB);
	(void) munmap(copied, COPIED_MIB * MIB);
	return 0;
}

static void the_figure_is_what_the_tree_holds(void **state)
{
	if (getenv("TRK_VALGRIND")) /* its own memory is part of each */
		skip();
	for (unsigned int seed = 1; seed <= SEEDS; seed++)
		play(seed, 400, 50);
}

static void with_few_readings_it_stays_near_it(void **state)
{
	if (getenv("TRK_VALGRIND"))
		skip();
	for (unsigned int seed = 1; seed <= SEEDS; seed++)
		play(seed, 8, 3);
}

/* ---- single facts ---- */

/* A tree with this root, and its state after one update. Figures of readings are not used with `share` 0. */
static struct trk_tree *tree_of(pid_t root, double share, struct trk_env *env,
				const struct trk_tree_state **ret)
{
	struct trk_tree_options options = {
		.root = root, .pss_share = share, .subreaper = root == getpid(), .self = 0};
	struct trk_tree *t;
	int error;

	assert_int_equal(trk__env_init(env), 0);
	t = trk__tree_new(env, &options, &error);
	assert_non_null(t);
	trk__tree_update(t, ret);
	return t;
}

static void end(struct trk_tree *t, struct trk_env *env, struct worker *w, int workers)
{
	for (int i = 0; i < workers; i++)
		tell(&w[i], LEAVE, 0);
	trk__tree_free(t);
	trk__env_release(env);
}

static void contains(const struct trk_tree_state *s, size_t truth_mib)
{
	assert_in_range(s->least_bytes / MIB, 0, truth_mib + SLACK_MIB);
	assert_in_range(s->most_bytes / MIB, truth_mib, SIZE_MAX);
	assert_in_range(s->pss_bytes, s->least_bytes, s->most_bytes);
}

static void what_a_parent_replaced_after_a_fork_counts_twice(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct worker w;
	struct trk_tree *t = tree_of(getpid(), 0, &env, &s);

	hire(&w);
	(void) munmap(copied, COPIED_MIB * MIB);
	copied = map(COPIED_MIB * MIB, MAP_PRIVATE);
	touch(copied, COPIED_MIB * MIB, true);
	trk__tree_update(t, &s);
	contains(s, SHARED_MIB + 2 * COPIED_MIB);
	end(t, &env, &w, 1);
}

static void what_one_member_unmaps_counts_for_the_others(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct worker w;
	struct trk_tree *t = tree_of(getpid(), 0.005, &env, &s);

	hire(&w);
	tell(&w, READ_SHARED, SHARED_MIB);
	t->pss_budget.credit_ns = TRK_PSS_RESERVE_NS + 100e6;
	trk__tree_update(t, &s);
	contains(s, SHARED_MIB + COPIED_MIB);
	(void) madvise(shared, SHARED_MIB * MIB, MADV_DONTNEED); /* the worker maps it still */
	t->pss_budget.credit_ns = 0;
	trk__tree_update(t, &s);
	contains(s, SHARED_MIB + COPIED_MIB);
	touch(shared, SHARED_MIB * MIB, true);
	end(t, &env, &w, 1);
}

/* Without smaps_rollup, and as the sizes of the members do not change, only the kernel's counter shows
 * that pages were copied. */
static void the_kernels_counter_shows_copied_pages(void **state)
{
	const size_t truth = COPIED_MIB * (1 + WORKERS);
	const struct trk_tree_state *s;
	struct worker w[WORKERS];
	struct trk_env env;
	struct trk_tree *t = tree_of(getpid(), 0.005, &env, &s);

	if (getenv("TRK_VALGRIND"))
		skip();
	/* Where other programs fork a lot, the counter shows changes only. */
	for (int i = 0; i < LOOKS && !t->others.has_base; i++) {
		t->pss_budget.credit_ns = TRK_PSS_RESERVE_NS + 100e6;
		trk__tree_update(t, &s);
	}
	t->smaps_missing = true;
	for (int i = 0; i < WORKERS; i++)
		hire(&w[i]);
	trk__tree_update(t, &s);
	for (int i = 0; i < WORKERS; i++) {
		tell(&w[i], WRITE_COPIED, COPIED_MIB);
		trk__tree_update(t, &s);
		contains(s, SHARED_MIB + COPIED_MIB * (size_t) (2 + i));
	}
	for (int i = 0; i < LOOKS && s->least_bytes / MIB + SLACK_MIB < truth; i++) {
		(void) usleep(10000);
		t->pss_budget.credit_ns = 100e6;
		trk__tree_update(t, &s);
		contains(s, SHARED_MIB + truth);
	}
	if (t->others.counter_fd >= 0) /* not in a container that shows no counter */
		assert_in_range(s->least_bytes / MIB, truth - SLACK_MIB, SIZE_MAX);
	end(t, &env, w, WORKERS);
}

static void pages_copied_before_the_counter_is_read_are_in_its_base(void **state)
{
	const struct trk_tree_state *s;
	struct trk_env env;
	struct worker w;
	struct trk_tree *t = tree_of(getpid(), 0, &env, &s);

	if (getenv("TRK_VALGRIND"))
		skip();
	hire(&w);
	trk__tree_update(t, &s);
	trk__tree_update(t, &s);
	tell(&w, WRITE_COPIED, COPIED_MIB); /* after its page faults were read */
	t->options.pss_share = 0.005;
	for (int i = 0; i < LOOKS && !t->others.has_base; i++) {
		t->pss_budget.credit_ns = 100e6;
		trk__others_set_base(t, &t->anon);
	}
	t->smaps_missing = true;
	for (int i = 0; i < 20; i++) {
		t->pss_budget.credit_ns = 100e6;
		trk__tree_update(t, &s);
		contains(s, SHARED_MIB + 2 * COPIED_MIB);
	}
	end(t, &env, &w, 1);
}

static void pages_that_forks_outside_copied_are_not_the_trees(void **state)
{
	struct amount base = {COPIED_MIB * MIB, COPIED_MIB * MIB, COPIED_MIB * MIB};
	const struct trk_tree_state *s;
	struct amount tree = {0, 0, SIZE_MAX};
	struct trk_env env;
	struct trk_tree *t;
	struct worker w[2]; /* the first one is the tree */
	bool is_measured = false;

	if (getenv("TRK_VALGRIND"))
		skip();
	hire(&w[0]);
	hire(&w[1]);
	t = tree_of(w[0].pid, 0.005, &env, &s);
	for (int i = 0; i < LOOKS && !t->others.has_base; i++) {
		t->pss_budget.credit_ns = 100e6;
		trk__others_set_base(t, &base);
	}
	tell(&w[1], WRITE_COPIED, COPIED_MIB);
	for (int i = 0; i < LOOKS && !is_measured; i++) {
		t->pss_budget.credit_ns = 100e6;
		is_measured = trk__others_measure(t, &tree);
	}
	if (t->others.counter_fd >= 0) {
		assert_true(is_measured);
		assert_in_range(tree.least / MIB, 0, COPIED_MIB + SLACK_MIB);
		assert_in_range(tree.most / MIB, COPIED_MIB, SIZE_MAX);
	}
	end(t, &env, w, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_figure_is_what_the_tree_holds, fill, drop),
		cmocka_unit_test_setup_teardown(with_few_readings_it_stays_near_it, fill, drop),
		cmocka_unit_test_setup_teardown(what_a_parent_replaced_after_a_fork_counts_twice,
						fill, drop),
		cmocka_unit_test_setup_teardown(what_one_member_unmaps_counts_for_the_others, fill,
						drop),
		cmocka_unit_test_setup_teardown(the_kernels_counter_shows_copied_pages, fill, drop),
		cmocka_unit_test_setup_teardown(
			pages_copied_before_the_counter_is_read_are_in_its_base, fill, drop),
		cmocka_unit_test_setup_teardown(pages_that_forks_outside_copied_are_not_the_trees,
						fill, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
