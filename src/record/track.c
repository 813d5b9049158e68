#include "record/track.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/tool.h"
#include "probe/linux/pid_children.h"
#include "probe/perf.h"
#include "record/control.h"
#include "record/finish.h"
#include "record/job.h"
#include "record/marks.h"
#include "record/request.h"
#include "record/store.h"
#include "record/writer.h"

enum { OLD_CHILDREN_MAX = 64, END_PATIENCE_MS = 200 };

/* What the loop waits for. */
enum { TIMER, SIGNALS, PID, MARKS, CONTROL, CLOUD, AWAITED };

#define FAST_NS       (200 * TRK_NS_PER_MS) /* the first ticks, so that short jobs have data */
#define FAST_PHASE_NS (10 * TRK_NS_PER_S)
#define STATE_NS      (10 * TRK_NS_PER_S)
#define NAP_NS        (10 * TRK_NS_PER_MS) /* between two looks where the kernel cannot wake us */
/* The CPU clock of a process that runs moves in ticks of the kernel, up to 10 ms: over less, such as the
 * piece of a tick before the end, a rate would say more about those than about the job. */
#define MIN_RATE_NS (100 * TRK_NS_PER_MS)

struct track {
	const struct trk_track_options *options;
	struct trk_track_result *result;
	struct trk_record *record;
	struct trk_env env;
	struct trk_job job;
	struct trk_sampler *sampler; /* owned */
	struct trk_writer *writer;   /* owned; NULL: no recording */
	struct trk_finish finish;
	struct trk_control control;
	struct trk_discovery discovery;
	int runs_fd, timer_fd, pid_fd, perf_fd, marks_fd;
	uint64_t start_ns, next_ns, state_ns;
	struct trk_enforce limits;
	pid_t old_child[OLD_CHILDREN_MAX]; /* ours before the job: inherited over an exec */
	int old_children;
	bool root_reaped, stop;
	bool unarmed; /* the timer could not be set: we look at the clock ourselves */
	int wait_status;
	uint64_t gpus_ns; /* of the GPUs' answer that was recorded last */
	int64_t gpus_us;  /* and when, since the start */
};

/* ---- set-up ---- */

static const char *kind_of(const struct trk_track_options *o)
{
	return o->argv ? "run" : o->pid ? "attach" : "system";
}

static void describe_command(const struct trk_track_options *o, struct trk_run *run)
{
	for (char *const *arg = o->argv; *arg; arg++) {
		bool redacted = o->redact_args && arg != o->argv;
		const char *text = redacted ? TRK_REDACTED : *arg;
		size_t len = strlen(text) + 1;

		if (run->command_len + len > sizeof(run->command) - 1)
			break; /* the rest of a very long command line is not kept */
		memcpy(run->command + run->command_len, text, len);
		run->command_len += len;
		if (redacted)
			break; /* nor how many there were */
	}
}

static void describe_run(struct track *t)
{
	const struct trk_track_options *o = t->options;
	struct trk_run *run = &t->record->run;

	(void) snprintf(run->job, sizeof(run->job), "%s", o->job ? o->job : "");
	(void) snprintf(run->scope, sizeof(run->scope), "%s", o->scope ? o->scope : "");
	run->has_scope = true;
	run->unlisted = o->unlisted;
	run->input_bytes = o->input_bytes;
	(void) snprintf(run->kind, sizeof(run->kind), "%s", kind_of(o));
	(void) snprintf(run->version, sizeof(run->version), "%s", TRK_BUILD_VERSION);
	if (o->argv)
		describe_command(o, run);
	if (o->tags_len <= sizeof(run->tags) - 1) {
		if (o->tags_len)
			memcpy(run->tags, o->tags, o->tags_len);
		run->tags_len = o->tags_len;
	}
	if (o->request)
		memcpy(run->request, o->request, sizeof(run->request));
	run->start_ns = t->env.wall_ns();
	trk__store_new_id(run);
	run->interval_ns = o->interval_ns;
}

/* Children that the program had before it became us (sh -c 'x & exec resource-tracker …') are not
 * the job's. */
static void note_old_children(struct track *t)
{
	int n = trk__pid_children_read(t->env.proc_fd, getpid(), t->old_child, OLD_CHILDREN_MAX);

	t->old_children = n < 0 ? 0 : n < OLD_CHILDREN_MAX ? n : OLD_CHILDREN_MAX;
}

static bool is_old_child(const struct track *t, pid_t pid)
{
	for (int i = 0; i < t->old_children; i++)
		if (t->old_child[i] == pid)
			return true;
	return false;
}

