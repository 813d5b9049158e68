/* Memory of the tree: PSS within a CPU budget.
 *
 * Reading smaps_rollup costs microseconds per MiB and holds the process's mmap lock, so it is read
 * only if the last reading is outdated and the budget allows it: a share of one core (0.5 % by
 * default), of which the first 20 s are available at the start (pss_budget.h). Between readings PSS
 * is estimated: anonymous and shared resident memory, each times the ratio of PSS to RSS at the
 * last reading or, after a fork or an exit among its relatives, the ratio of a newer reading of a
 * sibling with the same name.
 *
 * A sum over many processes is a valid peak only if nothing changed meanwhile: after a fork or an
 * exit between two readings, shared pages are counted with two different divisors. Such sums are
 * shown, but never become the peak (tree/peaks.c). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "probe/linux/pid_smaps.h"
#include "probe/linux/pid_status.h"
#include "probe/tree/private.h"

/* ---- shared pages: which estimates does a reading of one member outdate? ----
 *
 * If one more member maps a page, the share of all others decreases, also of those that sleep and
 * were read long ago. Two sums count such changes that readings show. `stirred_bytes` grows by the
 * pages that a member began or ceased to share: it bounds the error of the estimates of others that
 * hold shared pages. `owed_bytes` grows by the shares that members received of pages which others
 * held before: until the others are read again, these bytes are counted twice and are subtracted
 * from the sum. Both assume that members share the pages; if processes outside the tree do, the
 * next reading shows it. */

enum {
	STIRRED_PART = 64, /* errors below 1/64 of a member's memory or of the sum are accepted */
	FAULT_AROUND_BYTES = 64 * 1024, /* mapped by one fault on a file page */
};

/* Changes in sharing that were found since p was read and may be missing in its reading. Changes
 * from before the update began are in every reading of this update. */
static void since_read(const struct trk_tree *t, const struct process *p, uint64_t *ret_stirred,
		       int64_t *ret_owed)
{
	const struct sharing *now = &t->sharing, *then = &p->sharing_at_read;
	bool is_new = p->read_update == t->update;

	*ret_stirred = is_new ? now->late_stirred_bytes - then->late_stirred_bytes
			      : now->stirred_bytes - then->stirred_bytes;
	*ret_owed = is_new ? now->late_owed_bytes - then->late_owed_bytes
			   : now->owed_bytes - then->owed_bytes;
}

static void close_sharing(const struct trk_tree *t, struct process *p)
{
	struct sharing at = t->sharing;
	uint64_t stirred;
	int64_t owed;

	since_read(t, p, &stirred, &owed);
	at.stirred_bytes -= stirred;
	at.owed_bytes -= owed;
	p->sharing_at_read = at;
}

static uint64_t sharing_stirred(const struct trk_tree *t, const struct process *p)
{
	uint64_t exposed = p->anon_factor < 0.99F ? p->rss_bytes : p->shared_bytes;
	uint64_t moved;
	int64_t owed;

	since_read(t, p, &moved, &owed);
	if (moved > exposed)
		moved = exposed;
	return moved > p->rss_bytes / STIRRED_PART + t->last_pss_bytes / STIRRED_PART ? moved : 0;
}

static void stir(struct trk_tree *t, uint64_t bytes, uint64_t late_bytes)
{
	t->sharing.stirred_bytes += bytes;
	t->sharing.late_stirred_bytes += late_bytes;
	if (t->sharing.stirred_bytes - t->stirred_at_epoch <= t->last_pss_bytes / STIRRED_PART)
		return;
	t->stirred_at_epoch = t->sharing.stirred_bytes;
	t->epoch++;
}

/* Bytes that it can have mapped or unmapped since its last reading. */
static uint64_t own_change(const struct process *p, const struct trk_pid_smaps *smaps)
{
	uint64_t faults = p->own[TRK_TREE_MINOR_FAULTS] - p->faults_at_read;

	if (p->read_update == 0)
		return UINT64_MAX;
	return trk__distance(smaps->rss_bytes, p->read_rss_bytes) +
	       trk__least_of(faults, UINT32_MAX) * FAULT_AROUND_BYTES;
}

