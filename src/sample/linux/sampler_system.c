/* The columns of the machine, whose files are all read in every tick. */
#include <errno.h>
#include <fcntl.h>

#include "base/file.h"
#include "probe/linux/loadavg.h"
#include "probe/linux/pressure.h"
#include "sample/sampler_private.h"

static const int pressure_columns[PRESSURE_FILES][2] = {
	[PRESSURE_CPU] = {TRK_SYSTEM_PRESSURE_CPU_SOME, -1},
	[PRESSURE_MEMORY] = {TRK_SYSTEM_PRESSURE_MEMORY_SOME, TRK_SYSTEM_PRESSURE_MEMORY_FULL},
	[PRESSURE_IO] = {TRK_SYSTEM_PRESSURE_IO_SOME, TRK_SYSTEM_PRESSURE_IO_FULL},
};

static bool read_kept(struct trk_sampler *s, int fd)
{
	ssize_t len = fd < 0 ? -EBADF : trk__read_once_fd(fd, s->text, SAMPLER_TEXT_SIZE);

	return len > 0 || len == -EFBIG;
}

static void take_machine(struct trk_sampler *s, const struct trk_cpu_times *t)
{
	s->machine = (struct machine_times){
		.known = true,
		.busy_us = (trk__cpu_times_busy(t) + t->steal) * s->tick_us,
		.stolen_us = (t->steal + t->irq + t->softirq) * s->tick_us,
	};
}

void trk__sampler_read_machine(struct trk_sampler *s)
{
	struct trk_cpu_stat stat;

	if (trk__read_at(s->env.proc_fd, "stat", s->text, SAMPLER_TEXT_SIZE) > 0 &&
	    trk__cpu_stat_parse(s->text, &stat, NULL, 0) == 0)
		take_machine(s, &stat.all);
}

static void take_cpu(struct trk_sampler *s, uint64_t now_ns)
{
	const struct trk_cpu_stat *stat = &s->now.cpu;
	const struct trk_cpu_times *t = &stat->all;
	uint64_t over_ns = now_ns - s->system_ns;

	if (!s->now.has_cpu)
		return;
	take_machine(s, t);
	s->machine_cores = stat->cores ? (double) stat->cores : s->machine_cores;
	trk__sampler_set_delta(s, TRK_SYSTEM_UTIME, (t->user + t->nice) * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_STIME, (t->system + t->irq + t->softirq) * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_IOWAIT, t->iowait * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_STEAL, t->steal * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_FORKS, stat->forks);
	trk__sampler_set_delta(s, TRK_SYSTEM_CONTEXT_SWITCHES, stat->context_switches);
	trk__sampler_set_rate(s, TRK_SYSTEM_CPU_USAGE,
			      s->row.value[TRK_SYSTEM_UTIME] + s->row.value[TRK_SYSTEM_STIME],
			      over_ns, s->machine_cores);
	s->system_ns = now_ns;
}

static void take_memory(struct trk_sampler *s)
{
	struct trk_meminfo *m = &s->now.memory;

	if (!s->now.has_memory)
		return;
	trk__meminfo_add_huge_pages(s->env.sys_fd, m);
	s->knows_shmem = true;
	s->shmem_bytes = m->shmem;
	s->outside_bytes = m->huge_pages;
	if (m->has_other_huge_pages)
		s->has_unread_huge_pages = true;
	if (m->swap_total > m->swap_free)
		s->outside_bytes += m->swap_total - m->swap_free;
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_FREE, m->free);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_USED, trk__meminfo_used(m));
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_BUFFERS, m->buffers);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_CACHED, m->cached + m->reclaimable);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_ACTIVE, m->active);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_INACTIVE, m->inactive);
	trk__sampler_set_bytes(s, TRK_SYSTEM_SWAP_USED,
			       m->swap_total > m->swap_free ? m->swap_total - m->swap_free : 0);
}

