/* The machine on Windows. There are no figures for load, pressure, steal and the time in which
 * tasks waited for disks: these columns stay empty. */
#include <stdlib.h>

#include "base/clock.h"
#include "probe/windows/host.h"
#include "sample/sampler_private.h"
#include "sample/system_parts.h"

enum { DISKS_MAX = 32 };

struct sampler_system {
	struct trk_meter disks;
	bool has_disks;
};

void trk__sampler_open_system(struct trk_sampler *s)
{
	s->system = calloc(1, sizeof(*s->system));
	if (s->system)
		trk__meter_init(&s->system->disks, DISKS_MAX);
}

void trk__system_read_cpu(struct trk_sampler *s, uint64_t now_ns)
{
	struct trk_nt_cpu cpu;

	if (trk__nt_cpu_read(&cpu) < 0)
		return;
	trk__sampler_set_delta(s, TRK_SYSTEM_UTIME, cpu.user_ns / 1000);
	trk__sampler_set_delta(s, TRK_SYSTEM_STIME, cpu.system_ns / 1000);
	trk__sampler_set_rate(s, TRK_SYSTEM_CPU_USAGE,
			      s->row.value[TRK_SYSTEM_UTIME] + s->row.value[TRK_SYSTEM_STIME],
			      now_ns - s->system_ns, s->machine_cores);
	s->system_ns = now_ns;
}

void trk__system_read_memory(struct trk_sampler *s)
{
	struct trk_nt_memory m;

	if (trk__nt_memory_read(&m) < 0)
		return;
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_FREE, m.available_bytes);
	trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_USED,
			       m.total_bytes > m.available_bytes ? m.total_bytes - m.available_bytes
								 : 0);
	if (m.cached_bytes)
		trk__sampler_set_bytes(s, TRK_SYSTEM_MEMORY_CACHED, m.cached_bytes);
}

void trk__system_read_disks(struct trk_sampler *s)
{
	uint64_t in, out;

	if (!s->system || trk__nt_disks_update(&s->system->disks, &in, &out) < 0)
		return;
	s->system->has_disks = true;
	trk__sampler_set_delta(s, TRK_SYSTEM_DISK_READ, in);
	trk__sampler_set_delta(s, TRK_SYSTEM_DISK_WRITE, out);
}

void trk__system_read_net(struct trk_sampler *s)
{
	uint64_t received, sent;

	if (trk__nt_net_read(&received, &sent) < 0)
		return;
	trk__sampler_set_delta(s, TRK_SYSTEM_NET_RECV, received);
	trk__sampler_set_delta(s, TRK_SYSTEM_NET_SENT, sent);
}

void trk__system_read_rest(struct trk_sampler *s)
{
	struct trk_nt_space space;
	uint64_t processes;

	if (trk__nt_process_count(&processes) == 0)
		trk__sample_set(&s->row, TRK_SYSTEM_PROCESSES, (int64_t) processes);
	if (trk__nt_space_read(&space) == 0) {
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_TOTAL, space.total_bytes);
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_USED, space.used_bytes);
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_FREE, space.available_bytes);
	}
}

void trk__sampler_close_system(struct trk_sampler *s)
{
	if (s->system)
		trk__meter_release(&s->system->disks);
	free(s->system);
}

void trk__sampler_system_sources(const struct trk_sampler *s, struct trk_source *list, size_t *n)
{
	trk__sampler_add_source(list, n, "system_cpu", "GetSystemTimes");
	trk__sampler_add_source(list, n, "system_memory", "GlobalMemoryStatusEx");
	trk__sampler_add_source(list, n, "system_disk",
				s->system && s->system->has_disks ? "IOCTL_DISK_PERFORMANCE"
								  : "no disk reports its counters");
	trk__sampler_add_source(list, n, "system_net", "GetIfTable2");
	trk__sampler_add_source(list, n, "system_disk_space", "GetDiskFreeSpaceEx of fixed drives");
	trk__sampler_add_source(list, n, "system_pressure", "not in this kernel");
}
