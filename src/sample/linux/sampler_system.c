/* The machine, whose files are all read in every tick. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "probe/linux/cpu_stat.h"
#include "probe/linux/loadavg.h"
#include "probe/linux/meminfo.h"
#include "probe/linux/pressure.h"
#include "sample/sampler_private.h"

static const int pressure_columns[PRESSURE_FILES][2] = {
	[PRESSURE_CPU] = {TRK_SYSTEM_PRESSURE_CPU_SOME, -1},
	[PRESSURE_MEMORY] = {TRK_SYSTEM_PRESSURE_MEMORY_SOME, TRK_SYSTEM_PRESSURE_MEMORY_FULL},
	[PRESSURE_IO] = {TRK_SYSTEM_PRESSURE_IO_SOME, TRK_SYSTEM_PRESSURE_IO_FULL},
};

static bool read_kept(struct trk_sampler *s, int fd)
{
	ssize_t len;

	if (fd < 0)
		return false;
	len = trk__read_once_fd(fd, s->text, SAMPLER_TEXT_SIZE);
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

static void read_cpu(struct trk_sampler *s, uint64_t now_ns)
{
	struct trk_cpu_stat stat;
	const struct trk_cpu_times *t = &stat.all;
	uint64_t over_ns = now_ns - s->system_ns;

	if (!read_kept(s, s->stat_fd) || trk__cpu_stat_parse(s->text, &stat, NULL, 0) < 0)
		return;
	take_machine(s, t);
	s->machine_cores = stat.cores ? (double) stat.cores : s->machine_cores;
	trk__sampler_set_delta(s, TRK_SYSTEM_UTIME, (t->user + t->nice) * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_STIME, (t->system + t->irq + t->softirq) * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_IOWAIT, t->iowait * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_STEAL, t->steal * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_FORKS, stat.forks);
	trk__sampler_set_delta(s, TRK_SYSTEM_CONTEXT_SWITCHES, stat.context_switches);
	trk__sampler_set_rate(s, TRK_SYSTEM_CPU_USAGE,
			      s->row.value[TRK_SYSTEM_UTIME] + s->row.value[TRK_SYSTEM_STIME],
			      over_ns, s->machine_cores);
	s->system_ns = now_ns;
}

static void read_memory(struct trk_sampler *s)
{
	struct trk_meminfo m;

	if (!read_kept(s, s->meminfo_fd) || trk__meminfo_parse(s->text, &m) < 0)
		return;
	s->knows_shmem = true;
	s->shmem_bytes = m.shmem;
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_FREE, m.free);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_USED, trk__meminfo_used(&m));
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_BUFFERS, m.buffers);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_CACHED, m.cached + m.reclaimable);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_ACTIVE, m.active);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_INACTIVE, m.inactive);
	trk__sampler_set_bytes(s, TRK_SYSTEM_SWAP_USED,
			       m.swap_total > m.swap_free ? m.swap_total - m.swap_free : 0);
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

static void read_disk(struct trk_sampler *s)
{
	uint64_t read, written;

	if (s->disk_error || trk__disk_meter_update(&s->disk, &read, &written) < 0)
		return;
	trk__sampler_set_delta(s, TRK_SYSTEM_DISK_READ, read);
	trk__sampler_set_delta(s, TRK_SYSTEM_DISK_WRITE, written);
}

static void read_net(struct trk_sampler *s)
{
	uint64_t received, sent;

	if (s->net_error || trk__net_meter_update(&s->net, &received, &sent) < 0)
		return;
	trk__sampler_set_delta(s, TRK_SYSTEM_NET_RECV, received);
	trk__sampler_set_delta(s, TRK_SYSTEM_NET_SENT, sent);
}

static void read_processes(struct trk_sampler *s)
{
	uint64_t n;

	if (trk__process_count_read(&s->process_count, &s->env, &n) == 0)
		trk__sample_set(&s->row, TRK_SYSTEM_PROCESSES, (int64_t) n);
}

static void read_space(struct trk_sampler *s)
{
	uint64_t total, used, available;

	if (s->space_error || trk__space_meter_update(&s->space, &total, &used, &available) < 0)
		return;
	trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_TOTAL, total);
	trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_USED, used);
	trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_FREE, available);
}

static int open_file(const struct trk_env *env, const char *path)
{
	return openat(env->proc_fd, path, O_RDONLY | O_CLOEXEC);
}

void trk__sampler_open_system(struct trk_sampler *s)
{
	static const char *const pressure[PRESSURE_FILES] = {
		[PRESSURE_CPU] = "pressure/cpu",
		[PRESSURE_MEMORY] = "pressure/memory",
		[PRESSURE_IO] = "pressure/io",
	};

	s->stat_fd = open_file(&s->env, "stat");
	s->meminfo_fd = open_file(&s->env, "meminfo");
	s->loadavg_fd = open_file(&s->env, "loadavg");
	for (int i = 0; i < PRESSURE_FILES; i++)
		s->pressure_fd[i] = open_file(&s->env, pressure[i]);
	s->disk_error = trk__disk_meter_init(&s->disk, &s->env);
	s->net_error = trk__net_meter_init(&s->net, &s->env);
	s->space_error = trk__space_meter_init(&s->space, &s->env);
}

void trk__sampler_system_baseline(struct trk_sampler *s)
{
	read_cpu(s, s->start_ns);
	read_memory(s);
	read_disk(s);
	read_net(s);
	read_pressure(s);
}

void trk__sampler_read_system(struct trk_sampler *s, uint64_t now_ns)
{
	read_cpu(s, now_ns);
	read_memory(s);
	read_load(s);
	read_disk(s);
	read_net(s);
	read_pressure(s);
	read_processes(s);
	read_space(s);
}

void trk__sampler_close_system(struct trk_sampler *s)
{
	trk__close(s->stat_fd);
	trk__close(s->meminfo_fd);
	trk__close(s->loadavg_fd);
	for (int i = 0; i < PRESSURE_FILES; i++)
		trk__close(s->pressure_fd[i]);
	if (s->options.no_system)
		return;
	trk__disk_meter_release(&s->disk);
	trk__net_meter_release(&s->net);
	trk__space_meter_release(&s->space);
}

void trk__sampler_system_sources(const struct trk_sampler *s, struct trk_source *list, size_t *n)
{
	trk__sampler_add_source(list, n, "system_cpu",
				s->stat_fd >= 0 ? "/proc/stat" : "not readable");
	trk__sampler_add_source(list, n, "system_memory",
				s->meminfo_fd >= 0 ? "/proc/meminfo" : "not readable");
	trk__sampler_add_source(list, n, "system_disk",
				s->disk_error == 0 ? "/proc/diskstats" : "not readable");
	trk__sampler_add_source(list, n, "system_net",
				s->net_error == 0 ? "/proc/self/net/dev" : "not readable");
	trk__sampler_add_source(list, n, "system_disk_space",
				s->space.count ? "statvfs of local file systems"
					       : "no local file system");
	trk__sampler_add_source(list, n, "system_pressure",
				s->last[TRK_SYSTEM_PRESSURE_CPU_SOME].valid
					? "/proc/pressure"
					: "off or not in this kernel (PSI)");
}
