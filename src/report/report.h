/* The report about one run, as one document (document.h) in HTML or Markdown.
 *
 * Each section is one function in src/report/section, listed in section/sections.def. */
#ifndef TRK_REPORT_REPORT_H
#define TRK_REPORT_REPORT_H

#include "advise/server.h"
#include "base/buf.h"
#include "history/history.h"
#include "recording/reader.h"
#include "answer/advice.h"
#include "answer/change.h"
#include "report/document.h"

/* ---- gathering the charts ---- */

/* Takes the rows of a recording in one pass, in constant memory. The row function is for
 * trk__record_read, after a first pass that measured how long the run was. */
struct trk_report_rows;
/* NULL without memory. */
struct trk_report_rows *trk__report_rows_new(const struct trk_record *record);
void trk__report_rows_free(struct trk_report_rows *rows);
trk_row_fn trk__report_rows_take;

/* ---- making it ---- */

struct trk_report_input {
	const struct trk_record *record;
	const struct trk_report_rows *rows; /* or NULL: no timeline */
	const struct trk_past_run *runs;    /* of the job, oldest first, this run the last */
	size_t count;
	struct trk_cpu_use *use;            /* of trk__job_runs_read(); NULL: the run's */
	const struct trk_catalog *catalog;  /* or NULL: no servers */
	const struct trk_need_words *words; /* where to search servers; or NULL: where it ran */
	const struct trk_usual_course
		*usual; /* the job's usual course (answer/usual_course.h); or NULL */
	const struct trk_change *change; /* since earlier runs, for its phases; or NULL */
	const void *raw;                 /* of the recording, to embed; or NULL */
	size_t raw_len;
	double live_s;           /* not 0: the page is updated at this interval during the run */
	const char *integration; /* what tracked the run, "Metaflow 2.19"; or NULL */
};

/* 0 or -ENOMEM. The caller releases *ret on success; it borrows what the input points to until
 * then. */
int trk__report_make(const struct trk_report_input *in, struct trk_doc *ret);

/* Write the document as html or md. 0, -EINVAL for another format, or -ENOMEM. */
int trk__report_write(struct trk_buf *b, const struct trk_doc *d, const char *format);

#endif
