/* Use of CPU and memory by program: the areas of the charts. */
#ifndef TRK_REPORT_SECTION_AREAS_H
#define TRK_REPORT_SECTION_AREAS_H

#include "report/section/section.h"

/* The programs that have a colour of their own: at most five, by their share of CPU time plus half
 * of their share of memory; largest first. Returns how many. */
size_t trk__areas_choose(const struct trk_record *record, size_t index[TRK_DOC_AREAS]);

/* CPU time of all programs. */
double trk__areas_cpu_ns(const struct trk_program_log *log);

/* The areas of a chart of CPU (is_cpu) or memory whose series[0] is the job's. They add up to that
 * series. */
void trk__areas_of_chart(struct trk_doc *d, const struct trk_record *record, bool is_cpu,
			 struct trk_doc_chart *c);

#endif
