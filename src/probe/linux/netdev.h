/* Bytes that the machine received and sent.
 *
 * Source: /proc/self/net/dev (the network namespace of this process), and /sys/class/net for the
 * kind of each interface. Traffic that passes several interfaces of the machine counts once: if
 * there are physical interfaces, only these count, because external traffic of a bond, bridge,
 * vlan, veth or tunnel passes them too; in a container, the outermost virtual ones. lo never
 * counts. RDMA bypasses the interfaces and is not counted. */
#ifndef TRK_PROBE_LINUX_NETDEV_H
#define TRK_PROBE_LINUX_NETDEV_H

#include "base/env.h"
#include "probe/linux/meter.h"

struct trk_netdev {
	const char *name; /* points into the text, no NUL */
	size_t name_len;
	uint64_t recv_bytes, sent_bytes;
};

/* Parse the line at *at and advance. Pure. Returns 1; 0 at the end; -EBADMSG for any other line,
 * such as the two head lines (*at advances, too). */
int trk__netdev_parse(const char **at, struct trk_netdev *ret);

struct trk_net_meter {
	struct trk_meter meter;
	int fd;     /* net/dev, kept open */
	int sys_fd; /* borrowed */
	char *text; /* owned */
};

/* Totals of the external interfaces, which are classified again when one appears or vanishes. At
 * most 1024 interfaces. Returns 0 or a negative errno; call _release in both cases. Borrows env
 * until then. */
int trk__net_meter_init(struct trk_net_meter *m, const struct trk_env *env);
void trk__net_meter_release(struct trk_net_meter *m);
/* Monotone totals since the first update, which returns 0 and 0. Returns 0 or a negative errno. */
int trk__net_meter_update(struct trk_net_meter *m, uint64_t *ret_recv_bytes,
			  uint64_t *ret_sent_bytes);

#endif
