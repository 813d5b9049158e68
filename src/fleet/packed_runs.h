/* All runs in nine bytes each, for the charts of the page over many jobs.
 *
 * Start, run time, peak and cores take 16 bits each, as the difference from the median of the job,
 * which is near zero and compresses well. The bytes of one kind lie together (planes): low bytes,
 * then high bytes. The last plane holds the size and the end of a run. Starts are kept to half an
 * hour, run time to 1/64 of an octave, peak and cores to 1/32. */
#ifndef TRK_FLEET_PACKED_RUNS_H
#define TRK_FLEET_PACKED_RUNS_H

#include "base/json.h"
#include "fleet/job.h"

/* Append the planes of all runs, job by job. */
void trk__packed_runs_write(const struct trk_fleet_rows *rows, const struct trk_fleet_jobs *jobs,
			    struct trk_buf *b);
/* Append what a reader of the packed runs of a job needs: "sizes", [[cores, MiB, $ an hour], ...],
 * and "base", the medians of steps between starts, run time, peak and cores. */
void trk__packed_runs_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			   const struct trk_fleet_name *job);

#endif
