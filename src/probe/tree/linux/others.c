/* Memory of the processes outside the tree, and the kernel's counter that holds it and the tree's.
 *
 * The kernel keeps sums of anonymous pages that count each page once, however many processes share
 * it: `anon` in memory.stat of each control group (v1: total_rss), and AnonPages of the machine. So
 *
 *     tree = counter - others
 *
 * The members are read before the counter and after it: what they change meanwhile makes the figure
 * uncertain. The counter is that of the smallest control group that holds the whole tree, or of the
 * machine. The others are the processes in it that are no members; their sizes are in PID/statm. Only
 * forks share anonymous pages: the others hold at most the sum of their pages, and at least the sum
 * without those of forks that executed no program. Two figures of the tree follow:
 *
 * - counter - sum, and up to the pages of forks more.
 * - Since a base, an instant at which the memory of the tree was known: the tree has changed as the
 *   counter has, less the change of the sum. Forks and their parents make this uncertain where they
 *   start, end, shrink, or have page faults, which may copy a page that they shared.
 *
 * A process that is freeing its memory at its end makes the lower bound unknown: the counter still has
 * pages that no process shows. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/cgroup.h"
#include "probe/tree/private.h"

enum {
	OTHERS_MAX = 4096,   /* with more the figure is unknown */
	COUNTER_PAGES = 189, /* that each CPU holds back: 125 of the machine, 64 of a group */
	THREADS_MAX = 64,    /* of a group that are examined */
	DEPTH_MAX = 4,       /* of groups below the tree's */
	LIST_MAX = 1 << 17,  /* bytes of cgroup.procs */
	/* If the counter moved more meanwhile, the next look may be better. */
	NOISY_PART = 100,
	NOISY_BYTES = 4 << 20,
};

static const uint64_t COST_UNKNOWN_NS = 1000000;

/* One reading of all others. */
struct look {
	struct trk_tree *t;
	uint64_t counter; /* before the others were read */
	/* By how much it moved meanwhile, and the members since their reading; and its error. */
	uint64_t apart;
	uint64_t anon, forks; /* of the others; the part of processes that were forked */
	size_t members;
	bool is_freeing; /* some process had no memory left, and had not ended */
	bool is_partial; /* some could not be read */
};

/* Open the counter of the group `o->dir`, or of the nearest group above it that has one, else that of
 * the machine, if all its processes are visible. */
