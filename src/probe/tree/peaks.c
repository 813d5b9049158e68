/* Peaks of memory: the largest sum, a lower bound (floor), an estimate and an upper bound.
 *
 * - The largest sum: the best figure of an update, plus the excess of one VmHWM: VmHWM shows how
 *   far a process rose above its current size, so the peak is near or above "the current size of the
 *   others, and this one at its highest". Of an update whose bounds are far apart the lower one.
 * - The floor: the size of the largest process, or the lower bound of an update. Sizes: RSS, maxrss of a reaped process, and VmHWM, that of an attached
 *   process only where it rose since.
 * - The estimate for members that were seen together and ended before the next update: their size
 *   plus one page for each later page fault, but for each at most the size of the largest process.
 * - The upper bound: between two updates, the other members held at most what they did at one of them
 *   plus their rise above it. Each ended process held at most as much as the largest process, and
 *   all together at most what their page faults can have added. Their number is bounded by the pids
 *   that were allocated.
 *
 * The size of the largest process is known only at the end. So the parts of the estimate and of the
 * bound are stored by the number of ended processes, in powers of two, and combined on request. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/cgroup_files.h"
#include "probe/tree/private.h"

#define KIB 1024ull

enum {
	VAGUE_PART = 4, /* bounds that are this far apart give no best figure */
	VMSTAT_MAX = 1 << 16,
};

/* A fault on a file page may map this much around it (the kernel's fault_around_bytes). */
#define FAULT_AROUND_BYTES (64 * KIB)
#define HUGE_PAGE_BYTES    (2048 * KIB)

static uint64_t read_huge_page_bytes(const struct trk_env *env)
{
	char text[64];
	const char *at = text;
	uint64_t bytes;

	if (trk__read_at(env->sys_fd, "kernel/mm/transparent_hugepage/hpage_pmd_size", text,
			 sizeof(text)) > 0 &&
	    trk__scan_u64(&at, &bytes) && bytes > FAULT_AROUND_BYTES)
		return bytes;
	return HUGE_PAGE_BYTES;
}

/* Page faults of the machine that added a huge page, so far. UINT64_MAX: unknown. */
static uint64_t read_huge_faults(const struct trk_env *env)
{
	char *text = NULL;
	uint64_t faults = 0; /* a kernel without huge pages has no such line */

	if (trk__read_all_at(env->proc_fd, "vmstat", VMSTAT_MAX, &text) < 0)
		return UINT64_MAX;
	(void) trk__cgroup_keyed_parse(text, "thp_fault_alloc", &faults);
	free(text);
	return faults;
}

uint64_t trk__peaks_huge(struct trk_tree *t)
{
	uint64_t faults;

	if (t->huge_update == t->update)
		return t->huge_new;
	faults = read_huge_faults(&t->env);
	t->huge_new = faults == UINT64_MAX ? faults : faults - t->huge_faults;
	t->has_huge |= t->huge_new > 0;
	t->huge_faults = faults;
	t->huge_update = t->update;
	return t->huge_new;
}

static uint64_t bytes_per_fault(struct trk_tree *t)
{
	if (!t->has_huge)
		(void) trk__peaks_huge(t);
	return t->has_huge ? t->huge_page_bytes : FAULT_AROUND_BYTES;
}

void trk__peaks_begin(struct trk_tree *t, pid_t newest)
{
	pid_t before = t->newest_pid;
	size_t early = t->early_pids;

	if (t->huge_page_bytes == 0) {
		t->huge_page_bytes = read_huge_page_bytes(&t->env);
		t->huge_faults = read_huge_faults(&t->env);
	}
	t->gone = (struct peak_gone){0};
	t->before_pid = before;
	t->newest_pid = newest;
	t->early_pids = 0;
	if (t->state.threads > t->state.most_threads)
		t->state.most_threads = t->state.threads;
	if (t->options.one_process)
		return;
	/* If the pid counter has wrapped or is unknown, the number has no bound. */
	t->gone.pids = newest >= before && before > 0 ? (size_t) (newest - before) : UINT32_MAX;
	if (t->gone.pids < UINT32_MAX)
		t->gone.pids -= early < t->gone.pids ? early : t->gone.pids;
	t->gone.unseen = t->gone.pids;
}

