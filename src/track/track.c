#include "track/track.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "probe/helper_process.h"
#include "recording/death.h"
#include "track/marks.h"
#include "track/private.h"
#include "probe/machine.h"

enum { END_PATIENCE_MS = 200 };

/* Events of the loop. */
enum { TIMER, SIGNALS, PID, MARKS, CONTROL, CLOUD, STACKS, AWAITED };

#define STATE_NS (10 * TRK_NS_PER_S)
/* Longest time between two walks of the tree. */
#define LOOK_NS (TRK_NS_PER_S)
#define NAP_NS  (10 * TRK_NS_PER_MS) /* between two looks if the kernel cannot wake it */

/* ---- ticks ---- */

/* The deadline after `now`, on the grid of the run's start. */
static uint64_t deadline_after(const struct track *t, uint64_t now)
{
	uint64_t interval = t->options->interval_ns, at = now - t->start_ns;

	if (t->options->argv && interval > TRK_FAST_INTERVAL_NS && at < TRK_FAST_PHASE_NS)
		interval = TRK_FAST_INTERVAL_NS;
	return t->start_ns + (at / interval + 1) * interval;
}

static struct trk_tree *tree_of(const struct track *t)
{
	return t->sampler ? trk__sampler_tree(t->sampler) : NULL;
}

static void arm(struct track *t, uint64_t now)
{
	uint64_t at = t->next_ns, due = trk__enforce_next_ns(&t->enforce);

	if (tree_of(t) && at > now + LOOK_NS + LOOK_NS / 2)
		at = now + LOOK_NS;
	if (due < UINT64_MAX - t->start_ns && t->start_ns + due < at)
		at = t->start_ns + due;
	if (trk__termination_goes_on(&t->ending) && t->ending.next_ns < at)
		at = t->ending.next_ns;
	t->unarmed = trk__os_timer_set(t->timer_fd, at) < 0;
	trk__track_guard(t, at);
}

/* The GPUs of a row; a reading that has been recorded is not recorded again. */
static void record_gpus(struct track *t, const struct trk_sample *row)
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

/* Use by program and the processes of a row. */
static void record_programs(struct track *t, const struct trk_sample *row)
{
	struct trk_programs_now now;

	if (!tree_of(t))
		return;
	trk__tree_programs(tree_of(t), t->is_last, &now);
	if (t->writer)
		(void) trk__writer_programs(t->writer, &now, row->value[TRK_ELAPSED], t->is_last);
	(void) trk__program_log_take(&t->record->programs, &now);
}

/* The tree has used no more cores than its largest limit so far. */
static void hold_cores(struct track *t)
{
	double cores = t->limits.now[TRK_LIMIT_CPU].value;

	if (cores <= t->cores_held)
		return;
	t->cores_held = cores;
	trk__sampler_hold_cores(t->sampler, cores);
}

static void write_limits(struct track *t)
{
	if (t->writer)
		(void) trk__writer_limits(t->writer, &t->record->run);
}

/* Some processes of the job may move to another group: check the newest one. */
static void note_newest_group(struct track *t)
{
	pid_t newest = tree_of(t) ? trk__tree_newest(tree_of(t)) : 0;

	if (newest == 0 || newest == t->newest)
		return;
	t->newest = newest;
	trk__group_log_note(&t->finish.groups, &t->env, newest, false);
}

static bool is_over(const struct track *t)
{
	return t->root_reaped || t->finish.facts.root_ended;
}

static const double NEAR_LIMIT_SHARE = 0.9;

/* Only near the limit, as this reads a file in each level of control groups. */
static void read_limit_hits(struct track *t, const struct trk_sample *row)
{
	double limit_mib = t->record->run.limit[TRK_LIMIT_MEMORY_MIB].value;
	uint64_t hits;

	t->record->memory_limit_hits = NAN;
	if (trk__sample_get(row, TRK_PROCESS_MEMORY) > NEAR_LIMIT_SHARE * limit_mib &&
	    trk__cgroup_limit_hits(trk__sampler_cgroup(t->sampler), &hits) == 0)
		t->record->memory_limit_hits = (double) hits;
}

static void flush_recording(struct track *t)
{
	if (t->writer)
		(void) trk__writer_flush(t->writer);
}

