/* What a summary and the verdict say about lines of the program (lines/highlights.h). Nothing is added
 * where no stacks were sampled. */
#ifndef TRK_REPORT_LINE_WORDS_H
#define TRK_REPORT_LINE_WORDS_H

#include "model/run.h"
#include "report/document.h"

/* "Lines": the hottest line with its share of the CPU time, and the one that memory grew most at. */
void trk__term_lines(struct trk_doc *d, struct trk_doc_section *s, const struct trk_record *r);
/* Of a run that ended for its memory, "Grew" and "At kill": the lines with the growth, and what each thread did in
 * its last second. */
void trk__term_kill_lines(struct trk_doc *d, struct trk_doc_section *s, const struct trk_record *r);
/* The same as sentences, with a blank before them; "": nothing is known. */
const char *trk__kill_line_words(struct trk_doc *d, const struct trk_record *r);
/* The process that the last second is about: the largest one; 0: not known. */
pid_t trk__kill_pid(const struct trk_record *r);

#endif
