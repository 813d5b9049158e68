/* Two monotone totals over the lines of a table in /proc: of the machine's disks (diskstats.c), or of
 * its network interfaces (netdev.c).
 *
 * A new member counts from its first reading; the traffic of one that vanishes stays in the totals;
 * a counter that decreases (reset, wrap of an old kernel) adds nothing. At most 1024 members; an
 * update allocates only for new ones. */
#ifndef TRK_PROBE_LINUX_METER_H
#define TRK_PROBE_LINUX_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "probe/linux/device.h"

#define TRK_METER_NAME 64

struct trk_meter_line {
	const char *name; /* points into the text, no NUL */
	size_t name_len;
	uint64_t in, out; /* bytes read and written, or received and sent */
};

struct trk_meter_member {
	char name[TRK_METER_NAME];
	bool counted;
	bool seen, is_new; /* in the current update */
	uint64_t in, out;
	uint64_t in_before, out_before; /* at the update before, if it is not new */
	bool knows_device;              /* the caller has set this: */
	union {
		struct trk_disk_device disk;
		struct trk_net_device net;
	} device;
};

struct trk_meter_table {
	const char *path; /* below /proc */
	/* Parse the line at *at and advance to the next one. Pure. Returns 1; 0 at the end of the
	 * text; -EBADMSG for any other line (*at advances, too), which leaves *ret untouched. */
	int (*parse)(const char **at, struct trk_meter_line *ret);
	/* Decide which members count, after some appeared or vanished. */
	void (*classify)(struct trk_meter_member *member, size_t count, int sys_fd);
};

enum { TRK_METER_MEMBERS = 1024 };

struct trk_meter {
	const struct trk_meter_table *table;
	int fd;                          /* of the table, kept open */
	int sys_fd;                      /* borrowed */
	char *text;                      /* owned */
	struct trk_meter_member *member; /* owned */
	size_t count, cap;
	size_t at;        /* where the next name is expected: the kernel keeps its order */
	uint64_t in, out; /* totals since the first update, at which they are 0 */
};

/* Returns 0 or a negative errno; call _release in both cases. env is borrowed until _release. */
int trk__meter_init(struct trk_meter *m, const struct trk_meter_table *table,
		    const struct trk_env *env);
void trk__meter_release(struct trk_meter *m);
/* Read the table. Returns 0 or a negative errno. */
int trk__meter_update(struct trk_meter *m);

extern const struct trk_meter_table trk__diskstats, trk__netdev;

#endif
