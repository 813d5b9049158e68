/* The history in SQLite: the file and its schema, bringing it up to date, and queries. */
#include "history/sqlite.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/dynamic.h"
#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/trust.h"
#include "recording/store.h"

enum { BUSY_MS = TRK_LOCK_WAIT_MS };

#define FILE_NAME "history.sqlite"

static struct trk_sqlite_history *of(struct trk_history *h)
{
	return (struct trk_sqlite_history *) (void *) h; /* base comes first */
}

#define SYMBOL(type, name, parameters) {"sqlite3_" #name, &s.name},

static int load_library(struct trk_sqlite *ret)
{
	struct trk_sqlite s = {.handle = NULL};
	const struct trk_symbol wanted[] = {TRK_SQLITE_CALLS(SYMBOL)};

	s.handle = trk__library_load("libsqlite3.so.0", wanted, sizeof(wanted) / sizeof(wanted[0]));
	if (!s.handle)
		return -TRK_ERR_UNSUPPORTED;
	*ret = s;
	return 0;
}

static void unload_library(struct trk_sqlite *s)
{
	if (s->handle)
		(void) dlclose(s->handle);
	s->handle = NULL;
}

/* ---- small pieces ---- */

static const char in_memory[] = ":memory:";

static bool is_in_memory(const struct trk_sqlite_history *h)
{
	return !strcmp(h->path, in_memory);
}

static int code_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_CANTOPEN:
		return -EACCES;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -TRK_ERR_DAMAGED;
	default:
		return -EIO;
	}
}

/* With write-ahead logs the locks are on the file of shared memory. */
static int fail_locked(struct trk_sqlite_history *h, struct trk_error *reterr)
{
	char shared[TRK_SQLITE_PATH_SIZE + 8];
	struct stat st;

	(void) snprintf(shared, sizeof(shared), "%s-shm", h->path);
	return trk__lock_error(reterr, AT_FDCWD,
			       stat(shared, &st) == 0 && trk__os_lock_holder(&st) ? shared
										  : h->path);
}

static int fail(struct trk_sqlite_history *h, int rc, struct trk_error *reterr)
{
	if (code_of(rc) == -EBUSY)
		return fail_locked(h, reterr);
	return trk__error_set(reterr, code_of(rc), h->path, "%s: %s", h->path,
			      h->db ? h->lib.errmsg(h->db) : "out of memory");
}

/* After one time-out, later statements do not wait for the lock. */
static int waited(struct trk_sqlite_history *h, int rc)
{
	if ((rc & 0xff) == SQLITE_BUSY)
		(void) h->lib.busy_timeout(h->db, 0);
	return rc;
}

int trk__sqlite_execute(struct trk_sqlite_history *h, const char *sql, struct trk_error *reterr)
{
	int rc = waited(h, h->lib.exec(h->db, sql, NULL, NULL, NULL));

	return rc == SQLITE_OK ? 0 : fail(h, rc, reterr);
}

static int prepare(struct trk_sqlite_history *h, const char *sql, struct sqlite3_stmt **ret,
		   struct trk_error *reterr)
{
	int rc = waited(h, h->lib.prepare_v2(h->db, sql, -1, ret, NULL));

	return rc == SQLITE_OK ? 0 : fail(h, rc, reterr);
}

static int64_t number_of(struct trk_sqlite_history *h, const char *sql)
{
	struct sqlite3_stmt *s = NULL;
	int64_t value = -1;

	if (waited(h, h->lib.prepare_v2(h->db, sql, -1, &s, NULL)) == SQLITE_OK &&
	    waited(h, h->lib.step(s)) == SQLITE_ROW)
		value = h->lib.column_int64(s, 0);
	(void) h->lib.finalize(s);
	return value;
}

/* ---- trust ---- */

/* Files that SQLite opens next to the database, by its own names and following links. */
static const char *const file_names[] = {
	FILE_NAME,
	FILE_NAME "-wal",
	FILE_NAME "-shm",
	FILE_NAME "-journal",
};

static int check_files(int dirfd, struct trk_error *reterr)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(file_names) / sizeof(file_names[0]) && r == 0; i++) {
		r = trk__trust_check_file_at(dirfd, file_names[i], reterr);
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}

/* Find the path of the file. SQLite opens it by path, which is safe only if no other user may write
 * to the directory or its parents. Returns 0, -TRK_ERR_UNTRUSTED or a negative errno. */