static void open_recording(struct track *t)
{
	struct trk_track_result *result = t->result;
	struct trk_error error = {.code = 0};
	char name[96];

	if (!t->options->dir)
		return;
	trk__store_name(&t->record->run, name);
	t->runs_fd = trk__store_open(t->options->dir, true, &error);
	if (t->runs_fd >= 0)
		t->writer = trk__writer_new(t->runs_fd, name, &t->record->run, 0, &error);
	(void) snprintf(result->recording_where, sizeof(result->recording_where), "%.4096s/runs/%s",
			t->options->dir, name);
	if (!t->writer)
		result->recording_error = error.code;
}

/* Once the first reading is done: what the caller does from now on counts in full. */
static void announce(struct track *t)
{
	enum { DIR_MAX = 140 };
	const struct trk_track_result *result = t->result;
	char text[256];

	if (!t->options->dir || t->control.fd < 0)
		return;
	(void) snprintf(text, sizeof(text), "%.*s%s: no recording: %s", DIR_MAX, t->options->dir,
			strlen(t->options->dir) > DIR_MAX ? "..." : "",
			trk__strerror(result->recording_error));
	(void) trk__control_say(t->control.fd, t->writer ? "recording" : "error",
				t->writer ? result->recording_where : text);
}

/* Is /proc that of our pid namespace? Elsewhere (unshare --pid without --mount-proc) the job's pid
 * names another process there, or none. */
static bool proc_is_ours(const struct track *t)
{
	char text[16];
	ssize_t len = readlinkat(t->env.proc_fd, "self", text, sizeof(text) - 1);
	uint64_t pid;

	if (len < 0)
		return false;
	text[len] = '\0';
	return trk__parse_u64(text, &pid) == 0 && pid == (uint64_t) getpid();
}

static int open_sampler(struct track *t)
{
	struct trk_tree_options tree = {
		.root = t->options->argv ? t->job.pid : t->options->pid,
		.one_process = t->options->one_process,
		.redact_args = t->options->redact_args,
		.by_turns = true,
		.subreaper = t->options->argv != NULL,
		.self = t->options->in_thread ? 0 : getpid(),
		.pss_share = t->options->pss_share < 0 ? 0.005 : t->options->pss_share,
	};
	struct trk_sampler_options options = {
		.tree = tree.root ? &tree : NULL,
		.no_system = t->options->no_system,
		.gpu = t->options->gpu,
		/* Another program's children are for it to wait for: there we start none. */
		.gpu_hints = t->options->in_thread ? NULL : t->options->gpu_hints,
		.perf_fd = t->perf_fd,
		.min_interval_ns = t->options->interval_ns / 2 < MIN_RATE_NS
					   ? t->options->interval_ns / 2
					   : MIN_RATE_NS,
	};
	int r = 0;

	t->record->run.pid = tree.root;
	if (tree.root && !proc_is_ours(t))
		return -ESRCH;
	t->sampler = trk__sampler_new(&t->env, &options, &r);
	return t->sampler ? 0 : r;
}

/* ---- ticks ---- */

/* The deadline after `now`, on the grid of the run's start. */
static uint64_t deadline_after(const struct track *t, uint64_t now)
{
	uint64_t interval = t->options->interval_ns, at = now - t->start_ns;

	if (t->options->argv && interval > FAST_NS && at < FAST_PHASE_NS)
		interval = FAST_NS;
	return t->start_ns + (at / interval + 1) * interval;
}

static void arm(struct track *t)
{
	uint64_t at = t->next_ns, due = trk__enforce_next_ns(&t->limits);
	struct itimerspec spec;

	if (due < UINT64_MAX - t->start_ns && t->start_ns + due < at)
		at = t->start_ns + due;
	spec = (struct itimerspec){
		.it_value = {(time_t) (at / TRK_NS_PER_S), (long) (at % TRK_NS_PER_S)},
	};
	t->unarmed = timerfd_settime(t->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) < 0;
}

/* The GPUs of a row; an answer that has been recorded already is not told again. */
static void take_gpus(struct track *t, const struct trk_sample *row)
{
	const struct trk_gpu_reading *g = trk__sampler_gpus(t->sampler);
	int64_t elapsed_us = row->value[TRK_ELAPSED];

	if (!g || g->at_ns == t->gpus_ns)
		return;
	(void) trk__gpu_log_add(&t->record->gpus, g->device, g->devices, elapsed_us,
				(double) (elapsed_us - t->gpus_us) / 1e6);
	if (t->writer)
		(void) trk__writer_gpus(t->writer, g->device, g->devices, elapsed_us,
					elapsed_us - t->gpus_us);
	t->gpus_ns = g->at_ns;
	t->gpus_us = elapsed_us;
}

