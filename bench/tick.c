/* Measures the cost of one tick: it calls the sampler as the program does, and reads the CPU clock
 * of the thread before and after. `tracker_cpu_s` of a recording also includes the wake-up and the
 * write of a row.
 *
 *   tick sample PID COUNT MS   tree and system, with a pause of MS before each call; PID 0: the
 *                              system only; MS 0: hot
 *   tick tree PID COUNT MS     the tree only
 *   tick bare PID COUNT MS     only the system calls for the same: of PID's children, or of the
 *                              system
 *   tick floor PID COUNT       a full read of one process, and only its system calls, alternating
 *                              which is first
 *   tick loop PID COUNT [ROOT] COUNT calls for tree and system, without measuring (for callgrind);
 *                              ROOT: a captured folder with proc/ and sys/
 *
 * Prints medians in nanoseconds, one "name value" per line. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/file.h"
#include "probe/linux/pid_children.h"
#include "probe/tree/private.h"
#include "sample/sampler.h"

enum {
	COUNT_MAX = 1000000,
	/* The first ticks open files and read all memory. */
	WARM_UP = 16,
};

static uint64_t took[COUNT_MAX];

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static uint64_t median(size_t n)
{
	qsort(took, n, sizeof(*took), compare);
	return n ? took[n / 2] : 0;
}

static void pause_ms(unsigned int ms)
{
	struct timespec nap = {ms / 1000, (long) (ms % 1000) * 1000000};

	while (ms && nanosleep(&nap, &nap) < 0 && errno == EINTR)
		;
}

static int open_sampler(const struct trk_env *env, pid_t pid, bool no_system,
			struct trk_sampler **ret)
{
	struct trk_tree_options tree = {.root = pid, .self = getpid(), .pss_share = 0.005};
	struct trk_sampler_options options = {
		.tree = pid ? &tree : NULL,
		.no_system = no_system,
		.perf_fd = -1,
	};
	int r = 0;

	*ret = trk__sampler_new(env, &options, &r);
	if (!*ret)
		(void) fprintf(stderr, "tick: process %d: %s\n", (int) pid, strerror(-r));
	return *ret ? 0 : 1;
}

static int sample(const struct trk_env *env, pid_t pid, bool no_system, size_t count,
		  unsigned int ms)
{
	const struct trk_sample *row;
	struct trk_sampler *s;
	uint64_t before;

	if (open_sampler(env, pid, no_system, &s))
		return 1;
	for (size_t i = 0; i < count + WARM_UP; i++) {
		pause_ms(i < WARM_UP ? ms / 4 : ms);
		before = trk__clock_thread_cpu_ns();
		trk__sampler_tick(s, 0, &row);
		if (i >= WARM_UP)
			took[i - WARM_UP] = trk__clock_thread_cpu_ns() - before;
	}
	(void) printf("tick_ns %llu\n", (unsigned long long) median(count));
	trk__sampler_free(s);
	return 0;
}

/* Processes that others start meanwhile must not count. */
static void see_no_newcomers(struct trk_tree *t)
{
	char text[128];
	ssize_t len = t->loadavg_fd < 0 ? -1 : pread(t->loadavg_fd, text, sizeof(text), 0);
	int fd = memfd_create("loadavg", MFD_CLOEXEC);

	if (len > 0 && fd >= 0 && write(fd, text, (size_t) len) == len)
		(void) dup2(fd, t->loadavg_fd);
	trk__close(fd);
}

static int loop(const struct trk_env *env, pid_t pid, size_t count)
{
	const struct trk_sample *row;
	struct trk_sampler *s;

	if (open_sampler(env, pid, false, &s))
		return 1;
	if (pid)
		see_no_newcomers(trk__sampler_tree(s));
	while (count--)
		trk__sampler_tick(s, 0, &row);
	trk__sampler_free(s);
	return 0;
}

/* ---- system calls only ---- */

enum { FILES = 4, FILES_OF_ALL = 3, PIDS_MAX = 4096 };

/* The last file only for the few members that use much CPU time. */
static const char *const files[FILES] = {"stat", "io", "statm", "schedstat"};

struct member {
	pid_t pid;
	clockid_t clock;
	int fd[FILES];
	struct timespec last;
};

static struct member members[PIDS_MAX];

static int open_member(const struct trk_env *env, pid_t pid, struct member *m)
{
	char path[64];

	m->pid = pid;
	if (clock_getcpuclockid(pid, &m->clock) != 0)
		return 1;
	for (int i = 0; i < FILES; i++) {
		(void) snprintf(path, sizeof(path), "%d/%s", (int) pid, files[i]);
		m->fd[i] = openat(env->proc_fd, path, O_RDONLY | O_CLOEXEC);
	}
	return 0;
}

/* Read the clock, and the files if the clock changed. */
static void look(struct member *m, bool always)
{
	static char text[4096];
	struct timespec now = {0};

	(void) clock_gettime(m->clock, &now);
	if (!always && now.tv_sec == m->last.tv_sec && now.tv_nsec == m->last.tv_nsec)
		return;
	m->last = now;
	for (int i = 0; i < (always ? FILES : FILES_OF_ALL); i++)
		(void) !pread(m->fd[i], text, sizeof(text), 0);
}

static size_t open_children(const struct trk_env *env, pid_t pid)
{
	static pid_t child[PIDS_MAX];
	int n = trk__pid_children_read(env->proc_fd, pid, child, PIDS_MAX - 1);
	size_t count = 0;

	(void) open_member(env, pid, &members[count++]);
	for (int i = 0; i < n && i < PIDS_MAX - 1; i++)
		if (open_member(env, child[i], &members[count]) == 0)
			count++;
	return count;
}

