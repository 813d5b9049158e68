/* What sqlite.c (runs and questions) and sqlite_file.c (the file, its schema) share. */
#ifndef TRK_HISTORY_SQLITE_PRIVATE_H
#define TRK_HISTORY_SQLITE_PRIVATE_H

#include "history/private.h"
#include "history/sqlite_library.h"

enum { TRK_SQLITE_PATH_SIZE = 4096 };

struct trk_sqlite_history {
	struct trk_history base;
	struct trk_sqlite lib;
	struct sqlite3 *db;
	int runs_fd;
	char path[TRK_SQLITE_PATH_SIZE];
};

#define TRK_SQLITE_NAME(field) #field ", "
#define TRK_SQLITE_COLUMNS                                                                         \
	TEXTS(TRK_SQLITE_NAME) FIGURES(TRK_SQLITE_NAME) "code, signal, samples, ended, scope"

/* Open the database in `dir`, make it or bring its schema up to date; a damaged one is moved aside, and one
 * that cannot be written is copied into memory. Returns 0 or a negative error. */
int trk__sqlite_file_open(struct trk_sqlite_history *h, const char *dir, struct trk_error *reterr);
/* A history for this question alone, of the recordings and of what the file holds; `why`: the error that
 * kept it from being written. */
int trk__sqlite_open_in_memory(struct trk_sqlite_history *h, const char *dir, int why,
			       struct trk_error *reterr);
/* Trouble that leaves the file as it is. */
bool trk__sqlite_is_for_now(int r);
void trk__sqlite_file_close(struct trk_sqlite_history *h);
bool trk__sqlite_is_in_memory(const struct trk_sqlite_history *h);

/* The library's code as one of ours, and as an error. */
int trk__sqlite_code(int rc);
int trk__sqlite_fail(struct trk_sqlite_history *h, int rc, struct trk_error *reterr);

int trk__sqlite_execute(struct trk_sqlite_history *h, const char *sql, struct trk_error *reterr);
int trk__sqlite_prepare(struct trk_sqlite_history *h, const char *sql, struct sqlite3_stmt **ret,
			struct trk_error *reterr);
/* The one number that a statement gives, or -1. */
int64_t trk__sqlite_number(struct trk_sqlite_history *h, const char *sql);

#endif
