/* Bytes that the machine received and sent.
 *
 * Source: /proc/self/net/dev (the network namespace of this process), and /sys/class/net for the
 * kind of each interface. Traffic that passes several interfaces of the machine counts once: if
 * there are physical interfaces, only these count, because external traffic of a bond, bridge,
 * vlan, veth or tunnel passes them too; in a container, the outermost virtual ones. lo never
 * counts. RDMA bypasses the interfaces and is not counted. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/meter.h"

/* Only interfaces of the highest rank that is present are counted. */
enum rank {
	RANK_NEVER,   /* loopback, masters, members of a bridge, dummies */
	RANK_TUNNEL,  /* tun, wireguard, vlan: carried by another interface, if there is one */
	RANK_PEER,    /* named like the host's end of a container's veth pair */
	RANK_VIRTUAL, /* veth, macvlan, ipvlan …: a container's uplink */
	RANK_PHYSICAL,
};

/* The two head lines are none of an interface. */
static int parse(const char **at, struct trk_meter_line *ret)
{
	const char *s = trk__skip_blanks(*at), *end = strchrnul(s, '\n');
	const char *colon = memrchr(s, ':', (size_t) (end - s));
	uint64_t value[16];
	int n = 0;

	if (**at == '\0')
		return 0;
	*at = trk__skip_line(s);
	if (!colon || colon == s)
		return -EBADMSG;
	for (const char *field = colon + 1; n < 16 && trk__scan_u64(&field, &value[n]);)
		n++;
	if (n < 16)
		return -EBADMSG;
	*ret = (struct trk_meter_line){
		.name = s,
		.name_len = (size_t) (colon - s),
		.in = value[0],
		.out = value[8],
	};
	return 1;
}

static bool has(int sys_fd, const char *name, const char *what)
{
	return faccessat(sys_fd, TRK_PATH("class/net/%s/%s", name, what), F_OK,
			 AT_SYMLINK_NOFOLLOW) == 0;
}

static bool starts_with_any(const char *name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(name, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

/* The fallback where sysfs is absent or shows another network namespace. */
static enum rank rank_by_name(const char *name)
{
	static const char *const never[] = {"docker", "br-", "virbr", "ifb",   "dummy",
					    "bond",   "cni", "team",  "nlmon", NULL};
	static const char *const tunnel[] = {"tun", "tap", "wg",  "ppp",   "vlan",
					     "sit", "gre", "ip6", "vxlan", NULL};
	static const char *const peer[] = {"veth", "cali", "lxc", NULL};

	if (!strcmp(name, "lo") || starts_with_any(name, never))
		return RANK_NEVER;
	if (starts_with_any(name, tunnel) || strchr(name, '.'))
		return RANK_TUNNEL;
	return starts_with_any(name, peer) ? RANK_PEER : RANK_VIRTUAL;
}

/* True if DEVTYPE in the interface's uevent file is one of these types. */
static bool is_devtype(int sys_fd, const char *name, const char *const *types)
{
	char text[512];
	const char *at;

	if (trk__read_at(sys_fd, TRK_PATH("class/net/%s/uevent", name), text, sizeof(text)) < 0)
		return false;
	at = strstr(text, "DEVTYPE=");
	return at && starts_with_any(at + strlen("DEVTYPE="), types);
}

/* True if its ARPHRD_ type carries plain IP: tun, wireguard, ipip, gre, sit, ppp. */
static bool is_without_link_layer(int sys_fd, const char *name)
{
	enum { ETHERNET = 1, INFINIBAND = 32 };
	char text[32];
	const char *at = text;
	uint64_t type;

	return trk__read_at(sys_fd, TRK_PATH("class/net/%s/type", name), text, sizeof(text)) > 0 &&
	       trk__scan_u64(&at, &type) && type != ETHERNET && type != INFINIBAND;
}

static enum rank rank_of(int sys_fd, const char *name)
{
	static const char *const masters[] = {"bond", "bridge", "team", NULL};
	static const char *const tunnels[] = {"vlan", "wireguard", "vxlan", "geneve",
					      "ppp",  "dsa",       NULL};

	if (!strcmp(name, "lo"))
		return RANK_NEVER;
	if (sys_fd < 0 || !has(sys_fd, name, "."))
		return rank_by_name(name);
	if (has(sys_fd, name, "bridge") || has(sys_fd, name, "bonding") ||
	    is_devtype(sys_fd, name, masters))
		return RANK_NEVER;
	if (has(sys_fd, name, "tun_flags") || is_devtype(sys_fd, name, tunnels))
		return RANK_TUNNEL;
	/* The slave of a bond counts instead of the bond. But the figures of a paravirtual card
	 * (Azure, net_failover), which is a device, include the virtual function below it. */
	if (has(sys_fd, name, "device"))
		return has(sys_fd, name, "master/device") ? RANK_NEVER : RANK_PHYSICAL;
	if (has(sys_fd, name, "master"))
		return RANK_NEVER;
	return is_without_link_layer(sys_fd, name) ? RANK_TUNNEL : rank_by_name(name);
}

static void classify(struct trk_meter_member *member, size_t count, int sys_fd)
{
	unsigned char rank[TRK_METER_MEMBERS], highest = RANK_TUNNEL;

	for (size_t i = 0; i < count; i++) {
		rank[i] = (unsigned char) rank_of(sys_fd, member[i].name);
		if (rank[i] > highest)
			highest = rank[i];
	}
	for (size_t i = 0; i < count; i++)
		member[i].counted = rank[i] == highest;
}

const struct trk_meter_table trk__netdev = {"self/net/dev", parse, classify};
