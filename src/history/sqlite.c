/* The history in SQLite: its runs, bringing them up to date, and questions. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "history/sqlite_private.h"
#include "record/reader.h"
#include "record/store.h"

static struct trk_sqlite_history *of(struct trk_history *h)
{
	return (struct trk_sqlite_history *) (void *) h; /* base comes first */
}

#define COUNT_ONE(field) +1
enum {
	TEXT_COUNT = 0 TEXTS(COUNT_ONE),
	FIGURE_COUNT = 0 FIGURES(COUNT_ONE),
};

/* ---- rows ---- */

static void bind_run(struct trk_sqlite_history *h, struct sqlite3_stmt *s,
		     const struct trk_past *run)
{
	int at = 0;

#define BIND_TEXT(field) (void) h->lib.bind_text(s, ++at, run->field, -1, NULL);
#define BIND_REAL(field)                                                                           \
	(void) (isnan(run->field) ? h->lib.bind_null(s, ++at)                                      \
				  : h->lib.bind_double(s, ++at, run->field));
	TEXTS(BIND_TEXT)
	FIGURES(BIND_REAL)
	(void) h->lib.bind_int64(s, ++at, run->code);
	(void) h->lib.bind_int64(s, ++at, run->signal);
	(void) h->lib.bind_int64(s, ++at, (int64_t) run->samples);
	(void) h->lib.bind_int64(s, ++at, run->ended);
	(void) (run->has_scope ? h->lib.bind_text(s, ++at, run->scope, -1, NULL)
			       : h->lib.bind_null(s, ++at));
}

static void read_text(struct trk_sqlite_history *h, struct sqlite3_stmt *s, int at, char *text,
		      size_t size)
{
	const unsigned char *value = h->lib.column_text(s, at);

	(void) snprintf(text, size, "%s", value ? (const char *) value : "");
}

static double read_real(struct trk_sqlite_history *h, struct sqlite3_stmt *s, int at)
{
	return h->lib.column_type(s, at) == SQLITE_TYPE_NULL ? NAN : h->lib.column_double(s, at);
}

static void read_run(struct trk_sqlite_history *h, struct sqlite3_stmt *s, struct trk_past *ret)
{
	int at = 0;

#define READ_TEXT(field) read_text(h, s, at++, ret->field, sizeof(ret->field));
#define READ_REAL(field) ret->field = read_real(h, s, at++);
	TEXTS(READ_TEXT)
	FIGURES(READ_REAL)
	ret->code = (int) h->lib.column_int64(s, at++);
	ret->signal = (int) h->lib.column_int64(s, at++);
	ret->samples = (uint64_t) h->lib.column_int64(s, at++);
	ret->ended = h->lib.column_int64(s, at++) != 0;
	ret->has_scope = h->lib.column_type(s, at) != SQLITE_TYPE_NULL;
	read_text(h, s, at, ret->scope, sizeof(ret->scope));
}

/* ---- up to date ---- */

struct update {
	struct trk_sqlite_history *h;
	struct sqlite3_stmt *known, *put;
	struct trk_record *record;
	size_t left; /* recordings that may still be read */
	bool stopped;
	int error;
};

static bool is_known(struct update *u, const char *file)
{
	struct trk_sqlite_history *h = u->h;
	bool known;

	(void) h->lib.bind_text(u->known, 1, file, -1, NULL);
	known = h->lib.step(u->known) == SQLITE_ROW;
	(void) h->lib.reset(u->known);
	return known;
}

static int take_file(void *data, const char *file)
{
	struct update *u = data;
	struct trk_sqlite_history *h = u->h;
	struct trk_past run;
	int rc;

	if (is_known(u, file))
		return 0;
	if (u->left == 0) {
		u->stopped = true;
		return 1;
	}
	u->left--;
	if (trk__record_read(h->runs_fd, file, u->record, NULL, NULL, NULL) < 0)
		return 0; /* a damaged recording is no run */
	trk__past_from(u->record, file, &run);
	/* One whose tracker died will not change any more. */
	run.ended = !u->record->writing;
	trk__record_release(u->record);
	bind_run(h, u->put, &run);
	rc = h->lib.step(u->put);
	(void) h->lib.reset(u->put);
	if (rc == SQLITE_DONE)
		return 0;
	u->error = trk__sqlite_code(rc);
	return 1;
}

