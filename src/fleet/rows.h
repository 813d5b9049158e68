/* The rows from which the views over many jobs are computed: the needed figures of each run of the
 * history, in memory, sorted by job and time.
 *
 * Money. The cost of a run is that recorded at its end (history), if the cloud and its price were
 * known. Else, if cores or memory were requested or limited, it is estimated from the hours that
 * they were held, by TRK_PRICE_CORE_HOUR and TRK_PRICE_GIB_HOUR (advise/cpu.h). Else it is unknown.
 * The cost is divided between cores and memory in the ratio of these prices, as in `cost` of a run;
 * the unused share of each part is idle cost. The whole cost of a failed run is lost, and none of
 * it counts as idle. */
#ifndef TRK_FLEET_ROWS_H
#define TRK_FLEET_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"

/* Traits of a run: id, title, keys of tags. The first key that a run has counts. */
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
	TRK_FLEET_STOPPED, /* it or its tracker, by a user or a batch system: not a failure */
	TRK_FLEET_RUNNING,
	TRK_FLEET_ENDS
};
/* "ok", "failed", "out of memory", "time limit", "stopped", "running". */
extern const char *const trk__fleet_end_names[TRK_FLEET_ENDS];
bool trk__fleet_is_failure(enum trk_fleet_end end);

/* Figures are NaN where unknown; texts are indices for trk__fleet_text, 0 where unknown. */
struct trk_fleet_run {
	char id[TRK_RUN_ID_SIZE];
	uint32_t job, command, tags, end_name, trait[TRK_FLEET_TRAITS];
	uint8_t end; /* enum trk_fleet_end */
	int16_t code, signal;
	bool estimated;                   /* usd is estimated, not recorded */
	bool stated_cores, stated_memory; /* requested or limited, not the machine's size */
	double ln_s;                      /* logarithm of the run time; NaN: not known, or 0 */
	double start_s, duration_s, cpu_s, cores, cores_max;
	double peak_mib, swap_mib, asked_cores, asked_mib, limit_mib, input_bytes;
	double asked_gpus, gpu_mean, vram_mib; /* GPUs stated for the run; mean use of them; peak */
	double usd, idle_cores_usd, idle_memory_usd, failed_usd;
};

struct trk_fleet_name {
	uint32_t name, scope; /* texts; scope 0: none */
	/* Its runs: rows->run[first .. first + count), oldest first. Before sorting, first is 1 +
	 * the index of the run that was added last. */
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
	double now_s;                        /* time of all views */
	double utc_offset_s;                 /* days begin at midnight of this offset */
};

void trk__fleet_rows_init(struct trk_fleet_rows *rows, double now_s, double utc_offset_s);
/* Add a run; runs of kind "system" belong to no job and are left out. 0 or -ENOMEM. */
int trk__fleet_rows_add(struct trk_fleet_rows *rows, const struct trk_history_run *run);
/* Call after the last addition and before any view is made. 0 or -ENOMEM. */
int trk__fleet_rows_sort(struct trk_fleet_rows *rows);
void trk__fleet_rows_release(struct trk_fleet_rows *rows);

/* A view; never NULL. */
const char *trk__fleet_text(const struct trk_fleet_rows *rows, uint32_t text);
/* Whether it has the tag test=1: no alert is raised after it. */
bool trk__fleet_is_test(const struct trk_fleet_rows *rows, const struct trk_fleet_run *run);
/* The index of a job; rows->jobs: not found. scope NULL: the job with the newest run. */
size_t trk__fleet_find_job(const struct trk_fleet_rows *rows, const char *name, const char *scope);
/* Convert back to a run of the history, with the fields that the advice on memory reads. */
void trk__fleet_past(const struct trk_fleet_rows *rows, const struct trk_fleet_run *run,
		     struct trk_history_run *ret);

/* Days since 1970 at the offset of the rows. */
long trk__fleet_day(const struct trk_fleet_rows *rows, double time_s);

#endif
