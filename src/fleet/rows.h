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

/* Figures are NaN where unknown. */
struct trk_fleet_run {
	struct trk_past_run past;         /* its texts are views of the rows */
	uint32_t job;                     /* index in the rows */
	uint32_t trait[TRK_FLEET_TRAITS]; /* for trk__fleet_text; 0: unknown */
	uint8_t end;                      /* enum trk_fleet_end */
	bool estimated;                   /* usd is estimated, not recorded */
	bool stated_cores, stated_memory; /* requested or limited, not the machine's size */
	double ln_s;                      /* logarithm of the run time; NaN: not known, or 0 */
	double cores;                     /* busy, on average */
	double asked_cores, asked_bytes, asked_gpus; /* GPUs: stated for the run */
	double usd, idle_cores_usd, idle_memory_usd, failed_usd;
};

struct trk_fleet_name {
	const char *name, *scope; /* views; "": none */
	/* Its runs: rows->run[first .. first + count), oldest first. Before sorting, first is 1 +
	 * the index of the run that was added last. */
	size_t first, count;
};

struct trk_fleet_rows {
	struct trk_fleet_run *run; /* owned; after trk__fleet_rows_sort by job, then by time */
	size_t count, cap;
	struct trk_fleet_name *job; /* owned */
	size_t jobs, jobs_cap;
	struct trk_texts texts;              /* owned */
	struct trk_texts job_of;             /* owned; one text for each job, from index 1 on */
	struct trk_fleet_clusters *clusters; /* owned; for trk__fleet_clusters; NULL: not sorted */
	double now_s;                        /* time of all views */
	double utc_offset_s;                 /* days begin at midnight of this offset */
};

void trk__fleet_rows_init(struct trk_fleet_rows *rows, double now_s, double utc_offset_s);
/* Add a run; runs of kind "system" belong to no job and are left out. 0 or -ENOMEM. */
int trk__fleet_rows_add(struct trk_fleet_rows *rows, const struct trk_past_run *run);
/* Call after the last addition and before any view is made. 0 or -ENOMEM. */
int trk__fleet_rows_sort(struct trk_fleet_rows *rows);
void trk__fleet_rows_release(struct trk_fleet_rows *rows);

/* The value of a trait; a view, never NULL. */
const char *trk__fleet_text(const struct trk_fleet_rows *rows, uint32_t text);
/* Whether it has the tag test=1: no alert is raised after it. */
bool trk__fleet_is_test(const struct trk_fleet_run *run);
/* The index of a job; rows->jobs: not found. scope NULL: the job with the newest run. */
size_t trk__fleet_find_job(const struct trk_fleet_rows *rows, const char *name, const char *scope);
/* Days since 1970 at the offset of the rows. */
long trk__fleet_day(const struct trk_fleet_rows *rows, double time_s);

#endif
