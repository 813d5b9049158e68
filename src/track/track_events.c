/* Events between ticks: children, signals, marks, and control messages. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/parse.h"
#include "probe/helper_process.h"
#include "track/marks.h"
#include "track/private.h"

/* Children that are reaped in one go. A job may orphan processes faster than they can be reaped: ticks
 * and limits must not wait for the last one. */
enum { CHILDREN_MAX = 256 };

/* Signals that are handled in one go, for the same reason: a job may send them without end. */
enum { SIGNALS_MAX = 64 };

/* ---- control messages ---- */

static void add_mark(struct track *t, const char *name)
{
	struct trk_mark mark = {
		.elapsed_ns = t->env.monotonic_ns() - t->start_ns,
		.time_ns = t->env.wall_ns(),
	};

	(void) snprintf(mark.name, sizeof(mark.name), "%s", name);
	if (trk__record_mark(t->record, &mark) == 0 && t->writer)
		(void) trk__writer_mark(t->writer, &mark);
	/* A mark begins a phase: write the counts of the previous one. */
	t->lines.flush_ns = 0;
	trk__track_lines_ask(&t->lines, t->writer, t->env.monotonic_ns());
}

void trk__track_read_marks(struct track *t)
{
	char name[TRK_MARK_NAME_SIZE];

	while (t->marks_fd >= 0 && trk__marks_read(t->marks_fd, name))
		add_mark(t, name);
}

/* "stop CODE": the job has ended, with this exit code. */
static void handle_stop(struct track *t, const char *text)
{
	uint64_t code;

	if (t->options->argv)
		return;
	t->stop = true;
	t->finish.facts.stated = trk__parse_u64(text, &code) == 0 && code <= 255;
	t->finish.facts.stated_code = t->finish.facts.stated ? (int) code : -1;
}

/* At the end of the stream, the program that started the tracker has exited: tracking of an
 * attached process ends; a job continues. */
void trk__track_read_control(struct track *t)
{
	char line[TRK_CONTROL_LINE];
	int r;

	while ((r = trk__control_next(&t->control, line)) > 0) {
		if (!strcmp(line, "stop"))
			t->stop = !t->options->argv || t->stop;
		else if (!strncmp(line, "stop ", 5))
			handle_stop(t, line + 5);
		else if (!strncmp(line, "mark ", 5))
			add_mark(t, line + 5);
	}
	if (r < 0) {
		t->control.fd = -1;
		t->finish.facts.abandoned = !t->stop;
		t->stop |= !t->options->argv;
	}
}

/* ---- children and signals ---- */

/* The job was reaped elsewhere: by a library that is loaded into this process, or because SIGCHLD
 * is ignored. The job has ended all the same; its exit status is lost. */
static void note_loss(struct track *t)
{
	if (!t->options->argv || (kill(t->job.pid, 0) == 0 || errno != ESRCH))
		return;
	t->root_reaped = t->finish.facts.lost = true;
	if (t->sampler && trk__sampler_tree(t->sampler))
		trk__tree_lost(trk__sampler_tree(t->sampler));
}

/* A program on a slow file server may turn out not to be executable after a while. */
static void report_exec(struct track *t)
{
	int error = trk__job_exec_error(&t->job);
	char text[TRK_RUN_TEXT_SIZE];

	if (error == 0 || !t->options->on_word)
		return;
	(void) snprintf(text, sizeof(text), "%.150s: cannot execute: %s", t->options->argv[0],
			trk__strerror(error));
	t->options->on_word(t->options->data, text);
}

void trk__track_reap(struct track *t, pid_t pid)
{
	bool counts = t->options->argv && t->sampler && !trk__track_is_old_child(t, pid);
	uint64_t cancelled;
	struct trk_usage usage;
	int status, r;

	if (trk__helper_process_reap(pid))
		return;
	cancelled = counts ? trk__tree_read_cancelled(trk__sampler_tree(t->sampler), pid) : 0;
	r = trk__job_reap(pid, &status, &usage);
	if (r == -ECHILD && pid == t->job.pid)
		note_loss(t);
	if (r <= 0)
		return;
	/* With attach, any child that is reaped is a helper. */
	if (t->options->argv && !trk__track_is_old_child(t, pid)) {
		if (t->sampler) {
			trk__tree_reaped(trk__sampler_tree(t->sampler), pid, &usage);
			trk__tree_add_cancelled(trk__sampler_tree(t->sampler), cancelled);
		}
		t->finish.switches += usage.switches;
		t->finish.reaped++;
	}
	if (pid == t->job.pid) {
		t->root_reaped = true;
		t->wait_status = status;
		report_exec(t);
	}
}

