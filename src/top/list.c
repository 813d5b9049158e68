#include "top/list.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/human.h"
#include "base/os.h"
#include "recording/store.h"
#include "top/chart.h"
#include "top/view.h"

/* A tracker appends a row each interval, at most an hour: a recording not written for longer has no
 * tracker, and is not opened. */
#define SILENT_S 7500
#define RECENT   INT64_C(65536) /* bytes at the end of a recording: several minutes */
#define LOOK_NS  (10 * TRK_NS_PER_S)
#define WARN     0.9

static size_t find(const struct trk_list *l, const char *name)
{
	size_t i = 0;

	while (i < l->count && strcmp(l->run[i]->name, name) != 0)
		i++;
	return i;
}

static void forget(struct trk_list *l, size_t i)
{
	trk__watch_close(&l->run[i]->watch);
	free(l->run[i]);
	l->count--;
	memmove(&l->run[i], &l->run[i + 1], (l->count - i) * sizeof(struct trk_list_run *));
}

static void add(struct trk_list *l, const char *name)
{
	struct trk_list_run *r;

	if (l->count == TRK_LIST_MAX) {
		l->left_out++;
		return;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return;
	(void) snprintf(r->name, sizeof(r->name), "%s", name);
	if (trk__watch_open(&r->watch, l->runs_fd, name, RECENT, NULL) < 0) {
		free(r);
		return;
	}
	if (trk__watch_update(&r->watch) < 0 || !trk__watch_record(&r->watch)->writing) {
		trk__watch_close(&r->watch);
		free(r);
		return;
	}
	/* Names begin with the start time, which is the order of the list. */
	memmove(&l->run[1], &l->run[0], l->count * sizeof(struct trk_list_run *));
	l->run[0] = r;
	l->count++;
}

static int look_at(void *data, const char *name)
{
	struct trk_list *l = data;
	struct stat st;
	int64_t now_s = (int64_t) (trk__clock_wall_ns() / TRK_NS_PER_S);

	if (find(l, name) < l->count || fstatat(l->runs_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    st.st_mtime < now_s - SILENT_S)
		return 0;
	add(l, name);
	return 0;
}

int trk__list_update(struct trk_list *l, uint64_t now_ns)
{
	struct stat st;
	int64_t changed_ns;
	int r = 0;

	for (size_t i = l->count; i-- > 0;)
		if (trk__watch_update(&l->run[i]->watch) < 0 ||
		    !trk__watch_record(&l->run[i]->watch)->writing)
			forget(l, i);
	if (fstat(l->runs_fd, &st) < 0)
		return -errno;
	changed_ns = trk__os_modified_ns(&st);
	if (changed_ns != l->changed_ns || now_ns >= l->look_ns) {
		l->left_out = 0;
		l->look_ns = now_ns + LOOK_NS;
		l->changed_ns = changed_ns;
		r = trk__store_each(l->runs_fd, look_at, l, NULL);
	}
	return r;
}

void trk__list_release(struct trk_list *l)
{
	while (l->count)
		forget(l, l->count - 1);
}

/* Whether a reading of its environment would block. */
static bool is_stuck(int proc_fd, pid_t pid)
{
	const struct trk_env env = {.proc_fd = proc_fd,
				    .sys_fd = -1,
				    .cgroup_fd = -1,
				    .thread_cpu_ns = trk__clock_thread_cpu_ns};
	struct trk_reader *reader = trk__reader_new(&env, false);
	uint64_t cost_ns;
	char text[64];
	ssize_t n = trk__reader_read(reader, &env, 0, TRK_PATH("%d/cmdline", (int) pid), text,
				     sizeof(text), &cost_ns);

	trk__reader_free(reader);
	return n == -EINPROGRESS || n == -EAGAIN || n == -EIO;
}

/* "RESOURCE_TRACKER_RUN=ID:PID" of a process. */
static bool read_run_id(int proc_fd, pid_t pid, char id[TRK_RUN_ID_SIZE])
{
	static const char key[] = "RESOURCE_TRACKER_RUN=";
	char path[48], *text = NULL;
	bool found = false;
	ssize_t n;

	if (is_stuck(proc_fd, pid))
		return false;
	(void) snprintf(path, sizeof(path), "%d/environ", (int) pid);
	n = trk__read_all_at(proc_fd, path, 4 << 20, &text);
	for (ssize_t at = 0; at < n && !found;
	     at += (ssize_t) strnlen(text + at, (size_t) (n - at)) + 1)
		if ((size_t) (n - at) > sizeof(key) && !memcmp(text + at, key, sizeof(key) - 1)) {
			(void) snprintf(id, TRK_RUN_ID_SIZE, "%.*s",
					(int) strnlen(text + at + sizeof(key) - 1,
						      (size_t) (n - at) - sizeof(key) + 1),
					text + at + sizeof(key) - 1);
			id[strcspn(id, ":")] = '\0';
			found = true;
		}
	if (n >= 0)
		free(text);
	return found;
}

bool trk__list_find_pid(const struct trk_list *l, int proc_fd, pid_t pid, char name[96])
{
	char id[TRK_RUN_ID_SIZE] = "";

	(void) read_run_id(proc_fd, pid, id);
	for (size_t i = 0; i < l->count; i++) {
		const struct trk_run *r = &trk__watch_record(&l->run[i]->watch)->run;

		if (r->pid == pid || (*id && !strcmp(r->id, id))) {
			(void) snprintf(name, 96, "%s", l->run[i]->name);
			return true;
		}
	}
	return false;
}

static double newest(const struct trk_list_run *run, enum trk_block_figure figure)
{
	const struct trk_outline *o = &run->watch.outline;

	return o->course.count ? trk__block_figure(&o->block[o->course.count - 1], figure)
			       : (double) NAN;
}

/* ---- the screen ---- */

/* Start of each column, depending on the width. */
struct columns {
	int job, id, since, cpu, memory, meter, meter_columns, read;
};

static struct columns columns_of(const struct trk_frame *f)
{
	int spare = f->columns - 76 > 0 ? f->columns - 76 : 0, narrow = f->columns < 76;
	struct columns c = {.job = 2};

	c.id = c.job + (narrow ? 14 : 18) + spare / 2;
	c.since = c.id + (narrow ? 0 : 12);
	c.cpu = c.since + 12;
	c.memory = c.cpu + 11;
	c.meter = c.memory + 13;
	c.meter_columns = narrow ? 0 : 8 + spare / 2;
	c.read = c.meter + c.meter_columns + (narrow ? 0 : 1);
	return c;
}

static void draw_row(struct trk_frame *f, const struct trk_list_run *run, int y)
{
	const struct trk_record *r = trk__watch_record(&run->watch);
	double had = trk__capacity(r, TRK_RESOURCE_MEMORY_MIB).value;
	double cores = newest(run, TRK_FIGURE_CORES);
	double memory = newest(run, TRK_FIGURE_MEMORY_MIB);
	double read = newest(run, TRK_FIGURE_READ);
	struct columns c = columns_of(f);
	char text[64];
	unsigned int style =
		memory / had >= WARN ? TRK_STYLE_RED | TRK_STYLE_BOLD : TRK_STYLE_PLAIN;

	(void) trk__frame_put(f, c.job, y, c.id - c.job - 1, TRK_STYLE_BOLD,
			      r->run.job[0] ? r->run.job : r->run.kind);
	if (c.since > c.id)
		(void) trk__frame_put(f, c.id, y, c.since - c.id - 1, TRK_STYLE_DIM, r->run.id);
	(void) trk__frame_put(f, c.since, y, 11, TRK_STYLE_PLAIN,
			      trk__view_clock(text, run->watch.row_s));
	if (!isnan(cores))
		(void) trk__frame_printf(f, c.cpu, y, TRK_STYLE_PLAIN, "%.2f", cores);
	(void) trk__frame_put(f, c.memory, y, 12, style, trk__human_memory(text, memory));
	trk__meter_draw(f, c.meter, y, c.meter_columns, memory / had,
			style == TRK_STYLE_PLAIN ? TRK_STYLE_BLUE : TRK_STYLE_RED);
	if (!isnan(read))
		(void) trk__frame_printf(f, c.read, y, TRK_STYLE_PLAIN, "%s/s",
					 trk__human_bytes(text, read));
}

static void draw_head(struct trk_frame *f)
{
	struct columns c = columns_of(f);

	for (int i = 0; i < f->columns; i++)
		(void) trk__frame_text(f, i, 1, TRK_STYLE_REVERSE, " ");
	(void) trk__frame_text(f, c.job, 1, TRK_STYLE_REVERSE, "JOB");
	if (c.since > c.id)
		(void) trk__frame_text(f, c.id, 1, TRK_STYLE_REVERSE, "RUN");
	(void) trk__frame_text(f, c.since, 1, TRK_STYLE_REVERSE, "RUNNING");
	(void) trk__frame_text(f, c.cpu, 1, TRK_STYLE_REVERSE, "CORES");
	(void) trk__frame_text(f, c.memory, 1, TRK_STYLE_REVERSE, "MEMORY");
	(void) trk__frame_text(f, c.read, 1, TRK_STYLE_REVERSE, "READ");
}

void trk__list_draw(struct trk_frame *f, const struct trk_list *l, size_t chosen, size_t scroll,
		    bool once, const char *message)
{
	int y = 2, end = once ? f->rows : f->rows - 1;

	trk__frame_clear(f);
	(void) trk__frame_printf(f, 1, 0, TRK_STYLE_BOLD, "%zu run%s in progress here",
				 l->count + l->left_out,
				 l->count + l->left_out == 1 ? " is" : "s are");
	draw_head(f);
	if (l->count == 0)
		(void) trk__frame_text(f, 2, 2, TRK_STYLE_DIM,
				       "Start one: resource-tracker run -- CMD. A finished one: "
				       "resource-tracker top @");
	for (size_t i = scroll; i < l->count && y < end; i++, y++) {
		draw_row(f, l->run[i], y);
		if (i == chosen && !once)
			(void) trk__frame_text(f, 0, y, TRK_STYLE_BOLD | TRK_STYLE_BLUE, ">");
	}
	if (!once)
		(void) trk__frame_text(f, 1, f->rows - 1,
				       message && *message ? TRK_STYLE_YELLOW : TRK_STYLE_DIM,
				       message && *message ? message
				       : f->utf8 ? "\u2191\u2193 choose  Enter open  q quit"
						 : "up, down choose  Enter open  q quit");
}

void trk__list_json(struct trk_json *j, const struct trk_list *l)
{
	trk__json_open(j, '{');
	trk__json_key_text(j, "schema", "resource-tracker.top-list/1");
	trk__json_key_open(j, "runs", '[');
	for (size_t i = 0; i < l->count; i++) {
		const struct trk_watch *w = &l->run[i]->watch;
		const struct trk_record *r = trk__watch_record(w);

		trk__json_open(j, '{');
		trk__json_key_text(j, "id", r->run.id);
		trk__json_key_text(j, "job", r->run.job[0] ? r->run.job : NULL);
		trk__json_key_i64(j, "pid", r->run.pid);
		trk__json_key_double(j, "elapsed_s", w->row_s);
		trk__json_key_double(j, "cores", newest(l->run[i], TRK_FIGURE_CORES));
		trk__json_key_double(j, "memory_mib", newest(l->run[i], TRK_FIGURE_MEMORY_MIB));
		trk__json_key_double(j, "memory_of_mib",
				     trk__capacity(r, TRK_RESOURCE_MEMORY_MIB).value);
		trk__json_key_double(j, "read_bytes_per_s", newest(l->run[i], TRK_FIGURE_READ));
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}
