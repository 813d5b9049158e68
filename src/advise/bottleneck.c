#include "advise/bottleneck.h"

#include <math.h>
#include <stdio.h>

const char *trk__bottleneck_word(enum trk_bottleneck b)
{
	static const char *const words[] = {
		[TRK_BOUND_UNKNOWN] = "",
		[TRK_BOUND_MEMORY] = "memory-bound",
		[TRK_BOUND_CPU_WAIT] = "short of CPU",
		[TRK_BOUND_GPU] = "GPU-bound",
		[TRK_BOUND_DISK] = "disk-bound",
		[TRK_BOUND_ALL_CORES] = "all cores",
		[TRK_BOUND_ONE_CORE] = "one core",
		[TRK_BOUND_CPU] = "CPU-bound",
		[TRK_BOUND_OTHER] = "waiting",
		[TRK_BOUND_MIXED] = "",
	};

	return (size_t) b < sizeof(words) / sizeof(words[0]) ? words[b] : "";
}

/* A wait that overlaps with work of other threads is part of the queue, not of the wall time. If
 * the job's own threads fill all cores, the bottleneck is the number of cores. */
static bool waits_for_cpu(const struct trk_bottleneck_facts *f)
{
	const double *share = f->split.share;
	bool waits = share[TRK_WALL_CPU_WAIT] >= TRK_BOTTLENECK_CPU_WAIT;

	if (f->queue.cause == TRK_QUEUE_NONE || f->queue.cause == TRK_QUEUE_UNKNOWN)
		return waits;
	/* A short queue of a job that sleeps is not what it spent its time on. */
	if (!waits && share[TRK_WALL_ON_CPU] + share[TRK_WALL_CPU_WAIT] < TRK_BOTTLENECK_RUNNABLE)
		return false;
	return !(f->cores_mean >= TRK_BOTTLENECK_FULL * f->cores_limit) ||
	       f->queue.cause == TRK_QUEUE_QUOTA;
}

static enum trk_bottleneck classify(const struct trk_bottleneck_facts *f)
{
	const double *share = f->split.share;

	if (isnan(share[TRK_WALL_ON_CPU]))
		return TRK_BOUND_UNKNOWN;
	if (share[TRK_WALL_MEMORY_STALL] >= TRK_BOTTLENECK_MEMORY)
		return TRK_BOUND_MEMORY;
	/* A thread that waits for a GPU occupies a CPU: CUDA and HIP spin by default. */
	if (f->gpu_busy >= TRK_BOTTLENECK_GPU_BUSY)
		return TRK_BOUND_GPU;
	if (waits_for_cpu(f))
		return TRK_BOUND_CPU_WAIT;
	if (share[TRK_WALL_GPU] >= TRK_BOTTLENECK_GPU)
		return TRK_BOUND_GPU;
	if (share[TRK_WALL_DISK] >= TRK_BOTTLENECK_DISK)
		return TRK_BOUND_DISK;
	if (share[TRK_WALL_ON_CPU] >= TRK_BOTTLENECK_ON_CPU) {
		if (f->cores_mean >= TRK_BOTTLENECK_FULL * f->cores_limit)
			return TRK_BOUND_ALL_CORES;
		if (f->cores_mean <= TRK_BOTTLENECK_ONE_CORE)
			return TRK_BOUND_ONE_CORE;
		return TRK_BOUND_CPU;
	}
	return share[TRK_WALL_OTHER] >= 0.5 ? TRK_BOUND_OTHER : TRK_BOUND_MIXED;
}

static double percent(const struct trk_bottleneck_facts *f, enum trk_wall item)
{
	return f->split.share[item] * 100;
}

enum trk_bottleneck trk__bottleneck(const struct trk_bottleneck_facts *facts,
				    char ret_sentence[TRK_BOTTLENECK_SIZE])
{
	enum trk_bottleneck b = classify(facts);
	const size_t size = TRK_BOTTLENECK_SIZE;

	switch (b) {
	case TRK_BOUND_MEMORY:
		(void) snprintf(ret_sentence, size,
				"short of memory: %.0f %% of the time it waited for memory; more "
				"memory would make the run faster",
				percent(facts, TRK_WALL_MEMORY_STALL));
		break;
	case TRK_BOUND_CPU_WAIT:
		if (facts->queue.cause == TRK_QUEUE_NONE || facts->queue.cause == TRK_QUEUE_UNKNOWN)
			(void) snprintf(ret_sentence, size,
					"short of CPU: %.0f %% of the time it was ready to run but "
					"waited for a CPU",
					percent(facts, TRK_WALL_CPU_WAIT));
		else
			(void) snprintf(ret_sentence, size,
					"short of CPU: its threads waited %.0f %% of the time that "
					"they could run, %s",
					100 * facts->queue.share,
					trk__queue_behind(facts->queue.cause));
		break;
	case TRK_BOUND_GPU:
		(void) snprintf(ret_sentence, size, "bound by the GPU, which was busy for %.0f %%",
				facts->gpu_busy >= TRK_BOTTLENECK_GPU_BUSY
					? 100 * facts->gpu_busy
					: percent(facts, TRK_WALL_GPU));
		break;
	case TRK_BOUND_DISK:
		(void) snprintf(ret_sentence, size,
				"bound by the disk: %.0f %% of the time it waited for the disk",
				percent(facts, TRK_WALL_DISK));
		break;
	case TRK_BOUND_ALL_CORES:
		(void) snprintf(ret_sentence, size,
				"bound by its CPUs: %.1f of %.4g cores were busy on average",
				facts->cores_mean, facts->cores_limit);
		break;
	case TRK_BOUND_ONE_CORE:
		(void) snprintf(ret_sentence, size,
				"bound by one core: more cores do not help unless the program "
				"works in parallel");
		break;
	case TRK_BOUND_CPU:
		(void) snprintf(ret_sentence, size,
				"bound by its own work on CPUs: %.1f cores were busy in the mean",
				facts->cores_mean);
		break;
	case TRK_BOUND_OTHER:
		(void) snprintf(ret_sentence, size,
				"waiting for something else%s for %.0f %% of the time: network, "
				"sleep, locks",
				facts->split.other_holds_unknown ? " or unmeasured" : "",
				percent(facts, TRK_WALL_OTHER));
		break;
	case TRK_BOUND_MIXED:
		(void) snprintf(ret_sentence, size, "no single bottleneck");
		break;
	default:
		(void) snprintf(ret_sentence, size, "not known");
		break;
	}
	return b;
}
