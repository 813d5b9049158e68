#include "top/session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "history/history.h"
#include "probe/linux/pid_stat.h"
#include "top/keys.h"

#define STEP_S      1.0
#define LONG_STEP_S 60.0
#define SPEED_MAX   3600.0

/* ---- one run ---- */

static void close_run(struct trk_session *s)
{
	if (s->has_run)
		trk__watch_close(&s->watch);
	free(s->usual);
	s->usual = NULL;
	trk__processes_release(&s->processes);
	s->has_run = s->usual_looked_for = false;
}

static int open_run(struct trk_session *s, int dirfd, const char *name, struct trk_error *reterr)
{
	long r = trk__watch_open(&s->watch, dirfd, name, 0, reterr);

	if (r < 0)
		return (int) r;
	r = trk__watch_update(&s->watch);
	if (r < 0) {
		trk__watch_close(&s->watch);
		return trk__error_set(reterr, (int) r, name, "%s: %s", name,
				      trk__strerror((int) r));
	}
	s->has_run = true;
	s->view.live = trk__watch_record(&s->watch)->writing;
	s->view.playing = false;
	s->t_s = trk__watch_end_s(&s->watch);
	return 0;
}

int trk__session_init(struct trk_session *s, const struct trk_session_options *o, const char *run,
		      int dirfd, struct trk_error *reterr)
{
	int r = 0;

	memset(s, 0, sizeof(*s));
	s->options = *o;
	s->list.runs_fd = o->runs_fd;
	s->view = (struct trk_view_options){
		.speed = 1, .overlay = true, .sort = o->sort, .filter = s->filter};
	s->facts = malloc(sizeof(*s->facts));
	if (!s->facts)
		r = trk__error_set(reterr, -ENOMEM, run, "out of memory");
	if (r == 0 && run)
		r = open_run(s, dirfd, run, reterr);
	if (r == 0 && run && !isnan(o->at_s)) {
		s->t_s = o->at_s;
		s->view.live = false;
		s->view.playing = true;
	}
	if (r < 0)
		free(s->facts);
	return r;
}

void trk__session_release(struct trk_session *s)
{
	close_run(s);
	trk__list_release(&s->list);
	free(s->facts);
}

/* Whether the run is of this machine and boot, and its root process is alive. */
static bool is_here(const struct trk_session *s)
{
	const struct trk_record *r = trk__watch_record(&s->watch);
	char boot[TRK_RUN_BOOT_SIZE] = "";
	struct trk_pid_stat stat;

	if (s->options.proc_fd < 0 || !r->writing || r->run.pid <= 0 ||
	    trk__read_at(s->options.proc_fd, "sys/kernel/random/boot_id", boot, sizeof(boot)) <= 0)
		return false;
	boot[strcspn(boot, "\n")] = '\0';
	return !strcmp(boot, r->run.kills.boot) &&
	       trk__pid_stat_read(s->options.proc_fd, (pid_t) r->run.pid, &stat) == 0;
}

static void move_replay(struct trk_session *s, uint64_t now_ns)
{
	double end_s = trk__watch_end_s(&s->watch);

	if (s->view.playing && s->moved_ns && now_ns > s->moved_ns)
		s->t_s += (double) (now_ns - s->moved_ns) / 1e9 * s->view.speed;
	s->moved_ns = now_ns;
	if (s->t_s < end_s)
		return;
	s->t_s = end_s;
	/* A view that was paused at the newest moment stays paused. */
	s->view.live |= s->view.playing && trk__watch_record(&s->watch)->writing;
	s->view.playing = false;
}

int trk__session_update(struct trk_session *s, uint64_t now_ns)
{
	long r;

	if (!s->has_run)
		return s->list.runs_fd < 0 ? 0 : trk__list_update(&s->list, now_ns);
	r = trk__watch_update(&s->watch);
	if (s->view.live && !trk__watch_record(&s->watch)->writing)
		s->view.live = false; /* it has ended: show its last moment */
	if (s->view.live)
		s->t_s = trk__watch_end_s(&s->watch);
	else
		move_replay(s, now_ns);
	if (s->view.live && is_here(s))
		(void) trk__processes_update(&s->processes, s->options.proc_fd,
					     (pid_t) trk__watch_record(&s->watch)->run.pid, now_ns);
	return r < 0 ? (int) r : 0;
}

enum { LOOK_BACK = 40, NEW_RUNS_MAX = 64 };

static int take_past(void *data, const struct trk_past_run *past)
{
	struct trk_session *s = data;

	return trk__usual_course_read(s->usual, trk__watch_record(&s->watch), s->options.runs_fd,
				      past);
}

void trk__session_load_usual(struct trk_session *s)
{
	const struct trk_record *record = trk__watch_record(&s->watch);
	struct trk_history *h;

	if (!s->has_run || s->usual_looked_for)
		return;
	s->usual_looked_for = true;
	if (s->options.runs_fd < 0 || !record->run.job[0])
		return;
	/* A history that cannot be opened counts as empty. */
	h = trk__history_open_at(NULL, s->options.dir, NEW_RUNS_MAX, NULL);
	s->usual = h ? calloc(1, sizeof(*s->usual)) : NULL;
	if (s->usual) {
		struct trk_job_key key = trk__job_key(&record->run);

		(void) trk__history_list(h, &key, LOOK_BACK, false, take_past, s, NULL);
		if (!trk__usual_course_settle(s->usual)) {
			free(s->usual);
			s->usual = NULL;
		}
	}
	trk__history_free(h);
}

