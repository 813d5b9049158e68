#include "advise/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/human.h"

const char *trk__sizing_name(enum trk_sizing sizing)
{
	static const char *const names[] = {
		[TRK_SIZING_NOT_ENOUGH_DATA] = "not enough data",
		[TRK_SIZING_RIGHT] = "right-sized",
		[TRK_SIZING_OVER] = "over-provisioned",
		[TRK_SIZING_UNDER] = "under-provisioned",
		[TRK_SIZING_UNSTATED] = "nothing requested",
	};

	return names[sizing];
}

void trk__sizing_say(struct trk_sizing_verdict *v, const char *format, ...)
{
	va_list args;

	if (v->reason_count == TRK_SIZING_REASONS_MAX)
		return;
	va_start(args, format);
	(void) vsnprintf(v->reason[v->reason_count++], TRK_SIZING_REASON_SIZE, format, args);
	va_end(args);
}

/* Comparisons with NaN are false: what is not known fails every rule. */

/* What is judged. */
struct sizing {
	const struct trk_past_run *run;
	const struct trk_sizing_facts *facts;
	const struct trk_capacity *cpu, *memory;
	double memory_peak_mib, memory_used; /* used: a share of the capacity */
	struct trk_sizing_verdict *v;
};

static void say_peak(const struct sizing *s)
{
	char share[TRK_HUMAN_SIZE];

	trk__sizing_say(s->v, "memory peaked at %s of %s",
			trk__human_percent(share, s->memory_used),
			s->memory->kind == TRK_CAPACITY_REQUESTED ? "its request"
			: trk__capacity_is_stated(s->memory)      ? "its limit"
								  : "the machine's memory");
}

/* What was short has a reason. */
static void memory_under(const struct sizing *s)
{
	double swap_mib = s->run->swap.bytes / TRK_MIB;
	double stalled = s->facts->memory_stall_s / s->run->duration_s;

	if (s->run->end == TRK_PAST_OUT_OF_MEMORY)
		trk__sizing_say(s->v, "ran out of memory");
	if (s->memory_used >= TRK_SIZING_MEMORY_NEAR)
		say_peak(s);
	if (swap_mib >= TRK_SIZING_SWAP_MIB)
		trk__sizing_say(s->v, "%.0f MiB were swapped out", swap_mib);
	if (stalled >= TRK_SIZING_MEMORY_STALL)
		trk__sizing_say(s->v, "stalled for memory %.0f %% of the time", 100 * stalled);
	s->v->memory_under = s->v->reason_count > 0;
}

static void cpu_under(const struct sizing *s)
{
	double throttled = s->facts->throttled_s / s->run->duration_s;

	s->v->cpu_under = throttled >= TRK_SIZING_THROTTLED;
	if (s->v->cpu_under)
		trk__sizing_say(s->v, "throttled by the CPU limit %.0f %% of the time",
				100 * throttled);
}

static void over(const struct sizing *s)
{
	double had = s->cpu->value, mean = s->run->cpu_mean;
	double held_mib = trk__past_run_held(s->run) / TRK_MIB;

	if (trk__capacity_is_stated(s->memory) && !s->v->memory_under && s->run->code <= 0 &&
	    held_mib / s->memory->value < TRK_SIZING_MEMORY_LOW &&
	    s->memory->value - held_mib > TRK_SIZING_MEMORY_SPARE) {
		s->v->memory_over = true;
		say_peak(s);
	}
	/* A core that was never needed can be given back; a short burst may be worth it. */
	if (trk__capacity_is_stated(s->cpu) && s->facts->cpu_next_cores < had && !s->v->cpu_under &&
	    mean / had < TRK_SIZING_CPU_LOW && had >= 2 && had - mean >= 1 &&
	    !(s->facts->saturated_share > 0.10)) {
		s->v->cpu_over = true;
		trk__sizing_say(s->v, "%.3g of %.3g cores were busy on average", mean, had);
	}
}

static bool enough(const struct sizing *s)
{
	bool memory = s->memory_peak_mib >= 0 && s->memory->value > 0;
	bool cpu = s->run->cpu_mean >= 0 && s->cpu->value > 0;

	if (!(s->run->duration_s >= TRK_SIZING_RUN_MIN_S))
		trk__sizing_say(s->v, "the run was shorter than %g s", TRK_SIZING_RUN_MIN_S);
	else if (s->run->samples < TRK_SIZING_SAMPLES_MIN)
		trk__sizing_say(s->v, "fewer than %d samples", TRK_SIZING_SAMPLES_MIN);
	else if (!memory && !cpu)
		trk__sizing_say(s->v, "no limit of memory or CPU is known to compare with");
	return s->v->reason_count == 0;
}

void trk__sizing_judge(const struct trk_past_run *run, const struct trk_sizing_facts *facts,
		       struct trk_sizing_verdict *ret)
{
	struct sizing s = {
		.run = run,
		.facts = facts,
		.cpu = &run->capacity[TRK_RESOURCE_CPU],
		.memory = &run->capacity[TRK_RESOURCE_MEMORY_MIB],
		.memory_peak_mib = run->memory.bytes / TRK_MIB,
		.v = ret,
	};

