#include "advise/cpu.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/human.h"

static const double saturated_from = 0.95, saturated_enough = 0.10;
static const double gib_a_core = 4;
/* Fewer cores are considered where less than this share was in use, or they cost less than this
 * time. */
static const double idle_share = 0.50, longer_free = 1.10;
/* A price below this multiple of the lowest one counts as equal to it. */
static const double as_cheap = 1.02;

static bool known(double x)
{
	return x > 0 && x < INFINITY;
}

void trk__busy_add(struct trk_busy *h, double cores, double seconds)
{
	size_t bin;

	if (!(cores >= 0) || isinf(cores) || !known(seconds))
		return;
	/* 2.0 must fall into the bin of 2.0, although 2.0 / 0.1 may round to below 20. */
	bin = cores < TRK_BUSY_BIN_CORES * TRK_BUSY_BINS
		      ? (size_t) (cores / TRK_BUSY_BIN_CORES + 1e-9)
		      : TRK_BUSY_BINS - 1;
	if (bin >= TRK_BUSY_BINS)
		bin = TRK_BUSY_BINS - 1;
	h->seconds[bin] += seconds;
	h->core_seconds[bin] += cores * seconds;
	if (cores > h->peak_cores)
		h->peak_cores = cores;
}

double trk__busy_free_share(double cores, double queued)
{
	double wanted = cores + queued;

	if (!(queued > 0))
		return 1;
	return wanted < 1 ? 1 - wanted + cores : cores / wanted;
}

void trk__busy_add_free(struct trk_busy *h, double cores, double queued, double seconds)
{
	double share = trk__busy_free_share(cores, queued);

	if (share > 0)
		trk__busy_add(h, cores / share, seconds * share);
}

void trk__busy_merge(struct trk_busy *h, const struct trk_busy *more)
{
	for (size_t i = 0; i < TRK_BUSY_BINS; i++) {
		h->seconds[i] += more->seconds[i];
		h->core_seconds[i] += more->core_seconds[i];
	}
	if (more->peak_cores > h->peak_cores)
		h->peak_cores = more->peak_cores;
}

double trk__busy_seconds(const struct trk_busy *h)
{
	double sum = 0;

	for (size_t i = 0; i < TRK_BUSY_BINS; i++)
		sum += h->seconds[i];
	return sum;
}

double trk__busy_run_time(const struct trk_busy *h, double cores)
{
	double sum = 0, seen = 0;

	for (size_t i = 0; i < TRK_BUSY_BINS; i++) {
		double stretched = h->core_seconds[i] / cores;

		seen += h->seconds[i];
		sum += stretched > h->seconds[i] ? stretched : h->seconds[i];
	}
	return seen > 0 && known(cores) ? sum : NAN;
}

static double price_of(double run_time_s, double cores, double memory_bytes)
{
	double gib = known(memory_bytes) ? memory_bytes / TRK_GIB : gib_a_core * cores;

	return run_time_s / 3600 * (TRK_PRICE_CORE_HOUR * cores + TRK_PRICE_GIB_HOUR * gib);
}

/* Mean, peak and time at the top, as they were seen. */
static void describe(const struct trk_busy *h, double cores_now, struct trk_cpu_advice *a)
{
	double work = 0, top = 0;

	a->peak_cores = h->peak_cores;
	for (size_t i = 0; i < TRK_BUSY_BINS; i++) {
		double mean = h->seconds[i] > 0 ? h->core_seconds[i] / h->seconds[i] : 0;

		work += h->core_seconds[i];
		if (mean >= saturated_from * cores_now)
			top += h->seconds[i];
	}
	a->run_time_now_s = trk__busy_seconds(h);
	a->mean_cores = work / a->run_time_now_s;
	a->saturated_share = top / a->run_time_now_s;
}

static double run_time_on(const struct trk_busy *h, const struct trk_cpu_options *o, double cores)
{
	double seconds = trk__busy_run_time(h, cores);

	return cores <= o->cores_now && o->least_s > seconds ? o->least_s : seconds;
}

static void add_point(const struct trk_busy *h, const struct trk_cpu_options *o, double cores,
		      struct trk_cpu_advice *a)
{
	struct trk_cpu_point *p;