void trk__peaks_explain(struct trk_tree *t, pid_t pid, bool is_member)
{
	if (pid > t->newest_pid) { /* allocated after the last pid was read */
		t->early_pids += is_member;
	} else if (pid > t->before_pid) {
		if (t->gone.pids > 0 && t->gone.pids < UINT32_MAX) {
			t->gone.pids--;
			t->gone.unseen--;
		}
	} else if (t->state.unseen_pids > 0 && t->state.unseen_pids < UINT64_MAX) {
		t->state.unseen_pids--; /* it was counted in an earlier update */
	}
}

void trk__peaks_count_unseen(struct trk_tree *t)
{
	t->state.unseen_updates += t->gone.pids > 0;
	if (t->gone.pids >= UINT32_MAX || t->state.unseen_pids == UINT64_MAX)
		t->state.unseen_pids = UINT64_MAX;
	else
		t->state.unseen_pids += t->gone.pids;
}

void trk__peaks_ended(struct trk_tree *t, const struct process *p, uint64_t faults)
{
	t->state.ended++;
	t->gone.faults += faults;
	t->gone.pss_bytes += p->pss_bytes;
	if (p->statm_faults)
		t->gone.seen++;
	else /* found after it had ended */
		t->gone.unseen++;
}

/* The final figure of a process that the caller reaped includes growth shortly before its end. */
uint64_t trk__peaks_of(const struct process *p)
{
	uint64_t seen = p->hwm_bytes > p->base_hwm_bytes ? p->hwm_bytes : p->most_rss_bytes;

	return p->final_peak_bytes > seen ? p->final_peak_bytes : seen;
}

static void raise_peak(struct trk_tree *t, uint64_t bytes, const char *source, bool is_floor)
{
	if (is_floor && bytes > t->state.floor_bytes)
		t->state.floor_bytes = bytes;
	if (bytes <= t->state.peak_bytes)
		return;
	t->state.peak_bytes = bytes;
	t->state.peak_source = source;
	t->state.peak_is_floor = is_floor;
}

static struct peak_bound *bound_of(struct trk_tree *t, uint64_t ended)
{
	unsigned int bits = ended ? 64u - (unsigned int) __builtin_clzll(ended) : 0;

	return &t->bound[bits < PEAK_BOUNDS ? bits : PEAK_BOUNDS - 1];
}

static void keep_larger(uint64_t *most, uint64_t value)
{
	if (value > *most)
		*most = value;
}

/* How far a live member's memory can have exceeded its current size since the last update. */
static uint64_t rise_of(struct trk_tree *t, const struct process *p)
{
	uint64_t rise = p->hwm_bytes > p->rss_bytes ? p->hwm_bytes - p->rss_bytes : 0;

	if (rise > 0 && p->new_faults < rise / bytes_per_fault(t))
		rise = p->new_faults * bytes_per_fault(t);
	return rise;
}

static void bound_interval(struct trk_tree *t, uint64_t rise)
{
	const struct trk_tree_state *s = &t->state;
	const struct peak_gone *g = &t->gone;
	uint64_t ended = g->seen + g->unseen;
	/* The last of several ending members has the largest shares of common pages. */
	uint64_t held = trk__least_of(g->pss_bytes, t->last_most_bytes);
	uint64_t stayed = t->last_most_bytes - held;
	uint64_t together = t->last_bytes > g->pss_bytes ? t->last_bytes - g->pss_bytes : 0;
	uint64_t faults = g->faults < UINT32_MAX ? g->faults : UINT32_MAX;
	uint64_t live = (stayed > s->most_bytes ? stayed : s->most_bytes) + rise;
	struct peak_bound *b = bound_of(t, ended);

	keep_larger(&b->live_bytes, live);
	keep_larger(&b->sum_bytes,
		    trk__least_of(live + g->pss_bytes, t->last_most_bytes + t->added + rise) +
			    (faults ? faults * bytes_per_fault(t) : 0));
	keep_larger(&b->ended, ended);
	if (g->seen > 0 && g->unseen == 0 &&
	    t->last_bytes + faults * t->page_bytes > b->together_bytes + b->grown_bytes) {
		b->together_bytes = together;
		b->grown_bytes = t->last_bytes - together + faults * t->page_bytes;
		b->together = g->seen;
	}
}

