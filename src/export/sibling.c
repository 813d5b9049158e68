#include "export/sibling.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/maths.h"
#include "export/table.h"

#define MIB 1048576ull

/* Whole MiB of the machine are truncated, as by the sibling: used + available is at most the
 * total. */
static bool is_cut(int column)
{
	return column >= TRK_SYSTEM_MEMORY_FREE && column <= TRK_SYSTEM_MEMORY_INACTIVE;
}

/* A stored value in its column's unit, to 10^-decimals: rounded half away from zero, or
 * truncated. */
static int64_t rounded(const struct trk_sample *row, int column, unsigned int decimals)
{
	int64_t divisor = trk__columns[column].divisor;
	int64_t value = trk__table_value(TRK_SET_05, row, column);

	return is_cut(column) ? value / divisor : trk__table_rounded(value, divisor, decimals);
}

/* ---- CSV ---- */

/* "12.500": all the decimals. */
static void add_fixed(struct trk_buf *b, int64_t value, unsigned int decimals)
{
	uint64_t size = value < 0 ? 0 - (uint64_t) value : (uint64_t) value, scale = 1;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	trk__buf_printf(b, "%s%" PRIu64, value < 0 ? "-" : "", size / scale);
	if (decimals)
		trk__buf_printf(b, ".%0*" PRIu64, (int) decimals, size % scale);
}

/* Number of decimals of a column; 0 for most. */
static unsigned int decimals_of(int column)
{
	switch (column) {
	case TRK_TIMESTAMP: /* a second may have several rows */
	case TRK_SYSTEM_UTIME:
	case TRK_SYSTEM_STIME:
	case TRK_SYSTEM_STEAL:
		return 3;
	case TRK_SYSTEM_CPU_USAGE:
	case TRK_SYSTEM_GPU_USAGE:
	case TRK_SYSTEM_GPU_VRAM:
	case TRK_PROCESS_UTIME:
	case TRK_PROCESS_STIME:
	case TRK_PROCESS_CPU_USAGE:
	case TRK_PROCESS_GPU_USAGE:
	case TRK_PROCESS_GPU_VRAM:
		return 4;
	case TRK_SYSTEM_SPACE_TOTAL:
	case TRK_SYSTEM_SPACE_USED:
	case TRK_SYSTEM_SPACE_FREE:
		return 6;
	default:
		return 0;
	}
}

void trk__sibling_csv_row(struct trk_buf *b, const struct trk_sample *row)
{
	for (int i = 0; i < TRK_COLUMNS; i++) {
		unsigned int decimals = decimals_of(i);

		if (!trk__columns[i].name_05[0])
			continue;
		if (i > 0)
			trk__buf_putc(b, ',');
		if (trk__sample_knows(row, i))
			add_fixed(b, rounded(row, i, decimals), decimals);
	}
	trk__buf_putc(b, '\n');
}

/* ---- JSON ---- */

/* Round half away from zero, without the mathematics library. */
static int64_t nearest(double value)
{
	return trk__whole(value < 0 ? value - 0.5 : value + 0.5, INT64_MIN, INT64_MAX);
}

static void key_column(struct trk_json *j, const char *key, const struct trk_sample *row,
		       int column, unsigned int decimals)
{
	trk__json_key(j, key);
	if (trk__sample_knows(row, column))
		trk__json_fixed(j, rounded(row, column, decimals), decimals);
	else
		trk__json_null(j);
}

/* A number with two decimals; an implausible rate is unknown. */
static void key_number(struct trk_json *j, const char *key, double value)
{
	trk__json_key(j, key);
	if (value > -1e15 && value < 1e15)
		trk__json_fixed(j, nearest(value * 100), 2);
	else
		trk__json_null(j);
}

/* A whole number; 0 if unknown (`is_known`). */
static void key_u64(struct trk_json *j, const char *key, uint64_t value, bool is_known)
{
	trk__json_key(j, key);
	if (is_known)
		trk__json_u64(j, value);
	else
		trk__json_null(j);
}

static void key_mib(struct trk_json *j, const char *key, uint64_t bytes, bool is_known)
{
	key_u64(j, key, bytes / MIB, is_known);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double) part / (double) whole : NAN;
}

/* A part of a whole, as a percentage. */
static void add_percent(struct trk_json *j, double share)
{
	if (isnan(share))
		trk__json_null(j);
	else
		trk__json_fixed(j, nearest(share * 10000), 2);
}

static uint64_t all_time(const struct trk_cpu_times *t)
{
	return trk__cpu_times_busy(t) + t->idle + t->iowait + t->steal;
}