/* A reading shows how many of its pages others hold. Changes due to pages that it mapped or
 * unmapped affect the others' estimates; the rest was caused by the others. */
static void note_sharing(struct trk_tree *t, struct process *p, const struct trk_pid_smaps *smaps)
{
	uint64_t lent =
		smaps->rss_bytes > smaps->pss_bytes ? smaps->rss_bytes - smaps->pss_bytes : 0;
	uint64_t part = smaps->shared_bytes > lent ? smaps->shared_bytes - lent : 0;
	uint64_t own = own_change(p, smaps), late = trk__distance(smaps->rss_bytes, p->rss_bytes);
	uint64_t change = trk__least_of(trk__distance(lent, p->lent_bytes), own);
	int64_t taken = (int64_t) part - (int64_t) p->part_bytes;

	stir(t, change, trk__least_of(change, late));
	if (taken > 0)
		taken = lent < p->lent_bytes ? 0 /* others left */
					     : (int64_t) trk__least_of((uint64_t) taken, own);
	if (taken < -p->owed_own)
		taken = -p->owed_own;
	p->owed_own += taken;
	t->sharing.owed_bytes += taken;
	if (taken > 0) {
		t->sharing.late_owed_bytes += (int64_t) trk__least_of((uint64_t) taken, late);
		t->is_owed = true;
	}
	p->lent_bytes = lent;
	p->part_bytes = part;
	p->shared_at_read = smaps->shared_bytes;
	p->sharing_at_read = t->sharing;
	p->shmem_bytes = smaps->pss_shmem_bytes;
}

void trk__sharing_gone(struct trk_tree *t, struct process *p)
{
	if (p->lent_bytes)
		stir(t, p->lent_bytes, 0);
	t->sharing.owed_bytes -= p->owed_own;
	p->lent_bytes = p->part_bytes = p->shmem_bytes = 0;
	p->owed_own = 0;
}

static int64_t sharing_owed(const struct trk_tree *t, const struct process *p)
{
	uint64_t moved;
	int64_t owed;

	since_read(t, p, &moved, &owed);
	return owed;
}

/* ---- readings ---- */

#define MIB (1024.0 * 1024.0)

enum {
	STALE_UPDATES = 300, /* repeat a reading after so many updates, budget permitting */
	CALM_UPDATES = 60,
	PASSES = 3, /* attempts at a sum without a fork in between */
};

/* With this much credit, members whose PSS follows from a sibling are read, too. */
static const double CREDIT_AMPLE_NS = 0.8 * TRK_PSS_CREDIT_MAX_NS;
/* Maximum cost of a reading, about 20 GiB of 4 KiB pages: a longer walk would delay the process's
 * page faults too much. */
static const double READING_MAX_NS = 100e6;
static const double NS_PER_BYTE_UNKNOWN = 5000 / MIB;

void trk__memory_init(struct trk_tree *t)
{
	trk__pss_budget_init(&t->pss_budget, t->options.pss_share, t->env.monotonic_ns());
}

static int read_status(struct trk_tree *t, const struct process *p, struct trk_pid_status *ret)
{
	if (!p->live_thread)
		return trk__pid_status_read(t->env.proc_fd, p->pid, ret);
	TRK_FD_CLEANUP int tasks = trk__live_thread_tasks(t, p);

	return tasks < 0 ? tasks : trk__pid_status_read(tasks, p->live_thread, ret);
}

