/* Replays recorded runs, to compare the cost on the recommended server with that on the cheapest
 * possible one and with the rule "mean CPU, 1.2 x peak memory, cheapest hour".
 *
 *     bench_servers SCORES|none < RUNS
 *
 * bench/servers.py writes RUNS, in order of arrival: set, step, peak in MiB, seconds, mean cores,
 * then CORES:SECONDS pairs, separated by blanks. Candidates are x86 types of AWS in us-east-1 that
 * are not burstable and have a score. The cost of a run follows from its histogram and the model of
 * advise/server.h. A choice may only use earlier runs of the same step. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/run_cost.h"
#include "advise/server.h"
#include "catalog/text.h"

enum { BINS = 512, RUNS_MAX = 200, SETS_MAX = 8, LAST = 5 };

static const double boot_s = 60;

struct run {
	double peak_mib, seconds, mean;
	float bins[BINS]; /* bins[n]: seconds with n tenths of a core busy */
};

struct totals {
	char name[32];
	double oracle, rule, advised, deadline;         /* USD */
	double oracle_h, rule_h, advised_h, deadline_h; /* hours of run time */
	size_t runs, fails_rule, fails_advised, steps, worse;
};

struct replay {
	struct trk_catalog c;
	struct trk_catalog_query q;
	uint8_t vendors[64], regions[1024];
	const struct trk_catalog_server *here;
	struct run runs[RUNS_MAX];
	size_t n;
	struct totals totals[SETS_MAX];
	size_t sets;
};

static size_t slices_of(const struct run *runs, size_t n, struct trk_busy_slice slices[BINS])
{
	size_t count = 0;

	for (size_t bin = 0; bin < BINS; bin++) {
		double sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += (double) runs[i].bins[bin];
		if (sum > 0)
			slices[count++] =
				(struct trk_busy_slice){(double) bin / 10, sum / (double) n};
	}
	return count;
}

static const struct trk_catalog_server *server(const struct replay *r, size_t at)
{
	size_t n;

	return &trk__catalog_servers(&r->c, &n)[at];
}

/* Actual cost of a run on a server in USD. Adds its hours. */
static double cost_on(const struct replay *r, const struct trk_catalog_offer *o,
		      const struct run *run, double *hours)
{
	struct trk_busy_slice slices[BINS];
	struct trk_server_work work = {
		.slices = slices, .n = slices_of(run, 1, slices), .boot_s = boot_s};
	const struct trk_catalog_server *s = server(r, o->server);
	const struct trk_catalog_vendor *v;
	size_t n;
	double seconds;

	trk__server_measured_on(&work, r->here);
	work.here_vcpus = 0; /* the speed of a thread alone: the runs were not made there */
	if (!trk__server_run_on(&work, s, &seconds))
		return NAN;
	v = &trk__catalog_vendors(&r->c, &n)[s->vendor];
	*hours += seconds / 3600;
	return trk__catalog_usd(o->units) * trk__server_billed_s(v, seconds + boot_s) / 3600;
}

static int advise(const struct replay *r, const struct run *runs, size_t n, double memory_mib,
		  double deadline_s, struct trk_server_advice *ret)
{
	struct trk_busy_slice slices[BINS];
	struct trk_server_work work = {.slices = slices,
				       .n = slices_of(runs, n, slices),
				       .boot_s = boot_s,
				       .deadline_s = deadline_s};
	struct trk_catalog_query q = r->q;

	trk__server_measured_on(&work, r->here);
	work.here_vcpus = 0; /* the speed of a thread alone: the runs were not made there */
	q.memory_bytes = (uint64_t) (memory_mib * 1048576);
	return trk__server_advise(&r->c, &q, &work, ret);
}

/* The highest peak so far and a margin that shrinks with the number of runs. */
static double request_mib(const struct run *runs, size_t n)
{
	static const struct {
		size_t n;
		double factor;
	} margins[] = {{1, 1.18},   {2, 1.14},  {3, 1.12},  {5, 1.085}, {8, 1.065},
		       {10, 1.055}, {15, 1.04}, {20, 1.03}, {30, 1.02}, {50, 1.005}};
	double peak = 0, factor = 1.18;

	for (size_t i = 0; i < n; i++)
		peak = fmax(peak, runs[i].peak_mib);
	for (size_t i = 0; i < sizeof(margins) / sizeof(margins[0]); i++)
		if (n >= margins[i].n)
			factor = margins[i].factor;
	return fmax(256, ceil(peak * factor / 128) * 128);
}

