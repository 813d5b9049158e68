/* The machine on Windows.
 *
 * Source: GetSystemTimes, GlobalMemoryStatusEx, GetPerformanceInfo, GetIfTable2,
 * IOCTL_DISK_PERFORMANCE, GetDiskFreeSpaceEx and the registry. */
#ifndef TRK_PROBE_WINDOWS_HOST_H
#define TRK_PROBE_WINDOWS_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "probe/linux/meter.h"

struct trk_nt_cpu {
	uint64_t user_ns, system_ns; /* sum of all cores, since boot */
};

struct trk_nt_memory {
	uint64_t total_bytes, available_bytes;
	uint64_t cached_bytes; /* 0: unknown */
};

struct trk_nt_space {
	uint64_t total_bytes, used_bytes, available_bytes;
};

/* Each returns 0, or a negative errno and leaves *ret untouched. */
int trk__nt_cpu_read(struct trk_nt_cpu *ret);
int trk__nt_memory_read(struct trk_nt_memory *ret);
/* Bytes of the machine's interfaces except loopback, since boot. */
int trk__nt_net_read(uint64_t *ret_received, uint64_t *ret_sent);
/* Bytes of the machine's disks, since the first update of the meter. */
int trk__nt_disks_update(struct trk_meter *m, uint64_t *ret_read, uint64_t *ret_written);
/* Fixed drives; drives with identical figures count once. */
int trk__nt_space_read(struct trk_nt_space *ret);
int trk__nt_process_count(uint64_t *ret);

/* Number of active processors and of cores; 0: unknown. */
uint64_t trk__nt_processors(void);
uint64_t trk__nt_cores(void);
/* A text of the registry below HKEY_LOCAL_MACHINE; "": unknown. */
void trk__nt_text(const char *key, const char *name, char *text, size_t size);

#endif