static int read_rollup(struct trk_tree *t, struct process *p, struct trk_pid_smaps *ret,
		       uint64_t *ret_ns)
{
	int r = trk__pid_smaps_read(t->options.reader, &t->env, p->start_ticks,
				    trk__member_dir(p).text, ret, ret_ns);

	trk__stuck_note(t, p, "smaps_rollup", r);
	return r;
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
		/* First read. A forked child inherits VmHWM from its parent; the VmHWM of an
		 * attached process is from before. */
		parent = trk__tree_find(t, p->ppid);
		before = parent ? parent->hwm_bytes : 0;
		if (p->start_ticks < t->start_ticks)
			before = status.hwm_bytes;
	}
	if (status.hwm_bytes > before && status.hwm_bytes > p->rss_bytes)
		p->hwm_excess_bytes =
			status.hwm_bytes - (before > p->rss_bytes ? before : p->rss_bytes);
}

static uint32_t family_of(struct trk_tree *t, const struct process *p)
{
	const struct process *parent = trk__tree_find(t, p->ppid);

	return p->family + (parent ? parent->family : 0);
}

/* True if no relative was forked or ended since its last reading. */
static bool reading_stands(struct trk_tree *t, const struct process *p)
{
	return p->read_update != 0 && family_of(t, p) == p->family_at_read;
}

/* A sibling of the same name that was read after the last fork or exit among them, and after p.
 * Forked workers share the same pages, except one with a fork or an ended child since, which also
 * shares pages with that child. NULL: none. */
static const struct process *kin_of(struct trk_tree *t, const struct process *p)
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

/* Smaller errors do not justify a reading. */
static uint64_t small_doubt(uint64_t sum_bytes)
{
	return sum_bytes / 1024 + 1;
}

/* In an epoch without forks, exits and new readings of siblings, the estimate of a member that did
 * nothing stays valid. Every CALM_UPDATES all are checked, because readings age. */
static bool is_calm(const struct trk_tree *t, const struct process *p)
{
	return p->calm_epoch == t->epoch && t->update % CALM_UPDATES != 0;
}

/* True if a child of the same name was read after p and after the last fork or exit, with nearly as
 * many shared pages. It was forked from p, so both share files and shared memory with the same
 * processes. */
static bool has_child_like_it(const struct process *p)
{
	return p->kin_update > p->read_update && p->kin_family == p->family &&
	       p->kin_shared_bytes >= p->shared_bytes - p->shared_bytes / 8 &&
	       strncmp(p->kin_name, p->name, sizeof(p->kin_name) - 1) == 0;
}

/* True if a newer reading of a relative determines its shares. */
static bool is_inferred_anew(struct trk_tree *t, const struct process *p)
{
	if (reading_stands(t, p) && sharing_stirred(t, p) == 0)
		return false;
	return kin_of(t, p) != NULL || has_child_like_it(p);
}

static void infer_by_factors(struct process *p)
{
	p->pss_bytes =
		(uint64_t) ((double) (p->rss_bytes - p->shared_bytes) * (double) p->anon_factor +
			    (double) p->shared_bytes * (double) p->shared_factor);
}

/* True if its smaps_rollup may be read; otherwise RSS is used. */
static bool may_read(const struct trk_tree *t, const struct process *p)
{
	return t->options.pss_share > 0 && !t->smaps_missing && !p->pss_denied;
}

/* Private pages of a member, estimated without a reading: those of its last reading, or none for a
 * fork that was never read; its new anonymous pages; and a copy of a shared page for each fault
 * that did not add a page. */
static uint64_t own_pages(const struct trk_tree *t, const struct process *p)
{
	uint64_t anon = p->rss_bytes - p->shared_bytes, faults = p->statm_faults, own = 0;
	uint64_t rss_then = p->forked_rss_bytes, anon_then = rss_then, grown, copied;

	if (p->read_update) {
		own = p->read_rss_bytes - trk__least_of(p->shared_at_read, p->read_rss_bytes);
		rss_then = p->read_rss_bytes;
		anon_then =
			p->read_rss_bytes - trk__least_of(p->read_shared_bytes, p->read_rss_bytes);
		faults = p->own[TRK_TREE_MINOR_FAULTS] - p->faults_at_read;
	}
	grown = p->rss_bytes > rss_then ? p->rss_bytes - rss_then : 0;
	copied = trk__least_of(faults, UINT32_MAX) * t->page_bytes;
	own += anon > anon_then ? anon - anon_then : 0;
	own += copied > grown ? copied - grown : 0;
	return trk__least_of(own, p->rss_bytes);
}