static int update_all(struct trk_sqlite_history *h, size_t max_new, bool *ret_all,
		      struct trk_error *reterr)
{
	struct update u = {
		.h = h,
		.record = calloc(1, sizeof(*u.record)),
		.left = max_new ? max_new : SIZE_MAX,
	};
	char sql[2048];
	int r = u.record ? 0 : -ENOMEM, n = 0;

	n = snprintf(sql, sizeof(sql),
		     "INSERT OR REPLACE INTO run (" TRK_SQLITE_COLUMNS ") VALUES (?");
	for (int i = 1; i < TEXT_COUNT + FIGURE_COUNT + 5; i++)
		n += snprintf(sql + n, sizeof(sql) - (size_t) n, ",?");
	(void) snprintf(sql + n, sizeof(sql) - (size_t) n, ")");
	if (r == 0)
		r = trk__sqlite_prepare(h, "SELECT 1 FROM run WHERE file = ? AND ended", &u.known,
					reterr);
	if (r == 0)
		r = trk__sqlite_prepare(h, sql, &u.put, reterr);
	if (r == 0)
		r = trk__sqlite_execute(h, "BEGIN IMMEDIATE", reterr);
	if (r == 0) {
		r = trk__store_each(h->runs_fd, take_file, &u);
		if (r == 0 && u.error)
			r = u.error;
		*ret_all = r == 0 && !u.stopped;
		(void) trk__sqlite_execute(h, r == 0 ? "COMMIT" : "ROLLBACK", NULL);
	}
	(void) h->lib.finalize(u.known);
	(void) h->lib.finalize(u.put);
	free(u.record);
	return r;
}

/* When the folder last changed, in ns: a new recording changes it. */
static int64_t stamp_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	return (int64_t) st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* Nothing to do where the folder is as it was and all runs in it have ended. A folder that changed a
 * moment ago may change again within one step of its clock, and is looked at once more. */
static int bring_up_to_date(struct trk_sqlite_history *h, size_t max_new, struct trk_error *reterr)
{
	int64_t stamp = stamp_of(h->runs_fd);
	struct timespec now;
	bool all = false;
	char sql[160];
	int r;

	if (h->runs_fd < 0)
		return 0;
	if (stamp >= 0 &&
	    trk__sqlite_number(h, "SELECT value FROM state WHERE key = 'runs'") == stamp &&
	    trk__sqlite_number(h, "SELECT count(*) FROM run WHERE NOT ended") == 0)
		return 0;
	r = update_all(h, max_new, &all, reterr);
	(void) clock_gettime(CLOCK_REALTIME, &now);
	if (r == 0 && all && (int64_t) now.tv_sec * 1000000000 + now.tv_nsec - stamp > 50000000) {
		(void) snprintf(sql, sizeof(sql),
				"INSERT OR REPLACE INTO state VALUES ('runs', %lld)",
				(long long) stamp);
		(void) trk__sqlite_execute(h, sql, NULL);
	}
	return r;
}

/* ---- questions ---- */

