#include "advise/cpu.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

#define GIB 1073741824.0

static const double saturated_from = 0.95, saturated_enough = 0.10;
static const double gib_a_core = 4;

static bool known(double x)
{
	return x > 0 && x < INFINITY;
}

void trk__busy_add(struct trk_busy *h, double cores, double seconds)
{
	size_t bin;

	if (!(cores >= 0) || isinf(cores) || !known(seconds))
		return;
	/* 2.0 shall fall into the bin of 2.0, though 2.0 / 0.1 may come out below 20. */
	bin = cores < TRK_BUSY_BIN_CORES * TRK_BUSY_BINS
		      ? (size_t) (cores / TRK_BUSY_BIN_CORES + 1e-9)
		      : TRK_BUSY_BINS - 1;
	if (bin >= TRK_BUSY_BINS)
		bin = TRK_BUSY_BINS - 1;
	h->seconds[bin] += seconds;
	h->core_seconds[bin] += cores * seconds;
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
	double gib = known(memory_bytes) ? memory_bytes / GIB : gib_a_core * cores;

	return run_time_s / 3600 * (TRK_PRICE_CORE_HOUR * cores + TRK_PRICE_GIB_HOUR * gib);
}

/* Mean, peak and time at the top. */
static void describe(const struct trk_busy *h, double cores_now, struct trk_cpu_advice *a)
{
	double work = 0, top = 0;

	for (size_t i = 0; i < TRK_BUSY_BINS; i++) {
		double mean = h->seconds[i] > 0 ? h->core_seconds[i] / h->seconds[i] : 0;

		work += h->core_seconds[i];
		if (mean > a->peak_cores)
			a->peak_cores = mean;
		if (mean >= saturated_from * cores_now)
			top += h->seconds[i];
	}
	a->run_time_now_s = trk__busy_seconds(h);
	a->mean_cores = work / a->run_time_now_s;
	a->saturated_share = top / a->run_time_now_s;
}

static void add_point(const struct trk_busy *h, const struct trk_cpu_options *o, double cores,
		      struct trk_cpu_advice *a)
{
	struct trk_cpu_point *p;

	if (a->point_count == TRK_CPU_POINTS_MAX)
		return;
	p = &a->point[a->point_count++];
	p->cores = cores;
	p->run_time_s = trk__busy_run_time(h, cores);
	p->price = price_of(p->run_time_s, cores, o->memory_bytes);
	p->at_most = cores > o->cores_now;
}

/* The cheapest of the points that are no guess and not too slow; the fastest of those else. */
static const struct trk_cpu_point *choose(const struct trk_cpu_options *o,
					  const struct trk_cpu_advice *a)
{
	const struct trk_cpu_point *best = NULL, *fastest = &a->point[0];

	for (size_t i = 0; i < a->point_count; i++) {
		const struct trk_cpu_point *p = &a->point[i];

		if (p->at_most && p->cores > 1)
			continue;
		if (p->run_time_s < fastest->run_time_s)
			fastest = p;
		if (known(o->slowdown_max) && p->run_time_s > o->slowdown_max * a->run_time_now_s)
			continue;
		if (!best || p->price < best->price)
			best = p;
	}
	return best ? best : fastest;
}

__attribute__((format(printf, 2, 3))) static void say(struct trk_cpu_advice *a, const char *format,
						      ...)
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

static void explain(const struct trk_cpu_options *o, struct trk_cpu_advice *a)
{
	double longer = 100 * (a->run_time_s / a->run_time_now_s - 1);
	const char *cores = a->cores > 1 ? "cores" : "core";

	if (a->peak_cores < 0.01)
		say(a, "less than 0.01 cores busy at most, of %.3g", o->cores_now);
	else
		say(a, "%.3g cores busy on average, %.3g at most, of %.3g",
		    hundredths(a->mean_cores), hundredths(a->peak_cores), o->cores_now);
	if (longer < 0.5)
		say(a, "%.3g %s: the run takes as long, and costs least", a->cores, cores);
	else
		say(a, "%.3g %s: the run takes about %.0f %% longer, and costs least", a->cores,
		    cores, longer);
	if (a->saturated)
		say(a, "saturated: %.0f %% of the time all %.3g cores were busy; try %.3g once",
		    100 * a->saturated_share, o->cores_now, 2 * o->cores_now);
}

int trk__cpu_advise(const struct trk_busy *h, const struct trk_cpu_options *options,
		    struct trk_cpu_advice *ret)
{
	struct trk_cpu_options o = {NAN, NAN, NAN};
	struct trk_cpu_advice a = {0};
	const struct trk_cpu_point *best;
	double cores = 1;

	if (!(trk__busy_seconds(h) > 0))
		return -TRK_E_NODATA;
	if (options)
		o = *options;
	describe(h, o.cores_now, &a);
	if (!known(o.cores_now)) {
		o.cores_now = a.peak_cores > 1 ? a.peak_cores : 1;
		a.peak_cores = 0;
		describe(h, INFINITY, &a); /* without a limit nothing is saturated */
	}
	while (cores < 2 * o.cores_now && a.point_count < TRK_CPU_POINTS_MAX - 2) {
		add_point(h, &o, cores, &a);
		if (o.cores_now > cores && o.cores_now < 2 * cores)
			add_point(h, &o, o.cores_now, &a);
		cores *= 2;
	}
	add_point(h, &o, cores, &a);
	best = choose(&o, &a);
	a.cores = best->cores;
	a.run_time_s = best->run_time_s;
	a.saturated = a.saturated_share > saturated_enough;
	explain(&o, &a);
	*ret = a;
	return 0;
}

int trk__cpu_run_time_measured(const double *cores, const double *run_time_s, size_t count,
			       double want_cores, double *ret_s)
{
	double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, spread, a, b;

	for (size_t i = 0; i < count; i++) {
		double x = 1 / cores[i];

		if (!known(cores[i]) || !known(run_time_s[i]))
			continue;
		n++;
		sx += x;
		sy += run_time_s[i];
		sxx += x * x;
		sxy += x * run_time_s[i];
	}
	spread = n * sxx - sx * sx;
	if (n < 2 || !(spread > 1e-12 * n * sxx) || !known(want_cores))
		return -TRK_E_NODATA;
	b = (n * sxy - sx * sy) / spread;
	a = (sy - b * sx) / n;
	if (b < 0) {
		b = 0;
		a = sy / n;
	} else if (a < 0) {
		a = 0;
		b = sxy / sxx;
	}
	*ret_s = a + b / want_cores;
	return 0;
}