static void record_row(struct track *t, uint64_t late_ns)
{
	const struct trk_sample *row;

	if (!t->sampler)
		return;
	trk__sampler_tick(t->sampler, late_ns, &row);
	trk__finish_look(&t->finish, t->sampler, is_over(t));
	record_gpus(t, row);
	record_programs(t, row);
	trk__track_follow_group(t);
	note_newest_group(t);
	if (trk__limits_follow(&t->limits, &t->env, t->sampler, row, &t->record->run)) {
		hold_cores(t);
		write_limits(t);
	}
	read_limit_hits(t, row);
	trk__record_add(t->record, 1, row, row, row);
	if (t->writer)
		(void) trk__writer_row(t->writer, row);
	if (t->options->on_row)
		t->options->on_row(t->options->data, t->record, row, t->sampler);
	flush_recording(t);
}

static void write_state(struct track *t, uint64_t now)
{
	if (!t->writer || !t->sampler || now < t->state_ns)
		return;
	t->state_ns = now + STATE_NS;
	trk__finish_totals(&t->finish, t->sampler, t->record);
	(void) trk__writer_state(t->writer, &t->record->outcome);
}

static void check_deadlines(struct track *t, uint64_t now)
{
	uint64_t elapsed = now - t->start_ns, memory_bytes = 0;
	char text[TRK_ENFORCE_TEXT_SIZE];
	enum trk_enforce_step step;

	if (t->options->duration_ns && elapsed >= t->options->duration_ns)
		t->stop = true;
	if (!t->options->argv || (t->root_reaped && !trk__termination_goes_on(&t->ending)))
		return;
	if (t->sampler && t->enforce.memory_bytes)
		memory_bytes = trk__sampler_held_bytes(t->sampler);
	step = trk__enforce(&t->enforce, elapsed, memory_bytes, text);
	if (step == TRK_ENFORCE_NOTHING)
		return;
	if (step == TRK_ENFORCE_TERM) {
		t->finish.facts.limit = t->enforce.limit;
		(void) snprintf(t->finish.limit_text, sizeof(t->finish.limit_text), "%s", text);
		trk__termination_begin(t, SIGTERM);
	} else if (step == TRK_ENFORCE_KILL) {
		trk__termination_begin(t, SIGKILL);
	}
	if (t->options->on_word)
		t->options->on_word(t->options->data, text);
}

static void report_stuck(struct track *t)
{
	const struct trk_tree_state *state = trk__tree_state(tree_of(t));
	char text[TRK_STUCK_TEXT_SIZE];

	for (; t->stuck_said < state->stuck_count; t->stuck_said++) {
		if (t->stuck_said >= TRK_STUCK_MAX || !t->options->on_word)
			continue;
		trk__stuck_text(&state->stuck[t->stuck_said], text);
		t->options->on_word(t->options->data, text);
	}
}

/* Between two rows: processes that come and go, peaks, dropped children, memory for --limit. */
static void update_tree(struct track *t, uint64_t now)
{
	const struct trk_tree_state *state;

	trk__tree_update_at(tree_of(t), now, &state);
	trk__finish_look(&t->finish, t->sampler, is_over(t));
}

static void tick(struct track *t)
{
	struct trk_outcome *o = &t->record->outcome;
	uint64_t now = t->env.monotonic_ns(), step = deadline_after(t, t->next_ns) - t->next_ns;

	if (now >= t->next_ns) {
		uint64_t late = now - t->next_ns;

		o->late += late > step / 10;
		o->missed += late / step;
		record_row(t, late);
		write_state(t, now);
		t->next_ns = deadline_after(t, now);
		if (t->options->duration_ns && t->next_ns > t->start_ns + t->options->duration_ns)
			t->next_ns = t->start_ns + t->options->duration_ns;
	} else if (tree_of(t)) {
		update_tree(t, now);
	}
	if (tree_of(t))
		report_stuck(t);
	trk__track_lines_follow(&t->lines, tree_of(t), now);
	trk__track_lines_ask(&t->lines, t->writer, now);
	check_deadlines(t, now);
	arm(t, now);
}

