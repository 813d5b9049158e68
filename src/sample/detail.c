#include "sample/detail.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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

static void take_meter(const struct trk_machine_now *now, struct trk_traffic_list *list,
		       const struct trk_meter *meter, bool is_disk)
{
	uint64_t over_ns = now->read_ns - list->at_ns;

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
			trk__disk_device_read(now->env.sys_fd, t->name, &t->device.disk);
		else if (is_new)
			trk__net_device_read(now->env.sys_fd, t->name, &t->device.net);
		t->in_rate = is_new ? NAN : rate(m->in, t->in_bytes, over_ns);
		t->out_rate = is_new ? NAN : rate(m->out, t->out_bytes, over_ns);
		t->in_bytes = m->in;
		t->out_bytes = m->out;
		t->seen = true;
	}
	drop_unseen(list);
	list->at_ns = now->read_ns;
}

/* ---- file systems ---- */

/* Index of the disk that the file system lies on; the number of disks when that is not known, as of
 * an overlay or of a ZFS pool. */
static size_t disk_of(struct trk_detail *d, int sys_fd, const struct trk_space_member *m)
{
	char name[TRK_DEVICE_NAME];
	const struct trk_traffic *t = NULL;

	/* btrfs has no device number of its own, but names a device. */
	if (trk__disk_below(sys_fd, m->major, m->minor, name) ||
	    (!strncmp(m->source, "/dev/", 5) && trk__disk_below_name(sys_fd, m->source + 5, name)))
		t = find_traffic(&d->disks, name);
	return t ? (size_t) (t - d->disks.entry) : d->disks.count;
}

static void take_mounts(struct trk_detail *d, const struct trk_machine_now *now)
{
	const struct trk_space_meter *space = &now->space;

	d->mounts = 0;
	if (!now->has_space ||
	    trk__array_reserve(&d->mount, &d->mounts_cap, space->count, sizeof(*d->mount)) < 0)
		return;
	for (size_t i = 0; i < space->count; i++) {
		const struct trk_space_member *m = &space->member[i];
		size_t disk = disk_of(d, now->env.sys_fd, m);
		struct trk_detail_mount *to = &d->mount[d->mounts];

		if (disk == d->disks.count || m->total_bytes == 0)
			continue;
		*to = (struct trk_detail_mount){.disk = disk,
						.total_bytes = m->total_bytes,
						.used_bytes = m->used_bytes,
						.available_bytes = m->available_bytes};
		memcpy(to->type, m->type, sizeof(to->type));
		(void) snprintf(to->point, sizeof(to->point), "%s", m->point);
		d->mounts++;
	}
}

/* ---- cores ---- */

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

static void take_cores(struct trk_detail *d, const struct trk_machine_now *now)
{
	const struct trk_cpu_times *all = &now->cpu.all;
	size_t before = d->cores;

	d->cores = 0;
	d->steal_share = NAN;
	if (!now->has_cpu)
		return;
	d->cores = now->cpu.cores < TRK_MACHINE_CORES ? now->cpu.cores : TRK_MACHINE_CORES;
	if (before)
		d->steal_share = share_of(all->steal, d->all_before.steal, all, &d->all_before);
	d->all_before = *all;
	/* After a change the lines do not identify the cores. */
	for (size_t i = 0; i < d->cores; i++) {
		const struct trk_cpu_times *core = &now->core[i];
		struct trk_cpu_times then = d->core_before[i];

		d->core_before[i] = *core;
		d->core_share[i] = d->core_steal_share[i] = NAN;
		if (d->cores != before)
			continue;
		d->core_share[i] = share_of(trk__cpu_times_busy(core), trk__cpu_times_busy(&then),
					    core, &then);
		d->core_steal_share[i] = share_of(core->steal, then.steal, core, &then);
	}
}

/* ---- life ---- */

int trk__detail_init(struct trk_detail *d)
{
	*d = (struct trk_detail){.steal_share = NAN};
	d->core_share = calloc(TRK_MACHINE_CORES, sizeof(*d->core_share));
	d->core_steal_share = calloc(TRK_MACHINE_CORES, sizeof(*d->core_steal_share));
	d->core_before = calloc(TRK_MACHINE_CORES, sizeof(*d->core_before));
	return d->core_share && d->core_steal_share && d->core_before ? 0 : -ENOMEM;
}

void trk__detail_release(struct trk_detail *d)
{
	free(d->disks.entry);
	free(d->nets.entry);
	free(d->mount);
	free(d->core_share);
	free(d->core_steal_share);
	free(d->core_before);
	*d = (struct trk_detail){.cores = 0};
}

void trk__detail_update(struct trk_detail *d, const struct trk_machine_now *now)
{
	if (now->has_disks)
		take_meter(now, &d->disks, &now->disks, true);
	if (now->has_nets)
		take_meter(now, &d->nets, &now->nets, false);
	take_mounts(d, now);
	take_cores(d, now);
	d->has_memory = now->has_memory;
	d->memory = now->memory;
}