/* Cost if every failed attempt is paid in full and repeated with twice the memory. `runs`: the
 * earlier runs on which the choice is based. */
static double pay(const struct replay *r, const struct run *runs, size_t n, double request,
		  const struct run *now, double deadline_s, double *hours, size_t *fails)
{
	double cost = 0;

	for (;; request *= 2) {
		struct trk_server_advice a;
		struct trk_catalog_offer chosen;
		int error = advise(r, runs, n, request, deadline_s, &a);

		if (error == -ENOENT && deadline_s > 0)
			error = advise(r, runs, n, request, 0, &a);
		if (error < 0)
			return NAN;
		chosen = a.list[0].offer;
		trk__server_advice_release(&a);
		cost += cost_on(r, &chosen, now, hours);
		if (now->peak_mib * 1048576 <=
		    (double) trk__catalog_usable_bytes(server(r, chosen.server)))
			return cost;
		(*fails)++;
	}
}

/* The rule of the original package, on the last five runs. */
static double pay_rule(const struct replay *r, const struct run *runs, size_t n,
		       const struct run *now, double *hours, size_t *fails)
{
	size_t first = n > LAST ? n - LAST : 0;
	double mean = 0, peak = 0, cost = 0, gib;

	for (size_t i = first; i < n; i++) {
		mean += runs[i].mean / (double) (n - first);
		peak = fmax(peak, runs[i].peak_mib);
	}
	for (gib = fmax(1, round(peak * 1.2 / 1024));; gib *= 2) {
		struct trk_catalog_query q = r->q;
		struct trk_catalog_offer *offers, chosen = {0};
		struct trk_catalog_speed speed;
		size_t count;

		q.vcpus = (uint32_t) fmax(1, round(mean));
		if (trk__catalog_search(&r->c, &q, &offers, &count) < 0)
			return NAN;
		for (size_t i = 0; i < count && !chosen.units; i++)
			if (server(r, offers[i].server)->memory_mib >= gib * 1024 &&
			    trk__catalog_speed_of(server(r, offers[i].server), &speed))
				chosen = offers[i];
		free(offers);
		if (!chosen.units)
			return NAN;
		cost += cost_on(r, &chosen, now, hours);
		if (now->peak_mib * 1048576 <=
		    (double) trk__catalog_usable_bytes(server(r, chosen.server)))
			return cost;
		(*fails)++;
	}
}

static void replay_step(struct replay *r, struct totals *t, const char *step)
{
	double rule = 0, advised = 0, oracle = 0;

	for (size_t i = 1; i < r->n; i++) {
		const struct run *now = &r->runs[i];
		size_t last = i > LAST ? LAST : i, ignored = 0;
		const struct run *recent = now - last;
		double mean_s = 0, request = request_mib(r->runs, i);
		struct trk_server_advice best;

		if (advise(r, now, 1, now->peak_mib, 0, &best) < 0)
			continue;
		oracle += cost_on(r, &best.list[0].offer, now, &t->oracle_h);
		trk__server_advice_release(&best);
		for (size_t k = 0; k < last; k++)
			mean_s += recent[k].seconds / (double) last;
		rule += pay_rule(r, r->runs, i, now, &t->rule_h, &t->fails_rule);
		advised += pay(r, recent, last, request, now, 0, &t->advised_h, &t->fails_advised);
		t->deadline += pay(r, recent, last, request, now, mean_s, &t->deadline_h, &ignored);
		t->runs++;
	}
	if (r->n < 2)
		return;
	t->oracle += oracle;
	t->rule += rule;
	t->advised += advised;
	t->steps++;
	t->worse += advised > rule;
	(void) printf("  %-6s %-28s %4zu runs  advised %7.3f  rule %7.3f  best %7.3f USD%s\n",
		      t->name, step, r->n - 1, advised, rule, oracle,
		      advised > rule ? "  above the rule" : "");
}

