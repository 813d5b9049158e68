#include "answer/cpu_use.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"

/* The job itself kept its cores busy from this share on. */
static const double all_cores = 0.90;
/* CPU time of other processes below this share of what the job lacked does not explain it. */
static const double others_least = 0.25;
/* A quota that held threads back for this share of the queue explains it; where the job used all of
 * its quota, this share of the run. */
static const double quota_of_queue = 0.50, quota_of_run = 0.05;
/* A queue below this share of the run is ignored. */
static const double least_of_run = 0.02;
/* Where schedstat cannot be read: the machine was short of CPU for this share of the run, and the
 * job used this many cores at least. */
static const double pressed_share = 0.20, pressed_cores = 0.10;

static const double window_s = 1;

/* A run whose only row is shorter than this may have been sampled. */
static const double totals_from_s = 10;

struct sums {
	double seconds, cpu_s, queue_s;
	double lacked_s;      /* queue of as many threads as the job has cores */
	double own_queue_s;   /* while the job kept all its cores busy */
	double others_core_s; /* of other processes, while threads waited; NaN: never known */
};

/* Recordings without the column have the part of the interval in which main threads waited. */
static double queue_of(const struct trk_block *b)
{
	return isnan(b->queue_s) ? b->spent_s[TRK_SPENT_FOR_CPU] : b->queue_s;
}

/* Threads beyond the cores of the job wait for its other threads, whatever else runs on the
 * machine. Without a known number of cores, the whole queue. */
static double lacked(const struct trk_block *b, double cores, double queue_s)
{
	double idle_s = cores * b->seconds - b->core_s;

	return idle_s < queue_s ? (idle_s > 0 ? idle_s : 0) : queue_s;
}

static bool add_up(const struct trk_record *r, struct sums *ret)
{
	double cores = r->run.limit[TRK_LIMIT_CPU].value;
	struct sums s = {.others_core_s = NAN};
	bool any = false;

	for (size_t i = 0; i < r->outline.course.count; i++) {
		const struct trk_block *b = &r->outline.block[i];
		double queue_s = queue_of(b);

		if (isnan(b->core_s) || isnan(queue_s))
			continue;
		any = true;
		s.seconds += b->seconds;
		s.cpu_s += b->core_s;
		s.queue_s += queue_s;
		s.lacked_s += lacked(b, cores, queue_s);
		if (b->core_s >= all_cores * cores * b->seconds)
			s.own_queue_s += queue_s;
		if (queue_s > 0 && !isnan(b->others_core_s))
			s.others_core_s = (isnan(s.others_core_s) ? 0 : s.others_core_s) +
					  (b->others_core_s > 0 ? b->others_core_s : 0);
	}
	*ret = s;
	return any && s.cpu_s + s.queue_s > 0;
}

static struct trk_cpu_queue without_schedstat(const struct trk_record *r)
{
	struct trk_cpu_queue q = {TRK_QUEUE_NONE, NAN};
	struct trk_column_stats pressure = trk__stats_get(r->stats, TRK_SYSTEM_PRESSURE_CPU_SOME);
	struct trk_column_stats interval = trk__stats_get(r->stats, TRK_INTERVAL);
	struct trk_column_stats cpu = trk__stats_get(r->stats, TRK_PROCESS_CPU_USAGE);

	if (pressure.sum >= pressed_share * interval.sum && cpu.mean >= pressed_cores &&
	    !(cpu.mean >= all_cores * r->run.limit[TRK_LIMIT_CPU].value))
		q.cause = TRK_QUEUE_UNKNOWN;
	return q;
}

struct trk_cpu_queue trk__cpu_queue_of(const struct trk_record *record)
{
	struct trk_cpu_queue q = {TRK_QUEUE_NONE, NAN};
	struct trk_column_stats throttled;
	struct sums s;
	double lacked_share;
	bool own;

	if (!add_up(record, &s))
		return without_schedstat(record);
	throttled = trk__stats_get(record->stats, TRK_CGROUP_THROTTLED);
	q.share = s.queue_s / (s.cpu_s + s.queue_s);
	lacked_share = s.lacked_s / (s.cpu_s + s.lacked_s);
	if (!(q.share >= TRK_QUEUE_SHARE) || s.queue_s < least_of_run * s.seconds)
		return q;
	own = s.own_queue_s >= s.queue_s / 2;
	if (throttled.sum >= quota_of_queue * s.queue_s ||
	    (own && throttled.sum >= quota_of_run * s.seconds)) {
		q.cause = TRK_QUEUE_QUOTA;
	} else if (lacked_share >= TRK_QUEUE_SHARE &&
		   !(s.others_core_s < others_least * s.lacked_s)) {
		q.cause = TRK_QUEUE_OTHERS;
		q.share = lacked_share;
	} else if (q.share >= TRK_QUEUE_OWN_SHARE) {
		q.cause = TRK_QUEUE_OWN;
	}
	return q;
}