static int find_file(struct trk_sqlite_history *h, const char *dir, struct trk_error *reterr)
{
	char real[PATH_MAX];
	TRK_FD_CLEANUP int fd = -1;
	int r;

	if (!realpath(dir, real))
		return trk__error_set(reterr, -errno, dir, "%s: %s", dir, trk__strerror(errno));
	fd = trk__trust_open_dir(real, TRK_TRUST_FIND, reterr);
	if (fd < 0 && fd != -TRK_ERR_UNTRUSTED)
		return trk__error_set(reterr, fd, dir, "%s: %s", dir, trk__strerror(fd));
	r = fd < 0 ? fd : check_files(fd, reterr);
	if (snprintf(h->path, sizeof(h->path), "%s/" FILE_NAME, real) >= (int) sizeof(h->path))
		return trk__error_set(reterr, -ENAMETOOLONG, dir, "%s: %s", dir,
				      trk__strerror(-ENAMETOOLONG));
	return r;
}

/* Disable triggers and views, which could run code: another user may have written the schema. */
static void restrict_schema(struct trk_sqlite_history *h)
{
	static const struct {
		int what, on;
	} settings[] = {
		{SQLITE_DBCONFIG_DEFENSIVE, 1},
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
		{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
	};

	/* Older libraries refuse unknown settings; the schema is checked as well. */
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		(void) h->lib.db_config(h->db, settings[i].what, settings[i].on, NULL);
}

/* Foreign entries: a trigger, a view, a virtual table, another table, or an expression (a second
 * parenthesis), which could call functions. */
#define FOREIGN_ENTRIES(schema)                                                                    \
	"SELECT count(*) FROM " schema " WHERE type NOT IN ('table', 'index') OR rootpage = 0 OR " \
	"(tbl_name NOT IN ('run', 'state') AND name NOT LIKE 'sqlite!_%' ESCAPE '!') OR "          \
	"instr(substr(sql, instr(sql, '(') + 1), '(') > 0"

static int check_schema(struct trk_sqlite_history *h, struct trk_error *reterr)
{
	if (number_of(h, FOREIGN_ENTRIES("main.sqlite_master")) <= 0)
		return 0;
	return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, h->path,
			      "%s holds tables, triggers or views that are not resource-tracker's",
			      h->path);
}

/* ---- opening ---- */

static int migrate(struct trk_sqlite_history *h, struct trk_error *reterr)
{
	char sql[64];
	int r, step;

	/* Readers do not take the write lock. */
	if (number_of(h, "PRAGMA user_version") == trk__history_version)
		return 0;
	r = trk__sqlite_execute(h, "BEGIN IMMEDIATE", reterr); /* of two programs, one creates */
	if (r < 0)
		return r;
	step = trk__history_next_step(number_of(h, "PRAGMA user_version"), h->path, reterr);
	r = step < 0 ? step : 0;
	for (; r == 0 && step < trk__history_step_count; step++)
		r = trk__sqlite_execute(h, trk__history_steps[step].sqlite, reterr);
	(void) snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", trk__history_version);
	if (r == 0)
		r = trk__sqlite_execute(h, sql, reterr);
	if (r < 0) {
		(void) trk__sqlite_execute(h, "ROLLBACK", NULL);
		return r;
	}
	return trk__sqlite_execute(h, "COMMIT", reterr);
}

static int open_database(struct trk_sqlite_history *h, const char *dir, int flags,
			 struct trk_error *reterr)
{
	int rc, r;

