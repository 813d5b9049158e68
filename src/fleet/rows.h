/* The rows that the views over many jobs are computed from: what they need of each run of the
 * history, in memory, by job and in the order of time.
 *
 * Money. A run costs what was written down at its end (history), where the cloud and its price were
 * known. Where not, but cores or memory were requested or limited, it is estimated: the hours that
 * they were held at TRK_PRICE_CORE_HOUR and TRK_PRICE_GIB_HOUR (advise/cpu.h). Else it is unknown.
 * The cost is divided between cores and memory in that proportion, as `cost` of a run has it; of
 * each part, what the run did not use was idle. All of a failed run's cost is lost, and none of it
 * counts as idle. */
#ifndef TRK_FLEET_ROWS_H
#define TRK_FLEET_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"

/* What else is known of a run, from its tags: id, title, keys of tags, the first that a run has. */
#define TRK_FLEET_TRAIT_LIST(X)                                                                    \
	X(TEAM, "team", "team project department")                                                 \
	X(USER, "user", "user owner")                                                              \
	X(WHERE, "where", "where platform scheduler")                                              \
	X(SERVER, "server", "server server_type instance instance_type machine_type")              \
	X(MACHINE, "machine", "machine node host hostname")                                        \
	X(IMAGE, "image", "image container")                                                       \
	X(CODE, "code", "code commit revision sha git version")

enum trk_fleet_trait {
#define X(id, name, keys) TRK_FLEET_##id,
	TRK_FLEET_TRAIT_LIST(X)
#undef X
		TRK_FLEET_TRAITS
};
/* "team", "user", ... */
extern const char *const trk__fleet_trait_names[TRK_FLEET_TRAITS];

enum trk_fleet_end {
	TRK_FLEET_OK,
	TRK_FLEET_FAILED,
	TRK_FLEET_OUT_OF_MEMORY,
	TRK_FLEET_TIME_LIMIT,
	TRK_FLEET_STOPPED, /* by a user or a batch system, or its tracker was: no failure of it */
	TRK_FLEET_RUNNING,
	TRK_FLEET_ENDS
};
/* "ok", "failed", "out of memory", "time limit", "stopped", "running". */
extern const char *const trk__fleet_end_names[TRK_FLEET_ENDS];
bool trk__fleet_is_failure(enum trk_fleet_end end);

/* Figures are NaN where unknown; texts are indices for trk__fleet_text, 0 where unknown. */
struct trk_fleet_run {
	char id[TRK_RUN_ID_SIZE];
	uint32_t job, command, tags, verdict, trait[TRK_FLEET_TRAITS];
	uint8_t end; /* enum trk_fleet_end */
	int16_t code, signal;
	bool estimated;                   /* usd is not written down but estimated */
	bool stated_cores, stated_memory; /* requested or limited, not the machine's size */
	double ln_s;                      /* logarithm of the run time; NaN: not known, or 0 */
	double start_s, duration_s, cpu_s, cores, cores_max;
	double peak_mib, swap_mib, asked_cores, asked_mib, limit_mib, input_bytes;
	double asked_gpus, gpu_mean, vram_mib; /* GPUs stated for the run; mean use of them; peak */
	double usd, idle_cores_usd, idle_memory_usd, failed_usd;
};

struct trk_fleet_name {
	uint32_t name, scope; /* texts; scope 0: none */
	/* Its runs: rows->run[first .. first + count), oldest first; before they are sorted first
	 * is 1 more than the place of the run that was added last. */
	size_t first, count;
};

struct trk_fleet_rows {
	struct trk_fleet_run *run; /* owned; after trk__fleet_rows_sort by job, then by time */
	size_t count, cap;
	struct trk_fleet_name *job; /* owned */
	size_t jobs, jobs_cap;
	char **text; /* owned; text[0] is "" */
	size_t texts, texts_cap;
	uint32_t *bucket; /* owned; of the table of texts */
	size_t buckets;
	uint32_t *job_of; /* owned; table of jobs */
	size_t job_buckets;
	struct trk_fleet_clusters *clusters; /* owned; for trk__fleet_clusters; NULL: not sorted */
	double now_s;                        /* all views are as of this moment */
	double utc_offset_s;                 /* a day begins at midnight of this offset */
};

void trk__fleet_rows_init(struct trk_fleet_rows *rows, double now_s, double utc_offset_s);
/* Take a run; those of kind "system" are of no job and left out. 0 or -ENOMEM. */
int trk__fleet_rows_add(struct trk_fleet_rows *rows, const struct trk_history_run *run);
/* Before any view is made, and after the last addition. 0 or -ENOMEM. */
int trk__fleet_rows_sort(struct trk_fleet_rows *rows);
void trk__fleet_rows_release(struct trk_fleet_rows *rows);

/* A view; never NULL. */
const char *trk__fleet_text(const struct trk_fleet_rows *rows, uint32_t text);
/* Whether it has the tag test=1: no alert is raised after it. */
bool trk__fleet_is_test(const struct trk_fleet_rows *rows, const struct trk_fleet_run *run);
/* The index of a job; jobs where there is none. scope NULL: the one with the newest run. */
size_t trk__fleet_find_job(const struct trk_fleet_rows *rows, const char *name, const char *scope);
/* As trk__history_run_from made it, as far as the advice on memory reads it. */
void trk__fleet_past(const struct trk_fleet_rows *rows, const struct trk_fleet_run *run,
		     struct trk_history_run *ret);

/* Days since 1970 at the offset of the rows. */
long trk__fleet_day(const struct trk_fleet_rows *rows, double time_s);

#endif