static void take_row(struct track *t, uint64_t late_ns)
{
	const struct trk_sample *row;

	if (!t->sampler)
		return;
	trk__sampler_tick(t->sampler, late_ns, &row);
	take_gpus(t, row);
	trk__record_add(t->record, 1, row, row, row);
	if (t->writer)
		(void) trk__writer_row(t->writer, row);
	if (t->options->on_row)
		t->options->on_row(t->options->data, t->record, row, trk__sampler_gpus(t->sampler));
}

static void write_state(struct track *t, uint64_t now)
{
	if (!t->writer || !t->sampler || now < t->state_ns)
		return;
	t->state_ns = now + STATE_NS;
	trk__finish_totals(&t->finish, t->sampler, t->record);
	(void) trk__writer_state(t->writer, &t->record->outcome);
}

static void end_job(struct track *t, int signo)
{
	pid_t pids[256];
	size_t n;

	if (signo == SIGTERM) {
		(void) kill(t->job.pid, SIGTERM);
		return;
	}
	if (!t->sampler) {
		(void) kill(t->job.pid, SIGKILL);
		return;
	}
	n = trk__tree_pids(trk__sampler_tree(t->sampler), pids, 256);
	for (size_t i = 0; i < n && i < 256; i++)
		(void) kill(pids[i], SIGKILL);
}

static void check_deadlines(struct track *t, uint64_t now)
{
	uint64_t elapsed = now - t->start_ns, memory_bytes = 0;
	char text[TRK_ENFORCE_TEXT_SIZE];
	enum trk_enforce_step step;

	if (t->options->duration_ns && elapsed >= t->options->duration_ns)
		t->stop = true;
	if (!t->options->argv || t->root_reaped)
		return;
	if (t->sampler)
		memory_bytes = trk__tree_state(trk__sampler_tree(t->sampler))->pss_bytes;
	step = trk__enforce(&t->limits, elapsed, memory_bytes, text);
	if (step == TRK_ENFORCE_NOTHING)
		return;
	if (t->options->on_word)
		t->options->on_word(t->options->data, text);
	if (step == TRK_ENFORCE_TERM) {
		t->finish.limit = t->limits.verdict;
		(void) snprintf(t->finish.limit_text, sizeof(t->finish.limit_text), "%s", text);
		end_job(t, SIGTERM);
	} else if (step == TRK_ENFORCE_KILL) {
		end_job(t, SIGKILL);
	}
}

static void tick(struct track *t)
{
	struct trk_outcome *o = &t->record->outcome;
	uint64_t now = t->env.monotonic_ns(), step = deadline_after(t, t->next_ns) - t->next_ns;

	if (now >= t->next_ns) {
		uint64_t late = now - t->next_ns;

		o->late += late > step / 10;
		o->missed += late / step;
		take_row(t, late);
		write_state(t, now);
		t->next_ns = deadline_after(t, now);
		if (t->options->duration_ns && t->next_ns > t->start_ns + t->options->duration_ns)
			t->next_ns = t->start_ns + t->options->duration_ns;
	}
	check_deadlines(t, now);
	arm(t);
}

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

static void take_marks(struct track *t)
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
static void take_control(struct track *t)
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