	/* SQLite would permit others to read it, by the umask or the default ACL of the directory.
	 * Its other files have the mode of this one. */
	if (!is_in_memory(h))
		trk__close(open(h->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
	rc = h->lib.open_v2(h->path, &h->db, flags, NULL);
	if (rc != SQLITE_OK)
		return fail(h, rc, reterr);
	(void) h->lib.busy_timeout(h->db, BUSY_MS);
	restrict_schema(h);
	r = check_schema(h, reterr); /* before anything is written */
	if (r < 0)
		return r;
	/* Write-ahead logs need shared memory, which does not work across a network. */
	if (!is_in_memory(h))
		(void) trk__sqlite_execute(h,
					   trk__os_is_remote(dir) ? "PRAGMA journal_mode = DELETE"
								  : "PRAGMA journal_mode = WAL",
					   NULL);
	(void) trk__sqlite_execute(h, "PRAGMA synchronous = NORMAL", NULL);
	r = migrate(h, reterr);
	/* The version is right but the tables are not: the file was edited or is a mix of two. */
	if (r == 0 && number_of(h, "SELECT count(*) FROM (SELECT " TRK_HISTORY_COLUMNS
				   " FROM run LIMIT 1)") < 0)
		r = trk__error_set(reterr, -TRK_ERR_DAMAGED, h->path, "%s: damaged", h->path);
	return r;
}

static void close_database(struct trk_sqlite_history *h)
{
	if (h->db)
		(void) h->lib.close(h->db);
	h->db = NULL;
}

/* Rename a database that cannot be read; the runs are in their recordings. */
static int move_aside(struct trk_sqlite_history *h, struct trk_error *reterr)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	char from[TRK_SQLITE_PATH_SIZE + 8], to[TRK_SQLITE_PATH_SIZE + 64];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		(void) snprintf(from, sizeof(from), "%s%s", h->path, ends[i]);
		(void) snprintf(to, sizeof(to), "%s.damaged-%lld%s", h->path,
				(long long) time(NULL), ends[i]);
		if (rename(from, to) < 0 && errno != ENOENT)
			return trk__error_set(reterr, -errno, from, "%s: %s", from,
					      trk__strerror(errno));
	}
	(void) snprintf(h->base.note, sizeof(h->base.note),
			"%.300s: damaged: renamed, and rebuilt from the recordings", h->path);
	return 0;
}

/* With write-ahead logs a full disk causes an I/O error. */
static bool is_transient(int r)
{
	return r == -EROFS || r == -EACCES || r == -ENOSPC || r == -EBUSY || r == -EIO;
}

/* Copy the rows that can still be read from a damaged file. */
static void copy_from(struct trk_sqlite_history *h, const char *path)
{
	struct sqlite3_stmt *s = NULL;
	bool attached =
		h->lib.prepare_v2(h->db, "ATTACH DATABASE ? AS old", -1, &s, NULL) == SQLITE_OK &&
		h->lib.bind_text(s, 1, path, -1, NULL) == SQLITE_OK &&
		h->lib.step(s) == SQLITE_DONE;

	(void) h->lib.finalize(s);
	if (!attached)
		return;
	(void) h->lib.busy_timeout(h->db, 0);
	if (number_of(h, FOREIGN_ENTRIES("old.sqlite_master")) == 0 &&
	    number_of(h, "PRAGMA old.user_version") == trk__history_version)
		(void) trk__sqlite_execute(h,
					   "INSERT OR IGNORE INTO run (" TRK_HISTORY_COLUMNS
					   ") SELECT " TRK_HISTORY_COLUMNS
					   " FROM old.run WHERE ended",
					   NULL);
	(void) trk__sqlite_execute(h, "DETACH DATABASE old", NULL);
}

static int open_in_memory(struct trk_sqlite_history *h, const char *dir, int why,
			  struct trk_error *reterr)
{
	/* In memory by name, not by a flag, which would apply to the attached file, too. */
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW |
		    SQLITE_OPEN_NOMUTEX;
	char path[TRK_SQLITE_PATH_SIZE];
	int r;

	(void) snprintf(path, sizeof(path), "%s", h->path);
	close_database(h);
	if ((why == -TRK_ERR_UNTRUSTED || why == -EBUSY) && reterr)
		(void) snprintf(h->base.note, sizeof(h->base.note),
				"%.300s: history is read from the recordings", reterr->message);
	else
		(void) snprintf(h->base.note, sizeof(h->base.note),
				"%.300s: cannot be written: history is read from the recordings",
				path);
	(void) snprintf(h->path, sizeof(h->path), "%s", in_memory);
	r = open_database(h, dir, flags, reterr);
	h->is_foreign = why == -TRK_ERR_UNTRUSTED;
	if (r == 0 && !h->is_foreign)
		copy_from(h, path);
	h->copied = number_of(h, "SELECT coalesce(max(n), 0) FROM run");
	return r;
}