	if (a->point_count == TRK_CPU_POINTS_MAX)
		return;
	p = &a->point[a->point_count++];
	p->cores = cores;
	p->run_time_s = run_time_on(h, o, cores);
	p->price = price_of(p->run_time_s, cores, o->memory_bytes);
	/* The number of runnable threads is known where some had to wait. */
	p->at_most = o->only_mean ? cores < o->cores_now
				  : cores > o->cores_now && o->queue.cause == TRK_QUEUE_NONE;
}

static void add_points(const struct trk_busy *h, const struct trk_cpu_options *o,
		       struct trk_cpu_advice *a)
{
	double cores = 1;

	while (cores < 2 * o->cores_now && a->point_count < TRK_CPU_POINTS_MAX - 2) {
		add_point(h, o, cores, a);
		if (o->cores_now > cores && o->cores_now < 2 * cores)
			add_point(h, o, o->cores_now, a);
		cores *= 2;
	}
	add_point(h, o, cores, a);
}

/* May the cores of p replace those of `from`? */
static bool may_lower(const struct trk_cpu_point *p, const struct trk_cpu_point *from, double work)
{
	return work < idle_share * from->cores * from->run_time_s ||
	       p->run_time_s <= longer_free * from->run_time_s;
}

/* The cheapest of the points that are predicted, not too slow and not too few; else the fastest of
 * them. */
static const struct trk_cpu_point *choose(const struct trk_busy *h, const struct trk_cpu_options *o,
					  const struct trk_cpu_advice *a)
{
	double most = o->queue.cause == TRK_QUEUE_QUOTA ? 2 * o->cores_now : o->cores_now;
	double now_s = run_time_on(h, o, o->cores_now), work = 0;
	const struct trk_cpu_point *best, *from;
	size_t last = a->point_count - 1;

	for (size_t i = 0; i < TRK_BUSY_BINS; i++)
		work += h->core_seconds[i];
	while (last > 0 && a->point[last].cores > most)
		last--;
	best = from = &a->point[last];
	for (size_t i = last; i-- > 0 && may_lower(&a->point[i], from, work);) {
		from = &a->point[i];
		if (known(o->slowdown_max) && from->run_time_s > o->slowdown_max * now_s)
			break;
		if (from->price < as_cheap * best->price)
			best = from;
	}
	return best;
}

__attribute__((format(printf, 2, 3))) static void add_reason(struct trk_cpu_advice *a,
							     const char *format, ...)
{
	va_list args;

	if (a->reason_count == TRK_CPU_REASONS_MAX)
		return;
	va_start(args, format);
	(void) vsnprintf(a->reason[a->reason_count++], TRK_CPU_REASON_SIZE, format, args);
	va_end(args);
}

static double hundredths(double cores)
{
	return cores < 100 ? (double) (long) (cores * 100 + 0.5) / 100 : cores;
}

static const char *plural(double cores)
{
	return hundredths(cores) == 1 ? "" : "s";
}

static void explain_use(const struct trk_cpu_options *o, struct trk_cpu_advice *a)
{
	double had = known(o->stated_cores) ? o->stated_cores : o->cores_now;

	if (o->only_mean)
		add_reason(a, "%.3g core%s of %.3g busy on average; only the mean is known",
			   hundredths(a->mean_cores), plural(a->mean_cores), had);
	else if (a->peak_cores < 0.01)
		add_reason(a, "less than 0.01 cores busy at most, of %.3g", had);
	else
		add_reason(a, "%.3g core%s busy on average, %.3g at most, of %.3g",
			   hundredths(a->mean_cores), plural(a->mean_cores),
			   hundredths(a->peak_cores), had);
}

const char *trk__queue_behind(enum trk_queue_cause cause)
{
	switch (cause) {
	case TRK_QUEUE_OTHERS:
		return "behind other work";
	case TRK_QUEUE_QUOTA:
		return "behind its CPU quota";
	default:
		return "behind its other threads";
	}
}

