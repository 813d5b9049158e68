/* Memory of the tree: each page that members share counts once.
 *
 * Two amounts are kept, anonymous memory and mapped pages of files and shared memory. Each is an
 * interval that contains the truth, and a best figure in it. An update changes the interval by what
 * the members' sizes show (PID/statm, page faults), and bounds it:
 *
 * - Only forks share anonymous pages: a member and its forks that executed no program since are a
 *   family. The tree holds at least the largest member of each family, at most the sum of all.
 * - A forked member shares what it inherited. New pages are its own; a page fault may copy one.
 * - The tree maps at most the sum of the largest shares that readings showed, at least the largest
 *   share of shared memory of one member. Shares of files may change without notice, because
 *   processes outside the tree map them, too.
 *
 * If the interval is wider than WIDE_PART of the memory, it is narrowed within a budget of CPU time
 * (pss_budget.h), the cheapest source first:
 *
 * 1. the kernel's counters of the group or the machine (linux/others.c);
 * 2. smaps_rollup of members whose mapped pages are not known;
 * 3. a round: smaps_rollup of all members, in as many updates as the budget requires. Their sum is
 *    off by at most what changed during the round. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/pid_smaps.h"
#include "probe/tree/private.h"

#define MIB (1024.0 * 1024.0)

enum {
	WIDE_PART = 100,
	ROUND_WIDTHS = 4,       /* a counter that leaves a wider interval is not enough */
	COUNTER_LOOKS = 8,      /* whose cost is kept of the credit */
	CHURN_PART = 32,        /* a round during which more changed begins anew */
	BASE_BYTES = 8 << 20,   /* a smaller tree needs no base of others */
	WIDE_BYTES = 256 << 10, /* a narrower interval needs no reading */
	/* Of the files that members share: may be mapped by programs outside the tree soon. */
	LIBRARIES_BYTES = 8 << 20,
};

#define BASE_AGE_NS (60 * TRK_NS_PER_S)

/* Maximum cost of a reading, about 20 GiB of 4 KiB pages: a longer walk would delay the process's
 * page faults too much. */
static const double READING_MAX_NS = 100e6;
static const double NS_PER_BYTE_UNKNOWN = 5000 / MIB;

void trk__memory_init(struct trk_tree *t)
{
	uint64_t now_ns = t->env.monotonic_ns();

	trk__pss_budget_init(&t->pss_budget, t->options.pss_share, now_ns);
	trk__pss_budget_init(&t->outside_budget, t->options.pss_share / 2, now_ns);
}

/* ---- readings of one member ---- */

