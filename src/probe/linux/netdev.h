/* Bytes that the machine received and sent.
 *
 * Source: /proc/self/net/dev (the network namespace of this process), and /sys/class/net for the
 * kind of each interface. Traffic that passes several interfaces of the machine counts once: if
 * there are physical interfaces, only these count, because external traffic of a bond, bridge,
 * vlan, veth or tunnel passes them too; in a container, the outermost virtual ones. lo never
 * counts. RDMA bypasses the interfaces and is not counted. */
#ifndef TRK_PROBE_LINUX_NETDEV_H
#define TRK_PROBE_LINUX_NETDEV_H

#include "probe/linux/meter.h"

/* The external interfaces, which are classified again when one appears or vanishes. */
extern const struct trk_meter_table trk__netdev;

#endif