/* Find a child that changed state, without reaping it; si_pid 0: none. */
static int next_child(siginfo_t *ret)
{
	static const int changes = WEXITED | WSTOPPED | WNOHANG | WNOWAIT;

	if (waitid(P_ALL, 0, ret, changes) == 0)
		return 0;
	return errno == EINTR ? waitid(P_ALL, 0, ret, changes) : -1;
}

void trk__track_follow_group(struct track *t)
{
	unsigned int moves = trk__sampler_group_moves(t->sampler);

	if (moves == t->moves)
		return;
	t->moves = moves;
	trk__finish_leave_group(&t->finish, trk__sampler_cgroup(t->sampler));
	trk__group_log_note(&t->finish.groups, &t->env, t->record->run.pid, false);
}

/* A zombie still shows its control group (v2), in which the kernel may have killed it. */
static void note_group(struct track *t, const siginfo_t *info)
{
	bool is_root = info->si_pid == t->job.pid;

	if (!t->sampler || (!is_root && info->si_status != SIGKILL))
		return;
	trk__group_log_note(&t->finish.groups, &t->env, info->si_pid, true);
	if (!is_root)
		return;
	trk__sampler_look_at_group(t->sampler);
	trk__track_follow_group(t);
}

void trk__track_look_at_children(struct track *t)
{
	t->has_more_children = false;
	for (int i = 0; i < CHILDREN_MAX; i++) {
		siginfo_t info = {.si_pid = 0};

		if (next_child(&info) < 0 && t->options->argv && !t->root_reaped)
			trk__track_reap(t, t->job.pid);
		if (info.si_pid == 0)
			return;
		if (info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED) {
			(void) waitid(P_PID, (id_t) info.si_pid, &info, WSTOPPED | WNOHANG);
			if (info.si_pid == t->job.pid &&
			    (info.si_status == SIGTSTP || info.si_status == SIGTTIN ||
			     info.si_status == SIGTTOU))
				trk__job_stop_with(&t->job, info.si_status);
			continue;
		}
		note_group(t, &info);
		if (info.si_pid == t->job.pid && t->sampler) {
			const struct trk_tree_state *state;

			trk__tree_close_accounts(trk__sampler_tree(t->sampler));
			trk__tree_update(trk__sampler_tree(t->sampler), &state);
		}
		trk__track_reap(t, info.si_pid);
	}
	t->has_more_children = true;
}

static void forward(struct track *t, int signo)
{
	if (signo == SIGUSR1 && t->options->on_status)
		t->options->on_status(t->options->data, t->record);
	if (!t->options->argv) { /* attach, system: a request to stop */
		if (signo == SIGINT || signo == SIGTERM || signo == SIGHUP || signo == SIGQUIT)
			t->stop = true;
		else if (signo == SIGTSTP)
			trk__job_stop_self(signo);
		return;
	}
	if (!t->root_reaped)
		(void) kill(t->job.pid, signo);
}

/* While a limit ends the job, the second request (Ctrl-C is one) ends the grace time, the first one
 * if only other processes than the job's first one are left: these may be out of the terminal's
 * reach. */
static void handle_stop_request(struct track *t, int signo)
{
	if (signo != SIGINT && signo != SIGTERM && signo != SIGHUP && signo != SIGQUIT)
		return;
	if (trk__termination_goes_on(&t->ending) && (t->ending.requests++ > 0 || t->root_reaped))
		trk__enforce_hurry(&t->enforce, t->env.monotonic_ns() - t->start_ns);
}

void trk__track_handle_signals(struct track *t)
{
	const struct timespec nap = {0, 10000000};
	enum trk_job_action action;
	bool any = false;
	int signo;

	for (int n = 0; n < SIGNALS_MAX && trk__job_next_signal(&t->job, &action, &signo); n++) {
		any = true;
		handle_stop_request(t, signo);
		if (action == TRK_JOB_CHILD)
			trk__track_look_at_children(t);
		else if (action == TRK_JOB_FORWARD || !t->options->argv)
			forward(t, signo);
	}
	if (any || !t->options->argv)
		return;
	/* Signals cannot be read: check for the end of the job anyway. */
	trk__track_look_at_children(t);
	(void) nanosleep(&nap, NULL);
}
