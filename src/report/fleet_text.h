/* One view over all jobs as text for a terminal, as `fleet` prints it. */
#ifndef TRK_REPORT_FLEET_TEXT_H
#define TRK_REPORT_FLEET_TEXT_H

#include "fleet/answer.h"
#include "report/write/terminal.h"

/* Append the text of a view other than ALERTS and RUN, which are JSON only. `v` is of the rows. 0
 * or -ENOMEM. */
int trk__fleet_text_write(const struct trk_fleet_rows *rows, const struct trk_fleet_views *v,
			  const struct trk_fleet_question *q,
			  const struct trk_terminal_style *style, struct trk_buf *b);

#endif
