/* What one tick costs, without the process around it: the sampler is called as the program calls it,
 * and the CPU clock of the thread is read before and after. What the wake-up and the write of a row
 * cost on top stands in `tracker_cpu_s` of a recording.
 *
 *   tick sample PID COUNT MS   pause MS before each call; PID 0 is the system alone, MS 0 is hot
 *   tick tree PID COUNT MS     the tree alone
 *   tick floor PID COUNT       the bare system calls for one full read of one process, beside ours
 *   tick loop PID COUNT        COUNT calls for tree and system and nothing else (for callgrind)
 *
 * Prints medians in nanoseconds, one "name value" a line. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "sample/sampler.h"

enum { COUNT_MAX = 1000000 };

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
	for (size_t i = 0; i < count + 2; i++) { /* the first two open files and read all memory */
		pause_ms(ms);
		before = trk__clock_thread_cpu_ns();
		trk__sampler_tick(s, 0, &row);
		if (i >= 2)
			took[i - 2] = trk__clock_thread_cpu_ns() - before;
	}
	(void) printf("tick_ns %llu\n", (unsigned long long) median(count));
	trk__sampler_free(s);
	return 0;
}

static int loop(const struct trk_env *env, pid_t pid, size_t count)
{
	const struct trk_sample *row;
	struct trk_sampler *s;

	if (open_sampler(env, pid, false, &s))
		return 1;
	while (count--)
		trk__sampler_tick(s, 0, &row);
	trk__sampler_free(s);
	return 0;
}

/* The calls that a full read of one active process cannot do without. */
static uint64_t bare_ns(const int fd[3], clockid_t clock)
{
	static char text[8192];
	uint64_t before = trk__clock_thread_cpu_ns();
	struct timespec now;

	(void) clock_gettime(clock, &now);
	for (int i = 0; i < 3; i++)
		if (pread(fd[i], text, sizeof(text), 0) < 0)
			return 0;
	return trk__clock_thread_cpu_ns() - before;
}

/* Full reads of an active process, interleaved with the bare calls; then the same for idle members. */
static int floor_of(const struct trk_env *env, pid_t pid, size_t count)
{
	static const char *const names[3] = {"stat", "io", "statm"};
	struct trk_tree_options options = {
		.root = pid, .one_process = true, .self = getpid(), .pss_share = 0};
	static uint64_t bare[COUNT_MAX];
	const struct trk_tree_state *state;
	struct trk_tree *t;
	clockid_t clock;
	char path[64];
	int fd[3], r = 0;

	t = trk__tree_new(env, &options, &r);
	if (!t || clock_getcpuclockid(pid, &clock) != 0)
		return 1;
	for (int i = 0; i < 3; i++) {
		(void) snprintf(path, sizeof(path), "%d/%s", (int) pid, names[i]);
		fd[i] = openat(env->proc_fd, path, O_RDONLY | O_CLOEXEC);
	}
	for (size_t i = 0; i < count + 2; i++) {
		uint64_t before = trk__clock_thread_cpu_ns();

		trk__tree_update(t, &state);
		if (i >= 2) {
			took[i - 2] = trk__clock_thread_cpu_ns() - before;
			bare[i - 2] = bare_ns(fd, clock);
		}
	}
	(void) printf("full_ns %llu\n", (unsigned long long) median(count));
	memcpy(took, bare, count * sizeof(*took));
	(void) printf("bare_ns %llu\n", (unsigned long long) median(count));
	for (int i = 0; i < 3; i++)
		(void) close(fd[i]);
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

	if (count == 0 || count > COUNT_MAX || trk__env_init(&env) < 0) {
		(void) fprintf(stderr, "usage: tick sample|tree|floor|loop PID COUNT [MS]\n");
		return 2;
	}
	if (!strcmp(argv[1], "sample") || !strcmp(argv[1], "tree"))
		r = sample(&env, pid, !strcmp(argv[1], "tree"), count, ms);
	else if (!strcmp(argv[1], "floor"))
		r = floor_of(&env, pid, count);
	else if (!strcmp(argv[1], "loop"))
		r = loop(&env, pid, count);
	trk__env_release(&env);
	return r;
}
