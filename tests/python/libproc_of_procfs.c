/* The functions of macOS's libproc that the Python package calls, implemented with /proc: a live
 * process tree of Linux in the units (ticks of 24 MHz) and the layout (struct rusage_info_v4 as
 * 64-bit words) of macOS. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HZ 24000000u

enum {
	USER = 2,
	SYSTEM = 3,
	FOOTPRINT = 9,
	START = 10,
	EXIT = 11,
	CHILD_USER = 12,
	CHILD_SYSTEM = 13,
	PEAK = 30,
	WORDS = 37
};

int sysctlbyname(const char *name, void *old, size_t *size, void *new, size_t new_size);
int proc_pid_rusage(int pid, int flavor, uint64_t *usage);
int proc_listchildpids(int pid, int *pids, int size);

int sysctlbyname(const char *name, void *old, size_t *size, void *new, size_t new_size)
{
	uint64_t hz = HZ;

	(void) new;
	(void) new_size;
	if (strcmp(name, "hw.tbfrequency") || *size != sizeof(hz)) {
		errno = ENOENT;
		return -1;
	}
	memcpy(old, &hz, sizeof(hz));
	return 0;
}

int proc_pid_rusage(int pid, int flavor, uint64_t *usage)
{
	uint64_t tick = HZ / (uint64_t) sysconf(_SC_CLK_TCK);
	unsigned long long times[4], start, rss;
	char path[64], line[1024], state, *end;
	FILE *file;

	(void) flavor;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	end = file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (file)
		fclose(file);
	if (!end || sscanf(end + 2,
			   "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu "
			   "%*d %*d %*d %*d %llu %*u %llu",
			   &state, &times[0], &times[1], &times[2], &times[3], &start, &rss) != 7) {
		errno = ESRCH;
		return -1;
	}
	memset(usage, 0, WORDS * sizeof(*usage));
	usage[USER] = times[0] * tick;
	usage[SYSTEM] = times[1] * tick;
	usage[CHILD_USER] = times[2] * tick;
	usage[CHILD_SYSTEM] = times[3] * tick;
	usage[START] = start;
	usage[EXIT] = state == 'Z';
	usage[FOOTPRINT] = usage[PEAK] = rss * (uint64_t) sysconf(_SC_PAGESIZE);
	return 0;
}

int proc_listchildpids(int pid, int *pids, int size)
{
	char path[64];
	FILE *file;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "r");
	while (file && (n + 1) * (int) sizeof(*pids) <= size && fscanf(file, "%d", &pids[n]) == 1)
		n++;
	if (file)
		fclose(file);
	return n;
}