/* Wait for one of the descriptors. Where the kernel refuses (EINVAL: a limit of open files below
 * the number of descriptors, set by prlimit), sleep and then try all that can be read without
 * blocking: the tracker must still see the end and react to a stop. */
static void await(struct track *t, struct pollfd *fds, nfds_t n)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	int nap_ms = (int) (NAP_NS / TRK_NS_PER_MS);

	if (poll(fds, n, t->has_more_children ? 0 : t->unarmed ? nap_ms : -1) >= 0)
		return;
	for (nfds_t i = 0; i < n; i++)
		fds[i].revents = fds[i].fd >= 0 ? POLLIN : 0;
	/* This one cannot be tried. By itself it is within any limit but 0. */
	if (poll(&fds[PID], 1, 0) < 0)
		fds[PID].revents = 0;
	if (errno != EINTR)
		(void) nanosleep(&nap, NULL);
}

static bool tick_is_due(struct track *t, bool timer_is_ready)
{
	if (t->unarmed)
		return t->env.monotonic_ns() >= t->next_ns;
	/* Even if the timer cannot be read: a tick reads the clock itself. */
	if (timer_is_ready)
		trk__os_timer_take(t->timer_fd);
	return timer_is_ready;
}

static void write_place(struct track *t, enum trk_place_part part)
{
	if (t->writer)
		(void) trk__writer_place(t->writer, &t->record->place, part);
}

/* The tree has seen the end of its root. The end of a job is signalled by SIGCHLD, unless the
 * kernel or another waiter reaped it. */
static void handle_end(struct track *t)
{
	if (t->options->argv)
		trk__track_reap(t, t->job.pid);
	else
		t->stop = t->finish.facts.root_ended = true;
}

/* A host program that becomes a daemon closes all descriptors, and may open files under the same
 * numbers. The thread then ends without a look at its own: its memory is lost, and no file of the
 * host is written or closed. */
static void leave_if_lost(struct track *t)
{
	bool is_lost = t->finish.facts.abandoned ||
		       (t->control.fd >= 0 && !trk__fd_is(t->control.fd, t->control_identity));

	if (t->options->on_lost && is_lost)
		trk__track_lost(t);
}

static bool is_finished(const struct track *t)
{
	return t->stop || t->ending.is_over ||
	       (t->root_reaped && !trk__termination_goes_on(&t->ending));
}

/* The answer for this boot is in the folder of recordings. */
static void begin_discovery(struct track *t)
{
	TRK_MAY_BLOCK(TRK_BLOCKING_STORAGE, 0);

	trk__discovery_begin(&t->discovery, &t->env, &t->options->discovery, &t->record->place);
}

static bool step_discovery(struct track *t)
{
	TRK_MAY_BLOCK(TRK_BLOCKING_STORAGE, 0);

	return trk__discovery_step(&t->discovery, &t->record->place);
}

/* The machine and its cloud, which may be found while the job runs. */
static void find_place(struct track *t)
{
	/* A job without a group of its own is in the tracker's. */
	bool is_same = t->sampler && !t->options->pid && t->finish.holders != TRK_PEAK_GROUP_OWN;
	unsigned int changes;

	trk__machine_look(&t->record->place, &t->env,
			  is_same ? trk__sampler_limits(t->sampler, &changes) : NULL);
	write_place(t, TRK_PLACE_SERVER);
	begin_discovery(t);
	if (t->record->place.has_cloud)
		write_place(t, TRK_PLACE_CLOUD);
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
		[STACKS] = {.fd = -1, .events = POLLIN},
	};

	while (!is_finished(t)) {
		fds[CONTROL].fd = t->control.fd;
		fds[CLOUD].fd = trk__discovery_fd(&t->discovery);
		fds[STACKS].fd = t->lines.worker.fd;
		await(t, fds, AWAITED);
		leave_if_lost(t);
		if (fds[MARKS].revents)
			trk__track_read_marks(t);
		if (fds[CONTROL].revents)
			trk__track_read_control(t);
		leave_if_lost(t);
		if (fds[SIGNALS].revents)
			trk__track_handle_signals(t);
		if (t->has_more_children)
			trk__track_look_at_children(t);
		if (fds[PID].revents) { /* attach: the process has ended */
			t->finish.facts.root_ended = true;
			break;
		}
		trk__termination_step(t);
		if (is_finished(t))
			break;
		if (fds[STACKS].revents)
			trk__track_lines_take(&t->lines, t->writer);
		if (tick_is_due(t, fds[TIMER].revents != 0))
			tick(t);
		if (fds[CLOUD].revents && step_discovery(t))
			write_place(t, TRK_PLACE_CLOUD);
		if (!t->root_reaped && tree_of(t) && trk__tree_state(tree_of(t))->root_gone)
			handle_end(t);
		flush_recording(t);
	}
}

