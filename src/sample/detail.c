#include "sample/detail.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"

enum {
	TEXT_SIZE = 256 * 1024, /* /proc/stat: a line a core */
	CORES_MAX = 4096,
};

/* ---- disks and interfaces ---- */

static struct trk_traffic *find_traffic(struct trk_traffic_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->entry[i].name, name))
			return &list->entry[i];
	return NULL;
}

/* The meter bounds how many there can be. */
static struct trk_traffic *append(struct trk_traffic_list *list, const char *name)
{
	if (trk__array_reserve(&list->entry, &list->cap, list->count + 1, sizeof(*list->entry)) < 0)
		return NULL;
	list->entry[list->count] = (struct trk_traffic){.in_rate = NAN, .out_rate = NAN};
	memcpy(list->entry[list->count].name, name, TRK_METER_NAME);
	return &list->entry[list->count++];
}

static double rate(uint64_t now, uint64_t before, uint64_t over_ns)
{
	if (over_ns == 0)
		return NAN;
	/* A decreased counter was reset: the interval is unknown. */
	return now < before ? NAN : (double) (now - before) * 1e9 / (double) over_ns;
}

static void drop_unseen(struct trk_traffic_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->entry[i].seen)
			list->entry[kept++] = list->entry[i];
	list->count = kept;
}

/* Copy the last reading of the meter. */
static void take_meter(struct trk_detail *d, struct trk_traffic_list *list,
		       const struct trk_meter *meter, bool is_disk)
{
	uint64_t now_ns = d->env.monotonic_ns(), over_ns = now_ns - list->at_ns;

	for (size_t i = 0; i < list->count; i++)
		list->entry[i].seen = false;
	for (size_t i = 0; i < meter->count; i++) {
		const struct trk_meter_member *m = &meter->member[i];
		struct trk_traffic *t = m->counted ? find_traffic(list, m->name) : NULL;
		bool is_new = !t;

		if (!m->counted)
			continue;
		if (is_new)
			t = append(list, m->name);
		if (!t)
			continue;
		if (is_new && is_disk)
			trk__disk_device_read(d->env.sys_fd, t->name, &t->device.disk);
		else if (is_new)
			trk__net_device_read(d->env.sys_fd, t->name, &t->device.net);
		t->in_rate = is_new ? NAN : rate(m->in, t->in_bytes, over_ns);
		t->out_rate = is_new ? NAN : rate(m->out, t->out_bytes, over_ns);
		t->in_bytes = m->in;
		t->out_bytes = m->out;
		t->seen = true;
	}
	drop_unseen(list);
	list->at_ns = now_ns;
}

static void read_traffic(struct trk_detail *d)
{
	uint64_t in, out;

	if (d->has_disks && trk__disk_meter_update(&d->disk_meter, &in, &out) == 0)
		take_meter(d, &d->disks, &d->disk_meter.meter, true);
	if (d->has_nets && trk__net_meter_update(&d->net_meter, &in, &out) == 0)
		take_meter(d, &d->nets, &d->net_meter.meter, false);
}

/* ---- file systems ---- */

/* Index of the disk that the file system lies on; the number of disks when that is not known, as of
 * an overlay or of a ZFS pool. */
static size_t disk_of(struct trk_detail *d, const struct trk_space_member *m)
{
	char name[TRK_DEVICE_NAME];
	const struct trk_traffic *t = NULL;

	/* btrfs has no device number of its own, but names a device. */
	if (trk__disk_below(d->env.sys_fd, m->major, m->minor, name) ||
	    (!strncmp(m->source, "/dev/", 5) &&
	     trk__disk_below_name(d->env.sys_fd, m->source + 5, name)))
		t = find_traffic(&d->disks, name);
	return t ? (size_t) (t - d->disks.entry) : d->disks.count;
}