/* ---- keys ---- */

static void seek(struct trk_session *s, double t_s)
{
	double end_s = trk__watch_end_s(&s->watch);

	s->view.live = false;
	s->t_s = t_s < 0 ? 0 : t_s > end_s ? end_s : t_s;
}

/* Whether a moment is the one to jump to: the last before the present one, or the first after. */
static bool is_next(const struct trk_session *s, double at_s, int by, double to_s)
{
	return by < 0 ? at_s < s->t_s - 1 : at_s > s->t_s + 1e-3 && isnan(to_s);
}

static void seek_phase(struct trk_session *s, int by)
{
	const struct trk_time_breakdown *c = trk__watch_times(&s->watch);
	double to_s = by < 0 ? 0 : NAN;

	for (size_t i = 0; c && i < c->phase_count; i++)
		if (is_next(s, c->phase[i].start_s, by, to_s))
			to_s = c->phase[i].start_s;
	if (!isnan(to_s))
		seek(s, to_s);
	else
		(void) snprintf(s->message, sizeof(s->message), "no later phase");
}

static void seek_mark(struct trk_session *s, int by)
{
	const struct trk_record *r = trk__watch_record(&s->watch);
	double to_s = NAN;

	(void) snprintf(s->message, sizeof(s->message), "no %s mark", by < 0 ? "earlier" : "later");
	for (size_t i = 0; i < r->marks; i++)
		if (is_next(s, (double) r->mark[i].elapsed_ns / 1e9, by, to_s)) {
			to_s = (double) r->mark[i].elapsed_ns / 1e9;
			(void) snprintf(s->message, sizeof(s->message), "mark: %s",
					r->mark[i].name);
		}
	if (!isnan(to_s))
		seek(s, to_s);
}

static void toggle_play(struct trk_session *s, uint64_t now_ns)
{
	double end_s = trk__watch_end_s(&s->watch);

	s->moved_ns = now_ns;
	if (s->view.live) { /* pause: keep the moment while the run continues */
		s->view.live = false;
		return;
	}
	s->view.playing = !s->view.playing;
	if (s->view.playing && s->t_s >= end_s && !trk__watch_record(&s->watch)->writing)
		s->t_s = 0;
}

static void to_end(struct trk_session *s)
{
	seek(s, 1e18);
	s->view.live = trk__watch_record(&s->watch)->writing;
	s->view.playing = false;
}

static void change_speed(struct trk_session *s, double by)
{
	double speed = s->view.speed * by;

	s->view.speed = speed < 0.25 ? 0.25 : speed > SPEED_MAX ? SPEED_MAX : speed;
	(void) snprintf(s->message, sizeof(s->message), "replay: %g s a second", s->view.speed);
}

/* Change the time that charts show: the whole run, or a part up to the moment. */
static void change_window(struct trk_session *s, bool less)
{
	static const double steps[] = {60, 300, 900, 3600, 14400, 86400, 0};
	size_t n = sizeof(steps) / sizeof(steps[0]), i = 0;

	while (i + 1 < n && steps[i] != s->view.window_s)
		i++;
	if (less && i > 0)
		i--;
	/* From the whole run, the next shorter window is the largest that is shorter than the
	 * run. */
	while (less && i > 0 && steps[i] >= trk__watch_end_s(&s->watch))
		i--;
	if (!less && i + 1 < n)
		i++;
	s->view.window_s = steps[i];
}

static void type_filter(struct trk_session *s, int key)
{
	size_t len = strlen(s->filter);

	if (key == TRK_KEY_ENTER || key == TRK_KEY_ESCAPE) {
		s->view.typing = false;
		if (key == TRK_KEY_ESCAPE)
			s->filter[0] = '\0';
	} else if (key == TRK_KEY_BACKSPACE && len) {
		s->filter[len - 1] = '\0';
	} else if (key >= ' ' && key < 127 && len + 1 < sizeof(s->filter)) {
		s->filter[len] = (char) key;
		s->filter[len + 1] = '\0';
	}
}