static void open_counter(struct trk_tree *t)
{
	struct others *o = &t->others;
	char *end;

	trk__close(o->counter_fd);
	trk__close(o->group_fd);
	o->counter_fd = o->group_fd = -1;
	o->has_base = false;
	while (o->counter_fd < 0 && strlen(o->dir) > o->mount_len) {
		o->group_fd = trk__open_dir_at(t->env.cgroup_fd, o->dir);
		if (o->group_fd >= 0)
			o->counter_fd = openat(o->group_fd, "memory.stat", O_RDONLY | O_CLOEXEC);
		if (o->counter_fd >= 0)
			return;
		trk__close(o->group_fd);
		o->group_fd = -1;
		end = strrchr(o->dir, '/');
		*(end ? end : o->dir) = '\0';
	}
	if (trk__env_pid_namespace(&t->env) == 0)
		o->counter_fd = openat(t->env.proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
}

static void open_others(struct trk_tree *t)
{
	struct others *o = &t->others;
	struct trk_cgroup cg = {0};
	const struct trk_cgroup_place *place = &cg.place[TRK_CGROUP_MEMORY];

	o->is_open = true;
	o->cost_ns = COST_UNKNOWN_NS;
	o->counter_fd = o->group_fd = -1;
	if (trk__cgroup_find(&cg, &t->env, t->options.root) == 0 && place->version != 0 &&
	    !place->fallback && !place->machine_root) {
		o->dir = strdup(place->dir);
		o->mount_len = place->mount_len;
		o->key = place->version == 1 ? "total_rss" : "anon";
		o->threads = place->version == 1 ? "tasks" : "cgroup.threads";
	}
	trk__cgroup_release(&cg);
	if (!o->dir)
		o->dir = strdup("");
	o->now = calloc(2 * OTHERS_MAX, sizeof(*o->now));
	o->base = o->now ? o->now + OTHERS_MAX : NULL;
	if (o->dir)
		open_counter(t);
}

/* Some members are not in the group: use the one above. */
static void widen(struct trk_tree *t)
{
	struct others *o = &t->others;
	char *end = strrchr(o->dir, '/');

	*(end ? end : o->dir) = '\0';
	open_counter(t);
}

void trk__others_release(struct trk_tree *t)
{
	if (!t->others.is_open)
		return;
	free(t->others.now < t->others.base ? t->others.now : t->others.base);
	free(t->others.dir);
	trk__close(t->others.counter_fd);
	trk__close(t->others.group_fd);
	t->others = (struct others){.is_open = false};
}

static bool read_counter(const struct others *o, uint64_t *ret)
{
	char text[8192];
	const struct trk_kib_line line = {"AnonPages:", ret, NULL};
	ssize_t len = trk__read_once_fd(o->counter_fd, text, sizeof(text));

	if (len <= 0 && len != -EFBIG)
		return false;
	if (o->group_fd >= 0)
		return trk__cgroup_keyed_parse(text, o->key, ret) == 0;
	*ret = UINT64_MAX;
	return trk__kib_lines_parse(text, &line, 1) == 0 && *ret != UINT64_MAX;
}

static int by_pid(const void *a, const void *b)
{
	const struct other *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct other *find(struct other *list, size_t count, pid_t pid)
{
	const struct other key = {.pid = pid};

	return bsearch(&key, list, count, sizeof(*list), by_pid);
}

/* Read what its size does not show, of a process that is new or related to others. True if it has
 * ended, or is a member that the tree has not found yet. */
static bool sort(struct look *l, struct other *other, bool is_empty)
{
	struct trk_tree *t = l->t;
	struct trk_pid_stat stat;

	if (trk__pid_stat_read(t->env.proc_fd, other->pid, &stat) < 0)
		return true;
	other->is_fork = !stat.has_executed;
	other->ppid = stat.ppid;
	other->faults = stat.minor_faults;
	l->is_freeing |= is_empty && stat.is_exiting && stat.state != 'Z';
	return trk__tree_find(t, stat.ppid) != NULL ||
	       (t->options.subreaper && stat.ppid == t->options.self &&
		stat.start_ticks >= t->start_ticks);
}

static void look_at(struct look *l, pid_t pid)
{
	struct trk_tree *t = l->t;
	struct others *o = &t->others;
	struct other other = {.pid = pid};
	const struct other *before = find(o->base, o->has_base ? o->base_count : 0, pid);
	struct trk_pid_statm m;
	char text[128];
	ssize_t len;

	if (trk__tree_find(t, pid)) {
		l->members++;
		return;
	}
	len = trk__read_once_at(t->env.proc_fd, TRK_PATH("%d/statm", (int) pid), text,
				sizeof(text));
	l->is_partial |= pid == 0 || len == -EACCES || len == -EPERM || o->count == OTHERS_MAX;
	if (l->is_partial || len < 0 || trk__pid_statm_parse(text, (size_t) len, &m) < 0)
		return;
	if (m.resident_pages > m.shared_pages)
		other.anon_bytes = (m.resident_pages - m.shared_pages) * t->page_bytes;
	if ((!before || before->is_kin || m.size_pages == 0) && sort(l, &other, m.size_pages == 0))
		return;
	l->anon += other.anon_bytes;
	l->forks += other.is_fork ? other.anon_bytes : 0;
	o->now[o->count++] = other;
}

static void list_processes(struct look *l, int fd)
{
	char *list = NULL;
	uint64_t pid;

	l->is_partial |= trk__read_all_at(fd, "cgroup.procs", LIST_MAX, &list) < 0;
	for (const char *at = list; at && trk__scan_u64(&at, &pid); at = trk__skip_line(at))
		if (pid <= INT32_MAX) /* 0: of another namespace */
			look_at(l, (pid_t) pid);
	free(list);
}

/* cgroup.procs does not list a process that is ending, cgroup.threads and tasks do, with all threads
 * of the others. */
static void find_ending(struct look *l, int fd)
{
	struct trk_tree *t = l->t;
	char *list = NULL;
	int left = THREADS_MAX;
	uint64_t tid;

	l->is_freeing |= trk__read_all_at(fd, t->others.threads, LIST_MAX, &list) < 0;
	for (const char *at = list; at && !l->is_freeing && trk__scan_u64(&at, &tid);
	     at = trk__skip_line(at)) {
		struct trk_pid_stat stat;

		if (tid > INT32_MAX || trk__tree_find(t, (pid_t) tid) ||
		    find(t->others.now, t->others.count, (pid_t) tid))
			continue;
		l->is_freeing = --left < 0 ||
				(trk__pid_stat_read(t->env.proc_fd, (pid_t) tid, &stat) == 0 &&
				 stat.is_exiting && stat.state != 'Z');
	}
	free(list);
}

/* Visit a group and those below it. */
static void visit(struct look *l, int fd, int depth, void (*one)(struct look *, int))
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(fd, ".");
	struct dirent *entry;

	one(l, fd);
	while (dir && depth < DEPTH_MAX && (entry = trk__next_entry(dir))) {
		TRK_FD_CLEANUP int below =
			entry->d_type == DT_DIR ? trk__open_dir_at(fd, entry->d_name) : -1;

		if (below >= 0)
			visit(l, below, depth + 1, one);
	}
}

/* Where the same processes live as at the last look, and none has started since, none is ending. */
static void look_at_group(struct look *l)
{
	struct others *o = &l->t->others;

	visit(l, o->group_fd, 0, list_processes);
	qsort(o->now, o->count, sizeof(*o->now), by_pid);
	if (o->looked_pid != l->t->newest_pid || o->looked_count != o->count + l->members)
		visit(l, o->group_fd, 0, find_ending);
	o->looked_pid = l->is_freeing || l->t->newest_pid < 0 ? 0 : l->t->newest_pid;
	o->looked_count = o->count + l->members;
}

static void look_at_all(struct look *l)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(l->t->env.proc_fd, ".");
	struct dirent *entry;
	uint64_t pid;

	/* /proc may be mounted so that processes of other users are not visible. */
	l->is_partial = faccessat(l->t->env.proc_fd, "1/statm", R_OK, 0) < 0;
	while (dir && (entry = trk__next_entry(dir)))
		if (trk__parse_u64(entry->d_name, &pid) == 0 && pid <= INT32_MAX)
			look_at(l, (pid_t) pid);
	qsort(l->t->others.now, l->t->others.count, sizeof(*l->t->others.now), by_pid);
}