static void reap(struct track *t, pid_t pid)
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
	if (t->options->argv && !is_old_child(t, pid)) {
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

/* Look at all children that changed. The job's own end is met with one more look at the tree while
 * its figures are still there: a zombie shows its own CPU time and bytes. */
static void look_at_children(struct track *t)
{
	for (;;) {
		siginfo_t info = {.si_pid = 0};

		if (next_child(&info) < 0 && t->options->argv && !t->root_reaped)
			reap(t, t->job.pid);
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
		reap(t, info.si_pid);
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

static void handle_signals(struct track *t)
{
	const struct timespec nap = {0, 10000000};
	enum trk_job_action action;
	bool any = false;
	int signo;

	while (trk__job_next_signal(&t->job, &action, &signo)) {
		any = true;
		if (action == TRK_JOB_CHILD)
			look_at_children(t);
		else if (action == TRK_JOB_FORWARD || !t->options->argv)
			forward(t, signo);
	}
	if (any || !t->options->argv)
		return;
	/* They are there, but cannot be read: the job's end is seen all the same. */
	look_at_children(t);
	(void) nanosleep(&nap, NULL);
}

/* Wait for one of the descriptors. Where the kernel refuses (EINVAL: a limit of open files below the
 * number that we ask about, set by prlimit on us), look after a nap at all that can be read without
 * blocking: what counts is that the job is waited for, and that whoever started us can stop us. */
static void await(struct track *t, struct pollfd *fds, nfds_t n)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	if (poll(fds, n, t->unarmed ? (int) (NAP_NS / TRK_NS_PER_MS) : -1) >= 0)
		return;
	for (nfds_t i = 0; i < n; i++)
		fds[i].revents = fds[i].fd >= 0 && i != PID ? POLLIN : 0;
	if (errno != EINTR)
		(void) nanosleep(&nap, NULL);
}

static bool tick_is_due(struct track *t, bool timer_is_ready)
{
	uint64_t expirations;

	if (t->unarmed)
		return t->env.monotonic_ns() >= t->next_ns;
	/* Whether it can be read or not: a tick looks at the clock itself. */
	if (timer_is_ready)
		(void) !read(t->timer_fd, &expirations, sizeof(expirations));
	return timer_is_ready;
}

static void write_place(struct track *t, enum trk_place_part part)
{
	if (t->writer)
		(void) trk__writer_place(t->writer, &t->record->place, part);
}

static bool root_is_gone(const struct track *t)
{
	return t->sampler && trk__sampler_tree(t->sampler) &&
	       trk__tree_state(trk__sampler_tree(t->sampler))->root_gone;
}

/* The tree has seen the end of its root. That of a job is told by SIGCHLD, but for one that the kernel
 * or somebody else has reaped. */
static void take_end(struct track *t)
{
	if (t->options->argv)
		reap(t, t->job.pid);
	else
		t->stop = t->finish.root_ended = true;
}

static void loop(struct track *t)
{
	struct pollfd fds[AWAITED] = {
		[TIMER] = {.fd = t->timer_fd, .events = POLLIN},
		[SIGNALS] = {.fd = t->job.signal_fd, .events = POLLIN},
		[PID] = {.fd = t->pid_fd, .events = POLLIN},
		[MARKS] = {.fd = t->marks_fd, .events = POLLIN},
		[CONTROL] = {.fd = t->control.fd, .events = POLLIN},
		[CLOUD] = {.fd = -1, .events = POLLIN},
	};

	while (!t->root_reaped && !t->stop) {
		fds[CONTROL].fd = t->control.fd;
		fds[CLOUD].fd = trk__discovery_fd(&t->discovery);
		await(t, fds, AWAITED);
		if (fds[MARKS].revents)
			take_marks(t);
		if (fds[CONTROL].revents)
			take_control(t);
		if (fds[SIGNALS].revents)
			handle_signals(t);
		if (fds[PID].revents) { /* attach: the process has ended */
			t->finish.root_ended = true;
			break;
		}
		if (t->root_reaped || t->stop)
			break;
		if (tick_is_due(t, fds[TIMER].revents != 0))
			tick(t);
		if (fds[CLOUD].revents && trk__discovery_step(&t->discovery, &t->record->place))
			write_place(t, TRK_PLACE_CLOUD);
		if (root_is_gone(t))
			take_end(t);
	}
}

/* A process that is killed closes its line to us a moment before it has ended. */
static void await_end(struct track *t)
{
	struct pollfd end = {.fd = t->pid_fd, .events = POLLIN};

	if (t->finish.abandoned && t->options->pid && t->pid_fd >= 0)
		t->finish.root_ended |= poll(&end, 1, END_PATIENCE_MS) > 0;
}

/* ---- life ---- */

static void release_streams(const struct trk_track_options *o)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	if (o->release_stdin)
		(void) dup3(fd, STDIN_FILENO, O_CLOEXEC);
	if (o->release_stdout)
		(void) dup3(fd, STDOUT_FILENO, O_CLOEXEC);
	(void) close(fd);
}

static int begin(struct track *t)
{
	const struct trk_track_options *o = t->options;
	char guard[96];
	int r = o->in_thread ? 0 : trk__job_prepare(&t->job);

	if (r < 0)
		return r;
	t->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (t->timer_fd < 0)
		return -errno;
	if (!o->in_thread)
		note_old_children(t);
	describe_run(t);
	t->limits = o->limits;
	trk__finish_begin(&t->finish, &t->env);
	t->marks_fd = trk__marks_listen(t->record->run.id);
	if (o->argv) {
		t->perf_fd = o->one_process ? -1 : trk__perf_open();
		(void) snprintf(guard, sizeof(guard), "RESOURCE_TRACKER_RUN=%s:%d",
				t->record->run.id, (int) getpid());
		r = trk__job_spawn(&t->job, o->argv, guard, &t->result->exec_failed);
		if (r < 0)
			return r;
		t->result->started = true;
		release_streams(o);
	} else if (!o->in_thread) {
		trk__job_none();
	}
	if (o->pid)
		t->pid_fd = (int) syscall(SYS_pidfd_open, o->pid, 0);
	r = open_sampler(t);
	if (r < 0 && !t->result->started)
		return r;
	t->result->sampling_error = r;
	if (t->sampler)
		trk__finish_limits(&t->finish, t->sampler, &t->record->run);
	trk__request_from_limits(&t->record->run);
	/* After the start: a slow disk does not hold the job up. */
	open_recording(t);
	return 0;
}

/* What machine this is, and whose. The answer to the second may come while the job runs. */
static void look_around(struct track *t)
{
	trk__place_look(&t->record->place, &t->env);
	write_place(t, TRK_PLACE_SERVER);
	trk__discovery_begin(&t->discovery, &t->env, &t->options->discovery, &t->record->place);
	if (t->record->place.has_cloud)
		write_place(t, TRK_PLACE_CLOUD);
}

/* Without a sampler the job is still stood in for, with signals, stops and --timeout: its result is
 * what counts. */
static void run_loop(struct track *t)
{
	t->start_ns = t->next_ns = t->env.monotonic_ns();
	t->state_ns = t->start_ns + STATE_NS;
	tick(t);
	announce(t);
	look_around(t); /* it takes a millisecond, which the first tick need not wait for */
	if (t->options->argv)
		look_at_children(t); /* a very short job is over already */
	loop(t);
	await_end(t);
	take_marks(t);
	trk__tool_hold(true);
	if (t->sampler && trk__sampler_tree(t->sampler))
		trk__tree_close_accounts(trk__sampler_tree(t->sampler));
	if (t->sampler)
		trk__sampler_rouse(t->sampler);
	take_row(t, 0);
	if (t->writer)
		t->result->recording_error =
			trk__writer_error(t->writer, &t->result->recording_lost);
}

static void end_place(struct track *t)
{
	if (trk__discovery_end(&t->discovery, &t->record->place))
		write_place(t, TRK_PLACE_CLOUD);
	if (t->options->on_cost) {
		t->options->on_cost(t->options->data, t->record);
		/* The type may have been found by then. */
		if (t->record->place.cloud.inferred[0])
			write_place(t, TRK_PLACE_CLOUD);
		write_place(t, TRK_PLACE_COST);
	}
}

int trk__track(const struct trk_env *env, const struct trk_track_options *options,
	       struct trk_track_result *result)
{
	struct track t = {
		.options = options,
		.result = result,
		.record = &result->record,
		.env = *env,
		.job = {.signal_fd = -1},
		.control = {.fd = options->control_fd},
		.discovery = {.dir_fd = -1},
		.runs_fd = -1,
		.marks_fd = -1,
		.timer_fd = -1,
		.pid_fd = -1,
		.perf_fd = -1,
	};
	int r;

	memset(result, 0, sizeof(*result));
	r = trk__record_init(&result->record);
	if (r < 0)
		return r;
	r = begin(&t);
	if (r < 0) {
		/* Nothing was started, nothing recorded. */
	} else {
		run_loop(&t);
		trk__finish(&t.finish, t.sampler, &result->record, t.root_reaped && !t.finish.lost,
			    t.wait_status);
		if (!t.sampler) {
			result->record.outcome.stop_ns = t.env.wall_ns();
			result->record.outcome.duration_ns = t.env.monotonic_ns() - t.start_ns;
		}
		end_place(&t);
		if (t.writer && trk__writer_end(t.writer, &result->record.outcome) < 0)
			result->recording_error =
				trk__writer_error(t.writer, &result->recording_lost);
	}
	(void) trk__discovery_end(&t.discovery, &result->record.place);
	trk__sampler_free(t.sampler);
	trk__tool_hold(false);
	trk__writer_free(t.writer);
	trk__finish_release(&t.finish);
	trk__close(t.runs_fd);
	trk__close(t.timer_fd);
	trk__close(t.pid_fd);
	trk__close(t.perf_fd);
	trk__close(t.marks_fd);
	if (!options->in_thread)
		trk__job_release(&t.job);
	return r;
}
