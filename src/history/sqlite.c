/* The history in SQLite: schema, its migrations, and bringing it up to date. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "history/private.h"
#include "history/sqlite_library.h"
#include "record/reader.h"
#include "record/store.h"

enum { BUSY_MS = 3000, PATH_SIZE = 4096 };

struct sqlite_history {
	struct trk_history base;
	struct trk_sqlite lib;
	struct sqlite3 *db;
	int runs_fd;
	char path[PATH_SIZE];
};

static struct sqlite_history *of(struct trk_history *h)
{
	return (struct sqlite_history *) (void *) h; /* base comes first */
}

#define NAME(field)        #field ", "
#define COLUMN_LIST        TEXTS(NAME) FIGURES(NAME) "code, signal, samples, ended, scope"
#define TEXT_COLUMN(field) ", " #field " TEXT NOT NULL"
#define REAL_COLUMN(field) ", " #field " REAL"
#define COUNT_ONE(field)   +1
enum {
	TEXT_COUNT = 0 TEXTS(COUNT_ONE),
	FIGURE_COUNT = 0 FIGURES(COUNT_ONE),
};

/* Step n takes a database from version n to n + 1. */
static const char *const migrations[] = {
	"CREATE TABLE run (n INTEGER PRIMARY KEY" TEXTS(TEXT_COLUMN) FIGURES_1(
		REAL_COLUMN) ", code INTEGER, signal INTEGER, samples INTEGER, ended INTEGER);"
			     "CREATE UNIQUE INDEX run_file ON run (file);"
			     "CREATE INDEX run_time ON run (start_s);"
			     "CREATE INDEX run_job ON run (job, start_s);"
			     "CREATE TABLE state (key TEXT PRIMARY KEY, value)",
	"ALTER TABLE run ADD COLUMN input_bytes REAL", "ALTER TABLE run ADD COLUMN cost_usd REAL",
	"ALTER TABLE run ADD COLUMN scope TEXT", /* NULL: of every scope */
};
enum { SCHEMA_VERSION = sizeof(migrations) / sizeof(migrations[0]) };

/* ---- small pieces ---- */

static const char in_memory[] = ":memory:";

static bool is_in_memory(const struct sqlite_history *h)
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
		return -TRK_E_DAMAGED;
	default:
		return -EIO;
	}
}

static int fail(struct sqlite_history *h, int rc, struct trk_error *reterr)
{
	return trk__error_set(reterr, code_of(rc), h->path, "%s: %s", h->path,
			      h->db ? h->lib.errmsg(h->db) : "out of memory");
}

/* Who has waited once in vain does not wait again for the same. */
static int waited(struct sqlite_history *h, int rc)
{
	if ((rc & 0xff) == SQLITE_BUSY)
		(void) h->lib.busy_timeout(h->db, 0);
	return rc;
}

static int execute(struct sqlite_history *h, const char *sql, struct trk_error *reterr)
{
	int rc = waited(h, h->lib.exec(h->db, sql, NULL, NULL, NULL));

	return rc == SQLITE_OK ? 0 : fail(h, rc, reterr);
}

static int prepare(struct sqlite_history *h, const char *sql, struct sqlite3_stmt **ret,
		   struct trk_error *reterr)
{
	int rc = waited(h, h->lib.prepare_v2(h->db, sql, -1, ret, NULL));

	return rc == SQLITE_OK ? 0 : fail(h, rc, reterr);
}

/* The one number that a statement gives, or -1. */
static int64_t number(struct sqlite_history *h, const char *sql)
{
	struct sqlite3_stmt *s = NULL;
	int64_t value = -1;

	if (waited(h, h->lib.prepare_v2(h->db, sql, -1, &s, NULL)) == SQLITE_OK &&
	    waited(h, h->lib.step(s)) == SQLITE_ROW)
		value = h->lib.column_int64(s, 0);
	(void) h->lib.finalize(s);
	return value;
}

/* ---- opening ---- */

/* Shared memory, which write-ahead logs need, does not reach across a network. */
static bool is_on_the_network(const char *dir)
{
	static const unsigned long types[] = {
		0x6969 /* NFS */,      0x517b /* SMB */,      0xff534d42 /* CIFS */,
		0xfe534d42 /* SMB2 */, 0x00c36400 /* Ceph */, 0x0bd00bd0 /* Lustre */,
		0x47504653 /* GPFS */, 0x01021997 /* 9p */,   0x65735546 /* FUSE */,
	};
	struct statfs fs;

	if (statfs(dir, &fs) < 0)
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((unsigned long) fs.f_type == types[i])
			return true;
	return false;
}

