/* One run of the past, as the history keeps it. Advice, comparisons, the views over many jobs and
 * the alerts after a run are all computed from it.
 *
 * Bytes and seconds; figures are NaN where unknown. MiB begin where text, JSON or a row of the
 * database is written: 2^20 is a power of two, so that both directions are exact. Texts are views,
 * never NULL. */
#ifndef TRK_MODEL_PAST_RUN_H
#define TRK_MODEL_PAST_RUN_H

#include "base/texts.h"
#include "model/capacity.h"

/* The kind of a run that is not listed. */
#define TRK_KIND_UNLISTED "unlisted"

/* How a run ended, as the advice on its memory sees it. */
enum trk_past_end {
	TRK_PAST_SUCCEEDED,
	TRK_PAST_FAILED,  /* failed, perhaps for lack of memory: it may need more than its peak */
	TRK_PAST_STOPPED, /* stopped from outside, and not for memory: its peak is a lower bound
			   * of its need, and no evidence of a larger need */
	TRK_PAST_OUT_OF_MEMORY, /* killed at its limit: it needed more than that */
};

/* The most that a run held. Quality and bound are unknown in a row of the database. */
struct trk_past_peak {
	double bytes;
	double at_most_bytes; /* upper bound where `bytes` is a lower one; NaN: not known */
	enum trk_quality quality;
	bool is_of_part; /* of the largest process or task only */
};

struct trk_past_run {
	char id[TRK_RUN_ID_SIZE];
	const char *job;
	const char *scope; /* as in struct trk_run; "": none */
	bool has_scope;
	const char *kind;
	const char *command;   /* arguments with blanks between them, cut */
	const char *tags;      /* lines of key=value, as trk__history_tags makes them */
	const char *file;      /* name of the recording, which may be deleted; "": unknown */
	const char *end_name;  /* trk__end_name, or that of a later version */
	int code;              /* -1: none */
	int signal;            /* 0: none */
	enum trk_past_end end; /* trk__past_run_end */
	double start_s, duration_s;
	double cpu_s, cpu_mean, cpu_max; /* s, cores, cores */
	/* swap: of the job; unknown also where it may be of other processes. */
	struct trk_past_peak memory, swap, vram;
	double huge_bytes;   /* huge pages of hugetlbfs */
	double needed_bytes; /* the most of memory, swap and huge pages together */
	double memory_mean_bytes;
	double disk_read_bytes, disk_write_bytes;
	double gpu_mean, gpu_max; /* GPUs busy */
	double limit_cpu, limit_memory_bytes;
	double request_cpu, request_memory_bytes;
	struct trk_capacity capacity[TRK_RESOURCES]; /* at the time of the run */
	double input_bytes;
	double cost_usd; /* as recorded at its end */
	uint64_t samples;
	bool ended; /* false: it was still running, or its tracker has died */
};

/* How it ended, from its name, code and signal; for the member `end`. */
enum trk_past_end trk__past_run_end(const struct trk_past_run *run);
/* The most memory that it held, with its huge pages and its swap, which it would have needed without
 * swap. */
double trk__past_run_held(const struct trk_past_run *run);
/* Make this all that it held: advice on another figure reads it as memory. */
void trk__past_run_hold(struct trk_past_run *run, const struct trk_past_peak *peak);
/* Replace its texts by those of the pool, which outlive the row it was read from. 0 or -ENOMEM. */
int trk__past_run_keep(struct trk_past_run *run, struct trk_texts *texts);
/* trk__end_words of a run; an end of a later version by its name. */
const char *trk__past_run_end_words(const struct trk_past_run *run, char text[TRK_END_WORDS_SIZE]);

#endif
