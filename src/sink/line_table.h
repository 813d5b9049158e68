/* What each line used in each stretch of time, as CSV or JSON Lines. */
#ifndef TRK_SINK_LINE_TABLE_H
#define TRK_SINK_LINE_TABLE_H

#include "base/buf.h"
#include "model/lines.h"

void trk__line_table_head(struct trk_buf *b);
/* One of trk_lines.kept, counted in this window: the line that ran, in a thread. */
void trk__line_table_row(struct trk_buf *b, const struct trk_lines *l,
			 const struct trk_lines_window *window, const struct trk_lines_count *c,
			 bool json);

#endif