static struct totals *totals_of(struct replay *r, const char *set)
{
	for (size_t i = 0; i < r->sets; i++)
		if (!strcmp(r->totals[i].name, set))
			return &r->totals[i];
	if (r->sets == SETS_MAX)
		return &r->totals[SETS_MAX - 1];
	(void) snprintf(r->totals[r->sets].name, sizeof(r->totals[0].name), "%s", set);
	return &r->totals[r->sets++];
}

/* "CORES:SECONDS" pairs to the end of the line. */
static void read_bins(char *at, struct run *run)
{
	char *save = NULL;

	memset(run->bins, 0, sizeof(run->bins));
	for (char *pair = strtok_r(at, " \n", &save); pair; pair = strtok_r(NULL, " \n", &save)) {
		char *end;
		double cores = strtod(pair, &end);
		size_t bin = cores > 0 ? (size_t) (cores * 10 + 0.5) : 0;

		if (*end == ':')
			run->bins[bin < BINS ? bin : BINS - 1] += (float) strtod(end + 1, NULL);
	}
}

static void replay_one(struct replay *r, char *name)
{
	char *step = strchr(name, ' ');

	if (!step || !r->n)
		return;
	*step++ = '\0';
	replay_step(r, totals_of(r, name), step);
}

static void replay_all(struct replay *r)
{
	char *line = NULL, set[32], step[96], last[160] = "", name[160];
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		struct run run;
		int used = 0;

		if (sscanf(line, "%31s %95s %lf %lf %lf%n", set, step, &run.peak_mib, &run.seconds,
			   &run.mean, &used) != 5)
			continue;
		(void) snprintf(name, sizeof(name), "%s %s", set, step);
		if (strcmp(name, last) != 0) {
			replay_one(r, last);
			(void) snprintf(last, sizeof(last), "%s", name);
			r->n = 0;
		}
		read_bins(line + used, &run);
		if (r->n < RUNS_MAX)
			r->runs[r->n++] = run;
	}
	replay_one(r, last);
	free(line);
}

static void print_totals(const struct replay *r)
{
	for (size_t i = 0; i < r->sets; i++) {
		const struct totals *t = &r->totals[i];

		(void) printf("%s: %zu steps, %zu runs\n", t->name, t->steps, t->runs);
		(void) printf("  best possible            %8.2f USD             %6.0f h\n",
			      t->oracle, t->oracle_h);
		(void) printf(
			"  rule, cheapest hour      %8.2f USD  %.3f x best %6.0f h  %zu failed\n",
			t->rule, t->rule / t->oracle, t->rule_h, t->fails_rule);
		(void) printf(
			"  advised, cheapest run    %8.2f USD  %.3f x best %6.0f h  %zu failed, "
			"above the rule on %zu steps\n",
			t->advised, t->advised / t->oracle, t->advised_h, t->fails_advised,
			t->worse);
		(void) printf("  same, not slower than now %7.2f USD  %.3f x best %6.0f h\n",
			      t->deadline, t->deadline / t->oracle, t->deadline_h);
	}
}

int main(int argc, char **argv)
{
	static struct replay r;
	struct trk_error error = {.code = 0};
	struct trk_catalog more;
	int aws, region, here;
	size_t n;

	trk__catalog_embedded(&r.c);
	if (argc > 1 && strcmp(argv[1], "none") != 0) {
		if (trk__catalog_text_read(&r.c, AT_FDCWD, argv[1], &more, &error) < 0) {
			(void) fprintf(stderr, "bench_servers: %s\n", error.message);
			return 1;
		}
		r.c = more;
	}
	aws = trk__catalog_find_vendor(&r.c, "aws");
	region = trk__catalog_find_region(&r.c, aws, "us-east-1");
	here = trk__catalog_find_server(&r.c, aws, "m5.large");
	if (region < 0 || here < 0)
		return 1;
	r.vendors[aws] = r.regions[region] = 1;
	r.q.vendors_ok = r.vendors;
	r.q.regions_ok = r.regions;
	r.q.archs = 1u << TRK_ARCH_X86_64;
	r.q.allocations = 1u << TRK_ALLOCATION_DEDICATED;
	r.here = &trk__catalog_servers(&r.c, &n)[here];
	replay_all(&r);
	print_totals(&r);
	trk__catalog_release(&r.c);
	return r.sets ? 0 : 1;
}