/* Estimate PSS with the ratios of a sibling that was read later. */
static void infer_from_kin(struct trk_tree *t, struct process *p, const struct process *kin)
{
	uint64_t anon = p->rss_bytes - p->shared_bytes, own;

	p->anon_factor = kin->kin_anon_factor;
	p->shared_factor = kin->kin_shared_factor;
	if (p->read_update == 0 && p->forked_rss_bytes == 0) {
		infer_by_factors(p);
		return;
	}
	/* Files and shared memory are never private. */
	own = trk__least_of(own_pages(t, p), anon);
	p->pss_bytes = own + (uint64_t) ((double) (anon - own) * (double) kin->kin_anon_part +
					 (double) p->shared_bytes * (double) p->shared_factor);
}

/* Returns true when the shares are those of a sibling or a child. */
static bool infer(struct trk_tree *t, struct process *p)
{
	if (p->space_of) {
		p->pss_bytes = 0;
		return false;
	}
	bool stands = reading_stands(t, p), is_stirred = sharing_stirred(t, p) > 0;
	const struct process *kin = stands && !is_stirred ? NULL : kin_of(t, p);
	bool like_child = !kin && is_stirred && has_child_like_it(p);

	if (kin) {
		infer_from_kin(t, p, kin);
		return true;
	}
	if (like_child)
		p->shared_factor = p->kin_shared_factor;
	infer_by_factors(p);
	/* The memory that a fork inherits is its parent's and is counted there. */
	if (p->read_update == 0 && p->forked_rss_bytes && may_read(t, p))
		p->pss_bytes = own_pages(t, p);
	return like_child && stands;
}

/* Estimated shares of pages that members mapped since their readings, from the ratios of these. */
static uint64_t inferred_parts(const struct trk_tree *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];

		if (p->shared_bytes > p->read_shared_bytes && p->shared_factor < 0.9F)
			sum += (uint64_t) ((double) (p->shared_bytes - p->read_shared_bytes) *
					   (double) p->shared_factor);
	}
	return sum;
}

/* Bytes that the sum of PSS counts twice: shares that members received of pages whose other holders
 * were not read since. */
static uint64_t counted_twice(struct trk_tree *t)
{
	uint64_t most = 0, sum = 0, largest = 0, all = 0, inferred;

	if (!t->is_owed)
		return 0;
	inferred = inferred_parts(t);
	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];
		uint64_t exposed;
		int64_t owed;

		all += p->pss_bytes;
		if (p->rss_bytes > largest)
			largest = p->rss_bytes;
		owed = sharing_owed(t, p);
		if (p->read_update != t->update)
			owed += (int64_t) inferred;
		if (owed <= 0 || p->zombie || p->read_update == 0 || is_inferred_anew(t, p))
			continue;
		exposed = (uint64_t) ((double) p->shared_bytes * (double) p->shared_factor);
		if (p->anon_factor < 0.99F)
			exposed = p->pss_bytes;
		if (most < (uint64_t) owed)
			most = (uint64_t) owed;
		sum += trk__least_of(exposed, (uint64_t) owed);
	}
	t->is_owed = sum > 0;
	/* The tree holds at least as much as its largest member. */
	return all > largest ? trk__least_of(trk__least_of(most, sum), all - largest) : 0;
}

/* True if nearly all of its pages were private at its last reading. New ones are then probably
 * private, too, and readings of others show which of them they map. */
static bool shares_little(const struct process *p)
{
	return p->read_update != 0 && p->lent_bytes < p->read_rss_bytes / 50;
}