void trk__memory_high_water(struct trk_tree *t, struct process *p)
{
	struct trk_pid_status status;
	const struct process *parent;
	uint64_t before = p->hwm_bytes;

	if (trk__tree_read_status(t, p, &status) < 0 || !status.has_memory)
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

static int read_rollup(struct trk_tree *t, struct process *p, struct trk_pid_smaps *ret)
{
	uint64_t cost_ns = 0;
	int r = trk__pid_smaps_read(t->options.reader, &t->env, p->start_ticks,
				    trk__member_dir(p).text, ret, &cost_ns);

	trk__stuck_note(t, p, "smaps_rollup", r);
	trk__pss_budget_charge(&t->pss_budget, cost_ns);
	if (r == -ENOENT)
		t->smaps_missing = true;
	if (r == -EACCES || r == -EPERM || r == -ENOENT)
		p->pss_denied = true;
	if (r == 0 && ret->rss_bytes > 1024 * 1024)
		p->read_ns_per_byte = (float) ((double) cost_ns / (double) ret->rss_bytes);
	return p->stuck_ns ? -EAGAIN : r;
}

/* Some credit is kept for the kernel's counter, which costs less. */
static bool may_read(const struct trk_tree *t, const struct process *p)
{
	double per_byte =
		p->read_ns_per_byte > 0 ? (double) p->read_ns_per_byte : NS_PER_BYTE_UNKNOWN;
	double expected_ns = 10e3 + (double) p->rss_bytes * per_byte;
	uint64_t kept_ns = trk__least_of(COUNTER_LOOKS * t->others.cost_ns, TRK_PSS_RESERVE_NS);

	return !p->stuck_ns && expected_ns <= READING_MAX_NS &&
	       trk__pss_budget_allows(&t->pss_budget, expected_ns + (double) kept_ns);
}

static bool is_readable(struct trk_tree *t, struct process *p)
{
	return !p->zombie && !p->space_of && !p->pss_denied && p->rss_bytes > 0 &&
	       !t->smaps_missing && !trk__address_space_is_unknown(t, p);
}

/* ---- changes that the sizes of a member show ---- */

/* Between `least` and `most` bytes more, of which `best` is the best figure. */
static void add(struct trk_tree *t, struct amount *a, uint64_t least, uint64_t best, uint64_t most)
{
	t->added += most;
	a->least += least;
	a->best += best;
	a->most += most;
}

/* Between `least` and `most` bytes less. */
static void subtract(struct amount *a, uint64_t least, uint64_t best, uint64_t most)
{
	a->least -= trk__least_of(most, a->least);
	a->best -= trk__least_of(best, a->best);
	a->most -= trk__least_of(least, a->most);
}

/* What page faults can have added: a page each, some of them a huge page. */
static uint64_t added_by(struct trk_tree *t, uint64_t faults)
{
	uint64_t huge = faults ? trk__least_of(faults, trk__peaks_huge(t)) : 0;

	t->huge_new -= huge; /* no other member had these */
	return trk__least_of(faults, UINT32_MAX) * t->page_bytes + huge * t->huge_page_bytes;
}

/* How much of the anonymous memory of a new member is its own, if it was forked. */
static struct amount own_of_fork(struct trk_tree *t, const struct process *p,
				 const struct process *parent, uint64_t anon)
{
	uint64_t faults = p->own[TRK_TREE_MINOR_FAULTS], most = added_by(t, faults);
	uint64_t inherited = parent->hwm_bytes > parent->most_rss_bytes ? parent->hwm_bytes
									: parent->most_rss_bytes;
	struct amount own = {.least = anon > inherited ? anon - inherited : 0};

	own.best = trk__least_of(anon, faults * t->page_bytes);
	own.most = t->has_huge && p->start_ns + t->apart_ns < t->updated_ns
			   ? anon
			   : trk__least_of(anon, most);
	own.best = own.best > own.least ? own.best : own.least;
	own.most = own.most > own.best ? own.most : own.best;
	return own;
}

/* A new member, or one that has executed a program. */
static void join(struct trk_tree *t, struct process *p, uint64_t anon)
{
	struct process *parent = trk__tree_find(t, p->ppid);
	struct amount own = {anon, anon, anon};

	p->is_counted = true;
	p->moved_at_join = t->moved_before;
	p->head = p->pid;
	if (!p->has_executed || t->options.one_process) {
		p->shares = true;
		p->head = parent ? parent->head : 0;
		own.least = 0;
		if (parent) {
			parent->shares = true;
			own = own_of_fork(t, p, parent, anon);
		}
		t->regrouped += anon;
	}
	add(t, &t->anon, own.least, own.best, own.most);
	t->moved += own.most;
	p->own_bytes = own.best;
}

static void change(struct trk_tree *t, struct process *p, uint64_t anon, uint64_t faults)
{
	uint64_t up = anon > p->anon_bytes ? anon - p->anon_bytes : 0;
	uint64_t down = p->anon_bytes > anon ? p->anon_bytes - anon : 0, best = up, most = up;

	if (p->shares) {
		most = added_by(t, faults);
		most = up > most ? up + most : most;
		best = trk__least_of(faults * t->page_bytes, most);
		best = best > up ? best : up;
	}
	add(t, &t->anon, up, best, most);
	subtract(&t->anon, p->shares ? 0 : down, down, down);
	t->moved += most + down;
	p->own_bytes = p->shares ? trk__least_of(p->own_bytes + best, anon) : anon;
}

/* The part of its mapped pages that was read. */
static uint64_t read_part(const struct process *p)
{
	return p->read_update ? trk__least_of(p->mapped_bytes, p->read_mapped_bytes) : 0;
}

/* A member unmaps some of its mapped pages. The shares of others in the same pages rise by as much as
 * its own share was, at most by half of the pages. */
static void unmap(struct trk_tree *t, struct process *p, uint64_t bytes)
{
	uint64_t held = bytes;

	if (p->read_update)
		held = p->round_mapped + (p->mapped_bytes - read_part(p)) +
		       (t->mapped_lost - p->read_lost);
	subtract(&t->mapped, 0, 0, trk__least_of(bytes, held));
	t->mapped_lost += trk__least_of(bytes / 2, held);
}

static uint64_t times(uint64_t bytes, float share)
{
	return (uint64_t) ((double) bytes * (double) share);
}

static void leave(struct trk_tree *t, struct process *p)
{
	uint64_t lost = p->anon_bytes;

	/* What it inherited is still held, unless others have changed or left it since. */
	if (p->shares && p->head != p->pid)
		lost = trk__least_of(lost, t->moved - p->moved_at_join);
	subtract(&t->anon, p->shares ? 0 : lost, trk__least_of(p->own_bytes, lost), lost);
	unmap(t, p, p->mapped_bytes);
	t->moved += lost;
	t->left += p->anon_bytes;
	t->regrouped += p->shares ? p->anon_bytes : 0;
	t->mapped_moved += p->mapped_bytes;
	p->anon_bytes = p->mapped_bytes = p->own_bytes = p->pss_bytes = 0;
	p->read_update = 0;
	p->share = 0;
	p->is_counted = false;
}

void trk__memory_left(struct trk_tree *t, struct process *p)
{
	if (p->is_counted)
		leave(t, p);
}

/* Count what has changed in a member since it was counted last. faults: its page faults so far. */
static void count(struct trk_tree *t, struct process *p, uint64_t faults)
{
	uint64_t new_faults = faults > p->counted_faults ? faults - p->counted_faults : 0;
	uint64_t anon = p->rss_bytes - p->shared_bytes, mapped = p->shared_bytes, apart;

	if (p->zombie || p->space_of || p->rss_bytes == 0) {
		trk__memory_left(t, p);
		return;
	}
	if (p->is_counted && p->has_executed && p->head != p->pid && !t->options.one_process) {
		leave(t, p);
		p->shares = false;
	}
	if (p->is_counted)
		change(t, p, anon, new_faults);
	else
		join(t, p, anon);
	apart = trk__distance(mapped, p->mapped_bytes);
	if (mapped > p->mapped_bytes)
		add(t, &t->mapped, 0, 0, apart);
	else
		unmap(t, p, apart);
	t->mapped_moved += apart;
	p->has_moved = apart > 0;
	p->anon_bytes = anon;
	p->mapped_bytes = mapped;
	p->counted_faults += new_faults;
}

/* Its size was read again. */
static void recount(struct trk_tree *t, struct process *p)
{
	uint64_t excess = p->hwm_bytes > p->rss_bytes ? p->hwm_bytes - p->rss_bytes : 0;
	struct trk_pid_stat stat = {.minor_faults = 0};

	/* Its growth between the two readings is already in the sum. */
	p->hwm_excess_bytes = trk__least_of(p->hwm_excess_bytes, excess);
	if (p->shares) /* its size does not show which pages it has copied */
		(void) trk__pid_stat_read(t->env.proc_fd, p->pid, &stat);
	count(t, p, stat.minor_faults);
}

uint64_t trk__memory_recount(struct trk_tree *t, bool all)
{
	uint64_t before = t->moved;

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (!p->is_counted || !(p->looked || all))
			continue;
		if (trk__tree_read_size(t, p) < 0)
			p->rss_bytes = p->shared_bytes = 0;
		recount(t, p);
	}
	return t->moved - before;
}

