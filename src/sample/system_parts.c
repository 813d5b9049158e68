#include "sample/system_parts.h"

void trk__sampler_system_baseline(struct trk_sampler *s)
{
	trk__system_read_cpu(s, s->start_ns);
	trk__system_read_disks(s);
	trk__system_read_net(s);
}

void trk__sampler_read_system(struct trk_sampler *s, uint64_t now_ns,
			      const struct trk_sample *before)
{
	trk__system_read_cpu(s, now_ns);
	trk__system_read_memory(s);
	trk__system_read_disks(s);
	trk__system_read_net(s);
	trk__system_read_rest(s);
}

void trk__sampler_read_machine(struct trk_sampler *s)
{
}

void trk__sampler_force_full_system(struct trk_sampler *s)
{
}
