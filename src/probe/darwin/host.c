#ifdef __APPLE__ /* else a checker of code reads this file with the headers of another system */

#include "probe/darwin/host.h"

#include <errno.h>
#include <libproc.h>
#include <mach/mach.h>
#include <net/if.h>
#include <net/if_types.h>
#include <net/route.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/sysctl.h>

#include "probe/linux/process_count.h"

enum { MOUNTS_MAX = 128 };

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
static void add_growth(struct trk_mac_cpu *cpu, const uint32_t now[TRK_MAC_STATES])
{
	for (int i = 0; i < TRK_MAC_STATES; i++) {
		if (cpu->started)
			cpu->ticks[i] += (uint32_t) (now[i] - cpu->last[i]);
		cpu->last[i] = now[i];
	}
	cpu->started = true;
}

int trk__mac_cpu_read(struct trk_mac_cpu *cpu)
{
	mach_msg_type_number_t count = HOST_CPU_LOAD_INFO_COUNT;
	host_cpu_load_info_data_t load;
	host_t host = mach_host_self();
	kern_return_t r = host_statistics(host, HOST_CPU_LOAD_INFO, (host_info_t) &load, &count);

	(void) mach_port_deallocate(mach_task_self(), host);
	if (r != KERN_SUCCESS)
		return -EIO;
	add_growth(cpu, (const uint32_t[TRK_MAC_STATES]){
				[TRK_MAC_USER] = load.cpu_ticks[CPU_STATE_USER],
				[TRK_MAC_SYSTEM] = load.cpu_ticks[CPU_STATE_SYSTEM],
				[TRK_MAC_IDLE] = load.cpu_ticks[CPU_STATE_IDLE],
				[TRK_MAC_NICE] = load.cpu_ticks[CPU_STATE_NICE],
			});
	return 0;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

int trk__mac_memory_read(struct trk_mac_memory *ret)
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
	*ret = (struct trk_mac_memory){
		.free_bytes = minus(vm.free_count, vm.speculative_count) * page,
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

int trk__mac_net_read(uint64_t *ret_received, uint64_t *ret_sent)
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

int trk__mac_space_read(struct trk_mac_space *ret)
{
	struct statfs *mounts = calloc(MOUNTS_MAX, sizeof(*mounts));
	struct trk_mac_space space = {0};
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

int trk__mac_processes(uint64_t *ret)
{
	int bytes = proc_listpids(PROC_ALL_PIDS, 0, NULL, 0);

	if (bytes <= 0)
		return -EIO;
	*ret = (uint64_t) bytes / sizeof(pid_t);
	return 0;
}

int trk__process_count_read(struct trk_process_count *c, const struct trk_env *env, uint64_t *ret)
{
	return trk__mac_processes(ret);
}

#endif
