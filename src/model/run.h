/* The content of a recording except its samples: the command, how the run ended, and its totals. */
#ifndef TRK_MODEL_RUN_H
#define TRK_MODEL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "model/end.h"
#include "model/gpu_log.h"
#include "model/lines.h"
#include "model/outline.h"
#include "model/place.h"
#include "model/process.h"
#include "model/programs.h"
#include "model/stats.h"

enum {
	TRK_MARK_NAME_SIZE = 128, /* longer names are cut, at the start of a character */
	TRK_MARKS_MAX = 1024,     /* of one run; later ones are counted, not kept */
};

/* Time between samples of a command in its first seconds, so that short jobs have data. */
#define TRK_FAST_INTERVAL_NS (200 * TRK_NS_PER_MS)
#define TRK_FAST_PHASE_NS    (10 * TRK_NS_PER_S)

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

/* Reasons of a peak that is only of a part of the job: how much the whole held is unknown. */
#define TRK_PEAK_OF_PROCESS "largest process of the job"
#define TRK_PEAK_OF_TASK    "largest task of any step, sampled"

/* Defines the enumeration, the keys of the JSON and the order in the file. */
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
	X(GPU_ENERGY_J, "gpu_energy_j")                                                            \
	X(PEAK_MEMORY_AT_LEAST_MIB, "peak_memory_at_least_mib")                                    \
	X(PEAK_MEMORY_AT_MOST_MIB, "peak_memory_at_most_mib")                                      \
	X(PEAK_GROUP_MEMORY_MIB, "peak_group_memory_mib")                                          \
	X(PEAK_SHARED_FILES_MIB, "peak_shared_files_mib")                                          \
	X(PEAK_SWAP_MIB, "peak_swap_mib")                                                          \
	X(FORKS_REFUSED, "forks_refused")                                                          \
	X(PEAK_COMMIT_MIB, "peak_commit_mib")                                                      \
	X(PEAK_HUGE_PAGES_MIB, "peak_huge_pages_mib")                                              \
	X(PEAK_NEEDED_MIB, "peak_needed_mib")                                                      \
	X(PEAK_FILE_PAGES_MIB, "peak_file_pages_mib")

enum trk_total {
#define X(id, key) TRK_TOTAL_##id,
	TRK_TOTAL_LIST(X)
#undef X
		TRK_TOTALS
};

enum trk_limit {
	TRK_LIMIT_CPU,
	TRK_LIMIT_MEMORY_MIB, /* lowest of memory.max, memory.high, ulimit -v, --limit, the machine */
	TRK_LIMIT_PIDS,
	TRK_LIMIT_MEMORY_HIGH_MIB,
	TRK_LIMIT_SWAP_MIB,
	TRK_LIMIT_TIME_S, /* --limit time=, --timeout */
	TRK_LIMIT_GPU,    /* GPUs that the job's environment makes visible */
	TRK_LIMITS
};
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

const char *trk__quality_name(enum trk_quality quality);

enum { TRK_RUN_BOOT_SIZE = 40, TRK_RUN_GROUP_SIZE = 512 };

/* A control group and its count of out-of-memory kills. */
struct trk_run_group {
	char dir[TRK_RUN_GROUP_SIZE]; /* below /sys/fs/cgroup; "": none */
	uint64_t inode;               /* identifies the group among those of the same name */
	uint64_t kills;
};

/* Counts of out-of-memory kills at the start: see recording/death.h. */
struct trk_run_kills {
	char boot[TRK_RUN_BOOT_SIZE];  /* id of the boot; "": not known */
	uint64_t machine;              /* UINT64_MAX: not known */
	struct trk_run_group group[2]; /* the job's, and its nearest ancestor with a count */
};

/* Written at the start. */
struct trk_run {
	char id[TRK_RUN_ID_SIZE];
	char job[TRK_RUN_TEXT_SIZE];
	/* identifies the job among those of the same name; "": none */
	char scope[TRK_RUN_TEXT_SIZE];
	bool has_scope; /* false: recorded by an older version, or imported: in every scope */
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
	/* stated, or size of the files named on the command line; 0: unknown */
	uint64_t input_bytes;
	bool unlisted; /* excluded from the history and from advice */
	struct trk_run_kills kills;
};