/* ---- bounds that the sizes of all members give ---- */

static void limit(struct amount *a, uint64_t least, uint64_t most)
{
	a->most = trk__least_of(a->most, most);
	a->least = a->least > least ? a->least : least;
	a->least = trk__least_of(a->least, most);
	if (a->most < a->least)
		a->most = a->least;
	if (a->best < a->least)
		a->best = a->least;
	if (a->best > a->most)
		a->best = a->most;
}

/* Add to the sum over families of their largest members. A head precedes its family in the table. */
static uint64_t family_grows_by(struct trk_tree *t, struct process *p, uint64_t *orphan)
{
	struct process *head = p->head == p->pid ? p : trk__tree_find(t, p->head);
	uint64_t more;

	if (!head || head > p || head->head != head->pid) {
		if (*orphan < p->anon_bytes)
			*orphan = p->anon_bytes;
		return 0;
	}
	if (head == p)
		p->family_bytes = 0;
	more = p->anon_bytes > head->family_bytes ? p->anon_bytes - head->family_bytes : 0;
	head->family_bytes += more;
	return more;
}

static void bound_anon(struct trk_tree *t)
{
	uint64_t families = 0, orphan = 0, all = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (!p->is_counted)
			continue;
		families += family_grows_by(t, p, &orphan);
		all += p->anon_bytes;
	}
	/* Orphans may share pages with processes outside of an attached tree. */
	if (t->options.subreaper && orphan > families)
		families = orphan;
	limit(&t->anon, families, all);
}

