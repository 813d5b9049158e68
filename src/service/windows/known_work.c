/* Known work on Windows, where a process starts this program once more instead of a fork. CPU time
 * is computed from cycles, which Windows counts exactly. The tracker uses times, which Windows
 * updates at clock interrupts. Wine has no cycles; there the times of the own process are right. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "service/selftest.h"

#include <string.h>

#include "base/file.h"
#include "base/os.h"
#include "base/windows/child.h"

#include <math.h>
#include <psapi.h>
#include <x86intrin.h>

#define MIB ((size_t) 1 << 20)

enum {
	CHILDREN = 40,
	CHILD_MS = 25,
	ORPHANS = 3,
	ORPHAN_MS = 400,
	SPIKE_MIB = 120,
	PATH_SIZE = 4096,
	LINES_SIZE = 8192,
};

/* Cycles per second of the counter of a core. */
static double cycles_per_s(void)
{
	LARGE_INTEGER hz, from, now;
	uint64_t cycles = __rdtsc();

	(void) QueryPerformanceFrequency(&hz);
	(void) QueryPerformanceCounter(&from);
	do
		(void) QueryPerformanceCounter(&now);
	while (now.QuadPart - from.QuadPart < hz.QuadPart / 50);
	return (double) (__rdtsc() - cycles) * (double) hz.QuadPart /
	       (double) (now.QuadPart - from.QuadPart);
}

double trk__work_cpu_s(void)
{
	static double rate;
	ULONG64 cycles = 0;
	struct timespec t = {0, 0};

	if (!QueryProcessCycleTime(GetCurrentProcess(), &cycles) || cycles == 0) {
		(void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
	}
	if (rate == 0)
		rate = cycles_per_s();
	return (double) cycles / rate;
}

/* ---- works of other processes ---- */

/* The sum of one figure in lines of `doctor --work`, to the end of the pipe; NaN unless there are
 * `count` of them. */
static double sum_of_lines(int fd, enum trk_total total, int count)
{
	char text[LINES_SIZE], *line = text, *end;
	size_t len = 0;
	ssize_t n;
	double sum = 0;

	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t) n;
	text[len] = '\0';
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1, count--)
		sum += trk__known_work_figure(line, (size_t) (end - line), total);
	return count == 0 ? sum : NAN;
}

/* Do a work of this name in `times` processes, one after the other, each of which writes `lines`
 * lines. Returns the sum of their figures, or NaN. */
static double in_processes(const char *name, int times, int lines)
{
	char program[PATH_SIZE];
	const char *const v[] = {program, "doctor", "--work", name, NULL};
	int ends[2], code = -1, r = trk__os_program(program, sizeof(program));
	double sum;

	if (r < 0 || trk__os_pipe(ends) < 0)
		return NAN;
	for (int i = 0; r == 0 && i < times; i++) {
		r = trk__child_run((char *const *) (uintptr_t) v, (int[]){-1, ends[1], 2}, &code);
		r = r < 0 ? r : code;
	}
	trk__close(ends[1]); /* orphans hold it until they end */
	sum = sum_of_lines(ends[0], trk__known_work_find(name)->total, times * lines);
	trk__close(ends[0]);
	return r == 0 ? sum : NAN;
}

static double children(const char *folder)
{
	return in_processes("child", CHILDREN, 1) + trk__work_cpu_s();
}

static double child(const char *folder)
{
	trk__work_burn_ms(CHILD_MS);
	return trk__work_cpu_s();
}

/* Each is the child of a process that has ended. */
static double orphans(const char *folder)
{
	return in_processes("parent", ORPHANS, 2) + trk__work_cpu_s();
}

static double parent(const char *folder)
{
	char program[PATH_SIZE];
	const char *const v[] = {program, "doctor", "--work", "orphan", NULL};
	HANDLE process;
	bool in_job;
	pid_t pid;

	if (trk__os_program(program, sizeof(program)) < 0 ||
	    trk__child_start((char *const *) (uintptr_t) v, NULL, NULL, &pid, &process, &in_job) <
		    0)
		return NAN;
	return trk__work_cpu_s();
}

static double orphan(const char *folder)
{
	trk__work_burn_ms(ORPHAN_MS);
	return trk__work_cpu_s();
}

/* ---- memory ---- */

static double own_peak_mib(void)
{
	return (double) trk__os_own_peak_bytes() / (double) MIB;
}

/* A child holds the memory for 0.1 s, which is less than the interval between two samples. */
static double spike(const char *folder)
{
	double held = in_processes("hold", 1, 1);

	Sleep(1200);
	return held + own_peak_mib();
}

static double hold(const char *folder)
{
	volatile char *p = VirtualAlloc(NULL, SPIKE_MIB * MIB, MEM_COMMIT, PAGE_READWRITE);

	for (size_t i = 0; p && i < SPIKE_MIB * MIB; i += 4096)
		p[i] = 1;
	Sleep(100);
	return p ? own_peak_mib() : NAN;
}

static double own_commit_mib(void)
{
	PROCESS_MEMORY_COUNTERS m;

	return GetProcessMemoryInfo(GetCurrentProcess(), &m, sizeof(m))
		       ? (double) m.PagefileUsage / (double) MIB
		       : NAN;
}

static double commit(const char *folder)
{
	return in_processes("promise", 1, 1) + own_commit_mib();
}

static double promise(const char *folder)
{
	double before = own_commit_mib();

	return VirtualAlloc(NULL, SPIKE_MIB * MIB, MEM_COMMIT, PAGE_READWRITE) ? before + SPIKE_MIB
									       : NAN;
}

const struct trk_known_work trk__known_works[] = {
	{"process", "CPU time of one process", TRK_TOTAL_CPU_S, trk__work_one_process},
	{"children", "CPU time of 40 short children", TRK_TOTAL_CPU_S, children},
	{"orphans", "CPU time of 3 orphans", TRK_TOTAL_CPU_S, orphans},
	{"spike", "memory of a child, for 0.1 s", TRK_TOTAL_PEAK_MEMORY_MIB, spike},
	{"commit", "committed memory of a child", TRK_TOTAL_PEAK_COMMIT_MIB, commit},
	{"disk", "bytes written to a disk", TRK_TOTAL_DISK_WRITE_BYTES, trk__work_written_file},
	{"child", NULL, TRK_TOTAL_CPU_S, child},
	{"parent", NULL, TRK_TOTAL_CPU_S, parent},
	{"orphan", NULL, TRK_TOTAL_CPU_S, orphan},
	{"hold", NULL, TRK_TOTAL_PEAK_MEMORY_MIB, hold},
	{"promise", NULL, TRK_TOTAL_PEAK_COMMIT_MIB, promise},
	{NULL, NULL, TRK_TOTAL_CPU_S, NULL},
};

#endif