/* Read the counter and all others. False if the counter does not hold the whole tree, or pages of
 * processes that are not visible. */
static bool look(struct trk_tree *t, struct look *l, bool all_members)
{
	struct others *o = &t->others;
	uint64_t start_ns = t->env.thread_cpu_ns(), after, tree = 0;
	size_t alive = 0;

	*l = (struct look){.t = t};
	o->count = 0;
	if (!o->now || !read_counter(o, &l->counter))
		return false;
	if (o->group_fd >= 0)
		look_at_group(l);
	else
		look_at_all(l);
	if (!read_counter(o, &after))
		return false;
	o->cost_ns = t->env.thread_cpu_ns() - start_ns;
	trk__pss_budget_charge(&t->pss_budget, o->cost_ns);
	l->apart = trk__distance(after, l->counter) + trk__memory_recount(t, all_members);
	for (size_t i = 0; i < t->count; i++) {
		tree += t->process[i].anon_bytes;
		alive += t->process[i].anon_bytes > 0;
		l->is_freeing |= t->process[i].rss_bytes == 0 && !t->process[i].zombie &&
				 !t->process[i].fresh;
	}
	l->apart += (uint64_t) sysconf(_SC_NPROCESSORS_ONLN) * COUNTER_PAGES * t->page_bytes;
	if (l->members < alive && o->group_fd >= 0)
		widen(t);
	return !l->is_partial && l->members >= alive &&
	       (l->is_freeing || l->counter <= tree + l->anon + l->apart + tree / 16);
}

/* Note the processes that share pages with a fork. */
static void find_kin(struct look *l)
{
	struct others *o = &l->t->others;

	for (size_t i = 0; i < o->count; i++) {
		struct other *fork = &o->now[i], *parent;

		if (!fork->is_fork || fork->anon_bytes == 0)
			continue;
		fork->is_kin = true;
		parent = find(o->now, o->count, fork->ppid);
		if (parent && !parent->is_kin)
			parent->is_kin = !sort(l, parent, false);
	}
}

