/* The machine on macOS. The kernel has no figures for pressure, steal and the time in which tasks
 * waited for disks: these columns stay empty. */
#ifdef __APPLE__ /* else a checker of code reads this file with the headers of another system */

#include <stdlib.h>

#include "base/clock.h"
#include "probe/darwin/disks.h"
#include "probe/darwin/host.h"
#include "sample/sampler_private.h"
#include "sample/system_parts.h"

struct sampler_system {
	struct trk_mac_cpu cpu;
	struct trk_mac_disks disks;
};

void trk__sampler_open_system(struct trk_sampler *s)
{
	s->system = calloc(1, sizeof(*s->system));
	if (s->system)
		(void) trk__mac_disks_init(&s->system->disks, NULL);
}

void trk__system_read_cpu(struct trk_sampler *s, uint64_t now_ns)
{
	const uint64_t *ticks;

	if (!s->system || trk__mac_cpu_read(&s->system->cpu) < 0)
		return;
	ticks = s->system->cpu.ticks;
	trk__sampler_set_delta(s, TRK_SYSTEM_UTIME,
			       (ticks[TRK_MAC_USER] + ticks[TRK_MAC_NICE]) * s->tick_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_STIME, ticks[TRK_MAC_SYSTEM] * s->tick_us);
	trk__sampler_set_rate(s, TRK_SYSTEM_CPU_USAGE,
			      s->row.value[TRK_SYSTEM_UTIME] + s->row.value[TRK_SYSTEM_STIME],
			      now_ns - s->system_ns, s->machine_cores);
	s->system_ns = now_ns;
}

void trk__system_read_memory(struct trk_sampler *s)
{
	struct trk_mac_memory m;

	if (trk__mac_memory_read(&m) < 0)
		return;
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_FREE, m.free_bytes);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_USED, m.used_bytes);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_CACHED, m.cached_bytes);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_ACTIVE, m.active_bytes);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_INACTIVE, m.inactive_bytes);
	trk__sampler_set_bytes(s, TRK_SYSTEM_SWAP_USED, m.swap_used_bytes);
}

void trk__system_read_disks(struct trk_sampler *s)
{
	uint64_t in, out;

	if (!s->system || trk__mac_disks_update(&s->system->disks, &in, &out) < 0)
		return;
	trk__sampler_set_delta(s, TRK_SYSTEM_DISK_READ, in);
	trk__sampler_set_delta(s, TRK_SYSTEM_DISK_WRITE, out);
}

void trk__system_read_net(struct trk_sampler *s)
{
	uint64_t received, sent;

	if (trk__mac_net_read(&received, &sent) < 0)
		return;
	trk__sampler_set_delta(s, TRK_SYSTEM_NET_RECV, received);
	trk__sampler_set_delta(s, TRK_SYSTEM_NET_SENT, sent);
}

void trk__system_read_rest(struct trk_sampler *s)
{
	struct trk_mac_space space;
	uint64_t processes;
	double load;

	if (getloadavg(&load, 1) == 1)
		trk__sample_set(&s->row, TRK_SYSTEM_LOAD_1M, (int64_t) (load * 100 + 0.5));
	if (trk__mac_processes(&processes) == 0)
		trk__sample_set(&s->row, TRK_SYSTEM_PROCESSES, (int64_t) processes);
	if (trk__mac_space_read(&space) == 0) {
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_TOTAL, space.total_bytes);
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_USED, space.used_bytes);
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_FREE, space.available_bytes);
	}
}

void trk__sampler_close_system(struct trk_sampler *s)
{
	if (s->system)
		trk__mac_disks_release(&s->system->disks);
	free(s->system);
}

void trk__sampler_system_sources(const struct trk_sampler *s, struct trk_source *list, size_t *n)
{
	trk__sampler_add_source(list, n, "system_cpu", "host_statistics");
	trk__sampler_add_source(list, n, "system_memory", "host_statistics64, vm.swapusage");
	trk__sampler_add_source(list, n, "system_disk",
				s->system && s->system->disks.bytes_written
					? "IOBlockStorageDriver"
					: "IOKit cannot be loaded");
	trk__sampler_add_source(list, n, "system_net", "NET_RT_IFLIST2");
	trk__sampler_add_source(list, n, "system_disk_space", "getfsstat of local file systems");
	trk__sampler_add_source(list, n, "system_pressure", "not in this kernel");
}

#endif
