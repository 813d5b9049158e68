/* Shared by the files of src/history: the table of fields, the versions of the database table, and
 * the functions of each store. */
#ifndef TRK_HISTORY_PRIVATE_H
#define TRK_HISTORY_PRIVATE_H

#include "base/json.h"
#include "history/history.h"

enum { TRK_HISTORY_TEXT_SIZE = 512 }; /* of each text; longer ones are cut */

enum trk_history_kind {
	TRK_HISTORY_ID, /* text in the run itself */
	TRK_HISTORY_TEXT,
	TRK_HISTORY_SCOPE,    /* text; NULL where the run has no scope */
	TRK_HISTORY_TAGS,     /* text: lines of key=value */
	TRK_HISTORY_CAPACITY, /* text: lines of VALUE KIND SOURCE */
	TRK_HISTORY_REAL,     /* double; NaN: unknown */
	TRK_HISTORY_MIB,      /* the same, bytes in the run and MiB in the column */
	TRK_HISTORY_CODE,     /* int; -1: none */
	TRK_HISTORY_SIGNAL,   /* int; 0: none */
	TRK_HISTORY_COUNT,    /* uint64_t */
	TRK_HISTORY_FLAG,     /* bool */
};

struct trk_history_field {
	const char *name, *key;
	enum trk_history_kind kind;
	size_t offset;
};

#define TRK_HISTORY_ONE(kind, column, member, key) +1
enum { TRK_HISTORY_FIELD_COUNT = 0 TRK_HISTORY_FIELDS(TRK_HISTORY_ONE) };
extern const struct trk_history_field trk__history_fields[TRK_HISTORY_FIELD_COUNT];

/* "id, job, …, ended" */
#define TRK_HISTORY_NAME(kind, column, member, key) #column ", "
#define TRK_HISTORY_COLUMNS                         TRK_HISTORY_FIELDS_BUT_LAST(TRK_HISTORY_NAME) "ended"

/* The condition "run is of this job" by parameters for its name and scope (NULL: any). It is that of
 * is_wanted() in recordings.c. */
#define TRK_HISTORY_OF_JOB(name, scope)                                                            \
	"job = " name " AND (" scope " IS NULL OR scope IS NULL OR scope = " scope ")"

/* The value of a field as stored in a database. */
struct trk_history_value {
	enum { TRK_VALUE_NULL, TRK_VALUE_TEXT, TRK_VALUE_REAL, TRK_VALUE_WHOLE } type;
	const char *text; /* a view */
	double real;
	int64_t whole;
};

/* Make a row of which nothing is known. */
void trk__history_row_clear(struct trk_history_row *row);
/* The value of a field; of the capacity as text that is written to the row. */
struct trk_history_value trk__history_get(struct trk_history_row *row,
					  const struct trk_history_field *field);
/* Set a field from the member of `value` that its kind needs: text, real or whole; all three must
 * be set. Texts are copied to the row. */
void trk__history_set(struct trk_history_row *row, const struct trk_history_field *field,
		      const struct trk_history_value *value);

/* Read the run of a recording; record: room, as _read initialises it. False: a damaged recording,
 * which is skipped. */
bool trk__history_read(int runs_fd, const char *file, struct trk_record *record,
		       struct trk_history_row *ret);

/* Write "INTO (columns) VALUES (?1, …)", with `mark` in front of each number. */
void trk__history_insert_sql(struct trk_buf *b, const char *into, char mark);

/* The first step creates the table, and each later one turns a version into the next. Steps are
 * never changed: a new field is a new step at the end. */
struct trk_history_step {
	const char *sqlite;
	const char *postgres; /* may run twice */
};
extern const struct trk_history_step trk__history_steps[];
extern const int trk__history_step_count;
extern const int trk__history_version; /* after the last step */

/* The index of the first step that a table of this version needs; version <= 0: there is no table.
 * path: of the database, NULL: on a server. -TRK_ERR_VERSION with *reterr for a version that no step
 * leads on from: a newer one, or one before the first release. */
int trk__history_next_step(int64_t version, const char *path, struct trk_error *reterr);

/* Called for each row, which it may change; return non-zero to stop. */
typedef int trk_history_row_fn(void *data, struct trk_history_row *row);

struct trk_history_ops {
	void (*free)(struct trk_history *h);
	/* As trk__history_list and trk__history_forget. */
	int (*list)(struct trk_history *h, const struct trk_job_key *job, size_t max, bool unlisted,
		    trk_history_row_fn *fn, void *data, struct trk_error *reterr);
	int (*forget)(struct trk_history *h, const char *id, struct trk_error *reterr);
	/* As trk__history_keeps; NULL: there is no database. */
	bool (*keeps)(struct trk_history *h, const struct trk_past_run *run);
};

/* The first member of each store's own struct. */
struct trk_history {
	const struct trk_history_ops *ops;
	char note[512];
	struct trk_store_refused refused;
	bool is_of_team;
};

struct trk_history *trk__sqlite_open(const char *dir, size_t max_new, struct trk_error *reterr);
/* Of the recordings alone; read_max: newest ones that are read, 0: all. */
struct trk_history *trk__recordings_open(const char *dir, size_t read_max,
					 struct trk_error *reterr);
struct trk_history *trk__postgres_open(const char *url, const char *dir, size_t max_new,
				       struct trk_error *reterr);

#endif