static void take_traffic(struct trk_sampler *s)
{
	if (s->now.has_disks) {
		trk__sampler_set_delta(s, TRK_SYSTEM_DISK_READ, s->now.disks.in);
		trk__sampler_set_delta(s, TRK_SYSTEM_DISK_WRITE, s->now.disks.out);
	}
	if (s->now.has_nets) {
		trk__sampler_set_delta(s, TRK_SYSTEM_NET_RECV, s->now.nets.in);
		trk__sampler_set_delta(s, TRK_SYSTEM_NET_SENT, s->now.nets.out);
	}
}

static void read_load(struct trk_sampler *s)
{
	struct trk_loadavg load;

	if (read_kept(s, s->loadavg_fd) && trk__loadavg_parse(s->text, &load) == 0)
		trk__sample_set(&s->row, TRK_SYSTEM_LOAD_1M, (int64_t) load.load_1m);
}

static void read_pressure(struct trk_sampler *s)
{
	for (int i = 0; i < PRESSURE_FILES; i++) {
		struct trk_pressure p;

		if (!read_kept(s, s->pressure_fd[i]) || trk__pressure_parse(s->text, &p) < 0)
			continue;
		trk__sampler_set_delta(s, pressure_columns[i][0], p.some_ns / 1000);
		if (pressure_columns[i][1] >= 0)
			trk__sampler_set_delta(s, pressure_columns[i][1], p.full_ns / 1000);
	}
}

static int open_file(const struct trk_env *env, const char *path)
{
	return openat(env->proc_fd, path, O_RDONLY | O_CLOEXEC);
}

int trk__sampler_open_system(struct trk_sampler *s)
{
	static const char *const pressure[PRESSURE_FILES] = {
		[PRESSURE_CPU] = "pressure/cpu",
		[PRESSURE_MEMORY] = "pressure/memory",
		[PRESSURE_IO] = "pressure/io",
	};

	int r = trk__machine_now_open(&s->now, &s->env);

	s->loadavg_fd = open_file(&s->env, "loadavg");
	for (int i = 0; i < PRESSURE_FILES; i++)
		s->pressure_fd[i] = open_file(&s->env, pressure[i]);
	return r;
}

/* The files with counters. */
static void take_counters(struct trk_sampler *s, uint64_t now_ns)
{
	take_cpu(s, now_ns);
	take_memory(s);
	take_traffic(s);
	read_pressure(s);
}

void trk__sampler_system_baseline(struct trk_sampler *s)
{
	trk__machine_now_counters(&s->now);
	take_counters(s, s->start_ns);
}

void trk__sampler_read_system(struct trk_sampler *s, uint64_t now_ns)
{
	trk__machine_now_read(&s->now);
	take_counters(s, now_ns);
	read_load(s);
	if (s->now.has_processes)
		trk__sample_set(&s->row, TRK_SYSTEM_PROCESSES, (int64_t) s->now.processes);
	if (!s->now.has_space)
		return;
	trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_TOTAL, s->now.space_total);
	trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_USED, s->now.space_used);
	trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_FREE, s->now.space_free);
}

void trk__sampler_close_system(struct trk_sampler *s)
{
	trk__machine_now_close(&s->now);
	trk__close(s->loadavg_fd);
	for (int i = 0; i < PRESSURE_FILES; i++)
		trk__close(s->pressure_fd[i]);
}

void trk__sampler_system_sources(const struct trk_sampler *s, struct trk_source *list, size_t *n)
{
	trk__sampler_add_source(list, n, "system_cpu",
				s->now.stat_fd >= 0 ? "/proc/stat" : "not readable");
	trk__sampler_add_source(list, n, "system_memory",
				s->now.meminfo_fd >= 0 ? "/proc/meminfo" : "not readable");
	trk__sampler_add_source(list, n, "system_disk",
				s->now.disks.fd >= 0 ? "/proc/diskstats" : "not readable");
	trk__sampler_add_source(list, n, "system_net",
				s->now.nets.fd >= 0 ? "/proc/self/net/dev" : "not readable");
	trk__sampler_add_source(list, n, "system_disk_space",
				s->now.space.count ? "statvfs of local file systems"
						   : "no local file system");
	trk__sampler_add_source(list, n, "system_pressure",
				s->last[TRK_SYSTEM_PRESSURE_CPU_SOME].valid
					? "/proc/pressure"
					: "off or not in this kernel (PSI)");
}
