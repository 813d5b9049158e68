/* Terms and words that the summary, the text of `recommend` and the report share: where the time
 * went, the phases, the split, the cost, lines of the program. Nothing is added where nothing is
 * known. */
#ifndef TRK_REPORT_SHARED_TERMS_H
#define TRK_REPORT_SHARED_TERMS_H

#include "model/run.h"
#include "answer/time_breakdown.h"
#include "report/document.h"

/* How the run ended, as the state of a document. running: the symbol of a run that goes on. */
void trk__tell_state(struct trk_doc *d, const struct trk_record *r, const char *running);
/* "A process was killed for memory at 0:00:31; the job went on". */
const char *trk__memory_kill_words(struct trk_doc *d, const struct trk_outcome *o);
/* "71 % computing · 14 % disk · 15 % sleeping, other", largest first but other at the end. */
void trk__term_time(struct trk_doc *d, struct trk_doc_section *s,
		    const struct trk_time_breakdown *c);
/* "load 12 m (disk-bound) → train 1 h 12 m → write 18 m". */
void trk__term_phases(struct trk_doc *d, struct trk_doc_section *s,
		      const struct trk_time_breakdown *c);
/* "31 % cheaper as 2 steps: 12 m on 1 CPU, 0.75 GiB → 1 h 10 m on 8 CPU, 16 GiB". */
void trk__term_split(struct trk_doc *d, struct trk_doc_section *s,
		     const struct trk_time_breakdown *c);
/* Where to split the run, as a sentence without its full stop. */
const char *trk__split_words(struct trk_doc *d, const struct trk_time_breakdown *c);
/* "$1.22 (c7i.4xlarge, $0.714/h) → about $0.69 on m7i.2xlarge, list 2026-07-20". */
void trk__term_cost(struct trk_doc *d, struct trk_doc_section *s, const struct trk_place *p);

/* "1 ms of CPU in 11.0 s; nothing to size" for a job that only waited; else NULL. */
const char *trk__slept_words(struct trk_doc *d, const struct trk_record *r);

/* Lines of the program (lines/highlights.h); nothing without sampled stacks. */

/* "+512 MiB", "~1.2 GiB": memory that grew for sure, and that grew between two looks. */
const char *trk__growth_words(struct trk_doc *d, uint64_t sure_bytes, uint64_t between_bytes);
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
