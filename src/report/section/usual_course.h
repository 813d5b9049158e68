/* The usual course of the job in the charts, and the differences from it. */
#ifndef TRK_REPORT_SECTION_USUAL_COURSE_H
#define TRK_REPORT_SECTION_USUAL_COURSE_H

#include "report/section/section.h"
#include "report/usual_course.h"

/* The maximum of the band, in the column's unit; 0 without a band. */
double trk__course_most(const struct trk_usual_course *u, enum trk_course_kind kind);
/* Add the band to a chart whose `top` is set; factor: from the column's unit to the chart's. */
void trk__course_of_chart(struct trk_doc *d, const struct trk_usual_course *u,
			  enum trk_course_kind kind, double factor, struct trk_doc_chart *c);
/* Add up to TRK_DOC_ODDS sentences about differences, numbered as in the charts. */
void trk__course_say(struct trk_doc *d, struct trk_doc_section *s, const struct trk_report_work *w);

#endif
