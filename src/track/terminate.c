#include "track/terminate.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "probe/helper_process.h"
#include "probe/linux/pid_children.h"
#include "probe/linux/pid_stat.h"
#include "track/private.h"

enum {
	PIDS_MAX = 1 << 22, /* the most that Linux permits */
	LIST_MIN = 256,
	SEARCHES = 16,   /* one after the other, while they find new processes */
	ASKED = 1 << 15, /* pids of one search, where nothing lists processes */
};

/* Time between two searches, and a multiple of the CPU time that they take: on a busy machine they
 * may last much longer. */
#define APART_NS (20 * TRK_NS_PER_MS)
#define APART    10
/* Time to end after KILL. A large process runs in the kernel while its memory is freed, 0.1 to 0.3 s
 * per GiB. */
#define STUCK_NS (5 * TRK_NS_PER_S)
#define BUSY_NS  (60 * TRK_NS_PER_S)

/* ---- one process ---- */

/* Does it get the signal for the first time? */
static bool is_new(struct trk_termination *e, pid_t pid)
{
	unsigned char *byte, bit = (unsigned char) (1u << (pid & 7));

	if (!e->told || pid <= 0 || pid >= PIDS_MAX)
		return e->next_ns == 0; /* the first search */
	byte = &e->told[pid >> 3];
	if (*byte & bit)
		return false;
	*byte |= bit;
	return true;
}

static const char *reason_of(int error, char state)
{
	if (error < 0)
		return error == -EPERM ? "operation not permitted" : trk__strerror(error);
	return state == 'D' ? "stuck in the kernel" : "still ending";
}

static void note_left(struct trk_termination *e, pid_t pid, const struct trk_pid_stat *stat,
		      int error)
{
	static const char more[] = ", ...";
	size_t len = strlen(e->left), room = sizeof(e->left) - len;
	char text[TRK_COMM_SIZE + 64];
	int n = snprintf(text, sizeof(text), "%s%d%s%s%s: %s", len ? ", " : "", (int) pid,
			 stat->comm[0] ? " (" : "", stat->comm, stat->comm[0] ? ")" : "",
			 reason_of(error, stat->state));

	if (n > 0 && (size_t) n + sizeof(more) <= room)
		memcpy(e->left + len, text, (size_t) n + 1);
	else if (room >= sizeof(more) && !e->is_cut)
		memcpy(e->left + len, more, sizeof(more));
	e->is_cut |= (size_t) n + sizeof(more) > room;
}

/* Has it ended, or is it another process that got the pid meanwhile? A pid of the list that is
 * opened first and examined then is known to be that of the process that gets the signal. */
static bool is_gone(const struct track *t, int error, const struct trk_pid_stat *stat, pid_t parent)
{
	const pid_t self = getpid();

	if (error == -ENOENT || error == -ESRCH)
		return true;
	if (error < 0) /* it cannot be examined */
		return false;
	if ((stat->state == 'Z' || stat->state == 'X') && stat->threads <= 1)
		return true;
	if (parent && stat->ppid != parent && stat->ppid != self)
		return true;
	/* Orphans of children that the tracker had before the job. */
	return stat->ppid == self && stat->start_ticks && stat->start_ticks < t->ending.born_ticks;
}

/* Send the signal to a process of the job, KILL also if it has been sent before. A stopped process
 * handles TERM once it is continued. False if it has ended. parent 0: unknown. */
static bool signal_process(struct track *t, pid_t pid, pid_t parent)
{
	TRK_FD_CLEANUP int end_fd = t->has_proc ? trk__os_process_end(pid) : -1;
	struct trk_termination *e = &t->ending;
	struct trk_pid_stat stat = {.state = '?'};
	int r = t->has_proc ? trk__pid_stat_read(t->env.proc_fd, pid, &stat) : -EOPNOTSUPP;
	bool is_first, is_stopped;

	if (is_gone(t, r, &stat, parent))
		return false;
	is_first = is_new(e, pid);
	is_stopped = r < 0 ? is_first : stat.state == 'T';
	r = is_first || e->sent == SIGKILL ? trk__os_process_signal(end_fd, pid, e->sent) : 0;
	if (r == -ESRCH)
		return false;
	if (is_stopped && e->sent == SIGTERM)
		(void) trk__os_process_signal(end_fd, pid, SIGCONT);
	e->told_now += is_first;
	e->refused += r < 0;
	e->is_busy |= stat.state == 'R';
	note_left(e, pid, &stat, r);
	return true;
}