static int open_file(struct trk_sqlite_history *h, const char *dir, struct trk_error *reterr)
{
	struct trk_error error = {.code = 0};
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW |
		    SQLITE_OPEN_NOMUTEX;
	int r = find_file(h, dir, &error);

	if (r == 0)
		r = open_database(h, dir, flags, &error);
	if (r == -TRK_ERR_DAMAGED) {
		close_database(h);
		r = move_aside(h, &error);
		if (r == 0)
			r = open_database(h, dir, flags, &error);
	}
	if (is_transient(r) || r == -TRK_ERR_UNTRUSTED)
		r = open_in_memory(h, dir, r, &error);
	if (r < 0 && reterr)
		*reterr = error;
	return r;
}

/* ---- rows ---- */

static void bind_run(struct trk_sqlite_history *h, struct sqlite3_stmt *s,
		     struct trk_history_row *row)
{
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++) {
		struct trk_history_value v = trk__history_get(row, &trk__history_fields[i]);

		(void) (v.type == TRK_VALUE_NULL   ? h->lib.bind_null(s, i + 1)
			: v.type == TRK_VALUE_TEXT ? h->lib.bind_text(s, i + 1, v.text, -1, NULL)
			: v.type == TRK_VALUE_REAL ? h->lib.bind_double(s, i + 1, v.real)
						   : h->lib.bind_int64(s, i + 1, v.whole));
	}
}

/* Read a value only if it has the type of the field: SQLite would convert others. */
static struct trk_history_value read_value(struct trk_sqlite_history *h, struct sqlite3_stmt *s,
					   int at)
{
	enum trk_history_kind kind = trk__history_fields[at].kind;
	struct trk_history_value v = {.type = TRK_VALUE_WHOLE};

	if (kind < TRK_HISTORY_REAL) {
		v.type = TRK_VALUE_TEXT;
		v.text = (const char *) h->lib.column_text(s, at);
		v.text = v.text ? v.text : "";
	} else if (kind <= TRK_HISTORY_MIB) {
		v.type = TRK_VALUE_REAL;
		v.real = h->lib.column_double(s, at);
	} else {
		v.whole = h->lib.column_int64(s, at);
	}
	return v;
}

static void read_run(struct trk_sqlite_history *h, struct sqlite3_stmt *s,
		     struct trk_history_row *ret)
{
	trk__history_row_clear(ret);
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++) {
		struct trk_history_value v = {.type = TRK_VALUE_NULL};

		if (h->lib.column_type(s, i) != SQLITE_TYPE_NULL)
			v = read_value(h, s, i);
		trk__history_set(ret, &trk__history_fields[i], &v);
	}
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
	struct trk_history_row row;
	int rc;

	if (is_known(u, file))
		return 0;
	if (u->left == 0) {
		u->stopped = true;
		return 1;
	}
	u->left--;
	if (!trk__history_read(h->runs_fd, file, u->record, &row))
		return 0;
	bind_run(h, u->put, &row);
	rc = h->lib.step(u->put);
	(void) h->lib.reset(u->put);
	if (rc == SQLITE_DONE)
		return 0;
	u->error = code_of(rc);
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
	TRK_BUF_LOCAL(sql, 4096);
	int r;

	trk__history_insert_sql(&sql, "INSERT OR REPLACE INTO run", '?');
	r = u.record ? sql.error : -ENOMEM;
	if (r == 0)
		r = prepare(h, "SELECT 1 FROM run WHERE file = ? AND ended", &u.known, reterr);
	if (r == 0)
		r = prepare(h, sql.data, &u.put, reterr);
	if (r == 0)
		r = trk__sqlite_execute(h, "BEGIN IMMEDIATE", reterr);
	if (r == 0) {
		r = trk__store_each(h->runs_fd, take_file, &u, &h->base.refused);
		if (r == 0 && u.error)
			r = u.error;
		/* Refused recordings may be repaired without a change of the folder. */
		*ret_all = r == 0 && !u.stopped && h->base.refused.count == 0;
		r = r < 0 ? r : trk__sqlite_execute(h, "COMMIT", reterr);
		if (r < 0)
			(void) trk__sqlite_execute(h, "ROLLBACK", NULL);
	}
	(void) h->lib.finalize(u.known);
	(void) h->lib.finalize(u.put);
	free(u.record);
	return r;
}

/* Modification time of the folder in ns; a new recording changes it. */
static int64_t stamp_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? -1 : trk__os_modified_ns(&st);
}

/* Does nothing if the folder is unchanged and all runs in it have ended. A folder that has just
 * changed is read once more, as it may change again within one step of its clock. */