/* Increase of a part of the time as a share of the increase of all. iowait and idle of an idle core
 * may decrease (proc_stat(5)). */
static double share_of(uint64_t part_now, uint64_t part_before, const struct trk_cpu_times *now,
		       const struct trk_cpu_times *before)
{
	uint64_t all_now = all_time(now), all_before = all_time(before);

	if (all_now <= all_before || part_now < part_before ||
	    part_now - part_before > all_now - all_before)
		return NAN;
	return (double) (part_now - part_before) / (double) (all_now - all_before);
}

/* The parts of each core's time: busy, or given to other machines. After a change of their number
 * the lines do not identify the cores. */
static void key_cores(struct trk_json *j, const char *key, const struct trk_machine_now *now,
		      size_t cores, bool is_steal)
{
	trk__json_key_open(j, key, '[');
	for (size_t i = 0; i < cores && i < TRK_MACHINE_CORES; i++) {
		const struct trk_cpu_times *core = &now->core[i], *then = &now->core_before[i];

		if (now->cpu_before.cores != now->cpu.cores)
			trk__json_null(j);
		else if (is_steal)
			add_percent(j, share_of(core->steal, then->steal, core, then));
		else
			add_percent(j, share_of(trk__cpu_times_busy(core),
						trk__cpu_times_busy(then), core, then));
	}
	trk__json_close(j, ']');
}

static void add_cpu(struct trk_json *j, const struct trk_sample *row,
		    const struct trk_machine_now *now, bool steal_of_cores)
{
	const struct trk_cpu_times *all = &now->cpu.all, *before = &now->cpu_before.all;
	size_t count = now->has_cpu ? now->cpu.cores : 0;
	/* clang-format off */
	static const struct {
		const char *key;
		int column;
		unsigned int decimals;
	} fields[] = {
		{"process_child_count", TRK_PROCESS_CHILDREN, 0},
		{"process_cores_used", TRK_PROCESS_CPU_USAGE, 4},
		{"process_count", TRK_SYSTEM_PROCESSES, 0},
		{"process_disk_read_bytes", TRK_PROCESS_DISK_READ, 0},
		{"process_disk_write_bytes", TRK_PROCESS_DISK_WRITE, 0},
		{"process_gpu_usage", TRK_PROCESS_GPU_USAGE, 4},
		{"process_gpu_utilized", TRK_PROCESS_GPU_UTILIZED, 0},
		{"process_gpu_vram_mib", TRK_PROCESS_GPU_VRAM, 4},
		{"process_pss_mib", TRK_PROCESS_MEMORY, 0},
		{"process_rss_mib", TRK_PROCESS_RSS, 0},
		{"process_stime_secs", TRK_PROCESS_STIME, 6},
		{"process_utime_secs", TRK_PROCESS_UTIME, 6},
		{"steal_time_pct", -1, 0},
		{"steal_time_secs", TRK_SYSTEM_STEAL, 3},
		{"stime_secs", TRK_SYSTEM_STIME, 3},
		{"utilization_pct", TRK_SYSTEM_CPU_USAGE, 4},
		{"utime_secs", TRK_SYSTEM_UTIME, 3},
	};
	/* clang-format on */
	double cores = trk__sample_get(row, TRK_CGROUP_CPU_USAGE);

	trk__json_key_open(j, "cpu", '{');
	trk__json_key(j, "cgroup_usage_secs");
	if (isnan(cores) || !trk__sample_knows(row, TRK_INTERVAL))
		trk__json_null(j);
	else
		trk__json_fixed(j, nearest(cores * (double) row->value[TRK_INTERVAL]), 6);
	key_column(j, "cgroup_utilization_pct", row, TRK_CGROUP_CPU_USAGE, 4);
	key_cores(j, "per_core_pct", now, count, false);
	key_cores(j, "per_core_steal_time_pct", now, steal_of_cores ? count : 0, true);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].column >= 0) {
			key_column(j, fields[i].key, row, fields[i].column, fields[i].decimals);
			continue;
		}
		trk__json_key(j, fields[i].key);
		add_percent(j, count && now->cpu_before.cores
				       ? share_of(all->steal, before->steal, all, before)
				       : NAN);
	}
	trk__json_close(j, '}');
}

/* Index of the disk that the file system lies on; the number of disks when that is not known, as of
 * an overlay or of a ZFS pool. */
static size_t disk_of(const struct trk_machine_now *now, const struct trk_space_member *m)
{
	char name[TRK_DEVICE_NAME];
	size_t i = 0;

	/* btrfs has no device number of its own, but names a device. */
	if (!trk__disk_below(now->env.sys_fd, m->major, m->minor, name) &&
	    (strncmp(m->source, "/dev/", 5) != 0 ||
	     !trk__disk_below_name(now->env.sys_fd, m->source + 5, name)))
		return now->disks.count;
	while (i < now->disks.count && strcmp(now->disks.member[i].name, name) != 0)
		i++;
	return i;
}

