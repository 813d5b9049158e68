#include "probe/linux/netdev.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"

enum {
	TEXT_SIZE = 128 * 1024,
	MAX_INTERFACES = 1024,
};

/* Only interfaces of the highest rank that is present are counted. */
enum rank {
	RANK_NEVER,   /* loopback, masters, members of a bridge, dummies */
	RANK_TUNNEL,  /* tun, wireguard, vlan: carried by another interface, if there is one */
	RANK_PEER,    /* named like the host's end of a container's veth pair */
	RANK_VIRTUAL, /* veth, macvlan, ipvlan …: a container's uplink */
	RANK_PHYSICAL,
};

int trk__netdev_parse(const char **at, struct trk_netdev *ret)
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
	*ret = (struct trk_netdev){
		.name = s,
		.name_len = (size_t) (colon - s),
		.recv_bytes = value[0],
		.sent_bytes = value[8],
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

/* Classify the interfaces again. */
static void classify(struct trk_net_meter *m)
{
	unsigned char rank[MAX_INTERFACES], highest = RANK_TUNNEL;
	size_t i;

	for (i = 0; i < m->meter.count; i++) {
		rank[i] = (unsigned char) rank_of(m->sys_fd, m->meter.member[i].name);
		if (rank[i] > highest)
			highest = rank[i];
	}
	for (i = 0; i < m->meter.count; i++)
		m->meter.member[i].counted = rank[i] == highest;
}

int trk__net_meter_init(struct trk_net_meter *m, const struct trk_env *env)
{
	*m = (struct trk_net_meter){.sys_fd = env->sys_fd};
	trk__meter_init(&m->meter, MAX_INTERFACES);
	m->text = malloc(TEXT_SIZE);
	m->fd = openat(env->proc_fd, "self/net/dev", O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	return m->text ? 0 : -ENOMEM;
}

void trk__net_meter_release(struct trk_net_meter *m)
{
	trk__meter_release(&m->meter);
	trk__close(m->fd);
	free(m->text);
	m->text = NULL;
	m->fd = -1;
}

int trk__net_meter_update(struct trk_net_meter *m, uint64_t *ret_recv_bytes,
			  uint64_t *ret_sent_bytes)
{
	struct trk_netdev d;
	const char *at = m->text;
	bool changed = false;
	ssize_t len;
	int r;

	if (m->fd < 0 || !m->text)
		return -ENODATA;
	len = trk__read_lines_fd(m->fd, m->text, TEXT_SIZE);
	if (len < 0 && len != -EFBIG) /* too long: see trk__disk_meter_update */
		return (int) len;
	trk__meter_begin(&m->meter);
	while ((r = trk__netdev_parse(&at, &d)) != 0) {
		struct trk_meter_member *member;
		bool is_new;

		if (r < 0)
			continue;
		member = trk__meter_find(&m->meter, d.name, d.name_len, &is_new);
		if (!member)
			continue;
		trk__meter_take(&m->meter, member, is_new, d.recv_bytes, d.sent_bytes);
		changed |= is_new;
	}
	if (trk__meter_end(&m->meter) || changed)
		classify(m);
	*ret_recv_bytes = m->meter.in;
	*ret_sent_bytes = m->meter.out;
	return 0;
}
