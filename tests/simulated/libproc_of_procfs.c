/* libproc implemented with /proc: a live process tree of Linux in the units and by the rules of
 * macOS. The CPU times of Linux have a resolution of 10 ms. */
#include <dirent.h>
#include <errno.h>
#include <libproc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/event.h>
#include <sys/proc.h>
#include <sys/sysctl.h>
#include <time.h>
#include <unistd.h>

#include "stand_in.h"

uint64_t stand_in_hz = 24000000;
pid_t stand_in_denied;

static uint64_t of_ticks(uint64_t ticks)
{
	return ticks * (stand_in_hz / (uint64_t) sysconf(_SC_CLK_TCK));
}

struct stat_line {
	char name[64], state;
	int ppid;
	unsigned long long time[4], threads, start, rss;
};

static int read_stat(int pid, struct stat_line *s)
{
	char path[64], line[1024], *from, *to;
	FILE *file;

	(void) snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	from = file && fgets(line, sizeof(line), file) ? strchr(line, '(') : NULL;
	if (file)
		(void) fclose(file);
	to = from ? strrchr(from, ')') : NULL;
	if (!to || sscanf(to + 2,
			  "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu "
			  "%*d %*d %llu %*d %llu %*u %llu",
			  &s->state, &s->ppid, &s->time[0], &s->time[1], &s->time[2], &s->time[3],
			  &s->threads, &s->start, &s->rss) != 9) {
		errno = ESRCH;
		return -1;
	}
	*to = '\0';
	(void) snprintf(s->name, sizeof(s->name), "%s", from + 1);
	return 0;
}

int proc_pid_rusage(int pid, int flavor, rusage_info_t *buffer)
{
	struct rusage_info_v4 *r = (struct rusage_info_v4 *) (void *) buffer;
	struct stat_line s;
	uint64_t rss;

	(void) flavor;
	if (read_stat(pid, &s) < 0)
		return -1;
	if (pid == stand_in_denied) {
		errno = EPERM;
		return -1;
	}
	rss = s.rss * (uint64_t) sysconf(_SC_PAGESIZE);
	*r = (struct rusage_info_v4){
		.ri_user_time = of_ticks(s.time[0]),
		.ri_system_time = of_ticks(s.time[1]),
		.ri_child_user_time = of_ticks(s.time[2]),
		.ri_child_system_time = of_ticks(s.time[3]),
		.ri_proc_start_abstime = of_ticks(s.start),
		.ri_resident_size = rss,
		.ri_phys_footprint = rss,
		.ri_lifetime_max_phys_footprint = rss,
	};
	return 0;
}

int proc_pidinfo(int pid, int flavor, uint64_t arg, void *buffer, int size)
{
	struct stat_line s;

	(void) arg;
	if (read_stat(pid, &s) < 0)
		return 0;
	if (flavor == PROC_PIDTASKINFO) {
		((struct proc_taskinfo *) buffer)->pti_threadnum = (int32_t) s.threads;
	} else {
		struct proc_bsdshortinfo *b = buffer;

		*b = (struct proc_bsdshortinfo){
			.pbsi_ppid = (uint32_t) s.ppid,
			.pbsi_status = s.state == 'Z' || s.state == 'X' ? SZOMB : SRUN,
		};
		(void) snprintf(b->pbsi_comm, sizeof(b->pbsi_comm), "%s", s.name);
	}
	return size;
}

int proc_listchildpids(pid_t ppid, void *buffer, int size)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	struct stat_line s;
	pid_t *pids = buffer;
	int n = 0;

	while (proc && (entry = readdir(proc))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && (n + 1) * (int) sizeof(*pids) <= size && read_stat(pid, &s) == 0 &&
		    s.ppid == ppid)
			pids[n++] = pid;
	}
	if (proc)
		(void) closedir(proc);
	return n;
}

int sysctl(int *name, unsigned int names, void *old, size_t *len, void *new, size_t new_len)
{
	char path[64], *text = old;
	size_t room = *len, at = sizeof(int);
	int count = 0, c;
	FILE *file;

	(void) names;
	(void) new;
	(void) new_len;
	(void) snprintf(path, sizeof(path), "/proc/%d/cmdline", name[2]);
	file = fopen(path, "r");
	if (!file) {
		errno = ESRCH;
		return -1;
	}
	at += (size_t) snprintf(text + at, room - at, "/the/path/of/it%c%c%c", 0, 0, 0);
	while ((c = fgetc(file)) != EOF && at < room) {
		text[at++] = (char) c;
		count += c == '\0';
	}
	(void) fclose(file);
	memcpy(text, &count, sizeof(count));
	at += (size_t) snprintf(text + at, room - at, "SECRET=of the environment");
	*len = at;
	return 0;
}

int sysctlbyname(const char *name, void *old, size_t *len, void *new, size_t new_len)
{
	(void) new;
	(void) new_len;
	if (strcmp(name, "hw.tbfrequency") != 0 || *len != sizeof(stand_in_hz)) {
		errno = ENOENT;
		return -1;
	}
	memcpy(old, &stand_in_hz, sizeof(stand_in_hz));
	return 0;
}

uint64_t clock_gettime_nsec_np(clockid_t clock)
{
	struct timespec now;

	(void) clock;
	(void) clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

/* None: the tree finds newcomers in its updates alone. */
int kqueue(void)
{
	errno = EMFILE;
	return -1;
}

int kevent(int queue, const struct kevent *changes, int count, struct kevent *events, int room,
	   const struct timespec *patience)
{
	(void) queue;
	(void) changes;
	(void) count;
	(void) events;
	(void) room;
	(void) patience;
	errno = EBADF;
	return -1;
}
