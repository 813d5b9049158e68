#include "track/peak.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* Less shared memory outside the processes is not mentioned. */
static const double UNMAPPED_SHARE = 0.01, UNMAPPED_BYTES = 4 * TRK_MIB;
/* Bounds that are as near as this are one figure. */
static const double SAME_SHARE = 0.01, SAME_BYTES = 1 * TRK_MIB;
/* Mapped files of this size may be charged to another group. */
static const double ELSEWHERE_SHARE = 0.05, ELSEWHERE_BYTES = 16 * TRK_MIB;

/* All in bytes; NaN where not known. */
struct peak {
	double best, least, most;
	const char *source, *least_source, *most_source;
	enum trk_quality quality;
	char reason[TRK_RUN_TEXT_SIZE];
};

static bool same(double a, double b)
{
	double apart = a > b ? a - b : b - a;

	return apart <= SAME_BYTES || apart <= b * SAME_SHARE;
}

__attribute__((format(printf, 2, 3))) static void add_reason(struct peak *p, const char *format,
							     ...)
{
	size_t len = strlen(p->reason);
	va_list args;

	if (len > 0 && len + 2 < sizeof(p->reason)) {
		memcpy(p->reason + len, "; ", 3);
		len += 2;
	}
	va_start(args, format);
	(void) vsnprintf(p->reason + len, sizeof(p->reason) - len, format, args);
	va_end(args);
}

/* Is the whole job in the group? If its processes held more than the group's peak, some were
 * not. */
static bool group_holds_all(const struct trk_peak_facts *f)
{
	double peak = (double) f->group_peak_bytes;

	return f->group != TRK_PEAK_GROUP_NONE && f->group_peak_bytes > 0 &&
	       (double) f->tree.floor_bytes <= peak * (1 + ELSEWHERE_SHARE) + ELSEWHERE_BYTES;
}

/* Shared memory that the processes did not map: of the job's group, or without one, growth on the
 * machine that may be the job's. */
static double unmapped_bytes(const struct trk_peak_facts *f)
{
	return group_holds_all(f) ? f->memory.group_unmapped_bytes : f->memory.shmem_growth_bytes;
}

static bool is_notable(double unmapped, double peak)
{
	return unmapped > UNMAPPED_BYTES && !(unmapped <= peak * UNMAPPED_SHARE);
}

/* Can the kernel's batches of pages make the size of a process notably wrong? */
static bool is_batched(const struct trk_peak_facts *f)
{
	double floor = (double) f->tree.floor_bytes;

	return !same(floor + (double) f->rss_slack_bytes, floor);
}

static double slack_bytes(const struct trk_peak_facts *f)
{
	return is_batched(f) ? (double) f->rss_slack_bytes : 0;
}

static void add_batches(const struct trk_peak_facts *f, struct peak *p)
{
	p->quality = TRK_QUALITY_ESTIMATED;
	add_reason(p, "the kernel counts pages in batches: within %.1f MiB",
		   slack_bytes(f) / TRK_MIB);
}

/* NaN: a forked child of the tracker holds as much. */
static double sure_bytes(const struct trk_peak_facts *f)
{
	double sure = (double) f->tree.floor_bytes - slack_bytes(f);

	return sure > (double) f->start_bytes ? sure : NAN;
}

/* The peak of the only process, from the kernel. */
static void judge_alone(const struct trk_peak_facts *f, struct peak *p)
{
	p->best = (double) f->tree.floor_bytes;
	p->source = "ru_maxrss of the only process";
	p->most = p->best + slack_bytes(f);
	p->most_source = p->source;
	if (f->tree.floor_bytes <= f->start_bytes) {
		p->best = p->most;
		p->quality = TRK_QUALITY_AT_MOST;
		p->least = NAN;
		add_reason(p, "no larger than a forked child at its start");
	} else if (is_batched(f)) {
		add_batches(f, p);
	} else {
		p->quality = TRK_QUALITY_EXACT;
	}
}

/* Quality of the sampled sum of the processes. */
static void label_sum(const struct trk_peak_facts *f, struct peak *p)
{
	if (f->tree.is_floor && f->tree.floor_bytes >= f->tree.bytes &&
	    f->tree.floor_bytes > f->start_bytes) {
		p->quality = TRK_QUALITY_AT_LEAST;
		add_reason(p, "the largest process; other processes may have held memory at the "
			      "same time");
		if (is_batched(f))
			add_batches(f, p);
	} else {
		p->quality = TRK_QUALITY_ESTIMATED;
		add_reason(p, "sums over the tree are sampled");
	}
}