/* The member whose VmHWM most exceeds its RSS; *ret_rise: how far all members can have risen. */
static const struct process *look_at_rises(struct trk_tree *t, uint64_t *ret_rise)
{
	const struct process *highest = NULL;
	uint64_t rise = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];

		if (!p->looked)
			continue;
		keep_larger(&t->largest_bytes, p->hwm_bytes);
		rise += rise_of(t, p);
		if (p->hwm_excess_bytes &&
		    (!highest || p->hwm_excess_bytes > highest->hwm_excess_bytes))
			highest = p;
	}
	*ret_rise = rise;
	return highest;
}

static void take_sum(struct trk_tree *t, const struct process *highest)
{
	struct trk_tree_state *s = &t->state;
	uint64_t excess = highest ? highest->hwm_excess_bytes : 0;

	keep_larger(&s->floor_bytes, s->least_bytes);
	if (s->most_bytes - s->least_bytes > s->pss_bytes / VAGUE_PART) {
		raise_peak(t, s->least_bytes, trk__tree_sources.sum, true);
		return;
	}
	raise_peak(t, s->pss_bytes,
		   s->unreadable_memory ? trk__tree_sources.partly_sum : trk__tree_sources.sum,
		   false);
	if (highest)
		raise_peak(t, s->pss_bytes + excess, trk__tree_sources.sum_and_high, false);
}

void trk__peaks_update(struct trk_tree *t)
{
	const struct process *highest;
	uint64_t rise;

	if (t->options.figures_only)
		return;
	highest = look_at_rises(t, &rise);
	bound_interval(t, rise);
	take_sum(t, highest);
	t->last_bytes = t->state.pss_bytes;
	t->last_most_bytes = t->state.most_bytes;
}

void trk__peaks_largest(struct trk_tree *t, uint64_t bytes)
{
	keep_larger(&t->largest_bytes, bytes);
	raise_peak(t, bytes, trk__tree_sources.largest, true);
}

void trk__peaks_seen(struct trk_tree *t, const struct process *p)
{
	raise_peak(t, trk__peaks_of(p), "sampled RSS and VmHWM of the largest process", true);
}

void trk__tree_peak(const struct trk_tree *t, struct trk_tree_peak *ret)
{
	const struct trk_tree_state *s = &t->state;
	struct trk_tree_peak peak = {
		.bytes = s->peak_bytes,
		.floor_bytes = s->floor_bytes,
		.most_bytes = s->peak_bytes,
		.source = s->peak_source,
		.is_floor = s->peak_is_floor,
	};

	for (int i = 0; i < PEAK_BOUNDS; i++) {
		const struct peak_bound *b = &t->bound[i];
		uint64_t ended = b->ended < UINT32_MAX ? b->ended : UINT32_MAX;
		uint64_t most = b->live_bytes + ended * t->largest_bytes, together;

		keep_larger(&peak.most_bytes, trk__least_of(most, b->sum_bytes));
		together = b->together * t->largest_bytes;
		if (together > b->grown_bytes)
			together = b->grown_bytes;
		if (b->together == 0 || b->together_bytes + together <= peak.bytes)
			continue;
		peak.bytes = b->together_bytes + together;
		peak.source = "sampled PSS, and page faults of processes that ended together";
		peak.is_floor = false;
	}
	keep_larger(&peak.most_bytes, peak.bytes);
	*ret = peak;
}