/* Name the processes that could not be ended. */
static void note_left(struct track *t)
{
	char text[sizeof(t->ending.left) + 32], *limit = t->finish.limit_text;
	size_t len = strlen(limit);

	if (!t->ending.is_over || t->ending.count == 0)
		return;
	(void) snprintf(text, sizeof(text), "could not be ended: %s", t->ending.left);
	(void) snprintf(limit + len, sizeof(t->finish.limit_text) - len, "; %s", text);
	if (t->options->on_word)
		t->options->on_word(t->options->data, text);
}

/* A killed process closes its socket shortly before it has ended. */
static void await_end(struct track *t)
{
	struct pollfd end = {.fd = t->pid_fd, .events = POLLIN};

	if (t->finish.facts.abandoned && t->options->pid && t->pid_fd >= 0)
		t->finish.facts.root_ended |= poll(&end, 1, END_PATIENCE_MS) > 0;
}

/* ---- life ---- */

static void replace(int fd, int stream)
{
	if (dup2(fd, stream) == stream)
		(void) fcntl(stream, F_SETFD, FD_CLOEXEC);
}

static void release_streams(const struct trk_track_options *o)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	if (o->release_stdin)
		replace(fd, STDIN_FILENO);
	if (o->release_stdout)
		replace(fd, STDOUT_FILENO);
	(void) close(fd);
}

/* After the start of the job, which would inherit the nice value, and before the start of the
 * tracker's threads, which need it. */
static void renice(const struct trk_track_options *o)
{
	char text[128];

	if (!o->renice || setpriority(PRIO_PROCESS, 0, o->nice) == 0)
		return;
	(void) snprintf(text, sizeof(text), "--renice %d: %s; the tracker keeps its priority",
			o->nice, trk__strerror(errno));
	if (o->on_word)
		o->on_word(o->data, text);
}

static int start_job(struct track *t)
{
	const struct trk_track_options *o = t->options;
	char guard[96];
	int r;

	/* The job's own group has more figures than the perf clocks. */
	t->job.wants_clocks = !o->one_process && !t->finish.group_is_own;
	(void) snprintf(guard, sizeof(guard), "RESOURCE_TRACKER_RUN=%s:%d", t->record->run.id,
			(int) getpid());
	if (o->own_group != TRK_OWN_GROUP_NEVER)
		trk__finish_make_group(&t->finish, t->record->run.id,
				       o->own_group == TRK_OWN_GROUP_BELOW);
	t->job.group_fd = t->finish.own.procs_fd;
	t->spawn_ns = t->env.monotonic_ns();
	r = trk__job_spawn(&t->job, o->argv, guard, &t->result->exec_failed);
	if (r < 0)
		return r;
	t->result->started = true;
	trk__finish_enter_group(&t->finish, t->job.group_refused);
	release_streams(o);
	return 0;
}

static void begin_limits(struct track *t)
{
	const struct trk_track_options *o = t->options;

	trk__limits_begin(&t->limits, &t->env, t->sampler, o->limits.memory_bytes, &t->record->run);
	trk__limits_state(&t->limits, o->limits.time_ns, o->gpu_hints, &t->record->run);
	hold_cores(t);
}

