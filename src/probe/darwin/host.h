/* The machine on macOS.
 *
 * Source: host_statistics(), host_statistics64(), sysctl(3) and getfsstat(2). */
#ifndef TRK_PROBE_DARWIN_HOST_H
#define TRK_PROBE_DARWIN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trk_mac_cpu_state { TRK_MAC_USER, TRK_MAC_SYSTEM, TRK_MAC_IDLE, TRK_MAC_NICE, TRK_MAC_STATES };

/* CPU time of all cores since the first reading, in ticks of 10 ms. The kernel's counters have 32
 * bits and wrap: zero-initialise once, and read more often than they wrap. */
struct trk_mac_cpu {
	bool started;
	uint32_t last[TRK_MAC_STATES];
	uint64_t ticks[TRK_MAC_STATES];
};

struct trk_mac_memory {
	uint64_t free_bytes;
	uint64_t used_bytes;   /* "Memory Used" of Activity Monitor: app, wired and compressed */
	uint64_t cached_bytes; /* "Cached Files" */
	uint64_t active_bytes, inactive_bytes;
	uint64_t swap_used_bytes;
};

struct trk_mac_space {
	uint64_t total_bytes, used_bytes, available_bytes;
};

/* Each returns 0, or a negative errno and leaves *ret untouched. */
int trk__mac_cpu_read(struct trk_mac_cpu *cpu);
int trk__mac_memory_read(struct trk_mac_memory *ret);
/* Bytes of the machine's interfaces except loopback, since boot. */
int trk__mac_net_read(uint64_t *ret_received, uint64_t *ret_sent);
/* Local file systems; the volumes of one APFS container count once. */
int trk__mac_space_read(struct trk_mac_space *ret);
int trk__mac_processes(uint64_t *ret);

/* A value of sysctl(3): a number of 32 or 64 bits (0: unknown), or a text ("": unknown). */
uint64_t trk__mac_number(const char *name);
void trk__mac_text(const char *name, char *text, size_t size);

#endif
