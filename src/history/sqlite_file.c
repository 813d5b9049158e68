/* The history's file in SQLite: its schema, the migrations, and opening it whatever it is like. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/error.h"
#include "history/sqlite_private.h"

enum { BUSY_MS = 3000 };

#define TEXT_COLUMN(field) ", " #field " TEXT NOT NULL"
#define REAL_COLUMN(field) ", " #field " REAL"

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

bool trk__sqlite_is_in_memory(const struct trk_sqlite_history *h)
{
	return !strcmp(h->path, in_memory);
}

int trk__sqlite_code(int rc)
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

int trk__sqlite_fail(struct trk_sqlite_history *h, int rc, struct trk_error *reterr)
{
	return trk__error_set(reterr, trk__sqlite_code(rc), h->path, "%s: %s", h->path,
			      h->db ? h->lib.errmsg(h->db) : "out of memory");
}

/* Who has waited once in vain does not wait again for the same. */
static int waited(struct trk_sqlite_history *h, int rc)
{
	if ((rc & 0xff) == SQLITE_BUSY)
		(void) h->lib.busy_timeout(h->db, 0);
	return rc;
}

int trk__sqlite_execute(struct trk_sqlite_history *h, const char *sql, struct trk_error *reterr)
{
	int rc = waited(h, h->lib.exec(h->db, sql, NULL, NULL, NULL));

	return rc == SQLITE_OK ? 0 : trk__sqlite_fail(h, rc, reterr);
}

int trk__sqlite_prepare(struct trk_sqlite_history *h, const char *sql, struct sqlite3_stmt **ret,
			struct trk_error *reterr)
{
	int rc = waited(h, h->lib.prepare_v2(h->db, sql, -1, ret, NULL));

	return rc == SQLITE_OK ? 0 : trk__sqlite_fail(h, rc, reterr);
}

int64_t trk__sqlite_number(struct trk_sqlite_history *h, const char *sql)
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

static int migrate(struct trk_sqlite_history *h, struct trk_error *reterr)
{
	int64_t version;
	char sql[64];
	int r;

	/* Who only reads waits for nobody who writes. */
	if (trk__sqlite_number(h, "PRAGMA user_version") == SCHEMA_VERSION)
		return 0;
	r = trk__sqlite_execute(h, "BEGIN IMMEDIATE", reterr); /* of two programs, one creates */
	if (r < 0)
		return r;
	version = trk__sqlite_number(h, "PRAGMA user_version");
	if (version > SCHEMA_VERSION) {
		(void) trk__sqlite_execute(h, "ROLLBACK", NULL);
		return trk__error_set(reterr, -TRK_E_VERSION, h->path,
				      "%s: made by a newer version of resource-tracker", h->path);
	}
	for (int64_t i = version < 0 ? 0 : version; i < SCHEMA_VERSION && r == 0; i++)
		r = trk__sqlite_execute(h, migrations[i], reterr);
	(void) snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", SCHEMA_VERSION);
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
	mode_t before = umask(077);
	int rc = h->lib.open_v2(h->path, &h->db, flags, NULL), r;

	(void) umask(before);
	if (rc != SQLITE_OK)
		return trk__sqlite_fail(h, rc, reterr);
	(void) h->lib.busy_timeout(h->db, BUSY_MS);
	if (!trk__sqlite_is_in_memory(h))
		(void) trk__sqlite_execute(h,
					   is_on_the_network(dir) ? "PRAGMA journal_mode = DELETE"
								  : "PRAGMA journal_mode = WAL",
					   NULL);
	(void) trk__sqlite_execute(h, "PRAGMA synchronous = NORMAL", NULL);
	r = migrate(h, reterr);
	/* A version that is right over tables that are not: edited, or half of another file. */
	if (r == 0 && trk__sqlite_number(h, "SELECT count(*) FROM (SELECT " TRK_SQLITE_COLUMNS
					    " FROM run LIMIT 1)") < 0)
		r = trk__error_set(reterr, -TRK_E_DAMAGED, h->path, "%s: damaged", h->path);
	return r;
}

void trk__sqlite_file_close(struct trk_sqlite_history *h)
{
	if (h->db)
		(void) h->lib.close(h->db);
	h->db = NULL;
}

/* What cannot be read is kept, under another name; the runs are in their recordings. */
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
			"%.300s: damaged: moved aside and made anew from the recordings", h->path);
	return 0;
}

/* A full disk is an error of input and output to write-ahead logs. */
bool trk__sqlite_is_for_now(int r)
{
	return r == -EROFS || r == -EACCES || r == -ENOSPC || r == -EBUSY || r == -EIO;
}

/* What the file holds, where it can still be read. */
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
	if (trk__sqlite_number(h, "PRAGMA old.user_version") == SCHEMA_VERSION)
		(void) trk__sqlite_execute(h,
					   "INSERT OR IGNORE INTO run (" TRK_SQLITE_COLUMNS
					   ") SELECT " TRK_SQLITE_COLUMNS
					   " FROM old.run WHERE ended",
					   NULL);
	(void) trk__sqlite_execute(h, "DETACH DATABASE old", NULL);
}

int trk__sqlite_open_in_memory(struct trk_sqlite_history *h, const char *dir, int why,
			       struct trk_error *reterr)
{
	/* Named, not flagged: the flag would be that of the attached file, too. */
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	char path[TRK_SQLITE_PATH_SIZE];
	int r;

	(void) snprintf(path, sizeof(path), "%s", h->path);
	trk__sqlite_file_close(h);
	(void) snprintf(h->base.note, sizeof(h->base.note),
			"%.300s: %s: history is read from the recordings", path,
			why == -EBUSY ? "database is locked" : "cannot be written");
	(void) snprintf(h->path, sizeof(h->path), "%s", in_memory);
	r = open_database(h, dir, flags, reterr);
	if (r == 0)
		copy_from(h, path);
	return r;
}

int trk__sqlite_file_open(struct trk_sqlite_history *h, const char *dir, struct trk_error *reterr)
{
	struct trk_error error = {.code = 0};
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	int r = open_database(h, dir, flags, &error);

	if (r == -TRK_E_DAMAGED) {
		trk__sqlite_file_close(h);
		r = move_aside(h, &error);
		if (r == 0)
			r = open_database(h, dir, flags, &error);
	}
	if (trk__sqlite_is_for_now(r))
		r = trk__sqlite_open_in_memory(h, dir, r, &error);
	if (r < 0 && reterr)
		*reterr = error;
	return r;
}