static void read_system(const int *fd, size_t n)
{
	static char text[65536];

	for (size_t i = 0; i < n; i++)
		(void) !pread(fd[i], text, sizeof(text), 0);
}

static int bare(const struct trk_env *env, pid_t pid, size_t count, unsigned int ms)
{
	static const char *const names[] = {"stat",         "meminfo",         "loadavg",
					    "pressure/cpu", "pressure/memory", "pressure/io",
					    "diskstats",    "self/net/dev"};
	int fd[sizeof(names) / sizeof(names[0])];
	const size_t n = sizeof(names) / sizeof(names[0]);
	size_t children = pid ? open_children(env, pid) : 0;

	for (size_t i = 0; i < n; i++)
		fd[i] = openat(env->proc_fd, names[i], O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < count + 2; i++) {
		uint64_t before;

		pause_ms(ms);
		before = trk__clock_thread_cpu_ns();
		for (size_t k = 0; k < children; k++)
			look(&members[k], false);
		if (!pid)
			read_system(fd, n);
		if (i >= 2)
			took[i - 2] = trk__clock_thread_cpu_ns() - before;
	}
	(void) printf("bare_ns %llu\n", (unsigned long long) median(count));
	return 0;
}

static uint64_t look_ns(void)
{
	uint64_t before = trk__clock_thread_cpu_ns();

	look(&members[0], true);
	return trk__clock_thread_cpu_ns() - before;
}

/* Without the clock, which a sample reads once per row. */
static uint64_t update_ns(struct trk_tree *t)
{
	const struct trk_tree_state *state;
	uint64_t now_ns = trk__clock_monotonic_ns(), before = trk__clock_thread_cpu_ns();

	trk__tree_update_at(t, now_ns, &state);
	return trk__clock_thread_cpu_ns() - before;
}

/* Whether the update read exactly the files that the bare calls read. It skips schedstat if the
 * process used less CPU, and statm without a page fault; after many page faults it reads status as
 * well. */
static bool is_full(const struct trk_tree *t, const struct process *p, const struct process *before)
{
	return p->looked && !p->io_waits && p->statm_faults != before->statm_faults &&
	       p->clock_ns - before->clock_ns >= 2 * TRK_NS_PER_MS &&
	       p->faults_at_hwm == before->faults_at_hwm && t->count == 1;
}

/* Full reads of a busy process and the bare calls for the same. They alternate in being first after
 * a pause of 5 ms, in which the clock of the process advances. The first one finds cold caches, as
 * a sample does. For the second one, the kernel's data is warm, and its own code as cold as for the
 * first one. */
static int floor_of(const struct trk_env *env, pid_t pid, size_t count)
{
	struct trk_tree_options options = {
		.root = pid, .one_process = true, .self = getpid(), .pss_share = 0};
	static const char *const name[2][2] = {{"full_ns", "full_second_ns"},
					       {"bare_ns", "bare_second_ns"}};
	static uint64_t ns[2][2][COUNT_MAX]; /* full or bare; first or second */
	size_t n[2] = {0, 0}; /* turns in which the full read was first, and second */
	struct trk_tree *t;
	int r = 0;

	t = trk__tree_new(env, &options, &r);
	if (!t || open_member(env, pid, &members[0]))
		return 1;
	(void) update_ns(t);
	(void) look_ns();
	for (size_t tries = 0; n[0] + n[1] < count && tries < 20 * count; tries++) {
		const struct process before = t->process[0];
		size_t second = tries % 2, i = n[second];

		pause_ms(5);
		if (second)
			ns[1][0][i] = look_ns();
		ns[0][second][i] = update_ns(t);
		if (!second)
			ns[1][1][i] = look_ns();
		n[second] += is_full(t, &t->process[0], &before);
	}
	for (size_t bare = 0; bare < 2; bare++) {
		for (size_t second = 0; second < 2; second++) {
			/* The bare calls are first if the full read is second. */
			size_t turns = n[bare ^ second];

			memcpy(took, ns[bare][second], turns * sizeof(*took));
			(void) printf("%s %llu\n", name[bare][second],
				      (unsigned long long) median(turns));
		}
	}
	trk__tree_free(t);
	return 0;
}

int main(int argc, char **argv)
{
	size_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	unsigned int ms = argc > 4 ? (unsigned int) strtoul(argv[4], NULL, 10) : 0;
	pid_t pid = argc > 2 ? (pid_t) strtol(argv[2], NULL, 10) : 0;
	struct trk_env env;
	int r = 2;

	const char *root = argc > 4 && !strcmp(argv[1], "loop") ? argv[4] : NULL;

	if (count == 0 || count > COUNT_MAX ||
	    (root ? trk__env_init_at(&env, root) : trk__env_init(&env)) < 0) {
		(void) fprintf(stderr, "usage: tick sample|tree|bare|floor|loop PID COUNT [MS]\n");
		return 2;
	}
	if (!strcmp(argv[1], "sample") || !strcmp(argv[1], "tree"))
		r = sample(&env, pid, !strcmp(argv[1], "tree"), count, ms);
	else if (!strcmp(argv[1], "bare"))
		r = bare(&env, pid, count, ms);
	else if (!strcmp(argv[1], "floor"))
		r = floor_of(&env, pid, count);
	else if (!strcmp(argv[1], "loop"))
		r = loop(&env, pid, count);
	trk__env_release(&env);
	return r;
}