static int bring_up_to_date(struct trk_sqlite_history *h, size_t max_new, struct trk_error *reterr)
{
	int64_t stamp = stamp_of(h->runs_fd);
	struct timespec now;
	bool all = false;
	char sql[160];
	int r;

	if (h->runs_fd < 0)
		return 0;
	if (stamp >= 0 && number_of(h, "SELECT value FROM state WHERE key = 'runs'") == stamp &&
	    number_of(h, "SELECT count(*) FROM run WHERE NOT ended") == 0)
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

#define OF_JOB TRK_HISTORY_OF_JOB("?2", "?4")

static int list_runs(struct trk_history *base, const struct trk_job_key *job, size_t max,
		     bool unlisted, trk_history_row_fn *fn, void *data, struct trk_error *reterr)
{
	struct trk_sqlite_history *h = of(base);
	struct sqlite3_stmt *s = NULL;
	struct trk_history_row row;
	int rc = SQLITE_DONE;
	int r = prepare(h,
			job ? "SELECT " TRK_HISTORY_COLUMNS " FROM run WHERE " OF_JOB
			      " AND (?3 OR kind <> '" TRK_KIND_UNLISTED
			      "') ORDER BY start_s DESC, file DESC LIMIT ?1"
			    : "SELECT " TRK_HISTORY_COLUMNS
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
		read_run(h, s, &row);
		if (fn(data, &row) != 0)
			break;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		r = fail(h, rc, reterr);
	(void) h->lib.finalize(s);
	return r;
}

static bool keeps_run(struct trk_history *base, const struct trk_past_run *run)
{
	struct trk_sqlite_history *h = of(base);
	struct sqlite3_stmt *s = NULL;
	bool keeps;

	if (!is_in_memory(h))
		return true;
	if (prepare(h, "SELECT 1 FROM run WHERE file = ? AND n <= ?", &s, NULL) < 0)
		return false;
	(void) h->lib.bind_text(s, 1, run->file, -1, NULL);
	(void) h->lib.bind_int64(s, 2, h->copied);
	keeps = h->lib.step(s) == SQLITE_ROW;
	(void) h->lib.finalize(s);
	return keeps;
}

static int forget_run(struct trk_history *base, const char *id, struct trk_error *reterr)
{
	struct trk_sqlite_history *h = of(base);
	struct sqlite3_stmt *s = NULL;
	int r, rc;

	if (h->is_foreign) /* there are only recordings, which the caller deletes */
		return 0;
	if (is_in_memory(h)) /* the row would still be in the file */
		return trk__error_set(reterr, -EROFS, NULL, "%s", h->base.note);
	r = prepare(h, "DELETE FROM run WHERE id = ?", &s, reterr);
	if (r < 0)
		return r;
	(void) h->lib.bind_text(s, 1, id, -1, NULL);
	rc = h->lib.step(s);
	if (rc != SQLITE_DONE)
		r = fail(h, rc, reterr);
	(void) h->lib.finalize(s);
	return r;
}

/* ---- life ---- */

static void free_history(struct trk_history *base)
{
	struct trk_sqlite_history *h = of(base);

	close_database(h);
	trk__close(h->runs_fd);
	unload_library(&h->lib);
	free(h);
}

static const struct trk_history_ops ops = {
	.free = free_history,
	.list = list_runs,
	.forget = forget_run,
	.keeps = keeps_run,
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
	if (load_library(&h->lib) < 0) {
		free_history(&h->base);
		return trk__recordings_open(dir, max_new, reterr);
	}
	h->runs_fd = trk__store_open(dir, false, reterr);
	if (h->runs_fd < 0 && h->runs_fd != -ENOENT)
		goto fail;
	r = trk__open_dir_at(AT_FDCWD, dir);
	if (r < 0) {
		(void) trk__error_set(reterr, -TRK_ERR_NODATA, dir, "%s: no runs yet", dir);
		goto fail;
	}
	trk__close(r);
	r = open_file(h, dir, reterr);
	if (r == 0)
		r = bring_up_to_date(h, max_new, reterr);
	if (is_transient(r) && !is_in_memory(h)) {
		r = open_in_memory(h, dir, r, reterr);
		if (r == 0)
			r = bring_up_to_date(h, max_new, reterr);
	}
	if (r == 0)
		return &h->base;
fail:
	free_history(&h->base);
	return NULL;
}
