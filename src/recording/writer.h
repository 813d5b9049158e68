/* Write a recording: append-only, flushed on every row, bounded in size.
 *
 * An error of the file (a full disk, a removed directory) stops the writing, never the tracking:
 * the figures of the run stay in memory, and the file stays readable. A record that a full disk cut
 * off is completed when there is room again; until then readers skip it. On Linux, disk
 * space for the end of the run is reserved before the rows are written.
 *
 * When the file reaches its bound, old rows are merged into coarser ones with their means (sums for
 * amounts), minima and maxima; the newest quarter keeps its resolution. The rewrite goes to a new
 * file that replaces the old one atomically. */
#ifndef TRK_RECORDING_WRITER_H
#define TRK_RECORDING_WRITER_H

#include "base/error.h"
#include "model/run.h"
#include "recording/line_record.h"

struct trk_writer; /* opaque */

enum { TRK_WRITER_MAX_BYTES = 12 * 1024 * 1024 };

/* Create `name` below dirfd (borrowed until _free), mode 0600, never through a symbolic link.
 * max_bytes 0: the default bound. NULL with *reterr on failure. */
struct trk_writer *trk__writer_new(int dirfd, const char *name, const struct trk_run *run,
				   uint64_t max_bytes, struct trk_error *reterr);
/* For a run that is being tracked: the records wait in memory, at most 4 MiB, until the file is open and
 * _flush is called. NULL: no memory. _open: 0 or a negative error. Both may block: then another
 * thread goes on with the other functions (base/blocking.h). */
struct trk_writer *trk__writer_held(const struct trk_run *run);
int trk__writer_open(struct trk_writer *w, int dirfd, const char *name);
int trk__writer_flush(struct trk_writer *w);
/* Whether the file is not open yet, or the thread that writes it is blocked. */
bool trk__writer_is_busy(struct trk_writer *w);
void trk__writer_free(struct trk_writer *w);
/* Free the writer and remove the file. */
void trk__writer_discard(struct trk_writer *w);

/* Write records in batches from now on, until _end: for rows that can be read again after a crash,
 * such as those of an import. */
void trk__writer_batch(struct trk_writer *w);

/* Each of these returns 0, or the error that stopped the writing, permanently or for now. */
/* The GPUs of the row that follows. */
int trk__writer_gpus(struct trk_writer *w, const struct trk_gpu_device *device, size_t count,
		     int64_t elapsed_us, int64_t interval_us);
/* Use by program and the processes, of the row that follows; is_last: of the last one. */
int trk__writer_programs(struct trk_writer *w, const struct trk_programs_now *now,
			 int64_t elapsed_us, bool is_last);
int trk__writer_row(struct trk_writer *w, const struct trk_sample *s);
int trk__writer_state(struct trk_writer *w, const struct trk_outcome *o);
int trk__writer_limits(struct trk_writer *w, const struct trk_run *run);
int trk__writer_mark(struct trk_writer *w, const struct trk_mark *m);
int trk__writer_place(struct trk_writer *w, const struct trk_place *p, enum trk_place_part part);
/* New names, and the counts of an interval, in as many records as needed. `from`: the names that
 * have been written. */
int trk__writer_lines(struct trk_writer *w, const struct trk_lines *l,
		      struct trk_lines_written *from, int64_t from_us, int64_t to_us,
		      const struct trk_lines_count *count, size_t counts);
/* Size of the file, and of the line profile in it, in bytes. */
void trk__writer_sizes(const struct trk_writer *w, uint64_t *ret_bytes, uint64_t *ret_lines_bytes);
/* Write the end, and free the disk space that was reserved and not used. -EBUSY: as of _is_busy. */
int trk__writer_end(struct trk_writer *w, const struct trk_outcome *o);

/* The first error that lost a row, or 0; and how many records were lost. -EBUSY: the storage did not
 * answer. */
int trk__writer_error(const struct trk_writer *w, uint64_t *ret_lost);

#endif
