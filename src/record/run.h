/* What a recording says beside its samples: what was run, how it ended, what it used in all. */
#ifndef TRK_RECORD_RUN_H
#define TRK_RECORD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/tree.h"
#include "record/gpus.h"
#include "record/marks.h"
#include "record/outline.h"
#include "record/place.h"
#include "sample/stats.h"

enum {
	TRK_RUN_ID_SIZE = 24,
	TRK_RUN_TEXT_SIZE = 256,
	TRK_RUN_COMMAND_SIZE = 4096,
	TRK_RUN_TAGS_SIZE = 2048,
	TRK_TOP_MAX = 10,
	TRK_RUN_SOURCES_MAX = 16,
};

enum trk_quality {
	TRK_QUALITY_UNKNOWN,
	TRK_QUALITY_EXACT,
	TRK_QUALITY_AT_LEAST,
	TRK_QUALITY_AT_MOST,
	TRK_QUALITY_ESTIMATED,
};

/* A total and how much it can be trusted. */
struct trk_quantity {
	double value; /* NaN when unknown */
	enum trk_quality quality;
	char source[TRK_RUN_TEXT_SIZE];
	char reason[TRK_RUN_TEXT_SIZE]; /* why it is not exact; empty when it is */
};

/* One list makes the enumeration, the keys of the JSON and the order in the file. */
#define TRK_TOTAL_LIST(X)                                                                          \
	X(CPU_S, "cpu_s")                                                                          \
	X(CPU_USER_S, "cpu_user_s")                                                                \
	X(CPU_SYSTEM_S, "cpu_system_s")                                                            \
	X(PEAK_MEMORY_MIB, "peak_memory_mib")                                                      \
	X(PEAK_PROCESSES, "peak_processes")                                                        \
	X(DISK_READ_BYTES, "disk_read_bytes")                                                      \
	X(DISK_WRITE_BYTES, "disk_write_bytes")                                                    \
	X(MAJOR_FAULTS, "major_faults")                                                            \
	X(CONTEXT_SWITCHES, "context_switches")                                                    \
	X(GPU_ENERGY_J, "gpu_energy_j")

enum trk_total {
#define X(id, key) TRK_TOTAL_##id,
	TRK_TOTAL_LIST(X)
#undef X
		TRK_TOTALS
};

enum trk_limit { TRK_LIMIT_CPU, TRK_LIMIT_MEMORY_MIB, TRK_LIMIT_PIDS, TRK_LIMITS };
enum trk_request {
	TRK_REQUEST_CPU,
	TRK_REQUEST_MEMORY_MIB,
	TRK_REQUEST_GPU,
	TRK_REQUEST_TIME_S,
	TRK_REQUESTS
};

/* Keys of the JSON. */
extern const char *const trk__total_keys[TRK_TOTALS];
extern const char *const trk__limit_keys[TRK_LIMITS];
extern const char *const trk__request_keys[TRK_REQUESTS];

enum trk_verdict {
	TRK_VERDICT_RUNNING,
	TRK_VERDICT_EXITED,
	TRK_VERDICT_SIGNALLED,
	TRK_VERDICT_OUT_OF_MEMORY,
	TRK_VERDICT_TIMEOUT,
	TRK_VERDICT_TRACKER_DIED,
	TRK_VERDICT_STOPPED,      /* attach and system: tracking was ended, not the job */
	TRK_VERDICT_MEMORY_LIMIT, /* ended by us: above the limit that we were told to hold */
	TRK_VERDICT_VANISHED, /* attach: it ended without a word, though it has a line to us; run:
				     somebody else waited for the job */
};

const char *trk__verdict_name(enum trk_verdict verdict);
const char *trk__quality_name(enum trk_quality quality);

/* Written at the start. */
struct trk_run {
	char id[TRK_RUN_ID_SIZE];
	char job[TRK_RUN_TEXT_SIZE];
	char scope[TRK_RUN_TEXT_SIZE]; /* tells it from other jobs of that name; "": nothing does */
	bool has_scope; /* false: by an older version, or imported: it is of every scope */
	char kind[16];  /* run, attach, system */
	char version[32];
	char command[TRK_RUN_COMMAND_SIZE]; /* arguments, each ended by a NUL */
	size_t command_len;
	char tags[TRK_RUN_TAGS_SIZE]; /* key=value, each ended by a NUL */
	size_t tags_len;
	int32_t pid;       /* 0: none */
	uint64_t start_ns; /* wall clock */
	uint64_t interval_ns;
	struct trk_quantity limit[TRK_LIMITS];
	struct trk_quantity request[TRK_REQUESTS];
	uint64_t
		input_bytes; /* stated, or of the files that the command line names; 0: not known */
	bool unlisted;       /* of no history, and no basis for advice on later runs */
};

/* Written now and then, and at the end. */
struct trk_outcome {
	enum trk_verdict verdict;
	int code;   /* exit code; -1: none */
	int signal; /* 0: none */
	char evidence[TRK_RUN_TEXT_SIZE];
	uint64_t stop_ns;     /* wall clock */
	uint64_t duration_ns; /* monotonic, which stands still while the machine is suspended */
	struct trk_quantity total[TRK_TOTALS];
	struct trk_process_info top[TRK_TOP_MAX];
	size_t top_count;
	size_t left_behind; /* processes that were still alive at the end */
	uint64_t missed, late;
	uint64_t tracker_cpu_ns, tracker_rss_bytes;
	char sources[TRK_RUN_SOURCES_MAX][2][TRK_RUN_TEXT_SIZE / 2]; /* name, text */
	size_t source_count;
	uint64_t suspended_ns; /* how long the machine was, beside the duration; 0: not a second */
};

/* A moment that the job has named. */
struct trk_mark {
	uint64_t elapsed_ns; /* since the start of the run */
	uint64_t time_ns;    /* wall clock */
	char name[TRK_MARK_NAME_SIZE];
};

/* Everything that is known of one run: what the writer holds in memory and the reader rebuilds. */
struct trk_record {
	struct trk_run run;
	struct trk_outcome outcome;
	struct trk_place place;
	struct trk_stats *stats; /* owned */
	struct trk_outline outline;
	struct trk_mark *mark;   /* owned */
	size_t marks, marks_cap; /* in order; at most TRK_MARKS_MAX */
	struct trk_gpu_log gpus;
	/* Seconds of which the job's use of GPUs is known; of these without use; of these with a core
	 * busy. */
	double gpu_known_s, gpu_idle_s, gpu_starved_s;
	uint64_t samples;
	bool ended;       /* the recording has its end */
	bool writing;     /* it has none yet, and its tracker is alive */
	uint64_t damaged; /* records that failed their check sum, and cut ends */
	int64_t last_timestamp_ms;
	int64_t last_elapsed_us;
	double last_memory_mib, max_memory_mib;
};

/* Returns 0 or -ENOMEM. */
int trk__record_init(struct trk_record *r);
void trk__record_release(struct trk_record *r);
/* Count one row in. */
void trk__record_add(struct trk_record *r, uint64_t rows, const struct trk_sample *mean,
		     const struct trk_sample *min, const struct trk_sample *max);

/* Remember a mark. Beyond the bound, or without memory, it is not kept: returns -ENOSPC or -ENOMEM. */
int trk__record_mark(struct trk_record *r, const struct trk_mark *mark);

/* Nothing is known of any of them. */
void trk__quantities_clear(struct trk_quantity *q, size_t n);

/* Set a quantity; source and reason may be NULL. A NaN value becomes "unknown". */
void trk__quantity_set(struct trk_quantity *q, double value, enum trk_quality quality,
		       const char *source, const char *reason);

#endif
