/* Text about lines of the program for summary and verdict (lines/highlights.h); empty without
 * sampled stacks. */
#ifndef TRK_REPORT_LINE_WORDS_H
#define TRK_REPORT_LINE_WORDS_H

#include "model/run.h"
#include "report/document.h"

/* "Lines": the line with the most CPU time and its share, and the line with the largest growth of
 * memory. */
void trk__term_lines(struct trk_doc *d, struct trk_doc_section *s, const struct trk_record *r);
/* For a run that ended out of memory, "Grew" and "At kill": the lines whose memory grew, and what
 * each thread did in its last second. */
void trk__term_kill_lines(struct trk_doc *d, struct trk_doc_section *s, const struct trk_record *r);
/* The same as trk__term_kill_lines(), as sentences, the first one after a blank; "": unknown. */
const char *trk__kill_line_words(struct trk_doc *d, const struct trk_record *r);
/* The process whose last second is shown: the largest one; 0: not known. */
pid_t trk__kill_pid(const struct trk_record *r);

#endif
