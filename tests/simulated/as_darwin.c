/* Presents the simulated kernel as macOS: exact times, readable zombies, no subreaper. */
#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <stdio.h>
#include <string.h>
#include <sys/event.h>
#include <sys/proc.h>
#include <sys/sysctl.h>
#include <time.h>

#include "kernel.h"

enum { HZ = 24000000 };

static uint64_t ticks(uint64_t ns)
{
	return ns / 1000000000 * HZ + ns % 1000000000 * HZ / 1000000000;
}

int proc_pid_rusage(int pid, int flavor, rusage_info_t *buffer)
{
	struct rusage_info_v4 *r = (struct rusage_info_v4 *) (void *) buffer;
	const struct sim_process *p;
	uint64_t own, inherited;

	(void) flavor;
	sim_call();
	p = sim_find(pid);
	if (!p) {
		errno = ESRCH;
		return -1;
	}
	own = ticks(sim_own_ns(p, sim_now_ns));
	inherited = ticks(sim_inherited_ns(p, sim_now_ns));
	*r = (struct rusage_info_v4){
		.ri_user_time = own - own / 4,
		.ri_system_time = own / 4,
		.ri_child_user_time = inherited - inherited / 4,
		.ri_child_system_time = inherited / 4,
		.ri_phys_footprint = sim_bytes(p, sim_now_ns),
		.ri_resident_size = sim_bytes(p, sim_now_ns),
		.ri_lifetime_max_phys_footprint = sim_peak_bytes(p, sim_now_ns),
		.ri_proc_start_abstime = ticks(p->born_ns),
	};
	return 0;
}

int proc_pidinfo(int pid, int flavor, uint64_t arg, void *buffer, int size)
{
	const struct sim_process *p;

	(void) arg;
	sim_call();
	p = sim_find(pid);
	if (!p)
		return 0;
	if (flavor == PROC_PIDTASKINFO) {
		((struct proc_taskinfo *) buffer)->pti_threadnum = 1;
	} else {
		struct proc_bsdshortinfo *b = buffer;

		*b = (struct proc_bsdshortinfo){
			.pbsi_ppid = (uint32_t) sim_parent_of(p),
			.pbsi_status = sim_is_zombie(p) ? SZOMB : SRUN,
		};
		(void) snprintf(b->pbsi_comm, sizeof(b->pbsi_comm), "task");
	}
	return size;
}

int proc_listchildpids(pid_t ppid, void *buffer, int size)
{
	pid_t *pids = buffer;
	int n = 0;

	sim_call();
	for (size_t i = 0; i < sim_count && (n + 1) * (int) sizeof(*pids) <= size; i++)
		if (sim_find(sim[i].pid) == &sim[i] && sim_parent_of(&sim[i]) == ppid)
			pids[n++] = sim[i].pid;
	return n;
}

int sysctl(int *name, unsigned int names, void *old, size_t *len, void *new, size_t new_len)
{
	(void) name;
	(void) names;
	(void) old;
	(void) len;
	(void) new;
	(void) new_len;
	errno = EINVAL;
	return -1;
}

int sysctlbyname(const char *name, void *old, size_t *len, void *new, size_t new_len)
{
	static const uint64_t hz = HZ;

	(void) new;
	(void) new_len;
	if (strcmp(name, "hw.tbfrequency") != 0 || *len != sizeof(hz)) {
		errno = ENOENT;
		return -1;
	}
	memcpy(old, &hz, sizeof(hz));
	return 0;
}

uint64_t clock_gettime_nsec_np(clockid_t clock)
{
	(void) clock;
	return sim_now_ns;
}

/* ---- kernel queues ---- */

static bool watched[SIM_MAX];
static uint64_t told_ns, timer_ns; /* up to when events were delivered; 0: no timer */

int kqueue(void)
{
	memset(watched, 0, sizeof(watched));
	told_ns = sim_now_ns;
	timer_ns = 0;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void take_change(const struct kevent *change)
{
	if (change->filter == EVFILT_TIMER)
		timer_ns = sim_now_ns + (uint64_t) change->data * 1000000;
	else if (sim_find((pid_t) change->ident))
		watched[sim_find((pid_t) change->ident) - sim] = true;
}

static bool is_between(uint64_t ns, uint64_t from, uint64_t to)
{
	return ns > from && ns <= to;
}

int kevent(int queue, const struct kevent *changes, int count, struct kevent *events, int room,
	   const struct timespec *patience)
{
	uint64_t now = sim_now_ns;
	int n = 0;

	(void) queue;
	(void) patience;
	for (int i = 0; i < count; i++)
		take_change(&changes[i]);
	if (room == 0)
		return 0;
	for (size_t i = 0; i < sim_count && n + 2 < room; i++) {
		int parent = sim[i].parent;
		struct kevent event = {.filter = EVFILT_PROC};

		if (parent >= 0 && watched[parent] && is_between(sim[i].born_ns, told_ns, now)) {
			event.ident = (uintptr_t) sim[parent].pid;
			event.fflags = NOTE_FORK;
			events[n++] = event;
		}
		if (watched[i] && is_between(sim[i].end_ns, told_ns, now)) {
			event.ident = (uintptr_t) sim[i].pid;
			event.fflags = NOTE_EXIT;
			events[n++] = event;
		}
	}
	if (timer_ns && timer_ns <= now) {
		events[n++] = (struct kevent){.filter = EVFILT_TIMER};
		timer_ns = 0;
	}
	told_ns = now;
	return n;
}

static void keep_earlier(uint64_t *first, uint64_t ns)
{
	if (ns > told_ns && ns < *first)
		*first = ns;
}

uint64_t sim_next_event_ns(void)
{
	uint64_t first = timer_ns ? timer_ns : UINT64_MAX;

	for (size_t i = 0; i < sim_count; i++) {
		if (sim[i].parent >= 0 && watched[sim[i].parent])
			keep_earlier(&first, sim[i].born_ns);
		if (watched[i])
			keep_earlier(&first, sim[i].end_ns);
	}
	return first;
}