/* Upper bound of the error of the estimated PSS, bytes; 0 if the last reading is still valid. */
static uint64_t doubt(struct trk_tree *t, struct process *p)
{
	uint64_t moved, faulted, doubtful;
	double other; /* pages that others may share */

	if (p->zombie || p->pss_denied || p->rss_bytes == 0 || p->space_of)
		return 0;
	if (!reading_stands(t, p))
		return infer(t, p) ? p->pss_bytes / 4 : p->rss_bytes;
	doubtful = sharing_stirred(t, p);
	if (doubtful > 0 && infer(t, p))
		return p->pss_bytes / 4 < doubtful ? p->pss_bytes / 4 : doubtful;
	moved = trk__distance(p->shared_bytes, p->read_shared_bytes);
	/* New and freed anonymous pages are private: no reading is needed if the others are,
	 * too. */
	if (p->anon_factor < 0.99F)
		moved += trk__distance(p->rss_bytes, p->read_rss_bytes);
	if (moved > p->read_rss_bytes / (shares_little(p) ? 4 : 20) + 1024 * 1024)
		doubtful += moved;
	other = (double) p->rss_bytes - (double) p->pss_bytes;
	/* Writing to a page that is shared with relatives makes a private copy. */
	faulted = (p->own[TRK_TREE_MINOR_FAULTS] - p->faults_at_read) * t->page_bytes;
	if (p->anon_factor < 0.99F && faulted > p->read_rss_bytes / 20)
		doubtful += faulted < p->rss_bytes ? faulted : p->rss_bytes;
	if (t->update - p->read_update > STALE_UPDATES && other > MIB)
		doubtful += (uint64_t) other;
	return doubtful;
}

/* True if the change matters to members whose PSS is estimated from this ratio. */
static bool has_moved(float before, float now)
{
	return now > before * 1.01F || now < before * 0.99F;
}

/* Its share of anonymous pages that others hold, assuming that its other pages are anonymous. */
static float anon_part(const struct process *p)
{
	double anon = (double) (p->rss_bytes - p->shared_bytes);
	double own = (double) (p->rss_bytes - trk__least_of(p->shared_at_read, p->rss_bytes));
	double part = (anon * (double) p->anon_factor - own) / (anon - own);

	return part > 0 && part <= 1 ? (float) part : p->anon_factor;
}

/* Store the ratios in the parent, for the siblings. */
static void note_kin(struct trk_tree *t, const struct process *p)
{
	struct process *parent = trk__tree_find(t, p->ppid);
	float part;

	if (!parent)
		return;
	part = anon_part(p);
	if (parent->kin_family != parent->family ||
	    has_moved(parent->kin_anon_factor, p->anon_factor) ||
	    has_moved(parent->kin_shared_factor, p->shared_factor) ||
	    has_moved(parent->kin_anon_part, part))
		t->epoch++;
	parent->kin_anon_factor = p->anon_factor;
	parent->kin_shared_factor = p->shared_factor;
	parent->kin_anon_part = part;
	parent->kin_shared_bytes = p->shared_bytes;
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
	note_sharing(t, p, smaps);
	p->pss_bytes = smaps->pss_bytes;
	/* smaps_rollup has exact page counts, while those of statm may lag. */
	p->rss_bytes = smaps->rss_bytes;
	p->shared_bytes = shared;
	/* Its growth between statm and this reading is already in the sum. */
	highest = p->hwm_bytes > p->rss_bytes ? p->hwm_bytes - p->rss_bytes : 0;
	if (p->hwm_excess_bytes > highest)
		p->hwm_excess_bytes = highest;
	p->read_rss_bytes = p->rss_bytes;
	p->read_shared_bytes = p->shared_bytes;
	p->faults_at_read = p->own[TRK_TREE_MINOR_FAULTS];
	p->family_at_read = family_of(t, p);
	p->brood_at_read = p->family;
	p->read_update = t->update;
}

