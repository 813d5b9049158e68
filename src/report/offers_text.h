/* Servers that were found, as text for a terminal: a table, and notes below it. */
#ifndef TRK_REPORT_OFFERS_TEXT_H
#define TRK_REPORT_OFFERS_TEXT_H

#include "report/offers.h"
#include "report/write/terminal.h"

void trk__offers_text(struct trk_buf *b, const struct trk_offers *r,
		      const struct trk_terminal_style *style);
/* The cheaper servers that fall short of one need, and the dates and sources of the prices. */
void trk__offers_notes(struct trk_buf *b, const struct trk_offers *r,
		       const struct trk_terminal_style *style);

#endif
