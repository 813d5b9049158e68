/* What each line used in each stretch of time. */
#ifndef TRK_SINK_LINE_TABLE_H
#define TRK_SINK_LINE_TABLE_H

#include "model/lines.h"
#include "sink/line_format.h"

void trk__line_table_head(struct trk_buf *b, const struct trk_line_format *f);
/* One of trk_lines.kept, counted in this window: the line that ran, in a thread. */
void trk__line_table_row(struct trk_buf *b, const struct trk_lines *l,
			 const struct trk_lines_window *window, const struct trk_lines_count *c,
			 const struct trk_line_format *f);

#endif