/* ---- finding them ---- */

static bool make_room(struct trk_termination *e, size_t count)
{
	size_t cap = e->cap ? e->cap : LIST_MIN;
	pid_t *list;

	while (cap < count)
		cap *= 2;
	list = cap > e->cap ? realloc(e->list, cap * sizeof(*list)) : e->list;
	if (!list)
		return false;
	e->list = list;
	e->cap = cap;
	return true;
}

/* Children of the tracker that do not belong to the job. */
static bool is_other(struct track *t, pid_t pid)
{
	int r = trk__helper_process_is(pid);

	if (r < 0) /* unknown for the moment */
		t->ending.is_complete = false;
	return r != 0 || trk__track_is_old_child(t, pid);
}

/* Take the children of a process. Returns 0, or a negative errno where they are not listed. */
static int signal_children(struct track *t, pid_t parent)
{
	struct trk_termination *e = &t->ending;
	size_t from = e->count, n = 0;
	int r;

	do {
		if (!make_room(e, from + n + 1))
			return -ENOMEM;
		r = trk__pid_children_read(t->env.proc_fd, parent, e->list + from, e->cap - from);
		if (r < 0)
			return r;
		n = (size_t) r;
	} while (n > e->cap - from);
	for (size_t i = 0; i < n; i++) {
		pid_t pid = e->list[from + i];

		if ((parent != getpid() || !is_other(t, pid)) && signal_process(t, pid, parent))
			e->list[e->count++] = pid;
	}
	return 0;
}

static int signal_descendants(struct track *t)
{
	int r = t->has_proc ? signal_children(t, getpid()) : -EOPNOTSUPP;

	for (size_t i = 0; r == 0 && i < t->ending.count; i++)
		(void) signal_children(t, t->ending.list[i]); /* those of the dead are adopted */
	return r;
}

static bool signal_members(struct track *t)
{
	struct trk_termination *e = &t->ending;
	const struct trk_tree *tree = t->sampler ? trk__sampler_tree(t->sampler) : NULL;
	size_t n = tree ? trk__tree_pids(tree, NULL, 0) : 0;

	if (!tree || !make_room(e, n + 1))
		return false;
	n = trk__tree_pids(tree, e->list, e->cap);
	for (size_t i = 0; i < n; i++)
		if (signal_process(t, e->list[i], 0))
			e->list[e->count++] = e->list[i];
	return true;
}

/* The kernel tells of any pid whether it is a child of this process. */
static void signal_children_from(struct track *t, pid_t from)
{
	for (pid_t pid = from; pid < from + ASKED && pid < PIDS_MAX; pid++) {
		siginfo_t info = {.si_pid = 0};

		if (waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    info.si_pid == 0 && !is_other(t, pid))
			t->ending.count += signal_process(t, pid, 0);
	}
}

/* Nothing lists the processes: no descriptor is left, or /proc has those of another namespace. A
 * process group with the job's pid has only processes of the job. Processes of the job that are not
 * children are adopted when their parents end; most have pids soon after that of the job. */
static void signal_unlisted(struct track *t)
{
	struct trk_termination *e = &t->ending;

	if (!t->root_reaped && e->next_ns == 0 && kill(-t->job.pid, e->sent) == 0)
		(void) is_new(e, t->job.pid);
	signal_children_from(t, t->job.pid);
	signal_children_from(t, e->cursor);
}

static void begin_pass(struct trk_termination *e, int signo)
{
	e->sent = signo;
	e->count = e->told_now = e->refused = 0;
	e->left[0] = '\0';
	e->is_busy = e->is_cut = false;
}

