/* The usual course of the job in the charts, and what differs from it. */
#ifndef TRK_REPORT_SECTION_USUAL_COURSE_H
#define TRK_REPORT_SECTION_USUAL_COURSE_H

#include "report/section/section.h"
#include "report/usual_course.h"

/* The greatest of the band, in the column's unit; 0 where there is none. */
double trk__course_most(const struct trk_usual_course *u, enum trk_course_kind kind);
/* The band of a chart, whose top is known; factor: of its unit. */
void trk__course_of_chart(struct trk_doc *d, const struct trk_usual_course *u,
			  enum trk_course_kind kind, double factor, struct trk_doc_chart *c);
/* Up to TRK_DOC_ODDS sentences, numbered as in the charts. */
void trk__course_say(struct trk_doc *d, struct trk_doc_section *s, const struct trk_report_work *w);

#endif