static void read_mounts(struct trk_detail *d)
{
	uint64_t total, used, available;

	d->mounts = 0;
	if (!d->has_space ||
	    trk__space_meter_update(&d->space_meter, &total, &used, &available) < 0)
		return;
	if (trk__array_reserve(&d->mount, &d->mounts_cap, d->space_meter.count, sizeof(*d->mount)) <
	    0)
		return;
	for (size_t i = 0; i < d->space_meter.count; i++) {
		const struct trk_space_member *m = &d->space_meter.member[i];
		size_t disk = disk_of(d, m);

		if (disk < d->disks.count && m->total_bytes > 0)
			d->mount[d->mounts++] = (struct trk_detail_mount){m, disk};
	}
}

/* ---- memory and cores ---- */

static bool read_file(struct trk_detail *d, const char *name)
{
	ssize_t len = trk__read_at(d->env.proc_fd, name, d->text, TEXT_SIZE);

	return len > 0 || len == -EFBIG;
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

static void read_cores(struct trk_detail *d)
{
	struct trk_cpu_times *swap = d->core_before;
	size_t before = d->cores;
	struct trk_cpu_stat stat;

	d->core_before = d->core_now;
	d->core_now = swap;
	d->cores = 0;
	d->steal_share = NAN;
	if (!read_file(d, "stat") ||
	    trk__cpu_stat_parse(d->text, &stat, d->core_now, CORES_MAX) < 0)
		return;
	d->cores = stat.cores < CORES_MAX ? stat.cores : CORES_MAX;
	if (before)
		d->steal_share =
			share_of(stat.all.steal, d->all_before.steal, &stat.all, &d->all_before);
	d->all_before = stat.all;
	/* After a change the lines do not identify the cores. */
	for (size_t i = 0; i < d->cores; i++) {
		const struct trk_cpu_times *now = &d->core_now[i], *then = &d->core_before[i];

		d->core_share[i] = d->core_steal_share[i] = NAN;
		if (d->cores != before)
			continue;
		d->core_share[i] =
			share_of(trk__cpu_times_busy(now), trk__cpu_times_busy(then), now, then);
		d->core_steal_share[i] = share_of(now->steal, then->steal, now, then);
	}
}

/* ---- life ---- */

int trk__detail_init(struct trk_detail *d, const struct trk_env *env)
{
	*d = (struct trk_detail){.env = *env, .steal_share = NAN};
	d->has_disks = trk__disk_meter_init(&d->disk_meter, &d->env) == 0;
	d->has_nets = trk__net_meter_init(&d->net_meter, &d->env) == 0;
	d->has_space = trk__space_meter_init(&d->space_meter, &d->env) == 0;
	d->text = malloc(TEXT_SIZE);
	d->core_share = calloc(CORES_MAX, sizeof(*d->core_share));
	d->core_steal_share = calloc(CORES_MAX, sizeof(*d->core_steal_share));
	d->core_now = calloc(CORES_MAX, sizeof(*d->core_now));
	d->core_before = calloc(CORES_MAX, sizeof(*d->core_before));
	return d->text && d->core_share && d->core_steal_share && d->core_now && d->core_before
		       ? 0
		       : -ENOMEM;
}

void trk__detail_release(struct trk_detail *d)
{
	trk__disk_meter_release(&d->disk_meter);
	trk__net_meter_release(&d->net_meter);
	trk__space_meter_release(&d->space_meter);
	free(d->disks.entry);
	free(d->nets.entry);
	free(d->mount);
	free(d->text);
	free(d->core_share);
	free(d->core_steal_share);
	free(d->core_now);
	free(d->core_before);
	*d = (struct trk_detail){.disk_meter.fd = -1, .net_meter.fd = -1, .space_meter.fd = -1};
}

void trk__detail_update(struct trk_detail *d)
{
	read_traffic(d);
	read_mounts(d);
	read_cores(d);
	d->has_memory = read_file(d, "meminfo") && trk__meminfo_parse(d->text, &d->memory) == 0;
}