static void explain_queue(const struct trk_cpu_options *o, struct trk_cpu_advice *a)
{
	const char *cores = a->cores > 1 ? "cores" : "core";
	char without[TRK_HUMAN_SIZE], took[TRK_HUMAN_SIZE];

	if (o->queue.cause == TRK_QUEUE_UNKNOWN) {
		add_reason(a, "the machine was short of CPU, so it is not known how many cores the "
			      "run can use, nor how long it takes on them");
		return;
	}
	add_reason(a, "%.3g %s: about %s without the queue; it took %s", a->cores, cores,
		   trk__human_seconds(without, a->run_time_s),
		   trk__human_seconds(took, a->run_time_now_s));
	add_reason(a, "its threads waited for a CPU %.0f %% of the time that they could run, %s",
		   100 * o->queue.share, trk__queue_behind(o->queue.cause));
}

static void explain(const struct trk_cpu_options *o, struct trk_cpu_advice *a)
{
	double longer = 100 * (a->run_time_s / a->run_time_now_s - 1);
	const char *cores = a->cores > 1 ? "cores" : "core";

	explain_use(o, a);
	if (o->queue.cause != TRK_QUEUE_NONE)
		explain_queue(o, a);
	else if (o->only_mean && longer >= 0.5)
		add_reason(
			a,
			"%.3g %s: the run takes up to %.0f %% longer, if its cores were either all "
			"busy or all idle, and costs least",
			a->cores, cores, longer);
	else if (o->only_mean)
		add_reason(a, "%.3g %s: fewer may take longer", a->cores, cores);
	else if (longer < 0.5)
		add_reason(a, "%.3g %s: the run takes as long, and costs least", a->cores, cores);
	else
		add_reason(a, "%.3g %s: the run takes about %.0f %% longer, and costs least",
			   a->cores, cores, longer);
	if (a->saturated)
		add_reason(a,
			   "saturated: %.0f %% of the time all %.3g cores were busy; try %.3g once",
			   100 * a->saturated_share, o->cores_now, 2 * o->cores_now);
}

/* If it is unknown how many threads waited for a CPU, nothing is predicted. */
static void hold(const struct trk_cpu_options *o, struct trk_cpu_advice *a)
{
	double least = known(o->stated_cores) ? o->stated_cores : o->cores_now;

	if (a->cores < least)
		a->cores = least;
	a->run_time_s = NAN;
	for (size_t i = 0; i < a->point_count; i++)
		a->point[i].run_time_s = NAN;
}

int trk__cpu_advise(const struct trk_busy *h, const struct trk_cpu_options *options,
		    struct trk_cpu_advice *ret)
{
	struct trk_cpu_options o = {NAN, NAN, NAN, .stated_cores = NAN};
	struct trk_cpu_advice a = {0};
	const struct trk_cpu_point *best;
	const struct trk_busy *seen;

	if (!(trk__busy_seconds(h) > 0))
		return -TRK_ERR_NODATA;
	if (options)
		o = *options;
	seen = o.seen ? o.seen : h;
	describe(seen, o.cores_now, &a);
	if (!known(o.cores_now)) {
		/* Whole cores, as machines have them; a figure just above is noise. */
		o.cores_now = a.peak_cores > 1 && a.peak_cores < 1e6
				      ? (double) (long) (a.peak_cores + 0.9)
				      : 1;
		describe(seen, INFINITY, &a); /* without a limit nothing is saturated */
	}
	add_points(h, &o, &a);
	best = choose(h, &o, &a);
	a.cores = best->cores;
	a.run_time_s = best->run_time_s;
	a.saturated = a.saturated_share > saturated_enough;
	a.queue = o.queue;
	a.only_mean = o.only_mean;
	if (o.queue.cause == TRK_QUEUE_UNKNOWN)
		hold(&o, &a);
	explain(&o, &a);
	*ret = a;
	return 0;
}

const char *trk__queue_cause_name(enum trk_queue_cause cause)
{
	static const char *const names[] = {
		[TRK_QUEUE_NONE] = NULL,           [TRK_QUEUE_OTHERS] = "other work",
		[TRK_QUEUE_OWN] = "own threads",   [TRK_QUEUE_QUOTA] = "quota",
		[TRK_QUEUE_UNKNOWN] = "not known",
	};

	return names[cause];
}
