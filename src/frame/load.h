/* A frame from a recording. */
#ifndef TRK_FRAME_LOAD_H
#define TRK_FRAME_LOAD_H

#include "base/error.h"
#include "frame/frame.h"
#include "record/format.h"
#include "sample/columns.h"

/* Read chosen columns of the recording at `path` below dirfd (borrowed): column c of the frame is
 * columns[c] (enum trk_column) in the unit of columns.def; time is elapsed_s, dt interval_s. A thinned
 * row is one row with its means, but the maximum where `peaks` is set for the column (may be NULL).
 * *record (may be NULL) receives the rest of the recording and is the caller's to release; *ret is
 * initialised here. 0; -EINVAL for a column that does not exist; the errors of trk__record_read. */
int trk__frame_load(int dirfd, const char *path, const int *columns, const bool *peaks,
		    size_t count, struct trk_frame *ret, struct trk_record *record,
		    struct trk_error *reterr);

#endif
