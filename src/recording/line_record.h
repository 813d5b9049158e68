/* Lines of the program in a recording: model/lines.h.
 *
 * TRK_RECORD_LINE_NAMES adds functions, nodes and threads, in order, each list with the number of
 * its first entry. TRK_RECORD_LINE_COUNTS has what was counted in a stretch of time, and stands
 * after the names that it uses. TRK_RECORD_LINE_STATE says which processes were read, and what each
 * thread did last; the newest holds. Readers that do not know these skip them. */
#ifndef TRK_RECORDING_LINE_RECORD_H
#define TRK_RECORDING_LINE_RECORD_H

#include "base/buf.h"
#include "model/lines.h"

/* What of the names has been written. */
struct trk_lines_written {
	size_t functions, nodes, lanes;
};

/* Append a payload with names from *from on, of about 64 kB at most, and move *from. False: there
 * were none. */
bool trk__format_line_names(struct trk_buf *b, const struct trk_lines *l,
			    struct trk_lines_written *from);
void trk__format_line_counts(struct trk_buf *b, int64_t from_us, int64_t to_us,
			     const struct trk_lines_count *count, size_t counts);
void trk__format_line_state(struct trk_buf *b, const struct trk_lines *l);

/* The other way. Each returns 0, -EBADMSG or -ENOMEM; what was taken before the error stays. */
int trk__parse_line_names(const void *data, size_t len, struct trk_lines *l);
int trk__parse_line_counts(const void *data, size_t len, struct trk_lines *l);
int trk__parse_line_state(const void *data, size_t len, struct trk_lines *l);

/* Add the counts of a payload up, for coarser windows. *from_us and *to_us are widened. 0, or as
 * above. */
int trk__merge_line_counts(const void *data, size_t len, struct trk_lines_sums *sums,
			   int64_t *from_us, int64_t *to_us);

#endif