static void add_mounts(struct trk_json *j, const struct trk_machine_now *now, const size_t *disk_at,
		       size_t disk)
{
	trk__json_key_open(j, "mounts", '[');
	for (size_t i = 0; now->has_space && i < now->space.count; i++) {
		const struct trk_space_member *m = &now->space.member[i];

		if (disk_at[i] != disk || m->total_bytes == 0)
			continue;
		trk__json_open(j, '{');
		key_u64(j, "available_bytes", m->available_bytes, true);
		trk__json_key_or_null(j, "filesystem", m->type);
		trk__json_key_or_null(j, "mount_point", m->point);
		key_u64(j, "total_bytes", m->total_bytes, true);
		key_u64(j, "used_bytes", m->used_bytes, true);
		key_number(j, "used_pct", percent(m->used_bytes, m->total_bytes));
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

/* Bytes per second; NaN of a new member, and of a counter that was reset. */
static double rate(const struct trk_machine_now *now, const struct trk_meter_member *m,
		   uint64_t value, uint64_t before)
{
	return m->is_new || now->over_ns == 0 || value < before
		       ? (double) NAN
		       : (double) (value - before) * 1e9 / (double) now->over_ns;
}

static void add_disks(struct trk_json *j, const struct trk_machine_now *now)
{
	size_t disk_at[TRK_SPACE_MEMBERS]; /* of each file system */

	for (size_t i = 0; now->has_space && i < now->space.count; i++)
		disk_at[i] = disk_of(now, &now->space.member[i]);
	trk__json_key_open(j, "disk", '[');
	for (size_t i = 0; now->has_disks && i < now->disks.count; i++) {
		const struct trk_meter_member *m = &now->disks.member[i];
		const struct trk_disk_device *device = &m->device.disk;

		if (!m->counted)
			continue;
		trk__json_open(j, '{');
		key_u64(j, "capacity_bytes", device->capacity_bytes, device->capacity_bytes != 0);
		trk__json_key_or_null(j, "device", m->name);
		trk__json_key_or_null(j, "device_type", device->type);
		trk__json_key_or_null(j, "model", device->model);
		add_mounts(j, now, disk_at, i);
		key_number(j, "read_bytes_per_sec", rate(now, m, m->in, m->in_before));
		key_u64(j, "read_bytes_total", m->in, true);
		trk__json_key_or_null(j, "serial", device->serial);
		trk__json_key_or_null(j, "vendor", device->vendor);
		key_number(j, "write_bytes_per_sec", rate(now, m, m->out, m->out_before));
		key_u64(j, "write_bytes_total", m->out, true);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void add_nets(struct trk_json *j, const struct trk_machine_now *now)
{
	trk__json_key_open(j, "network", '[');
	for (size_t i = 0; now->has_nets && i < now->nets.count; i++) {
		const struct trk_meter_member *m = &now->nets.member[i];
		const struct trk_net_device *device = &m->device.net;

		if (!m->counted)
			continue;
		trk__json_open(j, '{');
		trk__json_key_or_null(j, "driver", device->driver);
		trk__json_key_or_null(j, "interface", m->name);
		trk__json_key_or_null(j, "mac_address", device->address);
		key_u64(j, "mtu", device->mtu, device->mtu != 0);
		trk__json_key_or_null(j, "operstate", device->operstate);
		key_number(j, "rx_bytes_per_sec", rate(now, m, m->in, m->in_before));
		key_u64(j, "rx_bytes_total", m->in, true);
		key_u64(j, "speed_mbps", device->speed_mbps, device->speed_mbps != 0);
		key_number(j, "tx_bytes_per_sec", rate(now, m, m->out, m->out_before));
		key_u64(j, "tx_bytes_total", m->out, true);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void add_memory(struct trk_json *j, const struct trk_machine_now *now)
{
	const struct trk_meminfo *m = &now->memory;
	bool has = now->has_memory;
	uint64_t used = has ? trk__meminfo_used(m) : 0;
	uint64_t swap_used = m->swap_total > m->swap_free ? m->swap_total - m->swap_free : 0;

	trk__json_key_open(j, "memory", '{');
	key_mib(j, "active_mib", m->active, has);
	key_mib(j, "available_mib", m->available, has && m->has_available);
	key_mib(j, "buffers_mib", m->buffers, has);
	key_mib(j, "cached_mib", m->cached + m->reclaimable, has);
	key_mib(j, "free_mib", m->free, has);
	key_mib(j, "inactive_mib", m->inactive, has);
	key_mib(j, "swap_total_mib", m->swap_total, has);
	key_mib(j, "swap_used_mib", swap_used, has);
	/* 0 for a machine without swap: readers of this format expect a number. */
	key_number(j, "swap_used_pct",
		   has && !m->swap_total ? 0
		   : has                 ? percent(swap_used, m->swap_total)
					 : NAN);
	key_mib(j, "total_mib", m->total, has);
	key_mib(j, "used_mib", used, has);
	key_number(j, "used_pct", has ? percent(used, m->total) : NAN);
	trk__json_close(j, '}');
}

/* value * scale, or null. */
static void key_gpu(struct trk_json *j, const char *key, const struct trk_gpu_device *d,
		    enum trk_gpu_metric metric, double scale)
{
	key_number(j, key, d->metric[metric].value * scale);
}

static void key_gpu_bytes(struct trk_json *j, const char *key, const struct trk_gpu_device *d,
			  enum trk_gpu_metric metric)
{
	double value = d->metric[metric].value;

	key_u64(j, key, (uint64_t) trk__whole(value, 0, INT64_MAX), value >= 0);
}

static void add_gpu(struct trk_json *j, const struct trk_gpu_device *d, size_t index)
{
	double used = d->metric[TRK_GPU_MEMORY_USED_METRIC].value;
	double total = d->metric[TRK_GPU_MEMORY_TOTAL_METRIC].value;
	char text[32];

	(void) snprintf(text, sizeof(text), "%zu", index);
	trk__json_open(j, '{');
	trk__json_key_or_null(j, "core_count", NULL);
	trk__json_key_open(j, "detail", '{');
	trk__json_key_or_null(j, "driver_version", d->driver);
	trk__json_key_or_null(j, strcmp(d->vendor, "amd") != 0 ? "pci_bus_id" : "pci_bus", d->bus);
	trk__json_close(j, '}');
	trk__json_key_or_null(j, "device_type", "GPU");
	key_gpu(j, "frequency_mhz", d, TRK_GPU_CLOCK_METRIC, 1e-6);
	trk__json_key_or_null(j, "host_id", text);
	trk__json_key_or_null(j, "name", d->name);
	key_gpu(j, "power_watts", d, TRK_GPU_POWER_METRIC, 1);
	key_gpu(j, "temperature_celsius", d, TRK_GPU_TEMPERATURE_METRIC, 1);
	key_gpu(j, "utilization_pct", d, TRK_GPU_UTILIZATION_METRIC, 100);
	trk__json_key_or_null(j, "uuid", d->uuid);
	key_gpu_bytes(j, "vram_total_bytes", d, TRK_GPU_MEMORY_TOTAL_METRIC);
	key_gpu_bytes(j, "vram_used_bytes", d, TRK_GPU_MEMORY_USED_METRIC);
	key_number(j, "vram_used_pct", total > 0 ? 100 * used / total : NAN);
	trk__json_close(j, '}');
}

static void add_gpus(struct trk_json *j, const struct trk_gpu_reading *gpus)
{
	trk__json_key_open(j, "gpu", '[');
	for (size_t i = 0; gpus && i < gpus->devices; i++)
		if (gpus->device[i].parent < 0)
			add_gpu(j, &gpus->device[i], i);
	trk__json_close(j, ']');
}

void trk__sibling_json_row(struct trk_buf *b, const struct trk_run *run,
			   const struct trk_sample *row, const struct trk_machine_now *now,
			   const struct trk_gpu_reading *gpus, const struct trk_sibling_line *line)
{
	struct trk_json j;

	trk__json_begin(&j, b, 0, NULL);
	if (!line->is_first)
		key_u64(&j, "actual_interval_ms",
			(uint64_t) ((row->value[TRK_INTERVAL] + 500) / 1000),
			trk__sample_knows(row, TRK_INTERVAL));
	add_cpu(&j, row, now, line->steal_of_cores);
	add_disks(&j, now);
	add_gpus(&j, gpus);
	trk__json_key_or_null(&j, "job_name", line->job);
	add_memory(&j, now);
	add_nets(&j, now);
	trk__json_key_or_null(&j, "resource-tracker-version", run->version);
	key_u64(&j, "timestamp_secs", (uint64_t) (row->value[TRK_TIMESTAMP] / 1000),
		trk__sample_knows(row, TRK_TIMESTAMP));
	key_u64(&j, "tracked_pid", (uint64_t) run->pid, run->pid > 0);
	trk__json_end(&j);
}
