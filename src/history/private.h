/* Shared by the files of src/history: the fields of a run, the versions of the table, and what each
 * store can do. */
#ifndef TRK_HISTORY_PRIVATE_H
#define TRK_HISTORY_PRIVATE_H

#include "base/json.h"
#include "history/history.h"

/* The fields of struct trk_history_run, in the order of JSON. Both databases, JSON and the checks of
 * foreign values follow from this list. A new field is a line here, a member of the struct, a step in
 * schema.c, and a line in trk__history_run_from.
 *
 * X(kind, member and column, key in `history --json` or NULL); `ended` stays the last. */
/* clang-format off */
#define TRK_HISTORY_FIELDS_BUT_LAST(X)                                                              \
	X(TEXT,		id,			"id")                                               \
	X(TEXT,		job,			"job")                                              \
	X(SCOPE,	scope,			"scope")                                            \
	X(TEXT,		kind,			"kind")                                             \
	X(TEXT,		command,		"command")                                          \
	X(TAGS,		tags,			"tags")                                             \
	X(TEXT,		file,			NULL)                                               \
	X(TEXT,		verdict,		"verdict")                                          \
	X(CODE,		code,			"code")                                             \
	X(SIGNAL,	signal,			"signal")                                           \
	X(REAL,		start_s,		"start_time")                                       \
	X(REAL,		duration_s,		"duration_s")                                       \
	X(REAL,		cpu_s,			"cpu_s")                                            \
	X(REAL,		cpu_mean,		"process_cpu_usage_mean")                           \
	X(REAL,		cpu_max,		"process_cpu_usage_max")                            \
	X(REAL,		peak_memory_mib,	"peak_memory_mib")                                  \
	X(REAL,		memory_mean_mib,	"memory_mean_mib")                                  \
	X(REAL,		peak_swap_mib,		"peak_swap_mib")                                    \
	X(REAL,		disk_read_bytes,	"disk_read_bytes")                                  \
	X(REAL,		disk_write_bytes,	"disk_write_bytes")                                 \
	X(REAL,		gpu_mean,		"process_gpu_usage_mean")                           \
	X(REAL,		gpu_max,		"process_gpu_usage_max")                            \
	X(REAL,		vram_max_mib,		"process_gpu_vram_max")                             \
	X(REAL,		limit_cpu,		"limit_cpu")                                        \
	X(REAL,		limit_memory_mib,	"limit_memory_mib")                                 \
	X(REAL,		request_cpu,		"request_cpu")                                      \
	X(REAL,		request_memory_mib,	"request_memory_mib")                               \
	X(CAPACITY,	capacity,		"capacity")                                         \
	X(REAL,		input_bytes,		"input_bytes")                                      \
	X(REAL,		cost_usd,		"cost_usd")                                         \
	X(COUNT,	samples,		"samples")
#define TRK_HISTORY_FIELDS(X) TRK_HISTORY_FIELDS_BUT_LAST(X) X(FLAG, ended, "ended")
/* clang-format on */

enum trk_history_kind {
	TRK_HISTORY_TEXT,
	TRK_HISTORY_SCOPE,    /* text; NULL where the run has no scope */
	TRK_HISTORY_TAGS,     /* text: lines of key=value */
	TRK_HISTORY_CAPACITY, /* text: lines of VALUE KIND SOURCE */
	TRK_HISTORY_REAL,     /* double; NaN: unknown */
	TRK_HISTORY_CODE,     /* int; -1: none */
	TRK_HISTORY_SIGNAL,   /* int; 0: none */
	TRK_HISTORY_COUNT,    /* uint64_t */
	TRK_HISTORY_FLAG,     /* bool */
};

struct trk_history_field {
	const char *name, *key;
	enum trk_history_kind kind;
	size_t offset, size;
};

#define TRK_HISTORY_ONE(kind, field, key) +1
enum { TRK_HISTORY_FIELD_COUNT = 0 TRK_HISTORY_FIELDS(TRK_HISTORY_ONE) };
extern const struct trk_history_field trk__history_fields[TRK_HISTORY_FIELD_COUNT];

/* "id, job, …, ended" */
#define TRK_HISTORY_NAME(kind, field, key) #field ", "
#define TRK_HISTORY_COLUMNS                TRK_HISTORY_FIELDS_BUT_LAST(TRK_HISTORY_NAME) "ended"

/* The value of a field as a database has it. */
struct trk_history_value {
	enum { TRK_VALUE_NULL, TRK_VALUE_TEXT, TRK_VALUE_REAL, TRK_VALUE_WHOLE } type;
	const char *text; /* a view */
	double real;
	int64_t whole;
};

struct trk_history_value trk__history_get(const struct trk_history_run *run,
					  const struct trk_history_field *field);
/* From a text, a real number or a whole one, as its kind needs; all three are set. */
void trk__history_set(struct trk_history_run *run, const struct trk_history_field *field,
		      const struct trk_history_value *value);

/* Write "INTO (columns) VALUES (?1, …)", with `mark` in front of each number. */
void trk__history_insert_sql(struct trk_buf *b, const char *into, char mark);

/* Version n of the table is made from version n - 1 by step n - 1. Steps are never changed: a new
 * field is a new step at the end. */
struct trk_history_step {
	const char *sqlite;
	const char *postgres; /* may run twice */
};
enum { TRK_HISTORY_VERSION = 7 };
extern const struct trk_history_step trk__history_steps[TRK_HISTORY_VERSION];

struct trk_history_ops {
	void (*free)(struct trk_history *h);
	/* As trk__history_list and trk__history_forget. */
	int (*list)(struct trk_history *h, const struct trk_job_key *job, size_t max, bool unlisted,
		    trk_history_run_fn *fn, void *data, struct trk_error *reterr);
	int (*forget)(struct trk_history *h, const char *id, struct trk_error *reterr);
};

/* The first member of each store's own struct. */
struct trk_history {
	const struct trk_history_ops *ops;
	char note[512];
	struct trk_store_refused refused;
};

struct trk_history *trk__sqlite_open(const char *dir, size_t max_new, struct trk_error *reterr);
struct trk_history *trk__postgres_open(const char *url, const char *dir, size_t max_new,
				       struct trk_error *reterr);

#endif