static int list_runs(struct trk_history *base, const struct trk_job_key *job, size_t max,
		     bool unlisted, trk_past_fn *fn, void *data, struct trk_error *reterr)
{
	struct trk_sqlite_history *h = of(base);
	struct sqlite3_stmt *s = NULL;
	struct trk_past run;
	int rc = SQLITE_DONE;
	int r = trk__sqlite_prepare(
		h,
		job ? "SELECT " TRK_SQLITE_COLUMNS
		      " FROM run WHERE job = ?2 AND (?4 IS NULL OR scope IS NULL OR scope "
		      "= ?4) AND (?3 OR kind <> '" TRK_KIND_UNLISTED
		      "') ORDER BY start_s DESC, file DESC LIMIT ?1"
		    : "SELECT " TRK_SQLITE_COLUMNS
		      " FROM run WHERE ?3 OR kind <> '" TRK_KIND_UNLISTED
		      "' ORDER BY start_s DESC, file DESC LIMIT ?1",
		&s, reterr);

	if (r < 0)
		return r;
	(void) h->lib.bind_int64(s, 1, max && max < INT64_MAX ? (int64_t) max : -1);
	(void) h->lib.bind_int64(s, 3, unlisted);
	if (job) {
		(void) h->lib.bind_text(s, 2, job->job, -1, NULL);
		(void) (job->scope ? h->lib.bind_text(s, 4, job->scope, -1, NULL)
				   : h->lib.bind_null(s, 4));
	}
	while ((rc = h->lib.step(s)) == SQLITE_ROW) {
		read_run(h, s, &run);
		if (fn(data, &run) != 0)
			break;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		r = trk__sqlite_fail(h, rc, reterr);
	(void) h->lib.finalize(s);
	return r;
}

static int forget_run(struct trk_history *base, const char *id, struct trk_error *reterr)
{
	struct trk_sqlite_history *h = of(base);
	struct sqlite3_stmt *s = NULL;
	int r, rc;

	if (trk__sqlite_is_in_memory(h)) /* it would be there again the next time */
		return trk__error_set(reterr, -EROFS, NULL, "%s", h->base.note);
	r = trk__sqlite_prepare(h, "DELETE FROM run WHERE id = ?", &s, reterr);
	if (r < 0)
		return r;
	(void) h->lib.bind_text(s, 1, id, -1, NULL);
	rc = h->lib.step(s);
	if (rc != SQLITE_DONE)
		r = trk__sqlite_fail(h, rc, reterr);
	(void) h->lib.finalize(s);
	return r;
}

/* ---- life ---- */

static void free_history(struct trk_history *base)
{
	struct trk_sqlite_history *h = of(base);

	trk__sqlite_file_close(h);
	trk__close(h->runs_fd);
	trk__sqlite_unload(&h->lib);
	free(h);
}

static const struct trk_history_ops ops = {
	.free = free_history,
	.list = list_runs,
	.forget = forget_run,
};

struct trk_history *trk__sqlite_open(const char *dir, size_t max_new, struct trk_error *reterr)
{
	struct trk_sqlite_history *h = calloc(1, sizeof(*h));
	int r;

	if (!h) {
		(void) trk__error_set(reterr, -ENOMEM, NULL, "out of memory");
		return NULL;
	}
	h->base.ops = &ops;
	h->runs_fd = -1;
	(void) snprintf(h->path, sizeof(h->path), "%s/history.sqlite", dir);
	r = trk__sqlite_load(&h->lib);
	if (r < 0) {
		(void) trk__error_set(
			reterr, r, NULL,
			"history needs libsqlite3.so.0. Try: apt install libsqlite3-0");
		goto fail;
	}
	h->runs_fd = trk__store_open(dir, false, reterr);
	if (h->runs_fd < 0 && h->runs_fd != -ENOENT)
		goto fail;
	r = trk__open_dir_at(AT_FDCWD, dir);
	if (r < 0) {
		(void) trk__error_set(reterr, -TRK_E_NODATA, dir, "%s: no runs yet", dir);
		goto fail;
	}
	trk__close(r);
	r = trk__sqlite_file_open(h, dir, reterr);
	if (r == 0)
		r = bring_up_to_date(h, max_new, reterr);
	if (trk__sqlite_is_for_now(r) && !trk__sqlite_is_in_memory(h)) {
		r = trk__sqlite_open_in_memory(h, dir, r, reterr);
		if (r == 0)
			r = bring_up_to_date(h, max_new, reterr);
	}
	if (r == 0)
		return &h->base;
fail:
	free_history(&h->base);
	return NULL;
}