/* Written now and then, and at the end. */
struct trk_outcome {
	enum trk_end end;
	int code;   /* exit code; -1: none */
	int signal; /* 0: none */
	char evidence[TRK_RUN_TEXT_SIZE];
	uint64_t stop_ns;     /* wall clock */
	uint64_t duration_ns; /* monotonic, without time in which the machine was suspended */
	struct trk_quantity total[TRK_TOTALS];
	struct trk_process_info top[TRK_TOP_MAX];
	size_t top_count;
	size_t left_behind; /* processes that were still alive at the end */
	struct trk_stuck_process stuck[TRK_STUCK_MAX]; /* the first ones */
	size_t stuck_count;                            /* of all */
	/* Processes that the kernel killed, out of memory, and after which the job went on; when the
	 * first one, since the start. */
	uint64_t memory_kills, memory_kill_ms;
	uint64_t missed, late;
	uint64_t tracker_cpu_ns, tracker_rss_bytes;
	char sources[TRK_RUN_SOURCES_MAX][2][TRK_RUN_TEXT_SIZE / 2]; /* name, text */
	size_t source_count;
	bool is_inferred; /* set by a reader, as the tracker died: not in the recording */
	/* how long the machine was suspended, not part of the duration; 0: less than a second */
	uint64_t suspended_ns;
};

/* A moment named by the job. */
struct trk_mark {
	uint64_t elapsed_ns; /* since the start of the run */
	uint64_t time_ns;    /* wall clock */
	char name[TRK_MARK_NAME_SIZE];
};

/* All data about one run, as the writer holds it in memory and the reader rebuilds it. */
struct trk_record {
	struct trk_run run;
	struct trk_outcome outcome;
	struct trk_place place;
	struct trk_stats *stats; /* owned */
	struct trk_outline outline;
	struct trk_mark *mark;   /* owned */
	size_t marks, marks_cap; /* in order; at most TRK_MARKS_MAX */
	struct trk_gpu_log gpus;
	struct trk_program_log programs;
	struct trk_lines *lines; /* owned; NULL: no stacks were sampled */
	/* Seconds for which the job's use of GPUs is known; part of them with idle GPUs and a busy
	 * core. */
	double gpu_known_s, gpu_starved_s;
	double held_back_s; /* time of the run lost to CPU quotas; NaN: unknown */
	uint64_t samples;
	bool ended;       /* the recording has its end */
	bool writing;     /* it has no end yet, and its tracker is alive */
	uint64_t damaged; /* records that failed their check sum, and cut ends */
	int64_t last_timestamp_ms;
	int64_t last_elapsed_us;
	double last_memory_mib, max_memory_mib;
	/* During the run, above 90 % of the memory limit: how often the control group reached its
	 * limit; else NaN. Not recorded. */
	double memory_limit_hits;
};

/* Returns 0 or -ENOMEM. */
int trk__record_init(struct trk_record *r);
void trk__record_release(struct trk_record *r);
/* Mark the job as failed, as its own program reported, although the recording may look
 * successful. */
void trk__record_fail(struct trk_record *r);
/* Add one row. */
void trk__record_add(struct trk_record *r, uint64_t rows, const struct trk_sample *mean,
		     const struct trk_sample *min, const struct trk_sample *max);

/* Add a mark. Returns 0, -ENOSPC beyond TRK_MARKS_MAX, or -ENOMEM. */
int trk__record_mark(struct trk_record *r, const struct trk_mark *mark);

/* trk__end_words of a recording; "likely " before them where a reader has inferred the end. */
const char *trk__record_end_words(const struct trk_record *r, char text[TRK_END_WORDS_SIZE]);
/* The process with the highest peak memory, and the known peak memory of the job in MiB, which is
 * no less. NULL and NaN if unknown. */
const struct trk_process_info *trk__outcome_biggest(const struct trk_outcome *o);
double trk__outcome_peak_mib(const struct trk_outcome *o);
/* Peak swap of the job in MiB; NaN: unknown, or possibly of other processes. */
double trk__outcome_swap_mib(const struct trk_outcome *o);

/* Set n quantities to unknown. */
void trk__quantities_clear(struct trk_quantity *q, size_t n);

/* Set a quantity; source and reason may be NULL. A NaN value becomes "unknown". */
void trk__quantity_unknown(struct trk_quantity *q, const char *reason);
void trk__quantity_set(struct trk_quantity *q, double value, enum trk_quality quality,
		       const char *source, const char *reason);

/* Whether a text has the form of a run's id: letters, digits and, not at the start, dashes. An id
 * becomes part of names of files and of command lines to paste, so that a recording with another id
 * is not read. */
bool trk__run_is_id(const char *text);

enum { TRK_LABEL_SIZE = 2 * TRK_RUN_TEXT_SIZE + 8 };
/* "NAME in SCOPE", or "NAME" without one. */
void trk__run_label(const char *job, const char *scope, char text[TRK_LABEL_SIZE]);

#endif
