/* The public functions for current counters.
 *
 * Totals count from the start of the process, or from boot. A set is made once and read often:
 * sources that have not changed since the last reading are not read again. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/env.h"
#include "base/file.h"
#include "probe/linux/pid_status.h"
#include "probe/tree/tree.h"
#include "resource_tracker.h"
#include "sample/cpu_split.h"
#include "sample/machine_now.h"

enum {
	KEPT_FDS_MAX = 128,
	KEPT_FDS_SHARE = 8, /* kept descriptors: 1/8 of RLIMIT_NOFILE */
};

/* A single reading of memory was requested: no budget. */
static const double PSS_SHARE_ALL = 1e6;

struct set {
	struct trk_env env;
	struct trk_tree *tree;
	struct trk_cpu_split cpu; /* ns, as returned last */
	struct trk_machine_now machine;
};

struct trk_counters {
	pthread_mutex_t lock;
	struct set set;
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
	struct set *s = &c->set;
	struct trk_tree_options options = {
		.one_process = c->one_process,
		.figures_only = true,
		.pss_share = PSS_SHARE_ALL,
	};
	char note[96];
	int r;

	*s = (struct set){.machine = TRK_MACHINE_NOW_NONE};
	r = trk__env_init(&s->env);
	if (r < 0)
		return r;
	c->has_set = true;
	c->proc = trk__fd_identity(s->env.proc_fd);
	if (!c->pid)
		return trk__machine_now_open(&s->machine, &s->env);
	(void) trk__thread_follow(s->env.proc_fd, &c->pid, note, sizeof(note));
	options.root = c->pid;
	options.kept_fds = c->one_process ? 0 : claim_fds(c);
	s->tree = trk__tree_new(&s->env, &options, &r);
	return s->tree ? 0 : r;
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
	if (c->has_set && !is_lost(c)) {
		trk__tree_free(c->set.tree);
		trk__machine_now_close(&c->set.machine);
		trk__env_release(&c->set.env);
	}
	if (c->has_claimed)
		atomic_store(&kept_fds_claimed, false);
	(void) pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Since the start of the processes. Totals never decrease: the use of a process stays counted after
 * its end. */
static uint64_t total_of(const struct trk_tree_state *s, enum trk_tree_counter counter)
{
	return s->base[counter] + s->counter[counter];
}

int trk_counters_process(struct trk_counters *c, struct trk_process_counters *ret)
{
	const struct trk_tree_state *s;
	uint64_t written, cancelled;
	bool has_io;
	int r = c->pid ? enter(c) : -EINVAL;

	if (r < 0)
		return r;
	trk__tree_update(c->set.tree, &s);
	written = total_of(s, TRK_TREE_WRITE_BYTES);
	cancelled = total_of(s, TRK_TREE_CANCELLED_BYTES);
	has_io = s->unreadable_io == 0 || s->unreadable_io < s->processes;
	trk__cpu_split(&c->set.cpu, total_of(s, TRK_TREE_CPU), total_of(s, TRK_TREE_CPU_SYSTEM));
	*ret = (struct trk_process_counters){
		.user_s = (double) c->set.cpu.user / 1e9,
		.system_s = (double) c->set.cpu.system / 1e9,
		.memory_mib = (double) s->pss_bytes / TRK_MIB,
		.read_bytes = has_io ? (double) total_of(s, TRK_TREE_READ_BYTES) : NAN,
		.write_bytes = !has_io               ? NAN
			       : written > cancelled ? (double) (written - cancelled)
						     : 0,
		.processes = (int) s->processes,
		.gone = s->root_gone,
	};
	(void) pthread_mutex_unlock(&c->lock);
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
