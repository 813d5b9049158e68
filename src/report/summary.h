/* The end-of-run summary: for people on a terminal or in a log, and as JSON.
 *
 * Both are made from one struct trk_record, so their numbers agree. The JSON has the schema
 * "resource-tracker.summary/1"; what is unknown is null. */
#ifndef TRK_REPORT_SUMMARY_H
#define TRK_REPORT_SUMMARY_H

#include "base/buf.h"
#include "model/run.h"
#include "answer/advice.h"
#include "answer/change.h"
#include "report/document.h"
#include "report/write/terminal.h"

struct trk_summary_style {
	size_t width; /* columns, 40 to 200; 0: 80 */
	bool color;
	bool utf8;         /* else plain ASCII */
	bool brief;        /* two lines, for any number of samples */
	bool not_recorded; /* no recording: omit the command that shows the run again */
	bool alone;        /* history not read in time: the text reports that */
	const struct trk_change *change; /* since earlier runs; NULL: not compared */
	const struct trk_advice *advice; /* from all runs of the job; NULL: from this run only */
};

/* The summary as text in lines of at most `width` columns. */
void trk__summary_text(struct trk_buf *b, const struct trk_record *r,
		       const struct trk_summary_style *style);

/* One JSON document with a line end. change and advice: as in struct trk_summary_style. */
void trk__summary_json(struct trk_buf *b, const struct trk_record *r,
		       const struct trk_change *change, const struct trk_advice *advice);

/* Only the statistics, of `samples` rows of the run, as a table or as JSON. */
void trk__stats_text(struct trk_buf *b, const struct trk_stats *stats,
		     const struct trk_terminal_style *style);
void trk__stats_json(struct trk_buf *b, const struct trk_run *run, const struct trk_stats *stats,
		     uint64_t samples);

#endif
