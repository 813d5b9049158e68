/* Presents the simulated kernel as Windows: a list of the live processes, a job object with the
 * totals of all processes that were ever in it, and the pids of its members. Parents do not receive
 * the CPU time of children, and zombies cannot be read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"
#include "probe/windows/nt.h"

bool sim_has_job, sim_job_counts, sim_keeps_handles;
int sim_handles;

static uint64_t units(uint64_t ns)
{
	return ns / 100 * 100;
}

static bool is_living(const struct sim_process *p)
{
	return sim_find(p->pid) == p && !sim_is_zombie(p);
}

static struct trk_nt_process row_of(const struct sim_process *p)
{
	uint64_t own = sim_own_ns(p, sim_now_ns);
	struct trk_nt_process row = {
		.pid = p->pid,
		.ppid = p->parent >= 0   ? sim[p->parent].pid
			: p->is_stranger ? 1
					 : SIM_TRACKER,
		.created = p->born_ns / 100,
		.user_ns = units(own - own / 4),
		.system_ns = units(own / 4),
		.private_bytes = sim_bytes(p, sim_now_ns),
		.working_bytes = sim_bytes(p, sim_now_ns) + SIM_SHARED_BYTES,
		.threads = 1,
	};

	(void) snprintf(row.name, sizeof(row.name), "task");
	return row;
}

int trk__nt_list_read(struct trk_nt_list *l)
{
	sim_call();
	if (!l->process)
		l->process = calloc(SIM_MAX, sizeof(*l->process));
	if (!l->process)
		return -ENOMEM;
	l->count = 0;
	for (size_t i = 0; i < sim_count; i++) /* pids are given out in a row */
		if (is_living(&sim[i]))
			l->process[l->count++] = row_of(&sim[i]);
	return 0;
}

void trk__nt_list_release(struct trk_nt_list *l)
{
	free(l->process);
	*l = (struct trk_nt_list){.process = NULL};
}

const struct trk_nt_process *trk__nt_list_find(const struct trk_nt_list *l, pid_t pid)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->process[i].pid == pid)
			return &l->process[i];
	return NULL;
}

/* The index of the process, from 1. */
int trk__nt_keep(const struct trk_nt_process *process)
{
	const struct sim_process *p = sim_find(process->pid);

	sim_call();
	sim_handles += sim_keeps_handles && p != NULL;
	return sim_keeps_handles && p ? (int) (p - sim) + 1 : -1;
}

void trk__nt_let_go(int kept)
{
	(void) kept;
	sim_handles--;
}

int trk__nt_kept_read(int kept, struct trk_nt_process *ret)
{
	sim_call();
	*ret = row_of(&sim[kept - 1]);
	return 0;
}

uint64_t trk__nt_now(void)
{
	return sim_now_ns / 100;
}

ssize_t trk__nt_command(pid_t pid, char *text, size_t size)
{
	(void) pid;
	(void) text;
	(void) size;
	return -EACCES;
}

bool trk__nt_has_job(void)
{
	return sim_has_job;
}

int trk__nt_job_totals(struct trk_nt_totals *ret)
{
	sim_call();
	*ret = (struct trk_nt_totals){.peak_commit_bytes = SIM_COMMIT_BYTES};
	for (size_t i = 0; i < sim_count && sim_job_counts; i++) {
		bool was_in = sim_is_in_job_object(&sim[i]) && sim[i].born_ns <= sim_now_ns;
		uint64_t own = was_in ? sim_own_ns(&sim[i], sim_now_ns) : 0;

		ret->user_ns += units(own - own / 4);
		ret->system_ns += units(own / 4);
	}
	return 0;
}

int trk__nt_job_pids(pid_t *pids, int max)
{
	int n = 0;

	sim_call();
	for (size_t i = 0; i < sim_count && n < max; i++)
		if (is_living(&sim[i]) && sim_is_in_job_object(&sim[i]))
			pids[n++] = sim[i].pid;
	return n;
}
