/* Memory of the tree: PSS within a CPU budget, and peaks.
 *
 * smaps_rollup costs microseconds a MiB and holds the process's mmap lock, so it is read only when
 * the last reading can no longer be trusted, and only while there is credit: a share of one core
 * (0.5 % by default) flows in, with a store at the start so that short jobs are read at once.
 * Between readings PSS is inferred: anonymous and shared resident memory, each times the share of
 * it that was the process's at the last reading, or, after a fork or an exit among its relatives,
 * the share that a sibling of the same name has been found to have since.
 *
 * A sum over many processes is a fair peak only if nothing moved while it was taken: if a fork or an
 * exit fell between two readings, shared pages are counted with two different divisors. Such sums
 * are shown, but never become the peak.
 *
 * Peaks between two updates: VmHWM tells how far a process rose above what it holds now. The tree's
 * peak is then at least near "the others now, and this one at its highest". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/linux/pid_smaps.h"
#include "probe/linux/pid_status.h"
#include "probe/tree_private.h"

#define MIB (1024.0 * 1024.0)

enum {
	STALE_UPDATES = 300, /* a reading is repeated after so many updates, credit permitting */
	CALM_UPDATES = 60,
	PASSES = 3, /* tries for a sum without a fork in between */
};

/* Credit at the start and at most, and the costliest single reading: above this, about 20 GiB of
 * 4 KiB pages, the walk would hold up the process's own page faults for too long. */
static const double CREDIT_START_NS = 150e6;
static const double CREDIT_MAX_NS = 200e6;
static const double READING_MAX_NS = 100e6;
static const double NS_PER_BYTE_UNKNOWN = 5000 / MIB;

void trk__memory_init(struct trk_tree *t)
{
	t->credit_ns = t->options.pss_share > 0 ? CREDIT_START_NS : 0;
	t->credit_at_ns = t->env.monotonic_ns();
}

static void refill(struct trk_tree *t)
{
	uint64_t now = t->updated_ns;

	t->credit_ns += (double) (now - t->credit_at_ns) * t->options.pss_share;
	if (t->credit_ns > CREDIT_MAX_NS)
		t->credit_ns = CREDIT_MAX_NS;
	t->credit_at_ns = now;
}

static int read_status(struct trk_tree *t, const struct process *p, struct trk_pid_status *ret)
{
	if (!p->speaker)
		return trk__pid_status_read(t->env.proc_fd, p->pid, ret);
	TRK_FD_CLEANUP int tasks = trk__speaker_tasks(t, p);

	return tasks < 0 ? tasks : trk__pid_status_read(tasks, p->speaker, ret);
}

static int read_rollup(struct trk_tree *t, const struct process *p, struct trk_pid_smaps *ret)
{
	if (!p->speaker)
		return trk__pid_smaps_read(t->env.proc_fd, p->pid, ret);
	TRK_FD_CLEANUP int tasks = trk__speaker_tasks(t, p);

	return tasks < 0 ? tasks : trk__pid_smaps_read(tasks, p->speaker, ret);
}

