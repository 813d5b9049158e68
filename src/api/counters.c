/* The public functions for current counters. */
#include "sample/counter_set.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "resource_tracker.h"

enum {
	KEPT_FDS_MAX = 128,
	KEPT_FDS_SHARE = 8, /* kept descriptors: 1/8 of RLIMIT_NOFILE */
};

struct trk_counters {
	pthread_mutex_t lock;
	struct trk_counter_set set;
	struct trk_fd_identity proc; /* of a descriptor of the set */
	pid_t pid;                   /* 0: of the machine */
	bool one_process;
	bool has_set;     /* set is initialised */
	bool has_claimed; /* the descriptors that all objects together may keep */
};

/* The first object on a tree gets all descriptors: usually one tree is read repeatedly. */
static atomic_bool kept_fds_claimed;

static int claim_fds(struct trk_counters *c)
{
	struct rlimit files;

	if (atomic_exchange(&kept_fds_claimed, true))
		return 0;
	c->has_claimed = true;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / KEPT_FDS_SHARE < KEPT_FDS_MAX)
		return (int) (files.rlim_cur / KEPT_FDS_SHARE);
	return KEPT_FDS_MAX;
}

static int open_set(struct trk_counters *c)
{
	struct trk_env env;
	int r = trk__env_init(&env);

	if (r < 0)
		return r;
	c->has_set = true;
	c->proc = trk__fd_identity(env.proc_fd);
	return c->pid ? trk__counters_init_tree(&c->set, &env, c->pid, c->one_process,
						c->one_process ? 0 : claim_fds(c))
		      : trk__counters_init_machine(&c->set, &env);
}

/* Has the host program closed all descriptors? Those of the set may be its own files by now: they
 * are neither read nor closed again, and the memory of the set is lost. */
static bool is_lost(const struct trk_counters *c)
{
	return !trk__fd_is(c->set.env.proc_fd, c->proc);
}

/* Lock the counters, whose set is made again if it is lost. 0 or a negative errno. */
static int enter(struct trk_counters *c)
{
	int r = 0;

	(void) pthread_mutex_lock(&c->lock);
	if (!c->has_set || is_lost(c)) {
		memset(&c->set, 0, sizeof(c->set));
		c->has_set = false;
		if (c->has_claimed)
			atomic_store(&kept_fds_claimed, false);
		c->has_claimed = false;
		r = open_set(c);
	}
	if (r == 0 && c->pid && !c->set.tree)
		r = -ESRCH;
	if (r < 0)
		(void) pthread_mutex_unlock(&c->lock);
	return r;
}