/* Mapped pages that it alone had when it was read, or its part of shared memory, if not unmapped since. */
static uint64_t sure_bytes(const struct process *p)
{
	uint64_t pages = p->read_mapped_bytes, gone = pages - read_part(p);
	uint64_t sure = 2 * p->round_mapped > pages ? 2 * p->round_mapped - pages : 0;

	sure = sure > p->shmem_bytes ? sure : p->shmem_bytes;
	return p->read_update && sure > gone ? sure - gone : 0;
}

/* Mapped pages that were not read, and that probably no member which was read maps. */
static uint64_t unread_bytes(struct trk_tree *t, const struct process *p, uint64_t *most_of_forks)
{
	const struct process *head = p->has_executed ? NULL : trk__tree_find(t, p->head);
	uint64_t unread = p->mapped_bytes - read_part(p);

	if (!head)
		return unread;
	/* A fork maps mostly what its relatives map. */
	unread -= trk__least_of(unread, head->mapped_bytes);
	if (unread > *most_of_forks)
		*most_of_forks = unread;
	return 0;
}

static void bound_mapped(struct trk_tree *t)
{
	uint64_t known = 0, part = 0, unread = 0, forks = 0, most = 0;
	uint64_t shared = 0, lost = 0; /* by others than p; by members since the first reading */
	struct amount *m = &t->mapped;

	t->mapped_loose = t->mapped_sure = 0;
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];
		uint64_t read = read_part(p), held = trk__least_of(read, p->round_mapped);
		uint64_t own = times(read, p->share),
			 files = own - trk__least_of(own, p->shmem_bytes);

		if (!p->is_counted)
			continue;
		known += read;
		part += own;
		t->mapped_loose += trk__least_of(files, read - own);
		unread += unread_bytes(t, p, &forks);
		most += held + (p->mapped_bytes - read);
		shared += read - held;
		if (read && t->mapped_lost - p->read_lost > lost)
			lost = t->mapped_lost - p->read_lost;
		if (sure_bytes(p) > t->mapped_sure)
			t->mapped_sure = sure_bytes(p);
	}
	m->best = part + times(unread, known ? (float) part / (float) known : 1) + forks;
	limit(m, t->mapped_sure, most + trk__least_of(shared, lost));
}

static void bound(struct trk_tree *t)
{
	bound_anon(t);
	bound_mapped(t);
}

/* ---- narrowing ---- */

static uint64_t width(const struct amount *a)
{
	return a->most - a->least;
}

static uint64_t accepted(const struct trk_tree *t)
{
	return (t->anon.best + t->mapped.best) / WIDE_PART + WIDE_BYTES;
}

static bool is_wide(const struct trk_tree *t)
{
	return width(&t->anon) + width(&t->mapped) > accepted(t);
}

