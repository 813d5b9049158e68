#include "track/lines.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "probe/linux/pid_stat.h"
#include "recording/line_record.h"
#include "track/linux/line_worker.h"

/* Space for stacks in a recording: this much, and 1/SHARE of the rest. */
enum { FREE_BYTES = 4 * 1024, SHARE = 10 };

enum { STARTS_MAX = 8, ANSWERS_MAX = 4, WAIT_MS = 20, LAST_WAITS = 40 };

/* Stretches of time of the recording: short ones at first, for short jobs and early ends. */
#define BEGIN_NS  (2 * TRK_NS_PER_S)
#define FIRST_NS  (5 * TRK_NS_PER_S)
#define LATER_NS  (20 * TRK_NS_PER_S)
#define MINUTE_NS (60 * TRK_NS_PER_S)

/* A reading of so long is blocked, if the worker does not run; and one of so long in any case. */
#define BLOCKED_NS (TRK_NS_PER_S)
#define ENDLESS_NS (5 * TRK_NS_PER_S)
/* At the end of the run. */
#define LAST_BLOCKED_NS (200 * TRK_NS_PER_MS)
#define LEFT_OUT_NS     (60 * TRK_NS_PER_S)

static uint64_t stretch_at(uint64_t elapsed_ns)
{
	return elapsed_ns < FIRST_NS         ? BEGIN_NS
	       : elapsed_ns < MINUTE_NS      ? FIRST_NS
	       : elapsed_ns < 10 * MINUTE_NS ? LATER_NS
					     : MINUTE_NS;
}

/* ---- starting the worker ---- */

/* A thread needs a table of its own. */
static struct trk_lines *copy_of(const struct trk_lines *lines)
{
	TRK_BUF_LOCAL(b, TRK_LINES_ANSWER_MAX);
	struct trk_lines_written from = {0, 0, 0};
	struct trk_lines *copy = trk__lines_new();

	while (copy && trk__format_line_names(&b, lines, &from)) {
		(void) trk__parse_line_names(b.data, b.len, copy);
		trk__buf_clear(&b);
	}
	trk__format_line_state(&b, lines);
	if (copy && !b.error)
		(void) trk__parse_line_state(b.data, b.len, copy);
	return copy;
}

static void release_process(void *data)
{
	free(data);
}

static void release_thread(void *data)
{
	struct trk_line_worker *of = data;

	trk__lines_free(of->lines);
	free(of);
}