/* Returns false when the budget does not allow it. */
static bool read_smaps(struct trk_tree *t, struct process *p)
{
	double per_byte =
		p->read_ns_per_byte > 0 ? (double) p->read_ns_per_byte : NS_PER_BYTE_UNKNOWN;
	double expected = 10e3 + (double) p->rss_bytes * per_byte;
	struct trk_pid_smaps smaps;
	uint64_t cost;
	int r;

	if (p->stuck_ns || expected > READING_MAX_NS ||
	    !trk__pss_budget_allows(&t->pss_budget, expected))
		return false;
	r = read_rollup(t, p, &smaps, &cost);
	trk__pss_budget_charge(&t->pss_budget, cost);
	if (r == -ENOENT)
		t->smaps_missing = true;
	if (r == -EACCES || r == -EPERM || r == -ENOENT)
		p->pss_denied = true;
	if (p->stuck_ns)
		return false;
	if (r < 0)
		return true;
	if (smaps.rss_bytes > 1024 * 1024)
		p->read_ns_per_byte = (float) ((double) cost / (double) smaps.rss_bytes);
	take_reading(t, p, &smaps);
	note_kin(t, p);
	return true;
}

/* Read the members whose doubt() is at least `least`. Returns the sum of doubts that remains when
 * the credit is used up. */
static uint64_t read_doubtful(struct trk_tree *t, uint64_t least, bool *any)
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

/* True if every member that matters to the sum is still as large as counted. If one has exited,
 * reaped or not, the others' shares of common pages have grown. */
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

/* Read until a sum was computed during which nothing changed. Returns false on failure. */
static bool read_all(struct trk_tree *t)
{
	bool any = true, read = false, found = true, news = true;
	uint64_t left = 0;

	for (int pass = 0; pass < PASSES && any && news; pass++) {
		uint64_t stirred_before = t->stirred_at_epoch;

		any = false;
		/* Two sweeps, the largest doubts first, as the credit may not suffice for all.
		 * Sharing that the first sweep shows may outdate other readings. */
		left = read_doubtful(t, sum_of_pss(t) / 8 + 1, &any);
		if (left || stirred_before != t->stirred_at_epoch ||
		    trk__pss_budget_allows(&t->pss_budget, CREDIT_AMPLE_NS))
			left = read_doubtful(t, small_doubt(sum_of_pss(t)), &any);
		read |= any;
		/* A new member shares pages with its parent, whose share has changed, too. */
		found = any && trk__tree_discover(t);
		news = found || stirred_before != t->stirred_at_epoch;
	}
	if (found || t->options.figures_only || (read && !still_there(t)))
		return false;
	return left <= sum_of_pss(t) / 100;
}

/* Determine whether a member's PSS is estimated, and whether the estimate stays valid in this
 * epoch. A small one that follows from a sibling does, while the sum does not shrink. */
static void take_stock(struct trk_tree *t, struct process *p, uint64_t sum_bytes)
{
	uint64_t doubtful = doubt(t, p);

	if (p->read_update == t->update)
		close_sharing(t, p);
	p->pss_estimated =
		!reading_stands(t, p) || sharing_stirred(t, p) > 0 ||
		p->rss_bytes != p->read_rss_bytes || p->shared_bytes != p->read_shared_bytes ||
		(p->anon_factor < 0.99F && p->faults_at_read != p->own[TRK_TREE_MINOR_FAULTS]);
	if (doubtful > 0 && (doubtful >= small_doubt(sum_bytes) || !kin_of(t, p)))
		return;
	p->calm_epoch = t->epoch;
	if (doubtful > 0 && t->calm_sum_bytes < sum_bytes)
		t->calm_sum_bytes = sum_bytes;
}

