#include "model/waits.h"

static int64_t at_most(int64_t value, int64_t limit)
{
	return value < limit ? value : limit;
}

/* Without pressure-stall information, a process found waiting counts for the whole interval, which
 * is right on average over many intervals. */
static int64_t estimated_disk(const struct trk_wait_facts *f)
{
	if (f->disk_stall_us >= 0)
		return f->touched_disk || f->seen_on_disk ? f->disk_stall_us : 0;
	return f->seen_on_disk ? f->interval_us : 0;
}

static int64_t disk(const struct trk_wait_facts *f)
{
	int64_t estimate = estimated_disk(f);

	if (f->disk_stall_us < 0 && f->blocked_us < 0 && !f->seen_on_disk)
		return TRK_WAIT_UNKNOWN;
	return estimate > f->blocked_us ? estimate : f->blocked_us;
}

static int64_t memory(const struct trk_wait_facts *f)
{
	int64_t stall_us = f->touched_memory ? f->memory_stall_us : 0;

	if (f->memory_stall_us < 0)
		return TRK_WAIT_UNKNOWN;
	/* Above memory.high the kernel makes tasks sleep, so whole intervals may have no fault. */
	return f->high_stall_us > stall_us ? f->high_stall_us : stall_us;
}

int64_t trk__waits_held_back(int64_t throttled_us, int64_t cpu_us, int64_t interval_us)
{
	double wanted_us = (double) throttled_us + (double) (cpu_us > 0 ? cpu_us : 0);

	if (throttled_us <= 0 || interval_us <= 0 || wanted_us <= (double) interval_us)
		return throttled_us;
	return (int64_t) ((double) throttled_us * (double) interval_us / wanted_us);
}

/* The queue includes throttling by quotas, if the kernel counts the queue at all. */
static int64_t for_cpu(const struct trk_wait_facts *f)
{
	int64_t held_us = trk__waits_held_back(f->throttled_us, f->cpu_us, f->interval_us);

	return f->queue_us > held_us ? f->queue_us : held_us;
}

void trk__waits_divide(const struct trk_wait_facts *facts, struct trk_waits *ret)
{
	int64_t want[TRK_WAITS] = {
		[TRK_WAIT_ON_CPU] = facts->cpu_us,   [TRK_WAIT_GPU] = facts->gpu_us,
		[TRK_WAIT_DISK] = disk(facts),       [TRK_WAIT_MEMORY] = memory(facts),
		[TRK_WAIT_FOR_CPU] = for_cpu(facts),
	};
	int64_t left = facts->interval_us;

	for (int i = 0; i < TRK_WAITS; i++) {
		ret->us[i] = TRK_WAIT_UNKNOWN;
		if (facts->interval_us <= 0 || facts->cpu_us < 0 || want[i] < 0)
			continue;
		ret->us[i] = at_most(want[i], left);
		left -= ret->us[i];
	}
}