static int migrate(struct sqlite_history *h, struct trk_error *reterr)
{
	int64_t version;
	char sql[64];
	int r;

	/* Who only reads waits for nobody who writes. */
	if (number(h, "PRAGMA user_version") == SCHEMA_VERSION)
		return 0;
	r = execute(h, "BEGIN IMMEDIATE", reterr); /* of two programs, one creates */
	if (r < 0)
		return r;
	version = number(h, "PRAGMA user_version");
	if (version > SCHEMA_VERSION) {
		(void) execute(h, "ROLLBACK", NULL);
		return trk__error_set(reterr, -TRK_E_VERSION, h->path,
				      "%s: made by a newer version of resource-tracker", h->path);
	}
	for (int64_t i = version < 0 ? 0 : version; i < SCHEMA_VERSION && r == 0; i++)
		r = execute(h, migrations[i], reterr);
	(void) snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", SCHEMA_VERSION);
	if (r == 0)
		r = execute(h, sql, reterr);
	if (r < 0) {
		(void) execute(h, "ROLLBACK", NULL);
		return r;
	}
	return execute(h, "COMMIT", reterr);
}

static int open_database(struct sqlite_history *h, const char *dir, int flags,
			 struct trk_error *reterr)
{
	mode_t before = umask(077);
	int rc = h->lib.open_v2(h->path, &h->db, flags, NULL), r;

	(void) umask(before);
	if (rc != SQLITE_OK)
		return fail(h, rc, reterr);
	(void) h->lib.busy_timeout(h->db, BUSY_MS);
	if (!is_in_memory(h))
		(void) execute(h,
			       is_on_the_network(dir) ? "PRAGMA journal_mode = DELETE"
						      : "PRAGMA journal_mode = WAL",
			       NULL);
	(void) execute(h, "PRAGMA synchronous = NORMAL", NULL);
	r = migrate(h, reterr);
	/* A version that is right over tables that are not: edited, or half of another file. */
	if (r == 0 &&
	    number(h, "SELECT count(*) FROM (SELECT " COLUMN_LIST " FROM run LIMIT 1)") < 0)
		r = trk__error_set(reterr, -TRK_E_DAMAGED, h->path, "%s: damaged", h->path);
	return r;
}

static void close_database(struct sqlite_history *h)
{
	if (h->db)
		(void) h->lib.close(h->db);
	h->db = NULL;
}

/* What cannot be read is kept, under another name; the runs are in their recordings. */
static int move_aside(struct sqlite_history *h, struct trk_error *reterr)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	char from[PATH_SIZE + 8], to[PATH_SIZE + 64];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		(void) snprintf(from, sizeof(from), "%s%s", h->path, ends[i]);
		(void) snprintf(to, sizeof(to), "%s.damaged-%lld%s", h->path,
				(long long) time(NULL), ends[i]);
		if (rename(from, to) < 0 && errno != ENOENT)
			return trk__error_set(reterr, -errno, from, "%s: %s", from,
					      trk__strerror(errno));
	}
	(void) snprintf(h->base.note, sizeof(h->base.note),
			"%.300s: damaged: moved aside and made anew from the recordings", h->path);
	return 0;
}

/* Trouble that leaves the file as it is. A full disk is an error of input and output to write-ahead
 * logs. */
static bool is_for_now(int r)
{
	return r == -EROFS || r == -EACCES || r == -ENOSPC || r == -EBUSY || r == -EIO;
}

/* What the file holds, where it can still be read. */
static void copy_from(struct sqlite_history *h, const char *path)
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
	if (number(h, "PRAGMA old.user_version") == SCHEMA_VERSION)
		(void) execute(h,
			       "INSERT OR IGNORE INTO run (" COLUMN_LIST ") SELECT " COLUMN_LIST
			       " FROM old.run WHERE ended",
			       NULL);
	(void) execute(h, "DETACH DATABASE old", NULL);
}

/* A history for this question alone, of the recordings and of what the file holds. */
static int open_in_memory(struct sqlite_history *h, const char *dir, int why,
			  struct trk_error *reterr)
{
	/* Named, not flagged: the flag would be that of the attached file, too. */
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	char path[PATH_SIZE];
	int r;

	(void) snprintf(path, sizeof(path), "%s", h->path);
	close_database(h);
	(void) snprintf(h->base.note, sizeof(h->base.note),
			"%.300s: %s: history is read from the recordings", path,
			why == -EBUSY ? "database is locked" : "cannot be written");
	(void) snprintf(h->path, sizeof(h->path), "%s", in_memory);
	r = open_database(h, dir, flags, reterr);
	if (r == 0)
		copy_from(h, path);
	return r;
}

static int open_somehow(struct sqlite_history *h, const char *dir, struct trk_error *reterr)
{
	struct trk_error error = {.code = 0};
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	int r = open_database(h, dir, flags, &error);

	if (r == -TRK_E_DAMAGED) {
		close_database(h);
		r = move_aside(h, &error);
		if (r == 0)
			r = open_database(h, dir, flags, &error);
	}
	if (is_for_now(r))
		r = open_in_memory(h, dir, r, &error);
	if (r < 0 && reterr)
		*reterr = error;
	return r;
}

/* ---- rows ---- */

static void bind_run(struct sqlite_history *h, struct sqlite3_stmt *s, const struct trk_past *run)
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