void trk__memory_high_water(struct trk_tree *t, struct process *p)
{
	struct trk_pid_status status;
	const struct process *parent;
	uint64_t before = p->hwm_bytes;

	if (read_status(t, p, &status) < 0 || !status.has_memory)
		return;
	p->hwm_bytes = status.hwm_bytes;
	if (before == 0) {
		/* First look. A forked child is born with its parent's size as its mark; an old
		 * process that we attach to has a mark from before. */
		parent = trk__tree_find(t, p->ppid);
		before = parent ? parent->hwm_bytes : 0;
		if (p->start_ticks < t->start_ticks)
			before = status.hwm_bytes;
	}
	if (status.hwm_bytes > before && status.hwm_bytes > p->rss_bytes)
		p->hwm_excess_bytes =
			status.hwm_bytes - (before > p->rss_bytes ? before : p->rss_bytes);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint32_t family_of(struct trk_tree *t, const struct process *p)
{
	const struct process *parent = trk__tree_find(t, p->ppid);

	return p->family + (parent ? parent->family : 0);
}

/* Has nobody joined or left its relatives since its own last reading? */
static bool reading_stands(struct trk_tree *t, const struct process *p)
{
	return p->read_update != 0 && family_of(t, p) == p->family_at_read;
}

/* A sibling of the same name that was read after the last fork or exit among them, and after p:
 * forked workers share alike, but for one that has forked or lost a child of its own since, which shares
 * with that as well. NULL where there is none. */
TRK_HOT static const struct process *kin_of(struct trk_tree *t, const struct process *p)
{
	const struct process *parent = trk__tree_find(t, p->ppid);

	if (p->family != p->brood_at_read)
		return NULL;
	if (!parent || parent->kin_update == 0 || parent->kin_update < p->read_update ||
	    parent->kin_family != parent->family ||
	    strncmp(parent->kin_name, p->name, sizeof(parent->kin_name) - 1) != 0)
		return NULL;
	return parent;
}

/* Smaller doubts are not worth a reading. */
static uint64_t small_doubt(uint64_t sum_bytes)
{
	return sum_bytes / 1024 + 1;
}

/* In an epoch without forks, exits and news of siblings a member that did nothing raises no new doubt.
 * Now and then all are looked at nevertheless, because readings grow old. */
static bool is_calm(const struct trk_tree *t, const struct process *p)
{
	return p->calm_epoch == t->epoch && t->update % CALM_UPDATES != 0;
}

/* Returns true when the shares are those of a sibling. */
TRK_HOT static bool infer(struct trk_tree *t, struct process *p)
{
	uint64_t anon = p->rss_bytes - p->shared_bytes;
	const struct process *kin = reading_stands(t, p) ? NULL : kin_of(t, p);

	if (kin) {
		p->anon_factor = kin->kin_anon_factor;
		p->shared_factor = kin->kin_shared_factor;
	}
	p->pss_bytes = (uint64_t) ((double) anon * (double) p->anon_factor +
				   (double) p->shared_bytes * (double) p->shared_factor);
	return kin != NULL;
}

/* How far off the inferred PSS may be, bytes; 0 when the last reading still stands. */
TRK_HOT static uint64_t doubt(struct trk_tree *t, struct process *p)
{
	uint64_t moved, faulted, doubtful = 0;
	double other; /* what others may hold a part of */

	if (p->zombie || p->pss_denied || p->rss_bytes == 0)
		return 0;
	if (!reading_stands(t, p))
		return infer(t, p) ? p->pss_bytes / 4 : p->rss_bytes;
	moved = distance(p->rss_bytes, p->read_rss_bytes) +
		distance(p->shared_bytes, p->read_shared_bytes);
	if (moved > p->read_rss_bytes / 20 + 1024 * 1024)
		doubtful = moved;
	other = (double) p->rss_bytes - (double) p->pss_bytes;
	/* Writing to pages shared with relatives makes them ours. */
	faulted = (p->own[TRK_TREE_MINOR_FAULTS] - p->faults_at_read) * t->page_bytes;
	if (p->anon_factor < 0.99F && faulted > p->read_rss_bytes / 20)
		doubtful += faulted < p->rss_bytes ? faulted : p->rss_bytes;
	if (t->update - p->read_update > STALE_UPDATES && other > MIB)
		doubtful += (uint64_t) other;
	return doubtful;
}

/* By so much that those who infer from it want to know? */
static bool has_moved(float before, float now)
{
	return now > before * 1.01F || now < before * 0.99F;
}

/* Tell the siblings. */
static void note_kin(struct trk_tree *t, const struct process *p)
{
	struct process *parent = trk__tree_find(t, p->ppid);

	if (!parent)
		return;
	if (parent->kin_family != parent->family ||
	    has_moved(parent->kin_anon_factor, p->anon_factor) ||
	    has_moved(parent->kin_shared_factor, p->shared_factor))
		t->epoch++;
	parent->kin_anon_factor = p->anon_factor;
	parent->kin_shared_factor = p->shared_factor;
	parent->kin_update = t->update;
	parent->kin_family = parent->family;
	(void) snprintf(parent->kin_name, sizeof(parent->kin_name), "%s", p->name);
}

static void take_reading(struct trk_tree *t, struct process *p, const struct trk_pid_smaps *smaps)
{
	uint64_t anon = smaps->anon_bytes ? smaps->anon_bytes : p->rss_bytes - p->shared_bytes;
	uint64_t shared = smaps->rss_bytes > anon ? smaps->rss_bytes - anon : 0;
	uint64_t highest;

	if (smaps->has_split && smaps->anon_bytes) {
		p->anon_factor = (float) ((double) smaps->pss_anon_bytes / (double) anon);
		p->shared_factor = shared ? (float) ((double) (smaps->pss_file_bytes +
							       smaps->pss_shmem_bytes) /
						     (double) shared)
					  : 1;
	} else if (smaps->rss_bytes) {
		p->anon_factor = p->shared_factor =
			(float) ((double) smaps->pss_bytes / (double) smaps->rss_bytes);
	}
	p->pss_bytes = smaps->pss_bytes;
	/* The walk sees exact page counts, statm's may lag: what it saw is the truth of the moment. */
	p->rss_bytes = smaps->rss_bytes;
	p->shared_bytes = shared;
	/* What it grew by between statm and this walk is in the sum already. */
	highest = p->hwm_bytes > p->rss_bytes ? p->hwm_bytes - p->rss_bytes : 0;
	if (p->hwm_excess_bytes > highest)
		p->hwm_excess_bytes = highest;
	p->read_rss_bytes = p->rss_bytes;
	p->read_shared_bytes = p->shared_bytes;
	p->read_pss_bytes = smaps->pss_bytes;
	p->faults_at_read = p->own[TRK_TREE_MINOR_FAULTS];
	p->family_at_read = family_of(t, p);
	p->brood_at_read = p->family;
	p->read_update = t->update;
}

/* Returns false when the credit does not allow it. */
static bool read_smaps(struct trk_tree *t, struct process *p)
{
	double per_byte =
		p->read_ns_per_byte > 0 ? (double) p->read_ns_per_byte : NS_PER_BYTE_UNKNOWN;
	double expected = 10e3 + (double) p->rss_bytes * per_byte;
	struct trk_pid_smaps smaps;
	uint64_t start, cost;
	int r;

	if (expected > READING_MAX_NS || expected > t->credit_ns)
		return false;
	start = trk__clock_thread_cpu_ns();
	r = read_rollup(t, p, &smaps);
	cost = trk__clock_thread_cpu_ns() - start;
	t->credit_ns -= (double) cost;
	if (r == -ENOENT)
		t->smaps_missing = true;
	if (r == -EACCES || r == -EPERM || r == -ENOENT)
		p->pss_denied = true;
	if (r < 0)
		return true;
	if (smaps.rss_bytes > 1024 * 1024)
		p->read_ns_per_byte = (float) ((double) cost / (double) smaps.rss_bytes);
	take_reading(t, p, &smaps);
	note_kin(t, p);
	return true;
}

/* Read those whose doubt is at least `least`. Returns the doubt that is left for want of credit. */
TRK_HOT static uint64_t read_doubtful(struct trk_tree *t, uint64_t least, bool *any)
{
	uint64_t left = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];
		uint64_t doubtful = is_calm(t, p) ? 0 : doubt(t, p);

		if (doubtful == 0)
			continue;
		if (doubtful >= least && read_smaps(t, p))
			*any = true;
		else if (doubtful >= least || !kin_of(t, p))
			left += doubtful;
	}
	return left;
}