static void search(struct track *t, int signo)
{
	struct trk_termination *e = &t->ending;
	int r;

	begin_pass(e, signo);
	e->is_complete = true;
	r = trk__job_can_adopt() ? signal_descendants(t) : -ENOENT;
	if (r == 0 ||
	    (r == -ENOENT && signal_members(t))) /* ENOENT: the kernel lists no children */
		return;
	signal_unlisted(t);
	e->is_complete = false;
}

/* Those of the last search, which are stopped: children before their parents. The tracker would
 * adopt the children of one that has ended, and find them in the next search only. */
static void kill_found(struct track *t)
{
	struct trk_termination *e = &t->ending;
	size_t n = e->list ? e->count : 0;

	if (!e->is_complete) {
		search(t, SIGKILL);
		return;
	}
	begin_pass(e, SIGKILL);
	while (n-- > 0)
		e->count += signal_process(t, e->list[n], 0);
}

/* ---- life ---- */

bool trk__termination_goes_on(const struct trk_termination *e)
{
	return e->signo != 0 && !e->is_over;
}

/* As a subreaper the tracker has a child as long as it has a descendant. */
static bool has_no_child(void)
{
	siginfo_t info = {.si_pid = 0};

	return trk__job_can_adopt() && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 &&
	       errno == ECHILD;
}

static bool is_over(const struct track *t, uint64_t now)
{
	const struct trk_termination *e = &t->ending;

	/* While children end, the kernel's list of them may lack one. */
	if (e->is_complete && e->count == 0)
		return t->root_reaped && e->empty > 1;
	if (e->signo != SIGKILL)
		return false;
	if (e->is_complete && e->refused == e->count)
		return true;
	return now - e->begin_ns >= BUSY_NS || (!e->is_busy && now - e->found_ns >= STUCK_NS);
}

/* Search until nothing new is found. Before KILL all are stopped: the end of one could otherwise
 * make another one start a new process, or make room for it below a limit of processes. */
static void search_all(struct track *t, uint64_t now)
{
	struct trk_termination *e = &t->ending;
	uint64_t end, cost_ns = t->env.thread_cpu_ns();
	bool any = false;

	for (int i = 0; i < SEARCHES && (i == 0 || e->told_now > 0); i++) {
		search(t, e->signo == SIGKILL ? SIGSTOP : e->signo);
		any |= e->told_now > 0;
		e->next_ns = now; /* the first search is over */
	}
	if (e->signo == SIGKILL) {
		trk__cgroup_own_kill(&t->finish.own);
		kill_found(t);
	}
	e->empty = e->is_complete && e->count == 0 ? e->empty + 1 : 0;
	e->cursor = e->cursor + ASKED < PIDS_MAX ? e->cursor + ASKED : 1;
	trk__track_look_at_children(t);
	end = t->env.monotonic_ns();
	if (any)
		e->found_ns = end;
	cost_ns = t->env.thread_cpu_ns() - cost_ns;
	e->next_ns = end + APART_NS + cost_ns * (e->signo == SIGKILL ? 1 : APART);
	e->is_over = is_over(t, end);
}

void trk__termination_step(struct track *t)
{
	struct trk_termination *e = &t->ending;
	uint64_t now = t->env.monotonic_ns();

	if (!trk__termination_goes_on(e))
		return;
	trk__track_look_at_children(t);
	e->is_over = t->root_reaped && has_no_child();
	if (e->is_over)
		e->count = 0;
	else if (now >= e->next_ns)
		search_all(t, now);
}

void trk__termination_begin(struct track *t, int signo)
{
	struct trk_termination *e = &t->ending;
	bool is_first = e->signo == 0;
	struct trk_pid_stat stat;

	e->signo = signo;
	e->begin_ns = t->env.monotonic_ns();
	e->next_ns = 0;
	e->cursor = 1;
	free(e->told);
	e->told = calloc(PIDS_MAX / 8, 1); /* the kernel provides only pages that are used */
	if (is_first && t->has_proc && trk__pid_stat_read(t->env.proc_fd, t->job.pid, &stat) == 0)
		e->born_ticks = stat.start_ticks;
	trk__termination_step(t);
}

void trk__termination_release(struct trk_termination *e)
{
	free(e->told);
	free(e->list);
	e->told = NULL;
	e->list = NULL;
}
