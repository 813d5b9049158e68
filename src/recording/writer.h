/* Writing a recording: appended, flushed on every row, bounded in size.
 *
 * An error of the file (a full disk, a lost directory) stops the writing, never the tracking: the
 * figures of the run stay in memory, and what is on the disk stays readable. A record that was cut
 * by a full disk is completed when there is room again, or overwritten by nothing: the reader skips
 * it. On Linux disk space for the end of the run is reserved ahead of the rows.
 *
 * When the file reaches its bound, old rows are merged into coarser ones with their means (sums for
 * amounts), minima and maxima; the newest quarter keeps its resolution. The rewrite goes to a new
 * file that replaces the old one at once. */
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
void trk__writer_free(struct trk_writer *w);
/* The same, and remove the file. */
void trk__writer_discard(struct trk_writer *w);

/* Write the records in batches from now on, until _end: for rows that are there already, of which a
 * kill loses nothing that cannot be read again. A live run writes each row at once. */
void trk__writer_batch(struct trk_writer *w);

/* Each returns 0, or the error that ended the writing, permanently or for now. */
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
/* Names that are new, and the counts of a stretch of time; more than a record holds goes into
 * several. `from` is what of the names has been written. */
int trk__writer_lines(struct trk_writer *w, const struct trk_lines *l,
		      struct trk_lines_written *from, int64_t from_us, int64_t to_us,
		      const struct trk_lines_count *count, size_t counts);
/* Bytes of the file, and of these what stacks take. */
void trk__writer_sizes(const struct trk_writer *w, uint64_t *ret_bytes, uint64_t *ret_lines_bytes);
int trk__writer_end(struct trk_writer *w, const struct trk_outcome *o);

/* The first error that a row was lost by, or 0; and how many records were lost. */
int trk__writer_error(const struct trk_writer *w, uint64_t *ret_lost);

#endif
