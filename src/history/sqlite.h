/* libsqlite3, loaded on first use. Declares only what history needs, from the documentation of its
 * C interface, which keeps these types and values stable. */
#ifndef TRK_HISTORY_SQLITE_H
#define TRK_HISTORY_SQLITE_H

#include <stdint.h>

#include "history/private.h"

struct sqlite3;
struct sqlite3_stmt;

enum {
	SQLITE_OK = 0,
	SQLITE_BUSY = 5,
	SQLITE_READONLY = 8,
	SQLITE_CORRUPT = 11,
	SQLITE_FULL = 13,
	SQLITE_CANTOPEN = 14,
	SQLITE_NOTADB = 26,
	SQLITE_ROW = 100,
	SQLITE_DONE = 101,
	SQLITE_TYPE_NULL = 5,
	SQLITE_OPEN_READWRITE = 2,
	SQLITE_OPEN_CREATE = 4,
	SQLITE_OPEN_NOMUTEX = 0x8000,     /* only one thread uses a history at a time */
	SQLITE_OPEN_NOFOLLOW = 0x1000000, /* from 3.31 on; earlier versions ignore it */
	SQLITE_DBCONFIG_ENABLE_TRIGGER = 1003,
	SQLITE_DBCONFIG_DEFENSIVE = 1010,
	SQLITE_DBCONFIG_ENABLE_VIEW = 1015,
	SQLITE_DBCONFIG_TRUSTED_SCHEMA = 1017,
};

/* X(type, name without "sqlite3_", parameters) */
/* clang-format off */
#define TRK_SQLITE_CALLS(X) \
	X(int, open_v2, (const char *file, struct sqlite3 **db, int flags, const char *vfs)) \
	X(int, close, (struct sqlite3 *db)) \
	X(int, exec, (struct sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *data, char **error)) \
	X(const char *, errmsg, (struct sqlite3 *db)) \
	X(int, busy_timeout, (struct sqlite3 *db, int ms)) \
	X(int, db_config, (struct sqlite3 *db, int what, ...)) \
	X(int, prepare_v2, (struct sqlite3 *db, const char *sql, int len, struct sqlite3_stmt **ret, const char **tail)) \
	X(int, step, (struct sqlite3_stmt *s)) \
	X(int, reset, (struct sqlite3_stmt *s)) \
	X(int, finalize, (struct sqlite3_stmt *s)) \
	X(int, bind_text, (struct sqlite3_stmt *s, int at, const char *text, int len, void (*free)(void *))) \
	X(int, bind_int64, (struct sqlite3_stmt *s, int at, int64_t value)) \
	X(int, bind_double, (struct sqlite3_stmt *s, int at, double value)) \
	X(int, bind_null, (struct sqlite3_stmt *s, int at)) \
	X(const unsigned char *, column_text, (struct sqlite3_stmt *s, int at)) \
	X(int64_t, column_int64, (struct sqlite3_stmt *s, int at)) \
	X(double, column_double, (struct sqlite3_stmt *s, int at)) \
	X(int, column_type, (struct sqlite3_stmt *s, int at))
/* clang-format on */
#define TRK_SQLITE_CALL(type, name, parameters) type(*name) parameters;
struct trk_sqlite {
	void *handle;
	TRK_SQLITE_CALLS(TRK_SQLITE_CALL)
};

enum { TRK_SQLITE_PATH_SIZE = 4096 };

struct trk_sqlite_history {
	struct trk_history base;
	struct trk_sqlite lib;
	struct sqlite3 *db;
	int runs_fd;
	char path[TRK_SQLITE_PATH_SIZE];
	/* In memory: the last row that was copied from the file, by its `n`, and whether the file was
	 * read. A file of another user is not. */
	int64_t copied;
	bool is_foreign;
};

int trk__sqlite_execute(struct trk_sqlite_history *h, const char *sql, struct trk_error *reterr);

#endif