static uint64_t sum_of_pss(const struct trk_tree *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->count; i++)
		sum += t->process[i].pss_bytes;
	return sum;
}

/* Is every member that matters to the sum still as large as it was counted? One that has exited
 * since, whether reaped or not, has given its share of common pages to the others. */
static bool still_there(struct trk_tree *t)
{
	uint64_t matters = sum_of_pss(t) / 100 + 1;

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];
		uint64_t resident;

		if (p->zombie || (p->read_update != t->update && p->pss_bytes < matters))
			continue;
		if (trk__tree_resident(t, p, &resident) < 0 || resident < p->rss_bytes / 10 * 9)
			return false;
	}
	return true;
}

/* Read until a sum was taken in which nothing moved. Returns false when none could be had. */
static bool read_all(struct trk_tree *t)
{
	bool any = true, read = false, found = true;
	uint64_t left = 0;

	for (int pass = 0; pass < PASSES && any && found; pass++) {
		any = false;
		/* The largest doubts first, in two sweeps: credit may end before the small ones. */
		left = read_doubtful(t, sum_of_pss(t) / 8 + 1, &any);
		if (left)
			left = read_doubtful(t, small_doubt(sum_of_pss(t)), &any);
		read |= any;
		/* A newcomer shares with its parent: the parent's share has changed as well. */
		found = any && trk__tree_discover(t);
	}
	if (found || t->options.figures_only || (read && !still_there(t)))
		return false;
	return left <= sum_of_pss(t) / 100;
}

