/* What `recommend` prints for people: the request, a resource with its reasons, where the time
 * of the newest run went, and its cost; and servers that were found, as a table with notes. */
#ifndef TRK_REPORT_OFFERS_TEXT_H
#define TRK_REPORT_OFFERS_TEXT_H

#include "answer/advice.h"
#include "answer/offers.h"
#include "answer/time_breakdown.h"
#include "report/write/terminal.h"

void trk__offers_text(struct trk_buf *b, const struct trk_offers *r,
		      const struct trk_terminal_style *style);
/* The cheaper servers that fall short of one need, and the dates and sources of the prices. */
void trk__offers_notes(struct trk_buf *b, const struct trk_offers *r,
		       const struct trk_terminal_style *style);

/* times: of the newest run, or NULL. Lines of at most the style's width. */
void trk__recommend_text(struct trk_buf *b, const struct trk_record *record,
			 const struct trk_advice *a, const struct trk_time_breakdown *times,
			 const struct trk_terminal_style *style);

#endif
