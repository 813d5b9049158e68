/* The machine where the kernel has no files of it: macOS and Windows. The file host.c of each has
 * these functions. */
#ifndef TRK_PROBE_HOST_H
#define TRK_PROBE_HOST_H

#include <stdint.h>

#define TRK_HOST_UNKNOWN UINT64_MAX

struct trk_host; /* the counters so far: of disks, and on macOS of processors */

struct trk_host_cpu {
	uint64_t user_us, system_us; /* sum of all cores, since boot or the first reading */
};

/* A figure may be TRK_HOST_UNKNOWN. */
struct trk_host_memory {
	uint64_t free_bytes, used_bytes, cached_bytes, active_bytes, inactive_bytes;
	uint64_t swap_used_bytes;
};

struct trk_host_space {
	uint64_t total_bytes, used_bytes, available_bytes;
};

/* What the figures are read from. */
struct trk_host_sources {
	const char *cpu, *memory, *net, *space;
};

extern const struct trk_host_sources trk__host_sources;

/* NULL: out of memory. */
struct trk_host *trk__host_new(void);
void trk__host_free(struct trk_host *h);

/* Each returns 0, or a negative errno and leaves *ret untouched. */
int trk__host_cpu(struct trk_host *h, struct trk_host_cpu *ret);
int trk__host_memory(struct trk_host_memory *ret);
/* Bytes of the machine's interfaces except loopback, since boot. */
int trk__host_net(uint64_t *ret_received, uint64_t *ret_sent);
/* Bytes of the machine's disks, since the first reading. */
int trk__host_disks(struct trk_host *h, uint64_t *ret_read, uint64_t *ret_written);
/* Local file systems; volumes that share their space count once. */
int trk__host_space(struct trk_host_space *ret);
/* Of the last minute; NaN: the system has none. */
double trk__host_load(void);
/* What the disks are read from, or why they are not. */
const char *trk__host_disk_source(const struct trk_host *h);

#endif
