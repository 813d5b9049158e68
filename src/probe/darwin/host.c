#ifdef __APPLE__ /* else a checker of code reads this file with the headers of another system */

#include "probe/darwin/host.h"

#include <errno.h>
#include <libproc.h>
#include <mach/mach.h>
#include <math.h>
#include <net/if.h>
#include <net/if_types.h>
#include <net/route.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/sysctl.h>

#include "probe/darwin/disks.h"
#include "probe/host.h"
#include "probe/linux/process_count.h"

enum { MOUNTS_MAX = 128, TICK_US = 10000 };
enum cpu_state { USER, SYSTEM, IDLE, NICE, STATES };

/* CPU time of all cores since the first reading: the kernel's counters have 32 bits and wrap. */
struct trk_host {
	struct trk_mac_disks disks;
	bool started;
	uint32_t last[STATES];
	uint64_t ticks[STATES];
};

const struct trk_host_sources trk__host_sources = {
	.cpu = "host_statistics",
	.memory = "host_statistics64, vm.swapusage",
	.net = "NET_RT_IFLIST2",
	.space = "getfsstat of local file systems",
};

struct trk_host *trk__host_new(void)
{
	struct trk_host *h = calloc(1, sizeof(*h));

	if (h)
		(void) trk__mac_disks_init(&h->disks, NULL);
	return h;
}

void trk__host_free(struct trk_host *h)
{
	if (h)
		trk__mac_disks_release(&h->disks);
	free(h);
}

int trk__host_disks(struct trk_host *h, uint64_t *ret_read, uint64_t *ret_written)
{
	return trk__mac_disks_update(&h->disks, ret_read, ret_written);
}

const char *trk__host_disk_source(const struct trk_host *h)
{
	return h && h->disks.bytes_written ? "IOBlockStorageDriver" : "IOKit cannot be loaded";
}

uint64_t trk__mac_number(const char *name)
{
	uint64_t value = 0; /* the machines are little-endian */
	size_t size = sizeof(value);

	return sysctlbyname(name, &value, &size, NULL, 0) < 0 ? 0 : value;
}

void trk__mac_text(const char *name, char *text, size_t size)
{
	if (sysctlbyname(name, text, &size, NULL, 0) < 0 || size == 0)
		text[0] = '\0';
}

/* Add the growth of the kernel's counters. */
static void add_growth(struct trk_host *h, const uint32_t now[STATES])
{
	for (int i = 0; i < STATES; i++) {
		if (h->started)
			h->ticks[i] += (uint32_t) (now[i] - h->last[i]);
		h->last[i] = now[i];
	}
	h->started = true;
}

