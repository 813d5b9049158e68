/* libsqlite3, loaded on first use. Only what history needs; declared after the documentation of its C
 * interface, which keeps these types and values for good. */
#ifndef TRK_HISTORY_SQLITE_LIBRARY_H
#define TRK_HISTORY_SQLITE_LIBRARY_H

#include <stdint.h>

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
};

struct trk_sqlite {
	void *handle;
	int (*open_v2)(const char *file, struct sqlite3 **db, int flags, const char *vfs);
	int (*close)(struct sqlite3 *db);
	int (*exec)(struct sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
		    void *data, char **error);
	const char *(*errmsg)(struct sqlite3 *db);
	int (*busy_timeout)(struct sqlite3 *db, int ms);
	int (*prepare_v2)(struct sqlite3 *db, const char *sql, int len, struct sqlite3_stmt **ret,
			  const char **tail);
	int (*step)(struct sqlite3_stmt *s);
	int (*reset)(struct sqlite3_stmt *s);
	int (*finalize)(struct sqlite3_stmt *s);
	int (*bind_text)(struct sqlite3_stmt *s, int at, const char *text, int len,
			 void (*free)(void *));
	int (*bind_int64)(struct sqlite3_stmt *s, int at, int64_t value);
	int (*bind_double)(struct sqlite3_stmt *s, int at, double value);
	int (*bind_null)(struct sqlite3_stmt *s, int at);
	const unsigned char *(*column_text)(struct sqlite3_stmt *s, int at);
	int64_t (*column_int64)(struct sqlite3_stmt *s, int at);
	double (*column_double)(struct sqlite3_stmt *s, int at);
	int (*column_type)(struct sqlite3_stmt *s, int at);
};

/* Load it. Returns 0, or -TRK_E_UNSUPPORTED when it is not installed or lacks something. */
int trk__sqlite_load(struct trk_sqlite *ret);
void trk__sqlite_unload(struct trk_sqlite *s);

#endif