static int make_counters(struct trk_counters **ret, pid_t pid, bool one_process)
{
	struct trk_counters *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	(void) pthread_mutex_init(&c->lock, NULL);
	c->pid = pid;
	c->one_process = one_process;
	r = open_set(c);
	if (r < 0) {
		trk_counters_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

int trk_counters_of_process(int pid, int no_children, struct trk_counters **ret)
{
	return pid > 0 ? make_counters(ret, pid, no_children != 0) : -ESRCH;
}

int trk_counters_of_machine(struct trk_counters **ret)
{
	return make_counters(ret, 0, false);
}

void trk_counters_free(struct trk_counters *c)
{
	if (!c)
		return;
	if (c->has_set && !is_lost(c))
		trk__counters_release(&c->set);
	if (c->has_claimed)
		atomic_store(&kept_fds_claimed, false);
	(void) pthread_mutex_destroy(&c->lock);
	free(c);
}

int trk_counters_process(struct trk_counters *c, struct trk_process_counters *ret)
{
	struct trk_tree_reading t;
	int r = c->pid ? enter(c) : -EINVAL;

	if (r < 0)
		return r;
	trk__counters_read_tree(&c->set, &t);
	(void) pthread_mutex_unlock(&c->lock);
	*ret = (struct trk_process_counters){
		.user_s = (double) t.user_ns / 1e9,
		.system_s = (double) t.system_ns / 1e9,
		.memory_mib = (double) t.memory_bytes / TRK_MIB,
		.read_bytes = t.has_io ? (double) t.read_bytes : NAN,
		.write_bytes = t.has_io ? (double) t.write_bytes : NAN,
		.processes = (int) t.processes,
		.gone = t.root_gone,
	};
	return 0;
}

static double known(bool has, uint64_t value, double unit)
{
	return has ? (double) value / unit : NAN;
}

/* Since boot, of the outer interfaces. */
static void sum_up(const struct trk_meter *m, uint64_t *ret_in, uint64_t *ret_out)
{
	*ret_in = *ret_out = 0;
	for (size_t i = 0; i < m->count; i++) {
		*ret_in += m->member[i].counted ? m->member[i].in : 0;
		*ret_out += m->member[i].counted ? m->member[i].out : 0;
	}
}

int trk_counters_machine(struct trk_counters *c, struct trk_machine_counters *ret)
{
	const struct trk_machine_now *m = &c->set.machine;
	const struct trk_cpu_times *t = &m->cpu.all;
	double ticks = (double) sysconf(_SC_CLK_TCK);
	uint64_t received, sent;
	int r = c->pid ? -EINVAL : enter(c);

	if (r < 0)
		return r;
	trk__machine_now_read(&c->set.machine);
	sum_up(&m->nets, &received, &sent);
	*ret = (struct trk_machine_counters){
		.processes = known(m->has_processes, m->processes, 1),
		.user_s = known(m->has_cpu, t->user + t->nice, ticks),
		.system_s = known(m->has_cpu, t->system + t->irq + t->softirq, ticks),
		.memory_free_mib = known(m->has_memory, m->memory.free, TRK_MIB),
		.memory_used_mib = known(m->has_memory, trk__meminfo_used(&m->memory), TRK_MIB),
		.memory_buffers_mib = known(m->has_memory, m->memory.buffers, TRK_MIB),
		.memory_cached_mib =
			known(m->has_memory, m->memory.cached + m->memory.reclaimable, TRK_MIB),
		.memory_active_mib = known(m->has_memory, m->memory.active, TRK_MIB),
		.memory_inactive_mib = known(m->has_memory, m->memory.inactive, TRK_MIB),
		.net_recv_bytes = known(m->has_nets, received, 1),
		.net_sent_bytes = known(m->has_nets, sent, 1),
	};
	(void) pthread_mutex_unlock(&c->lock);
	return 0;
}

int trk_counters_disk(struct trk_counters *c, size_t index, const char **ret_name,
		      double *ret_read_bytes, double *ret_write_bytes)
{
	const struct trk_meter *meter = &c->set.machine.disks;

	if (c->set.tree || !c->set.machine.has_disks)
		return -ENOENT;
	for (size_t i = 0; i < meter->count; i++) {
		if (!meter->member[i].counted || index-- > 0)
			continue;
		*ret_name = meter->member[i].name;
		*ret_read_bytes = (double) meter->member[i].in;
		*ret_write_bytes = (double) meter->member[i].out;
		return 0;
	}
	return -ENOENT;
}

int trk_counters_mount(struct trk_counters *c, size_t index, const char **ret_point,
		       double *ret_total_bytes, double *ret_used_bytes, double *ret_free_bytes)
{
	const struct trk_space_meter *space = &c->set.machine.space;

	for (size_t i = 0; c->set.machine.has_space && i < space->count; i++) {
		const struct trk_space_member *m = &space->member[i];

		if (m->total_bytes == 0 || index-- > 0)
			continue;
		*ret_point = m->point;
		*ret_total_bytes = (double) m->total_bytes;
		*ret_used_bytes = (double) m->used_bytes;
		*ret_free_bytes = (double) m->available_bytes;
		return 0;
	}
	return -ENOENT;
}
