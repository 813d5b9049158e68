/* Known work. The true figures come from other sources than those of the
 * tracker: getrusage(2) of each process just before it ends, and the job's own count of the pages
 * that it touched and the bytes that it wrote. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "service/selftest.h"

#define MIB ((size_t) 1 << 20)

enum {
	CHILDREN = 40,
	ORPHANS = 3,
	UNWAITED = 15,
	WORKERS = 4,
	SPIKE_MIB = 120,
	SHARED_MIB = 96,
	FILE_MIB = 48,
};

static double own_cpu_s(void)
{
	struct rusage u;

	(void) getrusage(RUSAGE_SELF, &u);
	return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void burn_ms(unsigned int ms)
{
	double end = own_cpu_s() + ms * 1e-3;

	while (own_cpu_s() < end)
		for (int i = 0; i < 20000; i++)
			__asm__ volatile(""); /* is not optimised away */
}

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static void *map_pages(size_t size, int kind)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void touch(char *p, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *) p)[i] = (char) (i >> 12 | 1);
}

static double one_process(const char *folder)
{
	burn_ms(1500);
	return own_cpu_s();
}

static double written_file(const char *folder)
{
	static char block[1 << 16]; /* counts for `ulimit -d` of each run */
	char path[4200];
	double total = 0;
	int fd;

	memset(block, 7, sizeof(block));
	(void) snprintf(path, sizeof(path), "%s/written", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	for (int i = 0; fd >= 0 && i < FILE_MIB * 16; i++) {
		ssize_t n = write(fd, block, sizeof(block));

		total += n > 0 ? (double) n : 0;
	}
	if (fd < 0 || fsync(fd) < 0 || close(fd) < 0)
		total = NAN;
	return total;
}

/* Memory that all processes of a job share. */
struct shared {
	atomic_ullong cpu_us; /* of those that are about to end */
	atomic_uint done;
};

/* Last call of a child of the job. */
static _Noreturn void add_and_end(struct shared *s)
{
	atomic_fetch_add(&s->cpu_us, (unsigned long long) (own_cpu_s() * 1e6));
	atomic_fetch_add(&s->done, 1);
	_exit(0);
}

static bool wait_until_done(const struct shared *s, unsigned int count)
{
	for (int i = 0; i < 3000 && atomic_load(&s->done) < count; i++)
		sleep_ms(10);
	return atomic_load(&s->done) >= count;
}

static double cpu_of_all(struct shared *s, bool complete)
{
	double used = (double) atomic_load(&s->cpu_us) * 1e-6;

	(void) munmap(s, sizeof(*s));
	return complete ? used + own_cpu_s() : NAN;
}

/* Children one after the other, each of which burns so many ms. */
static double children(int count, unsigned int ms, bool waits)
{
	struct shared *s = map_pages(sizeof(*s), MAP_SHARED);
	bool complete = s;

	for (int i = 0; s && i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			burn_ms(ms);
			add_and_end(s);
		}
		complete &= pid > 0 && (waits ? waitpid(pid, NULL, 0) == pid
					      : wait_until_done(s, (unsigned int) i + 1));
	}
	return s ? cpu_of_all(s, complete) : NAN;
}

static double waited_children(const char *folder)
{
	return children(CHILDREN, 25, true);
}

/* Each is the child of a process that has ended. */
static double orphans(const char *folder)
{
	struct shared *s = map_pages(sizeof(*s), MAP_SHARED);
	bool complete = s;

	for (int i = 0; s && i < ORPHANS; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (setsid() < 0 || fork() != 0) {
				atomic_fetch_add(&s->cpu_us,
						 (unsigned long long) (own_cpu_s() * 1e6));
				_exit(0);
			}
			burn_ms(400);
			add_and_end(s);
		}
		complete &= pid > 0 && waitpid(pid, NULL, 0) == pid;
	}
	complete = s && wait_until_done(s, ORPHANS) && complete;
	return s ? cpu_of_all(s, complete) : NAN;
}

/* The kernel drops what children of such a parent used. */
static double unwaited_children(const char *folder)
{
	(void) signal(SIGCHLD, SIG_IGN);
	return children(UNWAITED, 60, false);
}

/* The resident memory that the process has had so far. */
static double base_mib(void)
{
	return (double) trk__os_own_peak_bytes() / (1 << 20);
}

/* A child holds the memory for 0.1 s, which is less than the interval between two samples. */
static double spike(const char *folder)
{
	struct shared *s = map_pages(sizeof(*s), MAP_SHARED);
	pid_t pid = s ? fork() : -1;
	bool complete;

	if (pid == 0) {
		char *p = map_pages(SPIKE_MIB * MIB, MAP_PRIVATE);

		if (p)
			touch(p, SPIKE_MIB * MIB);
		sleep_ms(100);
		if (p)
			add_and_end(s);
		_exit(1);
	}
	complete = pid > 0 && waitpid(pid, NULL, 0) == pid && atomic_load(&s->done) == 1;
	sleep_ms(1200);
	return complete ? SPIKE_MIB + base_mib() : NAN;
}

/* Workers share the pages of their parent: each page counts once. */
static double shared_pages(const char *folder)
{
	char *p = map_pages(SHARED_MIB * MIB, MAP_PRIVATE);
	double before = base_mib();
	int made = 0;

	if (!p)
		return NAN;
	touch(p, SHARED_MIB * MIB);
	for (int i = 0; i < WORKERS; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			sleep_ms(2500);
			_exit(0);
		}
		made += pid > 0;
	}
	while (wait(NULL) > 0)
		;
	return made == WORKERS ? SHARED_MIB + before : NAN;
}

const struct trk_known_work trk__known_works[] = {
	{"process", "CPU time of one process", TRK_TOTAL_CPU_S, one_process},
	{"children", "CPU time of 40 short children", TRK_TOTAL_CPU_S, waited_children},
	{"orphans", "CPU time of 3 orphans", TRK_TOTAL_CPU_S, orphans},
	{"unwaited", "CPU time of 15 children without wait", TRK_TOTAL_CPU_S, unwaited_children},
	{"spike", "memory of a child, for 0.1 s", TRK_TOTAL_PEAK_MEMORY_MIB, spike},
	{"shared", "memory shared by 5 processes", TRK_TOTAL_PEAK_MEMORY_MIB, shared_pages},
	{"disk", "bytes written to a disk", TRK_TOTAL_DISK_WRITE_BYTES, written_file},
	{NULL, NULL, TRK_TOTAL_CPU_S, NULL},
};