bool trk__memory_read(struct trk_tree *t, struct process *p)
{
	struct trk_pid_smaps s;
	struct process *parent;
	uint64_t anon;

	if (read_rollup(t, p, &s) < 0 || p->zombie || p->space_of)
		return false;
	anon = s.anon_bytes ? s.anon_bytes : p->rss_bytes - p->shared_bytes;
	anon = trk__least_of(anon, s.rss_bytes);
	p->rss_bytes = s.rss_bytes;
	p->shared_bytes = s.rss_bytes - anon;
	recount(t, p);
	if (!s.has_split) /* before Linux 5.4 */
		s.pss_anon_bytes =
			s.rss_bytes ? times(s.pss_bytes, (float) anon / (float) s.rss_bytes) : 0;
	p->own_bytes = p->round_anon = trk__least_of(s.pss_anon_bytes, s.pss_bytes);
	p->round_mapped = s.pss_bytes - p->round_anon;
	p->share = p->mapped_bytes ? (float) p->round_mapped / (float) p->mapped_bytes : 0;
	parent = p->has_executed ? NULL : trk__tree_find(t, p->ppid);
	/* They map the same. */
	if (parent && p->share < parent->share &&
	    p->mapped_bytes > parent->mapped_bytes - parent->mapped_bytes / 8)
		parent->share = p->share;
	p->read_mapped_bytes = p->mapped_bytes;
	p->shmem_bytes = s.pss_shmem_bytes;
	p->read_lost = t->mapped_lost;
	trk__outside_take_share(p, s.swap_pss_bytes);
	trk__files_take(p, &s);
	p->read_update = t->update;
	p->round = t->round;
	t->round_reads++;
	return true;
}

/* Read the members with many mapped pages that were not read. */
static void read_unread(struct trk_tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		uint64_t unread = p->mapped_bytes - read_part(p);

		/* A fork that grows would have to be read again, another member not often. */
		if (p->is_counted && unread > accepted(t) / 16 &&
		    (!p->has_moved || (!p->shares && unread > read_part(p) / 2)) &&
		    is_readable(t, p) && may_read(t, p))
			(void) trk__memory_read(t, p);
	}
	bound(t);
}

static void begin_round(struct trk_tree *t)
{
	t->round++;
	t->round_reads = 0;
	t->round_moved = t->moved + t->regrouped;
	t->round_mapped_moved = t->mapped_moved;
}

static void settle(struct amount *a, uint64_t sum, uint64_t doubt)
{
	struct amount read = {sum > doubt ? sum - doubt : 0, sum, sum + doubt};

	if (read.least > a->most || read.most < a->least)
		*a = read; /* processes outside the tree share its pages */
	a->least = a->least > read.least ? a->least : read.least;
	a->most = trk__least_of(a->most, read.most);
	a->best = sum;
}

/* All members were read. A fork during the readings would leave pages out of the sum. */
static void end_round(struct trk_tree *t)
{
	uint64_t anon = 0, mapped = 0, unread = 0, unread_anon = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (p->is_counted && is_readable(t, p)) {
			anon += p->round_anon;
			mapped += p->round_mapped;
		} else if (p->is_counted) {
			unread += p->mapped_bytes;
			unread_anon += p->anon_bytes;
		}
	}
	if (!t->options.figures_only && trk__tree_discover(t))
		return;
	(void) trk__memory_recount(t, true); /* what was lost meanwhile is in others' shares */
	settle(&t->anon, anon + unread_anon / 2,
	       t->moved + t->regrouped - t->round_moved + unread_anon / 2);
	settle(&t->mapped, mapped + unread / 2,
	       t->mapped_moved - t->round_mapped_moved + unread / 2);
	begin_round(t);
}

static void read_round(struct trk_tree *t)
{
	bool is_whole = true, any = false;

	if (t->round_reads == 0 || t->mapped_moved - t->round_mapped_moved > accepted(t) / 2 ||
	    t->moved + t->regrouped - t->round_moved > t->anon.best / CHURN_PART) {
		if (t->added > accepted(t) && t->pss_budget.credit_ns < TRK_PSS_CREDIT_MAX_NS / 2)
			return; /* the tree is growing */
		begin_round(t);
	}
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (!p->is_counted || !is_readable(t, p))
			continue;
		if (p->round != t->round && !(may_read(t, p) && trk__memory_read(t, p)) &&
		    p->is_counted && !p->pss_denied)
			is_whole = false;
		any |= p->round == t->round;
	}
	if (is_whole && any)
		end_round(t);
	bound(t);
}

/* The machine counts each mapped page once. */
static void limit_mapped(struct trk_tree *t)
{
	uint64_t mapped = UINT64_MAX;
	const struct trk_kib_line line = {"Mapped:", &mapped, NULL};
	char text[4096];

	if (trk__read_once_at(t->env.proc_fd, "meminfo", text, sizeof(text)) > 0 &&
	    trk__kib_lines_parse(text, &line, 1) == 0)
		limit(&t->mapped, 0, mapped);
}