/* Keys that change the view of a moment. */
static bool view_key(struct trk_session *s, int key)
{
	struct trk_view_options *v = &s->view;

	switch (key) {
	case 's':
		v->sort = (v->sort + 1) % TRK_SORTS;
		break;
	case 'p':
		v->sort = TRK_SORT_CPU;
		break;
	case 'm':
		v->sort = TRK_SORT_MEMORY;
		break;
	case 'd':
		v->sort = TRK_SORT_READ;
		break;
	case '/':
		v->typing = true;
		return true;
	case 'c':
		v->overlay = !v->overlay;
		(void) snprintf(s->message, sizeof(s->message), "%s",
				!s->usual ? "the job has fewer than 5 earlier runs that ended well"
				: v->overlay ? "usual course: on"
					     : "usual course: off");
		return true;
	case 'g':
		v->hide_gpus = !v->hide_gpus;
		return true;
	case '?':
		v->help = !v->help;
		return true;
	case '+':
	case '-':
		change_window(s, key == '+');
		return true;
	case TRK_KEY_DOWN:
		v->scroll += v->scroll + 1 < s->facts->processes;
		return true;
	case TRK_KEY_UP:
		v->scroll -= v->scroll > 0;
		return true;
	case 'r':
		(void) snprintf(s->message, sizeof(s->message),
				"the report: resource-tracker report %s",
				trk__watch_record(&s->watch)->run.id);
		return true;
	default:
		return false;
	}
	(void) snprintf(s->message, sizeof(s->message), "sorted by %s",
			trk__facts_sort_names[v->sort]);
	return true;
}

/* Keys that change the moment. */
static void time_key(struct trk_session *s, int key, uint64_t now_ns)
{
	switch (key) {
	case ' ':
		toggle_play(s, now_ns);
		break;
	case TRK_KEY_LEFT:
	case TRK_KEY_RIGHT:
		seek(s, s->t_s + (key == TRK_KEY_LEFT ? -STEP_S : STEP_S));
		break;
	case TRK_KEY_SHIFT_LEFT:
	case TRK_KEY_SHIFT_RIGHT:
		seek(s, s->t_s + (key == TRK_KEY_SHIFT_LEFT ? -LONG_STEP_S : LONG_STEP_S));
		break;
	case TRK_KEY_HOME:
		seek(s, 0);
		break;
	case TRK_KEY_END:
		to_end(s);
		break;
	case '[':
	case ']':
		seek_phase(s, key == '[' ? -1 : 1);
		break;
	case 't':
	case 'T':
		seek_mark(s, key == 'T' ? -1 : 1);
		break;
	case '<':
	case '>':
		change_speed(s, key == '<' ? 0.5 : 2);
		break;
	default:
		break;
	}
}

static void list_key(struct trk_session *s, int key)
{
	struct trk_error error = {.code = 0};

	if (key == TRK_KEY_DOWN && s->chosen + 1 < s->list.count)
		s->chosen++;
	else if (key == TRK_KEY_UP && s->chosen > 0)
		s->chosen--;
	else if (key == TRK_KEY_HOME)
		s->chosen = 0;
	else if (key == TRK_KEY_END)
		s->chosen = s->list.count ? s->list.count - 1 : 0;
	else if ((key == TRK_KEY_ENTER || key == TRK_KEY_RIGHT) && s->chosen < s->list.count &&
		 open_run(s, s->options.runs_fd, s->list.run[s->chosen]->name, &error) < 0)
		(void) snprintf(s->message, sizeof(s->message), "%.150s", error.message);
}

void trk__session_key(struct trk_session *s, int key, uint64_t now_ns)
{
	bool typing = s->has_run && s->view.typing;

	s->message[0] = '\0';
	if (key == TRK_KEY_CTRL_C || (key == 'q' && !typing)) {
		s->quit = true;
	} else if (typing) {
		type_filter(s, key);
	} else if (!s->has_run) {
		list_key(s, key);
	} else if (key == TRK_KEY_ESCAPE || key == TRK_KEY_BACKSPACE) {
		if (s->view.help)
			s->view.help = false;
		else if (s->options.runs_fd >= 0)
			close_run(s);
	} else if (!view_key(s, key)) {
		time_key(s, key, now_ns);
	}
}

/* ---- drawing ---- */

static void take_facts(struct trk_session *s)
{
	struct trk_facts_input in = {
		.watch = &s->watch,
		.usual = s->usual,
		.processes = s->view.live && s->processes.count ? &s->processes : NULL,
		.t_s = s->view.live ? INFINITY : s->t_s,
		.sort = s->view.sort,
		.filter = s->filter,
	};

	trk__facts_of(&in, s->facts);
}

static void follow_cursor(struct trk_session *s, int rows)
{
	size_t room = rows > 4 ? (size_t) rows - 3 : 1;

	if (s->chosen >= s->list.count)
		s->chosen = s->list.count ? s->list.count - 1 : 0;
	if (s->chosen < s->scroll)
		s->scroll = s->chosen;
	if (s->chosen >= s->scroll + room)
		s->scroll = s->chosen - room + 1;
}

void trk__session_draw(struct trk_session *s, struct trk_frame *f)
{
	if (!s->has_run) {
		follow_cursor(s, f->rows);
		trk__list_draw(f, &s->list, s->chosen, s->scroll, s->view.once, s->message);
		return;
	}
	take_facts(s);
	s->view.message = s->message;
	trk__view_run(f, s->facts, &s->watch, &s->view);
}

void trk__session_json(struct trk_session *s, struct trk_buf *b)
{
	struct trk_json j;

	trk__json_init(&j, b, 2);
	if (s->has_run) {
		take_facts(s);
		trk__facts_json(&j, s->facts);
	} else {
		trk__list_json(&j, &s->list);
	}
	trk__buf_putc(b, '\n');
}
