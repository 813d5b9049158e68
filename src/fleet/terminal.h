/* One view as text for a terminal of 40 to 200 columns, as `fleet` prints it. */
#ifndef TRK_FLEET_TERMINAL_H
#define TRK_FLEET_TERMINAL_H

#include "fleet/answer.h"

enum { TRK_FLEET_WIDTH_MIN = 40, TRK_FLEET_WIDTH_MAX = 200 };

struct trk_fleet_style {
	size_t width; /* columns, limited to 40 to 200 */
	bool utf8, color;
};

/* Append the text of a view other than ALERTS and RUN, which are JSON only. `v` is of the rows. 0
 * or -ENOMEM. */
int trk__fleet_terminal(const struct trk_fleet_rows *rows, const struct trk_fleet_views *v,
			const struct trk_fleet_question *q, const struct trk_fleet_style *style,
			struct trk_buf *b);

#endif
