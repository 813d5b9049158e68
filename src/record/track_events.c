/* What happens beside the ticks: children and signals, marks, and what whoever started us says. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/parse.h"
#include "probe/tool.h"
#include "record/marks.h"
#include "record/track_private.h"

/* ---- what we are told ---- */

static void take_mark(struct track *t, const char *name)
{
	struct trk_mark mark = {
		.elapsed_ns = t->env.monotonic_ns() - t->start_ns,
		.time_ns = t->env.wall_ns(),
	};

	(void) snprintf(mark.name, sizeof(mark.name), "%s", name);
	if (trk__record_mark(t->record, &mark) == 0 && t->writer)
		(void) trk__writer_mark(t->writer, &mark);
}

void trk__track_take_marks(struct track *t)
{
	char name[TRK_MARK_NAME_SIZE];

	while (t->marks_fd >= 0 && trk__marks_take(t->marks_fd, name))
		take_mark(t, name);
}

/* "stop CODE": the job has come to its end, and says how. */
static void take_stop(struct track *t, const char *text)
{
	uint64_t code;

	if (t->options->argv)
		return;
	t->stop = true;
	t->finish.stated = trk__parse_u64(text, &code) == 0 && code <= 255;
	t->finish.stated_code = t->finish.stated ? (int) code : -1;
}

/* Whoever started us for its own sake has gone: what we attached to is of no interest any more. A
 * job goes on. */
void trk__track_take_control(struct track *t)
{
	char line[TRK_CONTROL_LINE];
	int r;

	while ((r = trk__control_next(&t->control, line)) > 0) {
		if (!strcmp(line, "stop"))
			t->stop = !t->options->argv || t->stop;
		else if (!strncmp(line, "stop ", 5))
			take_stop(t, line + 5);
		else if (!strncmp(line, "mark ", 5))
			take_mark(t, line + 5);
	}
	if (r < 0) {
		t->control.fd = -1;
		t->finish.abandoned = !t->stop;
		t->stop |= !t->options->argv;
	}
}

/* ---- children and signals ---- */

/* Somebody else has waited for the job: a library that was loaded into us, or one that has SIGCHLD
 * ignored. Its end is an end all the same. */
static void take_loss(struct track *t)
{
	if (!t->options->argv || (kill(t->job.pid, 0) == 0 || errno != ESRCH))
		return;
	t->root_reaped = t->finish.lost = true;
}

void trk__track_reap(struct track *t, pid_t pid)
{
	struct rusage usage;
	int status, r;

	if (trk__tool_reap(pid))
		return;
	r = trk__job_reap(pid, &status, &usage);
	if (r == -ECHILD && pid == t->job.pid)
		take_loss(t);
	if (r <= 0)
		return;
	/* Attached, the job is nobody's child of ours: what we reap then has helped us. */
	if (t->options->argv && !trk__track_is_old_child(t, pid)) {
		if (t->sampler)
			trk__tree_reaped(trk__sampler_tree(t->sampler), pid, &usage);
		t->finish.switches += (uint64_t) (usage.ru_nvcsw + usage.ru_nivcsw);
		t->finish.reaped++;
	}
	if (pid == t->job.pid) {
		t->root_reaped = true;
		t->wait_status = status;
		t->finish.root_maxrss_bytes = (uint64_t) usage.ru_maxrss * 1024;
	}
}

/* One that changed, or si_pid is 0. It is left as it is. */
static int next_child(siginfo_t *ret)
{
	static const int changes = WEXITED | WSTOPPED | WNOHANG | WNOWAIT;

	if (waitid(P_ALL, 0, ret, changes) == 0)
		return 0;
	return errno == EINTR ? waitid(P_ALL, 0, ret, changes) : -1;
}

void trk__track_look_at_children(struct track *t)
{
	for (;;) {
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
		if (info.si_pid == t->job.pid && t->sampler) {
			const struct trk_tree_state *state;

			trk__tree_close_accounts(trk__sampler_tree(t->sampler));
			trk__tree_update(trk__sampler_tree(t->sampler), &state);
		}
		trk__track_reap(t, info.si_pid);
	}
}

static void forward(struct track *t, int signo)
{
	if (!t->options->argv) { /* attach, system: we are asked to end */
		if (signo == SIGINT || signo == SIGTERM || signo == SIGHUP || signo == SIGQUIT)
			t->stop = true;
		else if (signo == SIGTSTP)
			trk__job_stop_self(signo);
		return;
	}
	if (!t->root_reaped)
		(void) kill(t->job.pid, signo);
}

void trk__track_handle_signals(struct track *t)
{
	const struct timespec nap = {0, 10000000};
	enum trk_job_action action;
	bool any = false;
	int signo;

	while (trk__job_next_signal(&t->job, &action, &signo)) {
		any = true;
		if (action == TRK_JOB_CHILD)
			trk__track_look_at_children(t);
		else if (action == TRK_JOB_FORWARD || !t->options->argv)
			forward(t, signo);
	}
	if (any || !t->options->argv)
		return;
	/* They are there, but cannot be read: the job's end is seen all the same. */
	trk__track_look_at_children(t);
	(void) nanosleep(&nap, NULL);
}