/* ---- sums during which a member started or ended ----
 *
 * When a member ends, the others' shares of common pages grow. If it ends while the members are
 * read, early readings have the old divisor and late ones the new one, and the sum exceeds the
 * memory of the tree. The tree holds at most the last fair sum, during which nothing changed, plus
 * the growth since: the growth of RSS, and a private copy of a page for each fault. */

static void keep_fair_sum(struct trk_tree *t, uint64_t sum_bytes)
{
	t->fair_bytes = sum_bytes;
	t->fair_faults = t->state.counter[TRK_TREE_MINOR_FAULTS];
	for (size_t i = 0; i < t->count; i++)
		t->process[i].fair_rss_bytes = t->process[i].rss_bytes;
}

/* Excess of the sum over that bound. */
static uint64_t above_fair_sum(const struct trk_tree *t, uint64_t sum_bytes)
{
	uint64_t faults = t->state.counter[TRK_TREE_MINOR_FAULTS] - t->fair_faults;
	uint64_t most = t->fair_bytes + trk__least_of(faults, UINT32_MAX) * t->page_bytes;

	if (t->fair_bytes == 0)
		return 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];
		uint64_t then = p->fair_rss_bytes ? p->fair_rss_bytes : p->forked_rss_bytes;

		most += p->rss_bytes > then ? p->rss_bytes - then : 0;
	}
	return sum_bytes > most ? sum_bytes - most : 0;
}

void trk__memory_update(struct trk_tree *t)
{
	struct trk_tree_state *s = &t->state;
	uint64_t sum_bytes, twice;
	bool consistent;
	size_t i;

	trk__pss_budget_refill(&t->pss_budget, t->updated_ns);
	trk__stuck_update(t);
	trk__address_spaces_update(t);
	for (i = 0; i < t->count; i++)
		if (t->process[i].looked)
			(void) infer(t, &t->process[i]);
	consistent = t->options.pss_share > 0 && !t->smaps_missing ? read_all(t) : true;

	sum_bytes = sum_of_pss(t);
	t->assumed_bytes = trk__address_spaces_assumed(t);
	twice = counted_twice(t) + t->assumed_bytes;
	if (sum_bytes < t->calm_sum_bytes / 2) { /* an error that was small may now matter */
		t->calm_sum_bytes = 0;
		t->epoch++;
	}
	s->rss_bytes = s->pss_bytes = s->pss_estimated_bytes = 0;
	s->unreadable_memory = 0;
	for (i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (!is_calm(t, p))
			take_stock(t, p, sum_bytes);
		if (p->looked && !t->options.figures_only)
			trk__peaks_seen(t, p);
		s->rss_bytes += p->rss_bytes;
		s->pss_bytes += p->pss_bytes;
		if (p->pss_estimated)
			s->pss_estimated_bytes += p->pss_bytes;
		s->unreadable_memory +=
			(p->pss_denied || p->stuck_ns || t->smaps_missing) && !p->zombie;
	}
	s->pss_bytes -= trk__least_of(twice, s->pss_bytes);
	if (consistent)
		keep_fair_sum(t, s->pss_bytes);
	else
		s->pss_bytes -= above_fair_sum(t, s->pss_bytes);
	s->pss_estimated_bytes = trk__least_of(s->pss_estimated_bytes, s->pss_bytes);
	trk__peaks_update(t, consistent);
}

bool trk__tree_shmem(const struct trk_tree *t, uint64_t *ret_bytes)
{
	double sum = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];
		double then = (double) p->read_shared_bytes, share = 1;

		if (p->rss_bytes == 0 && !p->zombie && p->statm_faults)
			return false;
		/* The part of its shared pages that was shared memory, not files. */
		if (p->read_update && then > 0 && p->shared_factor > 0)
			share = (double) p->shmem_bytes / (then * (double) p->shared_factor);
		sum += (double) p->shared_bytes * (double) p->shared_factor *
		       (share < 1 ? share : 1);
	}
	*ret_bytes = (uint64_t) sum;
	return true;
}