	s.memory_used = s.memory_peak_mib / s.memory->value;
	*ret = (struct trk_sizing_verdict){.sizing = TRK_SIZING_NOT_ENOUGH_DATA};
	if (run->end != TRK_PAST_OUT_OF_MEMORY && !enough(&s))
		return;
	memory_under(&s);
	cpu_under(&s);
	over(&s);
	if (ret->memory_under || ret->cpu_under) {
		ret->sizing = TRK_SIZING_UNDER;
	} else if (!trk__capacity_is_stated(s.memory) && !trk__capacity_is_stated(s.cpu)) {
		ret->sizing = TRK_SIZING_UNSTATED;
		trk__sizing_say(ret, "neither CPU nor memory was requested or limited");
	} else {
		ret->sizing =
			ret->memory_over || ret->cpu_over ? TRK_SIZING_OVER : TRK_SIZING_RIGHT;
		if (ret->sizing == TRK_SIZING_RIGHT)
			trk__sizing_say(
				ret, "%s",
				run->code > 0 ? "no sign of a shortage, but the run failed"
					      : "use is within the limits, and not far below them");
	}
}

/* --- where the wall time went
 * ------------------------------------------------------------------ */

const char *trk__wall_name(enum trk_wall item)
{
	static const char *const names[TRK_WALL_ITEMS] = {
		[TRK_WALL_ON_CPU] = "on CPU",
		[TRK_WALL_GPU] = "GPU busy",
		[TRK_WALL_DISK] = "waiting for disk",
		[TRK_WALL_MEMORY_STALL] = "memory stall",
		[TRK_WALL_CPU_WAIT] = "waiting for a CPU",
		[TRK_WALL_OTHER] = "other",
	};

	return (unsigned int) item < TRK_WALL_ITEMS ? names[item] : "unknown";
}

int trk__wall_divide(const struct trk_wall_facts *facts, struct trk_wall_split *ret)
{
	struct trk_wall_split s = {0};
	double left = facts->wall_s;

	if (!(facts->wall_s > 0) || isinf(facts->wall_s))
		return -EINVAL;
	for (int i = 0; i < TRK_WALL_OTHER; i++) {
		double taken = facts->item_s[i];

		if (isnan(taken)) {
			s.share[i] = NAN;
			s.unknown_count++;
			continue;
		}
		if (taken < 0 || isinf(taken))
			return -EINVAL;
		if (taken > left)
			taken = left;
		s.share[i] = taken / facts->wall_s;
		left -= taken;
	}
	s.share[TRK_WALL_OTHER] = left / facts->wall_s;
	s.other_holds_unknown = s.unknown_count > 0;
	*ret = s;
	return 0;
}

/* --- GPUs ------------------------------------------------------------------------------------ */

/* The smallest whole number of GPUs for the busy ones, ignoring a little noise. */
static double whole(double gpus)
{
	double n = 0;

	while (n < 1024 && n < gpus - TRK_GPU_IDLE_SHARE)
		n++;
	return n;
}

/* Comparisons with NaN are false: what is not known fails every rule. */
static void judge_count(const struct trk_gpu_facts *f, struct trk_sizing_verdict *v)
{
	double enough = whole(f->usage_p95);

	if (!(f->given >= 1) || isnan(f->usage_mean))
		return;
	if (f->used < 1) {
		v->gpu_over = f->stated;
		trk__sizing_say(v, "no GPU was used: %.0f were idle", f->given);
	} else if (f->used < f->given) {
		v->gpu_over = f->stated;
		trk__sizing_say(v, "%.0f of %.0f GPUs were idle", f->given - f->used, f->given);
	} else if (f->usage_mean / f->given < TRK_GPU_IDLE_SHARE) {
		v->gpu_over = f->stated;
		trk__sizing_say(v, "the GPUs were busy %.1f %% of the time",
				100 * f->usage_mean / f->given);
	} else if (f->given >= 2 && enough >= 1 && enough < f->given) {
		trk__sizing_say(
			v,
			"%.0f GPU%s would be enough for its work: of %.0f, at most %.2g were "
			"busy at once",
			enough, enough > 1 ? "s" : "", f->given, f->usage_p95);
	}
}

void trk__sizing_judge_gpus(const struct trk_gpu_facts *facts, struct trk_sizing_verdict *v)
{
	if (v->sizing == TRK_SIZING_NOT_ENOUGH_DATA)
		return;
	if (v->sizing == TRK_SIZING_RIGHT && v->reason_count == 1 && !isnan(facts->usage_mean) &&
	    facts->given >= 1) {
		/* If all is well, the reason is added again below. */
		v->reason_count = 0;
		judge_count(facts, v);
		if (v->reason_count == 0)
			v->reason_count = 1;
	} else {
		judge_count(facts, v);
	}
	if (v->gpu_over && (v->sizing == TRK_SIZING_RIGHT || v->sizing == TRK_SIZING_UNSTATED))
		v->sizing = TRK_SIZING_OVER;
	if (facts->sm_activity < TRK_GPU_LOW_SM && facts->utilization >= TRK_GPU_LOW_SM_BUSY)
		trk__sizing_say(v,
				"a kernel ran %.0f %% of the GPU's time, but on %.0f %% of its "
				"multiprocessors: larger batches, or a smaller GPU",
				100 * facts->utilization, 100 * facts->sm_activity);
	if (facts->starved_share >= TRK_GPU_STARVED_SHARE)
		trk__sizing_say(v,
				"the GPU waited %.0f %% of the time while a core was busy: more "
				"workers for "
				"loading the data",
				100 * facts->starved_share);
}

double trk__gpu_advise(const struct trk_gpu_facts *facts, double busiest)
{
	double enough = whole(busiest);

	if (isnan(facts->used) && isnan(busiest))
		return NAN;
	/* A program that uses its GPUs in turns needs each of them. */
	return facts->used > enough ? facts->used : enough;
}
