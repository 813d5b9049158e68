/* The machine: files that are read in every tick, and others that are read less often while no hint
 * says that they changed. */
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

/* True if a task waited or may have waited: more than half of the processors were busy, more tasks
 * are runnable than there are processors, or a task waits for a disk. */
static bool is_crowded(const struct trk_sampler *s, const struct trk_cpu_stat *stat,
		       uint64_t over_ns)
{
	const int64_t *v = s->row.value;
	uint64_t busy_us =
		(uint64_t) (v[TRK_SYSTEM_UTIME] + v[TRK_SYSTEM_STIME] + v[TRK_SYSTEM_STEAL]);

	return !trk__sample_knows(&s->row, TRK_SYSTEM_UTIME) || v[TRK_SYSTEM_IOWAIT] > 0 ||
	       stat->blocked > 0 || stat->running > stat->cores ||
	       busy_us * 2 * 1000 > over_ns * stat->cores;
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

	s->hints.crowded = true; /* for all that is known */
	s->hints.net_softirqs = s->hints.block_softirqs = 0;
	if (!read_kept(s, s->stat_fd) || trk__cpu_stat_parse(s->text, &stat, NULL, 0) < 0)
		return;
	take_machine(s, t);
	s->machine_cores = stat.cores ? (double) stat.cores : s->machine_cores;
	trk__sampler_set_delta(s, TRK_SYSTEM_UTIME, (t->user + t->nice) * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_STIME, (t->system + t->irq + t->softirq) * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_IOWAIT, t->iowait * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_STEAL, t->steal * s->tick_us);
	s->hints.forks = stat.forks;
	s->hints.net_softirqs = stat.net_softirqs;
	s->hints.block_softirqs = stat.block_softirqs;
	trk__sampler_set_delta(s, TRK_SYSTEM_FORKS, stat.forks);
	trk__sampler_set_delta(s, TRK_SYSTEM_CONTEXT_SWITCHES, stat.context_switches);
	s->hints.crowded = is_crowded(s, &stat, over_ns);
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
	s->hints.dirty_bytes = m.dirty;
	s->hints.knows_shmem = true;
	s->hints.shmem_bytes = m.shmem;
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_FREE, m.free);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_USED, trk__meminfo_used(&m));
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_BUFFERS, m.buffers);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_CACHED, m.cached + m.reclaimable);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_ACTIVE, m.active);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_INACTIVE, m.inactive);
	s->hints.swapped_bytes = m.swap_total > m.swap_free ? m.swap_total - m.swap_free : 0;
	trk__sampler_set_bytes(s, TRK_SYSTEM_SWAP_USED, s->hints.swapped_bytes);
}

static void repeat(struct trk_sampler *s, const struct trk_sample *before, int column)
{
	if (trk__sample_knows(before, column))
		trk__sample_set(&s->row, column, before->value[column]);
}

/* Repeat the total of the last reading, if any. */
static void keep_total(struct trk_sampler *s, int column)
{
	if (column >= 0 && s->last[column].valid)
		trk__sampler_set_delta(s, column, s->last[column].value);
}

/* The kernel itself works out a new load every five seconds. */
static void read_load(struct trk_sampler *s, uint64_t now_ns, const struct trk_sample *before)
{
	struct trk_loadavg load;

	if (trk__sampler_is_good_still(now_ns, s->load_ns, false)) {
		repeat(s, before, TRK_SYSTEM_LOAD_1M);
		return;
	}
	if (!read_kept(s, s->loadavg_fd) || trk__loadavg_parse(s->text, &load) < 0)
		return;
	s->load_ns = now_ns;
	s->hints.threads = load.threads;
	trk__sample_set(&s->row, TRK_SYSTEM_LOAD_1M, (int64_t) load.load_1m);
}

/* Take a total of a pressure file; true when it grew by more than a hundredth of the time since. */
static bool take_pressure(struct trk_sampler *s, int column, uint64_t total_us, uint64_t over_ns)
{
	const struct counter before = s->last[column];

	trk__sampler_set_delta(s, column, total_us);
	return !before.valid || total_us > before.value + over_ns / 1000 / 100;
}

static void read_pressure_files(struct trk_sampler *s, uint64_t over_ns)
{
	s->stalled = false;
	for (int i = 0; i < PRESSURE_FILES; i++) {
		struct trk_pressure p;

		if (!read_kept(s, s->pressure_fd[i]) || trk__pressure_parse(s->text, &p) < 0)
			continue;
		s->stalled |= take_pressure(s, pressure_columns[i][0], p.some_ns / 1000, over_ns);
		if (pressure_columns[i][1] >= 0)
			trk__sampler_set_delta(s, pressure_columns[i][1], p.full_ns / 1000);
	}
}

/* Skipped readings lose nothing: the totals are cumulative. */
static void read_pressure(struct trk_sampler *s, uint64_t now_ns)
{
	bool stirred = s->stalled || s->hints.crowded ||
		       s->hints.swapped_bytes != s->pressure_hints.swapped_bytes ||
		       s->row.value[TRK_SYSTEM_DISK_READ] > 0 ||
		       s->row.value[TRK_SYSTEM_DISK_WRITE] > 0;

	if (!stirred && trk__sampler_is_good_still(now_ns, s->pressure_ns, false)) {
		for (int i = 0; i < PRESSURE_FILES; i++)
			for (int k = 0; k < 2; k++)
				keep_total(s, pressure_columns[i][k]);
		return;
	}
	read_pressure_files(s, now_ns - s->pressure_ns);
	s->pressure_ns = now_ns;
	s->pressure_hints = s->hints;
}

