/* The machine on macOS and Windows, where each tick reads all figures. What cannot be read stays
 * empty in the row. There are none for pressure, steal and the time in which tasks waited for
 * disks, on Windows none for load. */
#include <math.h>

#include "probe/host.h"
#include "sample/sampler_private.h"

void trk__sampler_open_system(struct trk_sampler *s)
{
	s->host = trk__host_new();
}

static void read_cpu(struct trk_sampler *s, uint64_t now_ns)
{
	struct trk_host_cpu cpu;

	if (!s->host || trk__host_cpu(s->host, &cpu) < 0)
		return;
	trk__sampler_set_delta(s, TRK_SYSTEM_UTIME, cpu.user_us);
	trk__sampler_set_delta(s, TRK_SYSTEM_STIME, cpu.system_us);
	trk__sampler_set_rate(s, TRK_SYSTEM_CPU_USAGE,
			      s->row.value[TRK_SYSTEM_UTIME] + s->row.value[TRK_SYSTEM_STIME],
			      now_ns - s->system_ns, s->machine_cores);
	s->system_ns = now_ns;
}

static void set_known(struct trk_sampler *s, int column, uint64_t bytes)
{
	if (bytes != TRK_HOST_UNKNOWN)
		trk__sampler_set_bytes(s, column, bytes);
}

static void read_memory(struct trk_sampler *s)
{
	struct trk_host_memory m;

	if (trk__host_memory(&m) < 0)
		return;
	set_known(s, TRK_SYSTEM_MEMORY_FREE, m.free_bytes);
	set_known(s, TRK_SYSTEM_MEMORY_USED, m.used_bytes);
	set_known(s, TRK_SYSTEM_MEMORY_CACHED, m.cached_bytes);
	set_known(s, TRK_SYSTEM_MEMORY_ACTIVE, m.active_bytes);
	set_known(s, TRK_SYSTEM_MEMORY_INACTIVE, m.inactive_bytes);
	set_known(s, TRK_SYSTEM_SWAP_USED, m.swap_used_bytes);
}

static void read_traffic(struct trk_sampler *s)
{
	uint64_t in, out;

	if (s->host && trk__host_disks(s->host, &in, &out) == 0) {
		trk__sampler_set_delta(s, TRK_SYSTEM_DISK_READ, in);
		trk__sampler_set_delta(s, TRK_SYSTEM_DISK_WRITE, out);
	}
	if (trk__host_net(&in, &out) == 0) {
		trk__sampler_set_delta(s, TRK_SYSTEM_NET_RECV, in);
		trk__sampler_set_delta(s, TRK_SYSTEM_NET_SENT, out);
	}
}

static void read_rest(struct trk_sampler *s)
{
	struct trk_host_space space;
	double load = trk__host_load();
	uint64_t processes;

	if (!isnan(load))
		trk__sample_set(&s->row, TRK_SYSTEM_LOAD_1M, (int64_t) (load * 100 + 0.5));
	if (trk__process_count_read(&s->process_count, &s->env, &processes) == 0)
		trk__sample_set(&s->row, TRK_SYSTEM_PROCESSES, (int64_t) processes);
	if (trk__host_space(&space) == 0) {
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_TOTAL, space.total_bytes);
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_USED, space.used_bytes);
		trk__sampler_set_bytes(s, TRK_SYSTEM_SPACE_FREE, space.available_bytes);
	}
}

void trk__sampler_system_baseline(struct trk_sampler *s)
{
	read_cpu(s, s->start_ns);
	read_traffic(s);
}

void trk__sampler_read_system(struct trk_sampler *s, uint64_t now_ns)
{
	read_cpu(s, now_ns);
	read_memory(s);
	read_traffic(s);
	read_rest(s);
}

void trk__sampler_read_machine(struct trk_sampler *s)
{
}

void trk__sampler_close_system(struct trk_sampler *s)
{
	trk__host_free(s->host);
}

void trk__sampler_system_sources(const struct trk_sampler *s, struct trk_source *list, size_t *n)
{
	const struct trk_host_sources *from = &trk__host_sources;

	trk__sampler_add_source(list, n, "system_cpu", from->cpu);
	trk__sampler_add_source(list, n, "system_memory", from->memory);
	trk__sampler_add_source(list, n, "system_disk", trk__host_disk_source(s->host));
	trk__sampler_add_source(list, n, "system_net", from->net);
	trk__sampler_add_source(list, n, "system_disk_space", from->space);
	trk__sampler_add_source(list, n, "system_pressure", "not in this kernel");
}
