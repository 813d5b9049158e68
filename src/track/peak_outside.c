/* The totals of memory that no size of a process contains: what is swapped out, and huge pages of
 * hugetlbfs; the memory that the job needed with both; and the part that the kernel could drop. */
#include <math.h>

#include "base/bytes.h"
#include "track/peak.h"

/* Less does not matter to a request. */
static const double LITTLE_BYTES = 1 * TRK_MIB;

static bool is_group_known(const struct trk_peak_facts *f)
{
	return f->is_run && f->group != TRK_PEAK_GROUP_NONE && !isnan(f->memory.group_swap_bytes);
}

static void set_swap(const struct trk_peak_facts *f, struct trk_quantity *ret)
{
	double group_mib = f->memory.group_swap_bytes / TRK_MIB;
	double tree_mib = f->memory.tree_swap_bytes / TRK_MIB;

	if (is_group_known(f) && f->memory.swap_is_peak)
		trk__quantity_set(ret, group_mib, TRK_QUALITY_AT_MOST,
				  "memory.swap.peak of the control group",
				  f->group == TRK_PEAK_GROUP_OWN
					  ? "all processes of the group are included"
					  : "the tracker is included");
	else if (is_group_known(f))
		trk__quantity_set(ret, group_mib, TRK_QUALITY_AT_LEAST, "swap of the control group",
				  "sampled");
	else if (!isnan(tree_mib))
		trk__quantity_set(
			ret, tree_mib, TRK_QUALITY_AT_LEAST, "VmSwap of the processes",
			"sampled, without files in memory; of processes that share swapped "
			"pages only the largest counts");
	else
		trk__quantity_unknown(ret, "swap was not measured");
}

static void set_huge(const struct trk_peak_facts *f, struct trk_quantity *ret)
{
	double mib = f->memory.tree_huge_bytes / TRK_MIB;

	if (isnan(mib))
		trk__quantity_unknown(ret, "huge pages were not measured");
	else
		trk__quantity_set(ret, mib, TRK_QUALITY_AT_LEAST, "HugetlbPages of the processes",
				  "sampled; of several processes only the largest counts, as they "
				  "may share them");
}

/* A figure that is exact without what is sampled is a lower bound with it. */
static enum trk_quality with_samples(enum trk_quality quality)
{
	if (quality == TRK_QUALITY_EXACT)
		return TRK_QUALITY_AT_LEAST;
	return quality == TRK_QUALITY_AT_MOST ? TRK_QUALITY_ESTIMATED : quality;
}

static void set_needed(const struct trk_peak_facts *f, const struct trk_quantity *peak,
		       struct trk_quantity *ret)
{
	const struct trk_sampler_memory *m = &f->memory;
	bool uses_any = m->tree_swap_bytes > LITTLE_BYTES || m->tree_huge_bytes > LITTLE_BYTES ||
			(is_group_known(f) && m->group_swap_bytes > LITTLE_BYTES);
	/* The peak may have been between two samples, with the same swap and huge pages. */
	double above = peak->value - m->row_bytes / TRK_MIB;
	double mib = m->needed_bytes / TRK_MIB + (above > 0 ? above : 0);

	if (isnan(peak->value))
		trk__quantity_unknown(ret, peak->reason);
	else if (m->misses_outside)
		trk__quantity_set(ret, peak->value, with_samples(peak->quality), peak->source,
				  "swap and huge pages of the processes were not measured");
	else if (!uses_any)
		*ret = *peak;
	else
		trk__quantity_set(ret, mib > peak->value ? mib : peak->value,
				  peak->quality == TRK_QUALITY_AT_LEAST && !(above > 0)
					  ? TRK_QUALITY_AT_LEAST
					  : TRK_QUALITY_ESTIMATED,
				  "samples of memory, swap and huge pages",
				  "the largest sum at one sample, and by how much the peak of the "
				  "memory is above its samples");
}

static void set_files(const struct trk_peak_facts *f, struct trk_quantity *ret)
{
	double mib = f->memory.file_bytes / TRK_MIB;

	if (isnan(mib))
		trk__quantity_unknown(ret, "there was no sample");
	else
		trk__quantity_set(ret, mib, TRK_QUALITY_ESTIMATED, "smaps_rollup",
				  "in the row with the most memory; of the processes for which "
				  "smaps_rollup was read");
}

void trk__peak_outside(const struct trk_peak_facts *f, struct trk_quantity total[TRK_TOTALS])
{
	set_swap(f, &total[TRK_TOTAL_PEAK_SWAP_MIB]);
	set_huge(f, &total[TRK_TOTAL_PEAK_HUGE_PAGES_MIB]);
	set_files(f, &total[TRK_TOTAL_PEAK_FILE_PAGES_MIB]);
	set_needed(f, &total[TRK_TOTAL_PEAK_MEMORY_MIB], &total[TRK_TOTAL_PEAK_NEEDED_MIB]);
}
