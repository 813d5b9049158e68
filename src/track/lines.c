#include "track/lines.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"

/* Space for stacks in a recording: this much, and 1/SHARE of the rest. */
enum { FREE_BYTES = 4 * 1024, SHARE = 10, PIDS_MAX = 1024 };

/* Stretches of time of the recording: short ones at first, for short jobs and early ends. */
#define BEGIN_NS  (2 * TRK_NS_PER_S)
#define FIRST_NS  (5 * TRK_NS_PER_S)
#define LATER_NS  (20 * TRK_NS_PER_S)
#define MINUTE_NS (60 * TRK_NS_PER_S)

static uint64_t stretch_at(uint64_t elapsed_ns)
{
	return elapsed_ns < FIRST_NS         ? BEGIN_NS
	       : elapsed_ns < MINUTE_NS      ? FIRST_NS
	       : elapsed_ns < 10 * MINUTE_NS ? LATER_NS
					     : MINUTE_NS;
}

void trk__track_lines_begin(struct trk_track_lines *t, const struct trk_env *env,
			    const struct trk_track_options *options, uint64_t start_ns,
			    struct trk_lines **ret_lines)
{
	struct trk_stacks_options stacks = options->stacks;
	struct trk_lines *lines = trk__lines_new();

	/* A path may contain secrets, like an argument. */
	stacks.base_names |=
		options->redaction == TRK_REDACT_STRICT || options->redaction == TRK_REDACT_ALL;
	*t = TRK_TRACK_LINES_NONE;
	if (!lines)
		return;
	t->timer_fd = trk__os_timer();
	if (t->timer_fd >= 0)
		t->stacks = trk__stacks_new(env, &stacks, lines, start_ns);
	if (!t->stacks) {
		trk__close(t->timer_fd);
		t->timer_fd = -1;
		trk__lines_free(lines);
		return;
	}
	t->lines = *ret_lines = lines;
	t->start_ns = t->window_ns = start_ns;
	t->flush_ns = start_ns + BEGIN_NS;
}

static void arm(struct trk_track_lines *t)
{
	uint64_t at = trk__stacks_next_ns(t->stacks);

	if (at != t->armed_ns && trk__os_timer_set(t->timer_fd, at) == 0)
		t->armed_ns = at;
}

void trk__track_lines_follow(struct trk_track_lines *t, struct trk_tree *tree, uint64_t now_ns)
{
	pid_t pid[PIDS_MAX];
	size_t n;

	if (!t->stacks || !tree)
		return;
	n = trk__tree_pids(tree, pid, PIDS_MAX);
	trk__stacks_follow(t->stacks, pid, n < PIDS_MAX ? n : PIDS_MAX, now_ns);
	arm(t);
}

void trk__track_lines_tick(struct trk_track_lines *t, uint64_t now_ns)
{
	trk__os_timer_take(t->timer_fd);
	trk__stacks_tick(t->stacks, now_ns);
	arm(t);
}

static bool has_room(const struct trk_writer *w)
{
	uint64_t bytes, lines_bytes;

	trk__writer_sizes(w, &bytes, &lines_bytes);
	return lines_bytes < FREE_BYTES + (bytes - lines_bytes) / SHARE;
}

void trk__track_lines_write(struct trk_track_lines *t, struct trk_writer *w, uint64_t now_ns,
			    bool now)
{
	struct trk_lines_sums *window;
	int64_t from_us, to_us;

	if (!t->stacks || (!now && (now_ns < t->flush_ns || (w && !has_room(w)))))
		return;
	trk__stacks_settle(t->stacks, now);
	window = trk__stacks_window(t->stacks);
	from_us = (int64_t) ((t->window_ns - t->start_ns) / 1000);
	to_us = (int64_t) ((now_ns - t->start_ns) / 1000);
	(void) trk__lines_add(t->lines, from_us, to_us, window->count, window->counts);
	if (w && trk__lines_has_any(t->lines)) /* others leave no trace */
		(void) trk__writer_lines(w, t->lines, &t->written, from_us, to_us, window->count,
					 window->counts);
	trk__lines_sums_release(window);
	t->window_ns = now_ns;
	t->flush_ns = now_ns + stretch_at(now_ns - t->start_ns);
}

void trk__track_lines_end(struct trk_track_lines *t)
{
	trk__stacks_free(t->stacks);
	trk__close(t->timer_fd);
	*t = TRK_TRACK_LINES_NONE;
}