static int begin(struct track *t)
{
	const struct trk_track_options *o = t->options;
	int r = o->in_thread ? 0 : trk__job_prepare(&t->job);

	if (r < 0)
		return r;
	t->timer_fd = trk__os_timer();
	if (t->timer_fd < 0)
		return t->timer_fd;
	trk__track_look_at_proc(t);
	if (!o->in_thread)
		trk__track_note_old_children(t);
	trk__track_describe(t);
	t->enforce = o->limits;
	trk__finish_begin(&t->finish, &t->env, o->pid);
	t->finish.group_is_own &= !o->one_process; /* its children are in the group, too */
	t->marks_fd = trk__marks_listen(t->record->run.id);
	if (o->argv) {
		r = start_job(t);
		if (r < 0)
			return r;
	} else if (!o->in_thread) {
		trk__job_none();
	}
	renice(o);
	if (!o->in_thread)
		trk__job_protect_self(&t->job);
	if (o->pid)
		t->pid_fd = trk__os_process_end(o->pid);
	return 0;
}

/* ---- the steps of a run whose process has started ---- */

static void begin_sampling(struct track *t)
{
	const struct trk_track_options *o = t->options;
	int r;

	if (!t->reader)
		t->reader = t->has_proc ? trk__reader_new(&t->env, o->in_thread) : NULL;
	r = trk__track_open_sampler(t);
	if (r < 0 && !t->result->started) {
		t->begin_error = r;
		return;
	}
	t->result->sampling_error = r;
	if (t->sampler)
		begin_limits(t);
	trk__death_note(&t->env, &t->finish.group, &t->record->run.kills);
	/* After the start, so that a slow disk does not delay the job. */
	if (o->argv && !t->record->run.input_bytes)
		t->record->run.input_bytes = trk__reader_input_bytes(t->reader, o->argv);
}

/* Without a sampler the tracker still handles signals, stops and --timeout, and passes on the
 * result of the job. */
static void begin_ticks(struct track *t)
{
	t->start_ns = t->next_ns = t->env.monotonic_ns();
	t->state_ns = t->start_ns + STATE_NS;
	if (t->options->lines && tree_of(t))
		trk__track_lines_begin(&t->lines, &t->env, t->options, t->start_ns,
				       &t->record->lines);
}

static void look_at_short_job(struct track *t)
{
	if (t->options->argv)
		trk__track_look_at_children(t); /* a very short job is over already */
}

static void end_ticks(struct track *t)
{
	trk__track_guard(t, t->env.monotonic_ns());
	await_end(t);
	note_left(t);
	trk__track_read_marks(t);
	trk__track_lines_end(&t->lines, t->writer);
	flush_recording(t);
	trk__helper_process_hold(true);
}

static void record_last_row(struct track *t)
{
	if (tree_of(t))
		trk__tree_close_accounts(tree_of(t));
	if (t->sampler)
		trk__sampler_force_full(t->sampler);
	t->is_last = true;
	record_row(t, 0);
}

/* It reads prices, and a child that reads the history must end first. */
static void call_on_cost(struct track *t)
{
	TRK_MAY_BLOCK(TRK_BLOCKING_ANSWER, 0);

	t->options->on_cost(t->options->data, t->record);
}

static void end_place(struct track *t)
{
	if (trk__discovery_end(&t->discovery, &t->record->place))
		write_place(t, TRK_PLACE_CLOUD);
	if (t->options->on_cost) {
		call_on_cost(t);
		/* The type may have been found by then. */
		if (t->record->place.cloud.inferred[0])
			write_place(t, TRK_PLACE_CLOUD);
		write_place(t, TRK_PLACE_COST);
	}
}

/* The records that the file lacks. */
static void note_recording(struct track *t)
{
	struct trk_track_result *result = t->result;

	if (t->writer)
		result->recording_error = trk__writer_error(t->writer, &result->recording_lost);
}

/* The run has ended: its totals and cause. */
static void conclude(struct track *t)
{
	struct trk_outcome *outcome = &t->record->outcome;

	trk__finish(&t->finish, t->sampler, t->record, t->root_reaped && !t->finish.facts.lost,
		    t->wait_status);
	if (t->ending.is_over && t->ending.count > outcome->left_behind)
		outcome->left_behind = t->ending.count;
	if (t->sampler &&
	    trk__limits_end(&t->limits, outcome, &t->finish.killed_limit, &t->record->run))
		write_limits(t);
	if (!t->sampler) {
		outcome->stop_ns = t->env.wall_ns();
		outcome->duration_ns = t->env.monotonic_ns() - t->start_ns;
	}
	flush_recording(t);
	note_recording(t);
}