static void add_seen(void *data, double cores, double seconds)
{
	trk__busy_add(data, cores, seconds);
}

/* The scheduler shares CPUs over several time slices, so the short intervals at the start of a run
 * are merged. Threads that wait behind others of the job on all its cores would wait as well on an
 * idle machine. */
static void add_free(const struct trk_record *r, struct trk_cpu_use *use)
{
	const struct trk_outline *o = &r->outline;
	double cores = r->run.limit[TRK_LIMIT_CPU].value;
	double core_s = 0, queue_s = 0, lacked_s = 0, seconds = 0;

	for (size_t i = 0; i < o->course.count; i++) {
		const struct trk_block *b = &o->block[i];
		double queued_s = queue_of(b);

		if (!isnan(b->core_s)) {
			core_s += b->core_s;
			queue_s += queued_s > 0 ? queued_s : 0;
			lacked_s += queued_s > 0 ? lacked(b, cores, queued_s) : 0;
			seconds += b->seconds;
		}
		if (!(seconds > 0) || (seconds < window_s && i + 1 < o->course.count))
			continue;
		trk__busy_add_free(&use->busy, core_s / seconds, queue_s / seconds, seconds);
		if (use->queue.cause != TRK_QUEUE_OTHERS)
			lacked_s = 0;
		use->least_s +=
			seconds * trk__busy_free_share(core_s / seconds, lacked_s / seconds);
		core_s = queue_s = lacked_s = seconds = 0;
	}
}

/* Whether the only row of the run covers all of it. */
static bool has_only_totals(const struct trk_record *r)
{
	struct trk_column_stats interval = trk__stats_get(r->stats, TRK_INTERVAL);

	return r->samples == 1 && interval.max >= totals_from_s;
}

/* Of all courses with this mean, the one in which all cores are busy or none. */
static void take_worst(const struct trk_record *r, struct trk_cpu_use *use)
{
	double seconds = trk__busy_seconds(&use->seen), mean = use->seen.peak_cores;
	double cores = r->run.limit[TRK_LIMIT_CPU].value;

	if (isnan(cores))
		cores = r->run.request[TRK_REQUEST_CPU].value;
	if (!(cores > mean))
		cores = trk__ceil(mean);
	use->only_mean = true;
	trk__busy_add(&use->busy, cores, seconds * mean / cores);
	trk__busy_add(&use->busy, 0, seconds * (1 - mean / cores));
}

void trk__cpu_use_of(const struct trk_record *record, struct trk_cpu_use *ret)
{
	memset(ret, 0, sizeof(*ret));
	trk__stats_each(record->stats, TRK_PROCESS_CPU_USAGE, add_seen, &ret->seen);
	ret->queue = trk__cpu_queue_of(record);
	if (ret->seen.peak_cores > 0 && has_only_totals(record)) {
		take_worst(record, ret);
		return;
	}
	if (ret->queue.cause == TRK_QUEUE_NONE || ret->queue.cause == TRK_QUEUE_UNKNOWN) {
		ret->busy = ret->seen;
		return;
	}
	add_free(record, ret);
}

bool trk__cpu_use_merge(struct trk_cpu_use *use, const struct trk_cpu_use *more)
{
	if (use->queue.cause != more->queue.cause || use->only_mean != more->only_mean)
		return false;
	trk__busy_merge(&use->seen, &more->seen);
	trk__busy_merge(&use->busy, &more->busy);
	use->least_s += more->least_s;
	return true;
}

static void scale(struct trk_busy *h, double factor)
{
	for (size_t i = 0; i < TRK_BUSY_BINS; i++) {
		h->seconds[i] *= factor;
		h->core_seconds[i] *= factor;
	}
}

void trk__cpu_use_scale(struct trk_cpu_use *use, double seconds)
{
	double factor = seconds / trk__busy_seconds(&use->seen);

	if (!(factor > 0) || isinf(factor))
		return;
	scale(&use->seen, factor);
	scale(&use->busy, factor);
	use->least_s *= factor;
}