static bool is_unchanged(const struct device_hint *q, uint64_t softirqs, uint64_t now_ns)
{
	return q->reliable && softirqs != 0 && softirqs == q->softirqs &&
	       trk__sampler_is_good_still(now_ns, q->read_ns, false);
}

/* Take incoming and outgoing bytes. */
static void take_io(struct trk_sampler *s, struct device_hint *q, const int columns[2],
		    const uint64_t total[2], uint64_t softirqs, uint64_t now_ns)
{
	for (int i = 0; i < 2; i++) {
		const struct counter *last = &s->last[columns[i]];

		if (last->valid && total[i] > last->value && softirqs == q->softirqs)
			q->reliable = false;
		trk__sampler_set_delta(s, columns[i], total[i]);
	}
	q->softirqs = softirqs;
	q->read_ns = now_ns;
}

static const int disk_columns[2] = {TRK_SYSTEM_DISK_READ, TRK_SYSTEM_DISK_WRITE};
static const int net_columns[2] = {TRK_SYSTEM_NET_RECV, TRK_SYSTEM_NET_SENT};

static void read_disk(struct trk_sampler *s, uint64_t now_ns)
{
	uint64_t softirqs = s->hints.block_softirqs, total[2];

	if (is_unchanged(&s->disk_hint, softirqs, now_ns)) {
		keep_total(s, disk_columns[0]);
		keep_total(s, disk_columns[1]);
	} else if (s->disk_error == 0 &&
		   trk__disk_meter_update(&s->disk, &total[0], &total[1]) == 0) {
		s->hints.written_bytes = total[1];
		take_io(s, &s->disk_hint, disk_columns, total, softirqs, now_ns);
	}
}

static void read_net(struct trk_sampler *s, uint64_t now_ns)
{
	uint64_t softirqs = s->hints.net_softirqs, total[2];

	if (is_unchanged(&s->net_hint, softirqs, now_ns)) {
		keep_total(s, net_columns[0]);
		keep_total(s, net_columns[1]);
	} else if (s->net_error == 0 && trk__net_meter_update(&s->net, &total[0], &total[1]) == 0) {
		take_io(s, &s->net_hint, net_columns, total, softirqs, now_ns);
	}
}

static void read_processes(struct trk_sampler *s, uint64_t now_ns, const struct trk_sample *before)
{
	bool moved = s->hints.forks != s->processes_hints.forks ||
		     s->hints.threads != s->processes_hints.threads;
	uint64_t n;

	if (trk__sampler_is_good_still(now_ns, s->processes_ns, moved)) {
		repeat(s, before, TRK_SYSTEM_PROCESSES);
		return;
	}
	s->processes_ns = now_ns;
	s->processes_hints = s->hints;
	if (trk__process_count_read(&s->process_count, &s->env, &n) == 0)
		trk__sample_set(&s->row, TRK_SYSTEM_PROCESSES, (int64_t) n);
}

static void read_space(struct trk_sampler *s, uint64_t now_ns, const struct trk_sample *before)
{
	bool moved = s->hints.dirty_bytes != s->space_hints.dirty_bytes ||
		     s->hints.written_bytes != s->space_hints.written_bytes;
	uint64_t total, used, available;

	if (trk__sampler_is_good_still(now_ns, s->space_ns, moved)) {
		repeat(s, before, TRK_SYSTEM_SPACE_TOTAL);
		repeat(s, before, TRK_SYSTEM_SPACE_USED);
		repeat(s, before, TRK_SYSTEM_SPACE_FREE);
		return;
	}
	s->space_ns = now_ns;
	s->space_hints = s->hints;
	if (s->space_error == 0 &&
	    trk__space_meter_update(&s->space, &total, &used, &available) == 0) {
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_TOTAL, total);
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_USED, used);
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_FREE, available);
	}
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
	read_disk(s, s->start_ns);
	read_net(s, s->start_ns);
	read_pressure(s, s->start_ns);
	/* A softirq may serve several requests, but a device that uses softirqs has many. */
	s->disk_hint.reliable = s->hints.block_softirqs >= s->disk.requests / 2;
	s->net_hint.reliable = true;
}

void trk__sampler_read_system(struct trk_sampler *s, uint64_t now_ns,
			      const struct trk_sample *before)
{
	read_cpu(s, now_ns);
	read_memory(s);
	read_load(s, now_ns, before);
	read_disk(s, now_ns);
	read_net(s, now_ns);
	read_pressure(s, now_ns);
	read_processes(s, now_ns, before);
	read_space(s, now_ns, before);
}

void trk__sampler_force_full_system(struct trk_sampler *s)
{
	s->load_ns = s->pressure_ns = s->processes_ns = s->space_ns = 0;
	s->disk_hint.read_ns = s->net_hint.read_ns = 0;
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