int trk__host_cpu(struct trk_host *h, struct trk_host_cpu *ret)
{
	mach_msg_type_number_t count = HOST_CPU_LOAD_INFO_COUNT;
	host_cpu_load_info_data_t load;
	host_t host = mach_host_self();
	kern_return_t r = host_statistics(host, HOST_CPU_LOAD_INFO, (host_info_t) &load, &count);

	(void) mach_port_deallocate(mach_task_self(), host);
	if (r != KERN_SUCCESS)
		return -EIO;
	add_growth(h, (const uint32_t[STATES]){
			      [USER] = load.cpu_ticks[CPU_STATE_USER],
			      [SYSTEM] = load.cpu_ticks[CPU_STATE_SYSTEM],
			      [IDLE] = load.cpu_ticks[CPU_STATE_IDLE],
			      [NICE] = load.cpu_ticks[CPU_STATE_NICE],
		      });
	ret->user_us = (h->ticks[USER] + h->ticks[NICE]) * TICK_US;
	ret->system_us = h->ticks[SYSTEM] * TICK_US;
	return 0;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

int trk__host_memory(struct trk_host_memory *ret)
{
	mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
	vm_statistics64_data_t vm;
	host_t host = mach_host_self();
	kern_return_t r = host_statistics64(host, HOST_VM_INFO64, (host_info64_t) &vm, &count);
	/* The kernel's: a program that Rosetta translates has pages of another size. */
	uint64_t page = vm_kernel_page_size;
	struct xsw_usage swap = {0};
	size_t size = sizeof(swap);

	(void) mach_port_deallocate(mach_task_self(), host);
	if (r != KERN_SUCCESS)
		return -EIO;
	(void) sysctlbyname("vm.swapusage", &swap, &size, NULL, 0);
	*ret = (struct trk_host_memory){
		.free_bytes = minus(vm.free_count, vm.speculative_count) * page,
		/* "Memory Used" of Activity Monitor: app, wired and compressed; "Cached Files". */
		.used_bytes = (minus(vm.internal_page_count, vm.purgeable_count) + vm.wire_count +
			       vm.compressor_page_count) *
			      page,
		.cached_bytes = ((uint64_t) vm.external_page_count + vm.purgeable_count) * page,
		.active_bytes = (uint64_t) vm.active_count * page,
		.inactive_bytes = (uint64_t) vm.inactive_count * page,
		.swap_used_bytes = swap.xsu_used,
	};
	return 0;
}

/* The kernel's list of interfaces: messages of several kinds, each with its length. */
static int read_interfaces(char **ret, size_t *ret_len)
{
	int name[] = {CTL_NET, PF_ROUTE, 0, 0, NET_RT_IFLIST2, 0};
	size_t len;

	if (sysctl(name, 6, NULL, &len, NULL, 0) < 0)
		return -errno;
	len += len / 4; /* an interface may appear meanwhile */
	*ret = malloc(len);
	if (!*ret)
		return -ENOMEM;
	if (sysctl(name, 6, *ret, &len, NULL, 0) < 0) {
		free(*ret);
		return -errno;
	}
	*ret_len = len;
	return 0;
}

int trk__host_net(uint64_t *ret_received, uint64_t *ret_sent)
{
	uint64_t received = 0, sent = 0;
	struct if_msghdr head;
	struct if_msghdr2 one;
	size_t len = 0;
	char *list = NULL;
	int r = read_interfaces(&list, &len);

	if (r < 0)
		return r;
	for (size_t at = 0; at + sizeof(head) <= len; at += head.ifm_msglen) {
		memcpy(&head, list + at, sizeof(head));
		if (head.ifm_msglen == 0)
			break;
		if (head.ifm_type != RTM_IFINFO2 || at + sizeof(one) > len)
			continue;
		memcpy(&one, list + at, sizeof(one));
		if (one.ifm_flags & IFF_LOOPBACK || one.ifm_data.ifi_type == IFT_BRIDGE)
			continue;
		received += one.ifm_data.ifi_ibytes;
		sent += one.ifm_data.ifi_obytes;
	}
	free(list);
	*ret_received = received;
	*ret_sent = sent;
	return 0;
}

/* "disk3" of "/dev/disk3s1s1": the volumes of a container share its space. */
static size_t container_length(const char *device)
{
	size_t n = strlen("/dev/disk");

	if (strncmp(device, "/dev/disk", n) != 0)
		return 0;
	return n + strspn(device + n, "0123456789");
}

static bool is_first(const struct statfs *mounts, int at)
{
	size_t len = container_length(mounts[at].f_mntfromname);

	for (int i = 0; i < at; i++)
		if (container_length(mounts[i].f_mntfromname) == len &&
		    !strncmp(mounts[i].f_mntfromname, mounts[at].f_mntfromname, len))
			return false;
	return len > 0;
}

int trk__host_space(struct trk_host_space *ret)
{
	struct statfs *mounts = calloc(MOUNTS_MAX, sizeof(*mounts));
	struct trk_host_space space = {0};
	int n = mounts ? getfsstat(mounts, MOUNTS_MAX * (int) sizeof(*mounts), MNT_NOWAIT) : -1;

	for (int i = 0; i < n; i++) {
		uint64_t block = mounts[i].f_bsize;

		if (!(mounts[i].f_flags & MNT_LOCAL) || !is_first(mounts, i))
			continue;
		space.total_bytes += mounts[i].f_blocks * block;
		space.used_bytes += minus(mounts[i].f_blocks, mounts[i].f_bfree) * block;
		space.available_bytes += mounts[i].f_bavail * block;
	}
	free(mounts);
	if (n < 0)
		return -EIO;
	*ret = space;
	return 0;
}

double trk__host_load(void)
{
	double load;

	return getloadavg(&load, 1) == 1 ? load : (double) NAN;
}

int trk__process_count_read(struct trk_process_count *c, const struct trk_env *env, uint64_t *ret)
{
	int bytes = proc_listpids(PROC_ALL_PIDS, 0, NULL, 0);

	if (bytes <= 0)
		return -EIO;
	*ret = (uint64_t) bytes / sizeof(pid_t);
	return 0;
}

#endif