/* Memory that no process maps may be the job's. */
static void add_unmapped(const struct trk_peak_facts *f, struct peak *p)
{
	double unmapped = unmapped_bytes(f);

	if (is_notable(unmapped, p->best)) {
		if (p->quality == TRK_QUALITY_EXACT || p->quality == TRK_QUALITY_AT_MOST)
			p->quality =
				p->least >= p->best ? TRK_QUALITY_AT_LEAST : TRK_QUALITY_ESTIMATED;
		p->most = NAN;
		add_reason(p,
			   "shared memory of the machine (tmpfs, /dev/shm, memfd) grew by up to "
			   "%.1f MiB "
			   "meanwhile, which may be the job's",
			   unmapped / TRK_MIB);
	} else if (isnan(unmapped) && p->quality == TRK_QUALITY_EXACT) {
		p->quality = TRK_QUALITY_AT_LEAST;
		add_reason(p, "files in tmpfs and /dev/shm are not measured");
	}
}

/* The peak from the processes of the tree. */
static void judge_tree(const struct trk_peak_facts *f, struct peak *p)
{
	p->best = f->tree.bytes ? (double) f->tree.bytes : NAN;
	p->source = f->tree.source;
	p->least = sure_bytes(f);
	p->least_source = "largest process, or sum of PSS that was read";
	p->most =
		f->is_run && !f->can_be_missed ? (double) f->tree.most_bytes + slack_bytes(f) : NAN;
	p->most_source = "samples, page faults and number of processes";
	if (f->machine_bytes > 0 && p->most > (double) f->machine_bytes) {
		p->most = (double) f->machine_bytes;
		p->most_source = "memory of the machine";
	}
	if (f->is_run && f->is_alone && !f->can_be_missed)
		judge_alone(f, p);
	else
		label_sum(f, p);
	add_unmapped(f, p);
}

/* Before Linux 5.19 a v2 group has no peak, only its current charge: each row adds what no process
 * maps. */
static void judge_held(const struct trk_peak_facts *f, struct peak *p)
{
	double held = f->memory.group_held_bytes;

	if (f->group == TRK_PEAK_GROUP_NONE || !(held > p->best) || same(held, p->best))
		return;
	p->best = held;
	p->source = "samples, with memory of the group that no process maps";
	p->quality = TRK_QUALITY_ESTIMATED;
	p->most = NAN;
	p->reason[0] = '\0';
	add_reason(p, "sums over the tree and its group are sampled");
}

/* Memory that neither processes nor groups contain may be the job's. */
static void add_outside(const struct trk_peak_facts *f, struct peak *p)
{
	double outside = f->memory.outside_growth_bytes;
	double own = f->memory.tree_swap_bytes + f->memory.tree_huge_bytes;

	if (isnan(outside)) {
		p->most = NAN;
		if (p->quality == TRK_QUALITY_EXACT) {
			p->quality = TRK_QUALITY_AT_LEAST;
			add_reason(p, "swap or huge pages are not measured");
		}
	}
	if (!is_notable(outside, p->best))
		return;
	if (p->quality == TRK_QUALITY_EXACT)
		p->quality = TRK_QUALITY_AT_LEAST;
	else if (p->quality == TRK_QUALITY_AT_MOST)
		p->quality = TRK_QUALITY_ESTIMATED;
	p->most += own > outside ? own : outside;
	if (own > outside || same(own, outside)) {
		add_reason(p, "%.1f MiB of the job in swap and huge pages are not part of it",
			   own / TRK_MIB);
		return;
	}
	add_reason(
		p,
		"what is in swap and huge pages of the machine grew by up to %.1f MiB meanwhile, "
		"which may be the job's",
		outside / TRK_MIB);
}

static const char *group_source(const struct trk_peak_facts *f)
{
	static const char *const sources[2][2] = {
		{"memory.max_usage_in_bytes of a group that holds the tracker and the job",
		 "memory.peak of a group that holds the tracker and the job"},
		{"memory.max_usage_in_bytes of the job's own group",
		 "memory.peak of the job's own group"},
	};

	return sources[f->group == TRK_PEAK_GROUP_OWN][f->group_version == 2];
}

/* The group counts all memory of the job, including page cache, which the kernel reclaims under
 * pressure. */