/* By how much more or less the others can have changed than the sum of their pages did. */
static void compare(const struct trk_tree *t, uint64_t *ret_more, uint64_t *ret_less)
{
	const struct others *o = &t->others;

	*ret_more = *ret_less = 0;
	for (size_t i = 0; i < o->count; i++)
		if (o->now[i].is_fork && !find(o->base, o->base_count, o->now[i].pid)) {
			*ret_more += o->now[i].anon_bytes; /* its parent may have changed */
			*ret_less += o->now[i].anon_bytes;
		}
	for (size_t i = 0; i < o->base_count; i++) {
		const struct other *base = &o->base[i];
		const struct other *now = find(o->now, o->count, base->pid);
		uint64_t copied, left = now ? now->anon_bytes : 0;

		if (!base->is_kin)
			continue;
		copied = now ? (now->faults - base->faults) * t->page_bytes : 0;
		copied -= trk__least_of(copied,
					left > base->anon_bytes ? left - base->anon_bytes : 0);
		*ret_more += trk__least_of(copied, base->anon_bytes);
		*ret_more += base->anon_bytes - trk__least_of(left, base->anon_bytes);
	}
}

static uint64_t positive(int64_t bytes)
{
	return bytes > 0 ? (uint64_t) bytes : 0;
}

/* is_near: the best figure of `by` is good even if its bounds are far apart. */
static void narrow(struct amount *a, const struct amount *by, bool is_near)
{
	if (by->least > a->most || by->most < a->least)
		return; /* the processes were read at another instant */
	if (is_near || by->most - by->least < a->most - a->least)
		a->best = by->best;
	a->least = by->least > a->least ? by->least : a->least;
	a->most = trk__least_of(by->most, a->most);
}

static void narrow_since_base(const struct look *l, struct amount *tree)
{
	const struct others *o = &l->t->others;
	uint64_t more, less;
	int64_t moved =
		(int64_t) (l->counter - o->base_counter) - (int64_t) (l->anon - o->base_anon);
	struct amount since;

	compare(l->t, &more, &less);
	more += l->t->left; /* perhaps it has not been freed yet */
	since.least = positive((int64_t) o->base_tree.least + moved - (int64_t) (l->apart + more));
	since.best = positive((int64_t) o->base_tree.best + moved);
	since.most = positive((int64_t) o->base_tree.most + moved + (int64_t) (l->apart + less));
	if (l->is_freeing)
		since.least = 0;
	narrow(tree, &since, more + less < l->apart);
}

static bool may_look(struct trk_tree *t)
{
	if (t->options.figures_only || t->options.one_process)
		return false;
	if (!t->others.is_open)
		open_others(t);
	return t->others.counter_fd >= 0 &&
	       trk__pss_budget_allows(&t->pss_budget, (double) t->others.cost_ns);
}

bool trk__others_measure(struct trk_tree *t, struct amount *tree)
{
	struct amount whole;
	struct look l;

	if (!may_look(t) || !look(t, &l, false))
		return false;
	whole.least = positive((int64_t) (l.counter - l.anon - l.apart - t->left));
	if (l.is_freeing)
		whole.least = 0;
	whole.best = positive((int64_t) (l.counter - l.anon));
	whole.most = l.counter + l.apart - trk__least_of(l.anon - l.forks, l.counter);
	narrow(tree, &whole, l.forks < l.apart);
	if (t->others.has_base)
		narrow_since_base(&l, tree);
	return !l.is_freeing && t->left == 0 && l.apart < tree->best / NOISY_PART + NOISY_BYTES;
}

void trk__others_set_base(struct trk_tree *t, const struct amount *tree)
{
	struct others *o = &t->others;
	struct other *base;
	struct look l;

	if (!may_look(t) || !look(t, &l, true) || l.is_freeing || t->left > 0)
		return;
	find_kin(&l);
	base = o->base;
	o->base = o->now;
	o->now = base;
	o->base_count = o->count;
	o->base_counter = l.counter;
	o->base_anon = l.anon;
	o->base_tree = *tree;
	o->base_tree.least -= trk__least_of(l.apart, tree->least);
	o->base_tree.most += l.apart;
	o->base_ns = t->updated_ns;
	o->has_base = true;
}
