/* Details that a row sums up: each core, each disk with its file systems, each network interface.
 *
 * For outputs that request them; a recording holds the sums. Only what counts in the sums of a row
 * is listed (probe/linux/diskstats.h, netdev.h), so that the lists add up to them. */
#ifndef TRK_SAMPLE_DETAIL_H
#define TRK_SAMPLE_DETAIL_H

#include "probe/gpu/poller.h"
#include "probe/linux/device.h"
#include "sample/machine_now.h"

/* Two counters of one device: read and written, or received and sent. */
struct trk_traffic {
	char name[TRK_METER_NAME];
	uint64_t in_bytes, out_bytes; /* since the device was added, usually since boot */
	double in_rate, out_rate;     /* bytes/s since the last update; NaN at the first one */
	bool seen;
	union {
		struct trk_disk_device disk;
		struct trk_net_device net;
	} device;
};

struct trk_traffic_list {
	struct trk_traffic *entry; /* owned */
	size_t count, cap;
	uint64_t at_ns; /* of the last update */
};

struct trk_detail_mount {
	size_t disk; /* index into the list of disks */
	char type[32], point[1024];
	uint64_t total_bytes, used_bytes, available_bytes; /* as df shows them */
};

struct trk_detail {
	struct trk_traffic_list disks, nets;
	struct trk_detail_mount *mount; /* owned */
	size_t mounts, mounts_cap;
	const struct trk_gpu_reading *gpus; /* borrowed; set by the caller; NULL: none */
	struct trk_meminfo memory;
	bool has_memory;
	/* Owned; parts of each core's time: busy, and given to other machines. NaN when unknown. */
	double *core_share, *core_steal_share;
	double steal_share;                /* of the time of all cores */
	struct trk_cpu_times *core_before; /* owned */
	struct trk_cpu_times all_before;
	size_t cores;
};

/* Returns 0 or -ENOMEM; call _release in either case. */
int trk__detail_init(struct trk_detail *d);
void trk__detail_release(struct trk_detail *d);
/* Take a reading of the machine. Lists that could not be read stay as they are. */
void trk__detail_update(struct trk_detail *d, const struct trk_machine_now *now);

#endif
