/* The usual course of a job (answer/usual_course.h) in the charts of a report, and what differs
 * from it. `u` NULL: not known. */
#ifndef TRK_REPORT_USUAL_COURSE_H
#define TRK_REPORT_USUAL_COURSE_H

#include "answer/usual_course.h"
#include "report/section/section.h"

/* The maximum of the band, in the column's unit; 0 without a band. */
double trk__course_most(const struct trk_usual_course *u, enum trk_block_figure figure);
/* Add the band to a chart whose `top` is set; factor: from the column's unit to the chart's. */
void trk__course_of_chart(struct trk_doc *d, const struct trk_usual_course *u,
			  enum trk_block_figure figure, double factor, struct trk_doc_chart *c);
/* Add up to TRK_DOC_ODDS sentences about differences, numbered as in the charts. */
void trk__course_say(struct trk_doc *d, struct trk_doc_section *s, const struct trk_report_work *w);

#endif
