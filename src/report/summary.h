/* The end-of-run summary: for people on a terminal or in a log, and as JSON.
 *
 * Both are made from one struct trk_record, so their numbers agree. The JSON has the schema
 * "resource-tracker.summary/1"; what is unknown is null. */
#ifndef TRK_REPORT_SUMMARY_H
#define TRK_REPORT_SUMMARY_H

#include "base/buf.h"
#include "record/run.h"
#include "report/change.h"

struct trk_summary_style {
	bool color;
	bool utf8;                       /* else plain ASCII */
	bool brief;                      /* two lines whatever the number of samples */
	const struct trk_change *change; /* since earlier runs; NULL: not looked at */
};

/* At most 12 lines of at most 80 columns. */
void trk__summary_text(struct trk_buf *b, const struct trk_record *r,
		       const struct trk_summary_style *style);

/* One JSON document with a line end. */
void trk__summary_json(struct trk_buf *b, const struct trk_record *r,
		       const struct trk_change *change);

/* Statistics alone, as a table or as JSON. */
void trk__stats_text(struct trk_buf *b, const struct trk_record *r);
void trk__stats_json(struct trk_buf *b, const struct trk_record *r);

/* "1 h 42 m 10 s", "12.3 s". */
void trk__duration_text(char *text, size_t size, double seconds);

#endif