static void end_recording(struct track *t)
{
	if (t->writer)
		(void) trk__writer_end(t->writer, &t->record->outcome);
	note_recording(t);
}

/* In the thread that started the workers of the sampler: the kernel kills them when it ends, before
 * what they have started could be ended. */
static void end_sampler(struct track *t)
{
	trk__sampler_free(t->sampler);
	t->sampler = NULL;
}

static void (*const step[])(struct track *) = {
	begin_sampling,
	trk__track_open_recording,
	begin_ticks,
	tick,
	trk__track_announce,
	find_place, /* takes 1 ms, which would delay the first tick */
	look_at_short_job,
	loop,
	end_ticks,
	record_last_row,
	conclude,
	end_place,
	end_recording,
	end_sampler,
};
enum { STEPS = sizeof(step) / sizeof(step[0]) };

static void report_storage(struct track *t)
{
	char text[TRK_RUN_TEXT_SIZE];

	if (!t->is_storage_blocked || t->storage_said || !t->options->on_word)
		return;
	t->storage_said = true;
	(void) snprintf(text, sizeof(text),
			"%.150s: the storage does not answer: rows wait in memory",
			t->options->dir);
	t->options->on_word(t->options->data, text);
}

void trk__track_work(struct track *t)
{
	report_storage(t);
	for (; t->step < STEPS && t->begin_error == 0; t->step++)
		step[t->step](t);
}

/* A step that read about a process is repeated without that process; one that wrote is not, as
 * the records wait in memory. */
void trk__track_resume(struct track *t, enum trk_blocking_kind kind)
{
	if (kind != TRK_BLOCKING_PROCESS && step[t->step] != loop)
		t->step++;
	t->is_storage_blocked |=
		t->options->dir && (kind == TRK_BLOCKING_STORAGE || kind == TRK_BLOCKING_ANSWER);
	if (kind == TRK_BLOCKING_PROCESS && tree_of(t) && !trk__tree_interrupted(tree_of(t)))
		t->sampler = NULL;
	/* What was going on may have been interrupted. */
	t->has_more_children = t->options->argv != NULL;
	(void) trk__os_timer_set(t->timer_fd, 1);
}

static void release(struct track *t)
{
	(void) trk__discovery_end(&t->discovery, &t->record->place);
	trk__sampler_free(t->sampler);
	trk__reader_free(t->reader);
	trk__helper_process_hold(false);
	if (t->writer && !trk__writer_is_busy(t->writer)) /* else a thread is blocked in it */
		trk__writer_free(t->writer);
	trk__finish_release(&t->finish);
	trk__termination_release(&t->ending);
	trk__close(t->runs_fd);
	trk__close(t->timer_fd);
	trk__close(t->guard_fd);
	trk__close(t->pid_fd);
	trk__close(t->marks_fd);
	if (t->root_reaped || t->ending.is_over)
		trk__job_drop_signals(&t->job, t->record->outcome.end == TRK_END_OUT_OF_MEMORY);
	if (!t->options->in_thread)
		trk__job_release(&t->job);
}

int trk__track(const struct trk_env *env, const struct trk_track_options *options,
	       struct trk_track_result *result)
{
	struct track *t = malloc(sizeof(*t)); /* 45 KiB, for which a small stack has no room */
	int r;

	memset(result, 0, sizeof(*result));
	r = t ? trk__record_init(&result->record) : -ENOMEM;
	if (r < 0) {
		free(t);
		return r;
	}
	*t = (struct track){
		.options = options,
		.result = result,
		.record = &result->record,
		.env = *env,
		.job = TRK_JOB_NONE,
		.finish = {.own = TRK_CGROUP_OWN_NONE},
		.control = {.fd = options->control_fd},
		.control_identity = trk__fd_identity(options->control_fd),
		.discovery = {.dir_fd = -1},
		.runs_fd = -1,
		.lines = TRK_TRACK_LINES_NONE,
		.marks_fd = -1,
		.timer_fd = -1,
		.guard_fd = -1,
		.pid_fd = -1,
	};
	r = begin(t);
	if (r >= 0) { /* else nothing was started, nothing recorded */
		trk__track_guarded(t);
		r = t->begin_error;
	}
	release(t);
	if (!t->is_abandoned)
		free(t);
	return r;
}
