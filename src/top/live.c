#include "top/live.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "top/keys.h"
#include "top/screen.h"

/* SEQUENCE_MS: time limit for the rest of a key sequence after an escape. */
enum { SEQUENCE_MS = 50, FRAME_MAX = 1 << 20, COLUMNS = 80, ROWS = 24 };

/* Synchronized update: supporting terminals show the frame at once. */
#define BEGIN "\033[?2026h"
#define END   "\033[?2026l"

struct live {
	struct trk_session *session;
	const struct trk_live_options *options;
	struct trk_frame shown, next;
	struct trk_buf out;
	char keys[256];
	size_t keys_len;
	bool gone; /* the terminal */
};

/* Create frames of the terminal's size; the shown one is empty. 0 or -ENOMEM. */
static int resize(struct live *l)
{
	int columns = COLUMNS, rows = ROWS;

	(void) trk__screen_size(&columns, &rows);
	trk__frame_release(&l->shown);
	trk__frame_release(&l->next);
	return trk__frame_init(&l->next, columns, rows, l->options->utf8);
}

static int show(struct live *l)
{
	struct trk_frame swap;
	int r = 0;

	trk__session_draw(l->session, &l->next);
	trk__buf_clear(&l->out);
	trk__buf_puts(&l->out, BEGIN);
	trk__frame_diff(l->shown.cell ? &l->shown : NULL, &l->next, l->options->color, &l->out);
	if (l->out.len > sizeof(BEGIN) - 1) {
		trk__buf_puts(&l->out, END);
		if (l->out.error || trk__write_all(l->options->out_fd, l->out.data, l->out.len) < 0)
			l->gone = true;
	}
	if (!l->shown.cell)
		r = trk__frame_init(&l->shown, l->next.columns, l->next.rows, l->options->utf8);
	swap = l->shown;
	l->shown = l->next;
	l->next = swap;
	return r;
}

static void take_keys(struct live *l, bool last)
{
	size_t used = 0, n;
	int key;

	while (used < l->keys_len &&
	       (n = trk__key_parse(l->keys + used, l->keys_len - used, last, &key)) > 0) {
		used += n;
		if (key == TRK_KEY_CTRL_Z)
			trk__screen_suspend();
		else
			trk__session_key(l->session, key, trk__clock_monotonic_ns());
	}
	l->keys_len -= used;
	memmove(l->keys, l->keys + used, l->keys_len);
}

static void read_keys(struct live *l)
{
	ssize_t n = trk__screen_read(l->keys + l->keys_len, sizeof(l->keys) - l->keys_len);

	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		l->gone = true; /* the terminal hung up */
	if (n > 0)
		l->keys_len += (size_t) n;
	take_keys(l, l->keys_len == sizeof(l->keys));
}

/* Handle keys until the next frame is due. Returns 0 or -ENOMEM. */
static int wait_until(struct live *l, uint64_t due_ns)
{
	uint64_t now_ns = trk__clock_monotonic_ns();
	bool resized, ready;
	int r = 0, ms;

	while (r == 0 && !l->gone && !l->session->quit && now_ns < due_ns) {
		ms = (int) ((due_ns - now_ns) / TRK_NS_PER_MS) + 1;
		if (l->keys_len && ms > SEQUENCE_MS)
			ms = SEQUENCE_MS;
		ready = trk__screen_wait(ms, &resized);
		if (ready)
			read_keys(l);
		else if (l->keys_len)
			take_keys(l, true);
		if (resized)
			r = resize(l);
		if (r == 0 && (ready || resized) && !l->session->quit && !l->gone) {
			(void) trk__session_update(l->session, trk__clock_monotonic_ns());
			r = show(l);
		}
		now_ns = trk__clock_monotonic_ns();
	}
	return r;
}

static int loop(struct live *l)
{
	uint64_t due_ns = trk__clock_monotonic_ns();
	int r = resize(l);

	while (r == 0 && !l->gone && !l->session->quit) {
		uint64_t now_ns = trk__clock_monotonic_ns();
		bool fast = l->session->view.playing && l->session->view.speed > 1;
		uint64_t step_ns = TRK_NS_PER_S / (fast ? 2 : 1);

		r = trk__session_update(l->session, now_ns);
		if (r < 0 && l->session->has_run)
			r = 0; /* keep what was read */
		if (r == 0)
			r = show(l);
		trk__session_load_usual(l->session);
		due_ns = now_ns - due_ns > step_ns ? now_ns + step_ns : due_ns + step_ns;
		if (r == 0)
			r = wait_until(l, due_ns);
	}
	return r;
}

int trk__live(struct trk_session *s, const struct trk_live_options *o)
{
	struct live l = {.session = s, .options = o};
	int r = trk__screen_open(o->in_fd, o->out_fd);

	if (r < 0)
		return r;
	trk__buf_init(&l.out, FRAME_MAX);
	r = loop(&l);
	trk__screen_close();
	trk__buf_release(&l.out);
	trk__frame_release(&l.shown);
	trk__frame_release(&l.next);
	return r;
}