static struct trk_stacks_reading *map_state(void)
{
	void *at = mmap(NULL, sizeof(struct trk_stacks_reading), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int start(struct trk_track_lines *t, uint64_t now_ns)
{
	struct trk_line_worker *of = malloc(sizeof(*of));
	struct trk_worker_options options = {
		.name = "rt-lines",
		.env = t->env,
		.as_thread = t->as_thread,
		.run = trk__line_worker,
		.data = of,
		.release = t->as_thread ? release_thread : release_process,
	};

	t->state = map_state();
	if (!of || !t->state) {
		free(of);
		return -ENOMEM;
	}
	*of = (struct trk_line_worker){*t->env, t->stacks, t->lines, t->start_ns, now_ns};
	of->stacks.reading = t->state;
	if (t->as_thread)
		of->lines = copy_of(t->lines);
	if (!of->lines) {
		free(of);
		return -ENOMEM;
	}
	t->starts++;
	t->asked = 0;
	t->window_ns = now_ns;
	t->flush_ns = now_ns + stretch_at(now_ns - t->start_ns);
	trk__buf_clear(&t->input);
	return trk__worker_start(&t->worker, &options);
}

/* A thread that blocks goes on using the state. */
static void stop(struct trk_track_lines *t)
{
	bool in_use = t->as_thread && t->worker.fd >= 0;

	trk__worker_end(&t->worker);
	if (t->state && !in_use)
		(void) munmap(t->state, sizeof(*t->state));
	t->state = NULL;
}

void trk__track_lines_begin(struct trk_track_lines *t, const struct trk_env *env,
			    const struct trk_track_options *options, uint64_t start_ns,
			    struct trk_lines **ret_lines)
{
	*t = TRK_TRACK_LINES_NONE;
	t->env = env;
	t->stacks = options->stacks;
	t->as_thread = options->in_thread || trk__worker_must_be_thread(env);
	/* A path may contain secrets, like an argument. */
	t->stacks.base_names |=
		options->redaction == TRK_REDACT_STRICT || options->redaction == TRK_REDACT_ALL;
	t->start_ns = start_ns;
	trk__buf_init(&t->input, TRK_LINES_ANSWER_MAX);
	t->lines = trk__lines_new();
	if (t->lines && start(t, start_ns) == 0) {
		*ret_lines = t->lines;
		return;
	}
	stop(t);
	trk__lines_free(t->lines);
	t->lines = NULL;
}

/* ---- a worker that blocks ---- */

static bool is_blocked(const struct trk_track_lines *t, uint64_t now_ns, uint64_t after_ns)
{
	uint64_t since_ns = atomic_load(&t->state->since_ns);
	uint64_t over_ns = since_ns && now_ns > since_ns ? now_ns - since_ns : 0;

	return over_ns > ENDLESS_NS ||
	       (over_ns > after_ns && !trk__worker_runs(&t->worker, t->env));
}

static bool is_left_out(const struct trk_track_lines *t, pid_t pid, uint64_t now_ns)
{
	for (int i = 0; i < TRK_LINES_LEFT_OUT; i++)
		if (t->left_out[i].pid == pid && now_ns < t->left_out[i].until_ns)
			return true;
	return false;
}

static void leave_out(struct trk_track_lines *t, pid_t pid, enum trk_stack_why why, uint64_t now_ns)
{
	struct trk_lines_process note = {.pid = pid, .why = why};
	struct trk_pid_stat stat;
	int at = 0;

	for (int i = 1; i < TRK_LINES_LEFT_OUT; i++)
		if (t->left_out[i].until_ns < t->left_out[at].until_ns)
			at = i;
	t->left_out[at] = (struct trk_lines_left_out){pid, now_ns + (LEFT_OUT_NS << t->starts)};
	if (trk__pid_stat_read(t->env->proc_fd, pid, &stat) == 0)
		(void) snprintf(note.name, sizeof(note.name), "%s", stat.comm);
	trk__lines_process(t->lines, &note);
}

/* Start the worker again if it has crashed or blocks in a process. The counts since the last answer
 * are lost. */
static void revive(struct trk_track_lines *t, struct trk_tree *tree, uint64_t now_ns)
{
	bool blocks = t->worker.fd >= 0 && is_blocked(t, now_ns, BLOCKED_NS);
	pid_t pid;

	if (!t->state || (!blocks && !trk__worker_has_ended(&t->worker)))
		return;
	pid = atomic_load(&t->state->since_ns) ? atomic_load(&t->state->pid) : 0;
	if (pid)
		leave_out(t, pid, blocks ? TRK_STACK_STUCK : TRK_STACK_UNEXPECTED, now_ns);
	if (pid && blocks)
		trk__tree_suspect(tree, pid);
	stop(t);
	if (t->starts < STARTS_MAX && start(t, now_ns) < 0)
		stop(t);
}

/* ---- orders ---- */

static bool send_order(struct trk_track_lines *t, enum trk_lines_order what, const pid_t *pid,
		       size_t count)
{
	struct {
		struct trk_lines_header header;
		pid_t pid[TRK_LINES_PIDS];
	} order = {.header = {what, (uint32_t) count, t->env->monotonic_ns()}};
	size_t len = sizeof(order.header) + count * sizeof(*pid);

	if (count)
		memcpy(order.pid, pid, count * sizeof(*pid));
	return send(t->worker.fd, &order, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t) len;
}

void trk__track_lines_follow(struct trk_track_lines *t, struct trk_tree *tree, uint64_t now_ns)
{
	pid_t pid[TRK_LINES_PIDS];
	size_t n, kept = 0;

	if (!t->lines || !tree)
		return;
	revive(t, tree, now_ns);
	if (t->worker.fd < 0)
		return;
	n = trk__tree_pids(tree, pid, TRK_LINES_PIDS);
	n = n < TRK_LINES_PIDS ? n : TRK_LINES_PIDS;
	for (size_t i = 0; i < n; i++)
		if (!is_left_out(t, pid[i], now_ns))
			pid[kept++] = pid[i];
	(void) send_order(t, LINES_FOLLOW, pid, kept);
}

static bool has_room(const struct trk_writer *w)
{
	uint64_t bytes, lines_bytes;

	trk__writer_sizes(w, &bytes, &lines_bytes);
	return lines_bytes < FREE_BYTES + (bytes - lines_bytes) / SHARE;
}

void trk__track_lines_ask(struct trk_track_lines *t, const struct trk_writer *w, uint64_t now_ns)
{
	if (t->worker.fd < 0 || t->asked >= ANSWERS_MAX || now_ns < t->flush_ns ||
	    (w && !has_room(w)) || !send_order(t, LINES_ASK, NULL, 0))
		return;
	t->asked++;
	t->flush_ns = UINT64_MAX; /* until the answer */
}

/* ---- answers ---- */

static void take_counts(struct trk_track_lines *t, struct trk_writer *w, const char *data,
			size_t len)
{
	struct trk_lines_sums sums = {.counts = 0};
	int64_t from_us = INT64_MAX, to_us = INT64_MIN;

	t->asked -= t->asked > 0;
	if (trk__merge_line_counts(data, len, &sums, &from_us, &to_us) == 0) {
		(void) trk__lines_add(t->lines, from_us, to_us, sums.count, sums.counts);
		if (w && trk__lines_has_any(t->lines)) /* others leave no trace */
			(void) trk__writer_lines(w, t->lines, &t->written, from_us, to_us,
						 sums.count, sums.counts);
		t->window_ns = t->start_ns + (uint64_t) to_us * 1000;
		t->flush_ns = t->window_ns + stretch_at(t->window_ns - t->start_ns);
	}
	trk__lines_sums_release(&sums);
}

/* Take the first part of the input. Returns its size; 0: it has not arrived completely. */
static size_t take_part(struct trk_track_lines *t, struct trk_writer *w, const char *data,
			size_t len)
{
	struct trk_lines_header header;

	if (len < sizeof(header))
		return 0;
	memcpy(&header, data, sizeof(header));
	data += sizeof(header);
	if (len - sizeof(header) < header.size)
		return 0;
	if (header.what == LINES_NAMES)
		(void) trk__parse_line_names(data, header.size, t->lines);
	else if (header.what == LINES_STATE)
		(void) trk__parse_line_state(data, header.size, t->lines);
	else if (header.what == LINES_COUNTS)
		take_counts(t, w, data, header.size);
	return sizeof(header) + header.size;
}

void trk__track_lines_take(struct trk_track_lines *t, struct trk_writer *w)
{
	char more[16384];
	size_t done = 0, part;
	ssize_t n;

	if (t->worker.fd < 0)
		return;
	while ((n = recv(t->worker.fd, more, sizeof(more), MSG_DONTWAIT)) > 0)
		trk__buf_add(&t->input, more, (size_t) n);
	/* An ended or broken worker: trk__track_lines_follow starts it again. */
	if (t->input.error || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		trk__worker_end(&t->worker);
		trk__buf_clear(&t->input);
		return;
	}
	while ((part = take_part(t, w, t->input.data + done, t->input.len - done)) > 0)
		done += part;
	if (done) {
		memmove(t->input.data, t->input.data + done, t->input.len - done + 1);
		t->input.len -= done;
	}
}

void trk__track_lines_end(struct trk_track_lines *t, struct trk_writer *w)
{
	int waits = 0;

	if (!t->lines)
		return;
	if (t->worker.fd >= 0)
		t->asked += send_order(t, LINES_LAST, NULL, 0);
	while (t->asked && t->worker.fd >= 0 && waits < LAST_WAITS) {
		struct pollfd answer = {.fd = t->worker.fd, .events = POLLIN};

		if (poll(&answer, 1, WAIT_MS) > 0)
			trk__track_lines_take(t, w);
		else if (is_blocked(t, t->env->monotonic_ns(), LAST_BLOCKED_NS))
			break;
		else
			waits++;
	}
	stop(t);
	trk__buf_release(&t->input);
	*t = TRK_TRACK_LINES_NONE;
}
