#include "sample/counter_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/linux/cpu_stat.h"

enum { TEXT_SIZE = 64 * 1024 };

/* A single reading of memory was requested: no budget. */
static const double PSS_SHARE_ALL = 1e6;

static void init(struct trk_counter_set *c, const struct trk_env *env)
{
	*c = (struct trk_counter_set){.env = *env, .stat_fd = -1, .meminfo_fd = -1};
	c->disks.fd = c->nets.fd = c->space.fd = -1;
}

int trk__counters_init_tree(struct trk_counter_set *c, const struct trk_env *env, pid_t pid,
			    bool one_process, int kept_fds)
{
	struct trk_tree_options options = {
		.root = pid,
		.one_process = one_process,
		.figures_only = true,
		.kept_fds = kept_fds,
		.pss_share = PSS_SHARE_ALL,
	};
	int r = -ENOMEM;

	init(c, env);
	c->tree = trk__tree_new(&c->env, &options, &r);
	return c->tree ? 0 : r;
}

int trk__counters_init_machine(struct trk_counter_set *c, const struct trk_env *env)
{
	init(c, env);
	c->text = malloc(TEXT_SIZE);
	if (!c->text)
		return -ENOMEM;
	c->stat_fd = openat(c->env.proc_fd, "stat", O_RDONLY | O_CLOEXEC);
	c->meminfo_fd = openat(c->env.proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
	c->has_disks = trk__disk_meter_init(&c->disks, &c->env) == 0;
	c->has_nets = trk__net_meter_init(&c->nets, &c->env) == 0;
	c->has_space = trk__space_meter_init(&c->space, &c->env) == 0;
	return 0;
}

void trk__counters_release(struct trk_counter_set *c)
{
	trk__tree_free(c->tree);
	if (c->text) {
		trk__disk_meter_release(&c->disks);
		trk__net_meter_release(&c->nets);
		trk__space_meter_release(&c->space);
	}
	trk__close(c->stat_fd);
	trk__close(c->meminfo_fd);
	free(c->text);
	trk__env_release(&c->env);
}

/* ---- the tree ---- */

void trk__counters_read_tree(struct trk_counter_set *c, struct trk_tree_reading *ret)
{
	const struct trk_tree_state *s;
	uint64_t written, cancelled;

	trk__tree_update(c->tree, &s);
	written = s->base[TRK_TREE_WRITE_BYTES] + s->counter[TRK_TREE_WRITE_BYTES];
	cancelled = s->base[TRK_TREE_CANCELLED_BYTES] + s->counter[TRK_TREE_CANCELLED_BYTES];
	trk__cpu_split(&c->cpu, s->base[TRK_TREE_CPU] + s->counter[TRK_TREE_CPU],
		       s->base[TRK_TREE_CPU_SYSTEM] + s->counter[TRK_TREE_CPU_SYSTEM]);
	*ret = (struct trk_tree_reading){
		.user_ns = c->cpu.user,
		.system_ns = c->cpu.system,
		.read_bytes = s->base[TRK_TREE_READ_BYTES] + s->counter[TRK_TREE_READ_BYTES],
		.write_bytes = written > cancelled ? written - cancelled : 0,
		.has_io = s->unreadable_io == 0 || s->unreadable_io < s->processes,
		.memory_bytes = s->pss_bytes,
		.processes = s->processes,
		.root_gone = s->root_gone,
	};
}

/* ---- the machine ---- */

static bool read_kept(struct trk_counter_set *c, int fd)
{
	ssize_t len = fd < 0 ? -EBADF : trk__read_once_fd(fd, c->text, TEXT_SIZE);

	return len > 0 || len == -EFBIG;
}

static void read_cpu(struct trk_counter_set *c, struct trk_machine_reading *ret)
{
	uint64_t tick_ns = TRK_NS_PER_S / (uint64_t) sysconf(_SC_CLK_TCK);
	struct trk_cpu_stat stat;
	const struct trk_cpu_times *t = &stat.all;

	if (!read_kept(c, c->stat_fd) || trk__cpu_stat_parse(c->text, &stat, NULL, 0) < 0)
		return;
	ret->has_cpu = true;
	ret->user_ns = (t->user + t->nice) * tick_ns;
	ret->system_ns = (t->system + t->irq + t->softirq) * tick_ns;
}

static void read_net(struct trk_counter_set *c, struct trk_machine_reading *ret)
{
	uint64_t in, out;

	if (!c->has_nets || trk__net_meter_update(&c->nets, &in, &out) < 0)
		return;
	ret->has_net = true;
	for (size_t i = 0; i < c->nets.meter.count; i++) {
		const struct trk_meter_member *m = &c->nets.meter.member[i];

		ret->recv_bytes += m->counted ? m->in : 0;
		ret->sent_bytes += m->counted ? m->out : 0;
	}
}

void trk__counters_read_machine(struct trk_counter_set *c, struct trk_machine_reading *ret)
{
	uint64_t in, out, total;

	memset(ret, 0, sizeof(*ret));
	read_cpu(c, ret);
	ret->has_memory =
		read_kept(c, c->meminfo_fd) && trk__meminfo_parse(c->text, &ret->memory) == 0;
	ret->has_processes =
		trk__process_count_read(&c->process_count, &c->env, &ret->processes) == 0;
	read_net(c, ret);
	if (c->has_disks && trk__disk_meter_update(&c->disks, &in, &out) < 0)
		c->has_disks = false;
	c->knows_space = c->has_space && trk__space_meter_update(&c->space, &total, &in, &out) == 0;
}