static void narrow(struct trk_tree *t)
{
	bool is_measured = false;

	if (t->options.pss_share <= 0)
		return;
	if (is_wide(t) && width(&t->mapped) > accepted(t) / 2)
		limit_mapped(t);
	if (is_wide(t) && width(&t->anon) > accepted(t) / 2) {
		if (t->measured_moved != t->moved && trk__others_measure(t, &t->anon))
			t->measured_moved = t->moved;
		is_measured = t->measured_moved == t->moved;
		bound(t);
	}
	if (is_wide(t) && width(&t->mapped) > accepted(t) / 2)
		read_unread(t);
	if (is_wide(t) && !(is_measured && width(&t->mapped) < accepted(t) &&
			    width(&t->anon) < ROUND_WIDTHS * accepted(t)))
		read_round(t);
	if (!is_wide(t) && t->anon.best > BASE_BYTES &&
	    (!t->others.has_base || t->updated_ns - t->others.base_ns > BASE_AGE_NS))
		trk__others_set_base(t, &t->anon);
}

/* ---- an update ---- */

static void publish(struct trk_tree *t)
{
	struct trk_tree_state *s = &t->state;
	uint64_t mapped;

	s->rss_bytes = s->unreadable_memory = s->unread = 0;
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (p->looked && !t->options.figures_only)
			trk__peaks_seen(t, p);
		p->pss_bytes = p->is_counted ? p->own_bytes + times(p->mapped_bytes,
								    p->read_update ? p->share : 1)
					     : 0;
		s->rss_bytes += p->rss_bytes;
		s->unreadable_memory +=
			(p->pss_denied || p->stuck_ns || t->smaps_missing) && !p->zombie;
		if (p->fresh && p->stuck_ns) {
			s->unread++;
			s->has_unread_child |= p->pid != t->options.root;
		}
	}
	s->pss_bytes = t->anon.best + t->mapped.best;
	mapped = trk__least_of(t->mapped_loose, LIBRARIES_BYTES);
	mapped = t->mapped.least - trk__least_of(mapped, t->mapped.least);
	mapped = mapped > t->mapped_sure ? mapped : trk__least_of(t->mapped_sure, t->mapped.least);
	s->least_bytes = t->anon.least + mapped;
	s->most_bytes = t->anon.most + t->mapped.most;
}

/* The pages of a new fork are counted as its parent's: it shares from now on, also what it has dropped
 * since the fork. It may have grown between its reading and the fork. */
static void find_forks(struct trk_tree *t)
{
	uint64_t late = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i], *parent;

		if (p->is_counted || !p->looked || p->zombie || p->space_of || p->has_executed)
			continue;
		parent = trk__tree_find(t, p->ppid);
		if (!parent || parent->zombie || trk__tree_read_size(t, parent) < 0)
			continue;
		if (!parent->shares)
			late = t->moved - t->moved_before;
		parent->shares = parent->looked = true;
	}
	add(t, &t->anon, 0, 0, late);
}

void trk__memory_update(struct trk_tree *t)
{
	trk__pss_budget_refill(&t->pss_budget, t->updated_ns);
	trk__stuck_update(t);
	trk__address_spaces_update(t);
	t->added = 0;
	find_forks(t);
	for (size_t i = 0; i < t->count; i++)
		if (t->process[i].looked || t->process[i].zombie)
			count(t, &t->process[i], t->process[i].own[TRK_TREE_MINOR_FAULTS]);
		else
			t->process[i].has_moved = false;
	t->moved_before = t->moved;
	bound(t);
	narrow(t);
	publish(t);
	trk__peaks_update(t);
	t->left = 0;
}

bool trk__tree_shmem(const struct trk_tree *t, uint64_t *ret_bytes)
{
	double sum = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];
		double then = (double) p->read_mapped_bytes, share = 1;

		if (p->rss_bytes == 0 && !p->zombie && p->statm_faults)
			return false;
		/* The part of its mapped pages that was shared memory, not files. */
		if (p->read_update && then > 0 && p->share > 0)
			share = (double) p->shmem_bytes / (then * (double) p->share);
		sum += (double) p->mapped_bytes * (double) (p->read_update ? p->share : 1) *
		       (share < 1 ? share : 1);
	}
	*ret_bytes = (uint64_t) sum;
	return true;
}
