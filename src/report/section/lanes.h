/* The programs of a run on its axis of time: areas of the charts, and lanes of their processes. */
#ifndef TRK_REPORT_SECTION_LANES_H
#define TRK_REPORT_SECTION_LANES_H

#include "report/section/section.h"

enum { TRK_LANES_MAX = 12 };

/* The areas of a chart of CPU (is_cpu) or memory whose series[0] is the job's. They add up to that
 * series. */
void trk__areas_of_chart(struct trk_doc *d, const struct trk_record *record, bool is_cpu,
			 struct trk_doc_chart *c);

/* What the report shows about one program. */
struct trk_program_story {
	size_t index; /* in the log */
	int color;
	size_t *span; /* of its processes in the log, largest CPU time first; the document's */
	size_t spans;
	double share;    /* of the job's CPU time; NaN: not known */
	double median_s; /* median run time of its processes; NaN: none is listed */
};

/* Choose the programs that had 1 % of the CPU time or of the peak memory, at most TRK_LANES_MAX, by
 * CPU time. Returns how many; *ret_left: other programs that had a process. */
size_t trk__lanes_choose(struct trk_doc *d, const struct trk_record *record,
			 struct trk_program_story *story, size_t *ret_left);
/* The command line of one of a program's processes, beginning with the part that differs; NULL: not
 * recorded. */
const char *trk__lanes_command(struct trk_doc *d, const struct trk_program_log *log,
			       const struct trk_program_story *story, size_t span, size_t max);
/* `command` in at most `max` characters. The words that at least one of the siblings lacks come
 * first, in strong type; paths among them are reduced to their last part. Names of temporary files
 * are not compared. `siblings` may contain the command itself and empty entries. NULL for an empty
 * command. */
const char *trk__command_words(struct trk_doc *d, const char *command, const char *const *siblings,
			       size_t count, size_t max);
/* Fill the document's lanes. */
void trk__lanes_make(struct trk_doc *d, const struct trk_record *record,
		     const struct trk_program_story *story, size_t count);

#endif