static void raise_peak(struct trk_tree *t, uint64_t bytes, const char *source, bool is_floor)
{
	if (bytes <= t->state.peak_bytes)
		return;
	t->state.peak_bytes = bytes;
	t->state.peak_source = source;
	t->state.peak_is_floor = is_floor;
}

static void update_peaks(struct trk_tree *t, bool consistent)
{
	struct trk_tree_state *s = &t->state;
	const struct process *highest = NULL;
	uint64_t excess, doubtful, pss = s->pss_bytes;
	size_t processes;

	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];

		if (p->hwm_excess_bytes &&
		    (!highest || p->hwm_excess_bytes > highest->hwm_excess_bytes))
			highest = p;
	}
	excess = highest ? highest->hwm_excess_bytes : 0;
	if (!consistent || (pss <= s->peak_pss_bytes && pss + excess <= s->peak_bytes))
		return;
	if (s->unseen) {
		trk__turns_doubt(t, &doubtful, &processes);
		pss -= doubtful;
	}
	if (pss > s->peak_pss_bytes)
		s->peak_pss_bytes = pss;
	raise_peak(t, pss, s->unreadable_memory ? "sampled RSS and PSS" : "sampled PSS", false);
	if (highest)
		raise_peak(t, pss + excess, "sampled PSS and VmHWM", false);
}

/* Is what is shown of a member an estimate, and will it stay as good? A small part that follows from a
 * sibling's does while the sum of all stays as large. */
static void take_stock(struct trk_tree *t, struct process *p, uint64_t sum_bytes)
{
	uint64_t doubtful = doubt(t, p);

	p->pss_estimated =
		!reading_stands(t, p) || p->rss_bytes != p->read_rss_bytes ||
		p->shared_bytes != p->read_shared_bytes ||
		(p->anon_factor < 0.99F && p->faults_at_read != p->own[TRK_TREE_MINOR_FAULTS]);
	if (doubtful > 0 && (doubtful >= small_doubt(sum_bytes) || !kin_of(t, p)))
		return;
	p->calm_epoch = t->epoch;
	if (doubtful > 0 && t->calm_sum_bytes < sum_bytes)
		t->calm_sum_bytes = sum_bytes;
}

TRK_HOT void trk__memory_update(struct trk_tree *t)
{
	struct trk_tree_state *s = &t->state;
	uint64_t sum_bytes;
	bool consistent;
	size_t i;

	refill(t);
	for (i = 0; i < t->count; i++)
		if (t->process[i].looked)
			(void) infer(t, &t->process[i]);
	consistent = t->options.pss_share > 0 && !t->smaps_missing ? read_all(t) : true;

	sum_bytes = sum_of_pss(t);
	if (sum_bytes < t->calm_sum_bytes / 2) { /* what was small is so no more */
		t->calm_sum_bytes = 0;
		t->epoch++;
	}
	s->rss_bytes = s->pss_bytes = s->pss_estimated_bytes = 0;
	s->unreadable_memory = 0;
	for (i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (!is_calm(t, p))
			take_stock(t, p, sum_bytes);
		s->rss_bytes += p->rss_bytes;
		s->pss_bytes += p->pss_bytes;
		if (p->pss_estimated)
			s->pss_estimated_bytes += p->pss_bytes;
		s->unreadable_memory += (p->pss_denied || t->smaps_missing) && !p->zombie;
	}
	update_peaks(t, consistent);
}

void trk__memory_reaped(struct trk_tree *t, uint64_t maxrss_bytes)
{
	raise_peak(t, maxrss_bytes, "ru_maxrss of a reaped process", true);
}
