/* Read a recording that is complete, cut off, damaged or still being written. */
#ifndef TRK_RECORDING_READER_H
#define TRK_RECORDING_READER_H

#include "base/error.h"
#include "recording/format.h"

/* Called for each row in order; rows > 1 for thinned ones. Return non-zero to stop. */
typedef int trk_row_fn(void *data, uint64_t rows, const struct trk_sample *mean,
		       const struct trk_sample *min, const struct trk_sample *max);

/* Read the file at `path` below dirfd into *record (initialised here; the caller releases, on
 * success only). on_row may be NULL. Returns 0; TRK_ERR_FORMAT for another kind of file,
 * TRK_ERR_VERSION, TRK_ERR_DAMAGED when not even the start is there, a negative errno; with *reterr. */
int trk__record_read(int dirfd, const char *path, struct trk_record *record, trk_row_fn *on_row,
		     void *data, struct trk_error *reterr);

/* Read only the rows, in order, for callers that have the record. Returns as above. */
int trk__record_read_rows(int dirfd, const char *path, trk_row_fn *on_row, void *data,
			  struct trk_error *reterr);

/* Complete the record of a run without an end: totals are the sums of its rows, and the run is
 * still running if record->writing is set. trk__record_read does this itself; call it for a copy of
 * the writer's record. */
void trk__record_recover(struct trk_record *record);

/* Read only the start: what was run and when. */
int trk__record_read_start(int dirfd, const char *path, struct trk_run *ret);

/* Open a recording for reading: a file that the user has named where dirfd is AT_FDCWD, else an
 * entry of a directory of recordings (trk__trust_open_entry). A descriptor, or a negative error
 * with *reterr. */
int trk__record_open(int dirfd, const char *path, struct trk_error *reterr);

/* Lower layer, for thinning: calls on_record for each intact record of an open file, from its
 * start. Returns the number of damaged places, or a negative error. */
typedef int trk_record_fn(void *data, int type, const unsigned char *payload, size_t len);
long trk__records_walk(int fd, const char *path, trk_record_fn *on_record, void *data);

#endif