static void judge_group(const struct trk_peak_facts *f, struct peak *p)
{
	double most = (double) f->group_peak_bytes, cache = f->memory.group_cache_bytes;
	double others = (double) (f->group_slack_bytes + f->tracker_bytes);
	double need = f->memory.group_need_bytes - (double) f->tracker_anon_bytes, least;

	if ((double) f->io_bytes > cache)
		cache = (double) f->io_bytes;
	least = most - cache - others; /* NaN where the cache is not known */
	if (p->least >= most) {        /* larger inferred figures are discarded */
		p->best = p->least;
		p->source = p->least_source;
		p->quality = TRK_QUALITY_ESTIMATED;
		p->reason[0] = '\0';
		add_reason(p,
			   "the group's own peak is %.1f MiB; mapped files that are charged to "
			   "another group count here",
			   most / TRK_MIB);
		return;
	}
	p->source = group_source(f);
	p->most = most;
	p->most_source = p->source;
	if (least > 0 && !(p->least >= least)) {
		p->least = least;
		p->least_source = p->source;
	}
	if (need > 0 && !(p->best >= need))
		p->best = need;
	p->reason[0] = '\0';
	if (f->group == TRK_PEAK_GROUP_OWN && same(p->least, p->most)) {
		p->best = p->most;
		p->quality = TRK_QUALITY_EXACT;
		return;
	}
	if (p->best < p->least)
		p->best = p->least;
	if (!(p->best <= p->most))
		p->best = p->most;
	p->quality = TRK_QUALITY_ESTIMATED;
	add_reason(p, "the group's own peak, page cache included, is %.1f MiB", most / TRK_MIB);
}

static void set_quantity(struct trk_quantity *q, double bytes, enum trk_quality quality,
			 const char *source, const char *reason)
{
	trk__quantity_set(q, bytes / TRK_MIB, quality, source, reason);
}

static void set_bounds(const struct peak *p, struct trk_quantity total[TRK_TOTALS])
{
	set_quantity(&total[TRK_TOTAL_PEAK_MEMORY_AT_LEAST_MIB], p->least, TRK_QUALITY_AT_LEAST,
		     isnan(p->least) ? NULL : p->least_source,
		     isnan(p->least) ? "no process was larger than a forked child of the tracker"
				     : NULL);
	set_quantity(&total[TRK_TOTAL_PEAK_MEMORY_AT_MOST_MIB], p->most, TRK_QUALITY_AT_MOST,
		     isnan(p->most) ? NULL : p->most_source,
		     isnan(p->most) ? "the memory of processes that were not seen, of files in "
				      "memory or of swap is not known"
				    : NULL);
}

static void set_group(const struct trk_peak_facts *f, struct trk_quantity total[TRK_TOTALS])
{
	struct trk_quantity *group = &total[TRK_TOTAL_PEAK_GROUP_MEMORY_MIB];
	struct trk_quantity *files = &total[TRK_TOTAL_PEAK_SHARED_FILES_MIB];
	bool is_own = group_holds_all(f);

	set_quantity(group, is_own ? (double) f->group_peak_bytes : (double) NAN,
		     f->group == TRK_PEAK_GROUP_OWN ? TRK_QUALITY_EXACT : TRK_QUALITY_AT_MOST,
		     is_own ? group_source(f) : NULL,
		     is_own ? "page cache included"
			    : "no control group holds the job alone (--cgroup auto makes one)");
	if (is_own && f->memory.group_unmapped_bytes >= 0)
		set_quantity(files, f->memory.group_unmapped_bytes, TRK_QUALITY_ESTIMATED,
			     "shmem in memory.stat of the group",
			     "sampled; without what processes map");
	else
		set_quantity(files, f->memory.shmem_growth_bytes, TRK_QUALITY_ESTIMATED,
			     "Shmem in /proc/meminfo",
			     "growth on the whole machine without what the job's processes map; it "
			     "may not be due to the job");
}

void trk__peak_judge(const struct trk_peak_facts *f, struct trk_quantity total[TRK_TOTALS])
{
	struct peak p = {.best = NAN, .least = NAN, .most = NAN};

	judge_tree(f, &p);
	judge_held(f, &p);
	if (group_holds_all(f)) {
		struct peak alone = p;

		judge_group(f, &p);
		/* Page cache in the group, or files charged to another one, do not change its size. */
		if (alone.quality == TRK_QUALITY_EXACT && p.quality != TRK_QUALITY_EXACT)
			p = alone;
	}
	add_outside(f, &p);
	set_quantity(&total[TRK_TOTAL_PEAK_MEMORY_MIB], p.best, p.quality, p.source,
		     p.reason[0] ? p.reason : NULL);
	set_bounds(&p, total);
	set_group(f, total);
}