static void read_text(struct sqlite_history *h, struct sqlite3_stmt *s, int at, char *text,
		      size_t size)
{
	const unsigned char *value = h->lib.column_text(s, at);

	(void) snprintf(text, size, "%s", value ? (const char *) value : "");
}

static double read_real(struct sqlite_history *h, struct sqlite3_stmt *s, int at)
{
	return h->lib.column_type(s, at) == SQLITE_TYPE_NULL ? NAN : h->lib.column_double(s, at);
}

static void read_run(struct sqlite_history *h, struct sqlite3_stmt *s, struct trk_past *ret)
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
	struct sqlite_history *h;
	struct sqlite3_stmt *known, *put;
	struct trk_record *record;
	size_t left; /* recordings that may still be read */
	bool stopped;
	int error;
};

static bool is_known(struct update *u, const char *file)
{
	struct sqlite_history *h = u->h;
	bool known;

	(void) h->lib.bind_text(u->known, 1, file, -1, NULL);
	known = h->lib.step(u->known) == SQLITE_ROW;
	(void) h->lib.reset(u->known);
	return known;
}

static int take_file(void *data, const char *file)
{
	struct update *u = data;
	struct sqlite_history *h = u->h;
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
	u->error = code_of(rc);
	return 1;
}

static int update_all(struct sqlite_history *h, size_t max_new, bool *ret_all,
		      struct trk_error *reterr)
{
	struct update u = {
		.h = h,
		.record = calloc(1, sizeof(*u.record)),
		.left = max_new ? max_new : SIZE_MAX,
	};
	char sql[2048];
	int r = u.record ? 0 : -ENOMEM, n = 0;

	n = snprintf(sql, sizeof(sql), "INSERT OR REPLACE INTO run (" COLUMN_LIST ") VALUES (?");
	for (int i = 1; i < TEXT_COUNT + FIGURE_COUNT + 5; i++)
		n += snprintf(sql + n, sizeof(sql) - (size_t) n, ",?");
	(void) snprintf(sql + n, sizeof(sql) - (size_t) n, ")");
	if (r == 0)
		r = prepare(h, "SELECT 1 FROM run WHERE file = ? AND ended", &u.known, reterr);
	if (r == 0)
		r = prepare(h, sql, &u.put, reterr);
	if (r == 0)
		r = execute(h, "BEGIN IMMEDIATE", reterr);
	if (r == 0) {
		r = trk__store_each(h->runs_fd, take_file, &u);
		if (r == 0 && u.error)
			r = u.error;
		*ret_all = r == 0 && !u.stopped;
		(void) execute(h, r == 0 ? "COMMIT" : "ROLLBACK", NULL);
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
static int bring_up_to_date(struct sqlite_history *h, size_t max_new, struct trk_error *reterr)
{
	int64_t stamp = stamp_of(h->runs_fd);
	struct timespec now;
	bool all = false;
	char sql[160];
	int r;

	if (h->runs_fd < 0)
		return 0;
	if (stamp >= 0 && number(h, "SELECT value FROM state WHERE key = 'runs'") == stamp &&
	    number(h, "SELECT count(*) FROM run WHERE NOT ended") == 0)
		return 0;
	r = update_all(h, max_new, &all, reterr);
	(void) clock_gettime(CLOCK_REALTIME, &now);
	if (r == 0 && all && (int64_t) now.tv_sec * 1000000000 + now.tv_nsec - stamp > 50000000) {
		(void) snprintf(sql, sizeof(sql),
				"INSERT OR REPLACE INTO state VALUES ('runs', %lld)",
				(long long) stamp);
		(void) execute(h, sql, NULL);
	}
	return r;
}

/* ---- questions ---- */

static int list_runs(struct trk_history *base, const struct trk_job_key *job, size_t max,
		     bool unlisted, trk_past_fn *fn, void *data, struct trk_error *reterr)
{
	struct sqlite_history *h = of(base);
	struct sqlite3_stmt *s = NULL;
	struct trk_past run;
	int rc = SQLITE_DONE;
	int r = prepare(h,
			job ? "SELECT " COLUMN_LIST
			      " FROM run WHERE job = ?2 AND (?4 IS NULL OR scope IS NULL OR scope "
			      "= ?4) AND (?3 OR kind <> '" TRK_KIND_UNLISTED
			      "') ORDER BY start_s DESC, file DESC LIMIT ?1"
			    : "SELECT " COLUMN_LIST
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
		r = fail(h, rc, reterr);
	(void) h->lib.finalize(s);
	return r;
}

static int forget_run(struct trk_history *base, const char *id, struct trk_error *reterr)
{
	struct sqlite_history *h = of(base);
	struct sqlite3_stmt *s = NULL;
	int r, rc;

	if (is_in_memory(h)) /* it would be there again the next time */
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
	struct sqlite_history *h = of(base);

	close_database(h);
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
	struct sqlite_history *h = calloc(1, sizeof(*h));
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
	r = open_somehow(h, dir, reterr);
	if (r == 0)
		r = bring_up_to_date(h, max_new, reterr);
	if (is_for_now(r) && !is_in_memory(h)) {
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
