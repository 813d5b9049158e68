#include "track/linux/line_worker.h"

#include <poll.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/os.h"
#include "probe/linux/worker.h"
#include "recording/line_record.h"

struct work {
	struct trk_line_worker *of;
	struct trk_stacks *stacks;
	struct trk_lines_written sent;
	int fd, timer_fd;
	uint64_t armed_ns;
};

static bool send_part(const struct work *w, enum trk_lines_part what, const struct trk_buf *b)
{
	const struct trk_lines_header header = {what, (uint32_t) b->len, 0};

	return trk__worker_send(w->fd, &header, sizeof(header)) &&
	       trk__worker_send(w->fd, b->data, b->len);
}

static bool send_names(struct work *w, struct trk_buf *b)
{
	while (trk__format_line_names(b, w->of->lines, &w->sent)) {
		if (!send_part(w, LINES_NAMES, b))
			return false;
		trk__buf_clear(b);
	}
	return true;
}

/* The samples since at_ns, a few at most, are part of the sums. */
static bool answer(struct work *w, uint64_t at_ns, bool last)
{
	TRK_BUF_LOCAL(b, TRK_LINES_ANSWER_MAX);
	struct trk_line_worker *of = w->of;
	struct trk_lines_sums *window;

	trk__stacks_settle(w->stacks, last);
	window = trk__stacks_window(w->stacks);
	if (!send_names(w, &b))
		return false;
	trk__format_line_state(&b, of->lines);
	if (!send_part(w, LINES_STATE, &b))
		return false;
	trk__buf_clear(&b);
	trk__format_line_counts(&b, (int64_t) ((of->window_ns - of->start_ns) / 1000),
				(int64_t) ((at_ns - of->start_ns) / 1000), window->count,
				window->counts);
	trk__lines_sums_release(window);
	of->window_ns = at_ns;
	return send_part(w, LINES_COUNTS, &b);
}

/* Read an order and carry it out. False at the end of the stream. */
static bool obey(struct work *w)
{
	struct trk_lines_header order;
	pid_t pid[TRK_LINES_PIDS];

	if (!trk__worker_receive(w->fd, &order, sizeof(order)))
		return false;
	if (order.what != LINES_FOLLOW)
		return answer(w, order.at_ns > w->of->window_ns ? order.at_ns : w->of->window_ns,
			      order.what == LINES_LAST);
	if (order.size > TRK_LINES_PIDS ||
	    !trk__worker_receive(w->fd, pid, order.size * sizeof(pid[0])))
		return false;
	trk__stacks_follow(w->stacks, pid, order.size, w->of->env.monotonic_ns());
	return true;
}

static void arm(struct work *w)
{
	uint64_t at = trk__stacks_next_ns(w->stacks);

	if (at != w->armed_ns && trk__os_timer_set(w->timer_fd, at) == 0)
		w->armed_ns = at;
}

static void serve(struct work *w)
{
	struct pollfd fds[] = {{.fd = w->fd, .events = POLLIN},
			       {.fd = w->timer_fd, .events = POLLIN}};

	do {
		arm(w);
		if (poll(fds, 2, -1) < 0)
			return;
		if (fds[1].revents) {
			trk__os_timer_take(w->timer_fd);
			trk__stacks_tick(w->stacks, w->of->env.monotonic_ns());
		}
	} while (!fds[0].revents || obey(w));
}

void trk__line_worker(int fd, void *data)
{
	struct trk_line_worker *of = data;
	struct work w = {.of = of, .fd = fd, .timer_fd = trk__os_timer()};

	/* What a copy has came from an earlier worker. */
	w.sent = (struct trk_lines_written){of->lines->functions, of->lines->nodes,
					    of->lines->lanes};
	w.stacks = trk__stacks_new(&of->env, &of->stacks, of->lines, of->start_ns);
	if (w.stacks && w.timer_fd >= 0)
		serve(&w);
	trk__stacks_free(w.stacks);
	trk__close(w.timer_fd);
}
