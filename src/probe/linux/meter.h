/* Two monotone totals over a changing set of named counters, for disks and network interfaces.
 *
 * A new member counts from its first reading; the traffic of one that vanishes stays in the totals;
 * a counter that decreases (reset, wrap of an old kernel) adds nothing. */
#ifndef TRK_PROBE_LINUX_METER_H
#define TRK_PROBE_LINUX_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRK_METER_NAME 64

struct trk_meter_member {
	char name[TRK_METER_NAME];
	bool counted;
	bool seen; /* in the current update */
	uint64_t in, out;
};

struct trk_meter {
	struct trk_meter_member *member; /* owned */
	size_t count, cap;
	size_t max;       /* further names are ignored */
	size_t at;        /* where the next name is expected: the kernel keeps its order */
	uint64_t in, out; /* totals since the first update */
};

void trk__meter_init(struct trk_meter *m, size_t max);
void trk__meter_release(struct trk_meter *m);

/* Begin an update, then look up each name. _find returns the member, or NULL when the table is
 * full; *ret_new: it is new, and the caller must set `counted`. */
void trk__meter_begin(struct trk_meter *m);
struct trk_meter_member *trk__meter_find(struct trk_meter *m, const char *name, size_t len,
					 bool *ret_new);
/* Pass a member's current counters. A new member adds nothing. */
void trk__meter_take(struct trk_meter *m, struct trk_meter_member *member, bool is_new, uint64_t in,
		     uint64_t out);
/* Remove members that were not seen. Returns true when there were any. */
bool trk__meter_end(struct trk_meter *m);

#endif
