/* The line profile (model/lines.h) in a recording.
 *
 * TRK_RECORD_LINE_NAMES adds functions, nodes and threads, in order, each list with the number of
 * its first entry. TRK_RECORD_LINE_COUNTS has the counts of an interval and comes after the names
 * that it uses. TRK_RECORD_LINE_STATE has the processes that were read and the last state of each
 * thread; the newest record counts. Older readers skip these records. */
#ifndef TRK_RECORDING_LINE_RECORD_H
#define TRK_RECORDING_LINE_RECORD_H

#include "base/buf.h"
#include "model/lines.h"

/* How many of the names have been written. */
struct trk_lines_written {
	size_t functions, nodes, lanes;
};

/* Append a payload of at most about 64 kB with names from *from on, and advance *from. False: there
 * were none. */
bool trk__format_line_names(struct trk_buf *b, const struct trk_lines *l,
			    struct trk_lines_written *from);
void trk__format_line_counts(struct trk_buf *b, int64_t from_us, int64_t to_us,
			     const struct trk_lines_count *count, size_t counts);
void trk__format_line_state(struct trk_buf *b, const struct trk_lines *l);

/* Decode a payload. Each returns 0, -EBADMSG or -ENOMEM; entries before the error are kept. */
int trk__parse_line_names(const void *data, size_t len, struct trk_lines *l);
int trk__parse_line_counts(const void *data, size_t len, struct trk_lines *l);
int trk__parse_line_state(const void *data, size_t len, struct trk_lines *l);

/* Add the counts of a payload to `sums`, for coarser windows. *from_us and *to_us are widened. 0,
 * or as above. */
int trk__merge_line_counts(const void *data, size_t len, struct trk_lines_sums *sums,
			   int64_t *from_us, int64_t *to_us);

#endif
