/* What changed in a run: since another run, or since the earlier runs of its job. */
#ifndef TRK_SERVICE_COMPARE_H
#define TRK_SERVICE_COMPARE_H

#include "base/buf.h"
#include "lines/change.h"
#include "service/runs.h"

struct trk_comparison {
	char run[TRK_RUN_ID_SIZE], job[TRK_RUN_TEXT_SIZE];
	char with[TRK_RUN_TEXT_SIZE + 64]; /* the other run, or the earlier runs; "": none */
	struct trk_change change;
	struct trk_lines_change lines;
	char lines_with[TRK_RUN_ID_SIZE]; /* the run that the lines are compared with; "": none */
	bool failed[TRK_CHANGE_FIGURES];  /* by a rule */
};

/* Compare with one other run. Adds the names of native code to the records. 0 or -ENOMEM. */
int trk__compare_run(struct trk_record *record, struct trk_record *before,
		     struct trk_comparison *ret);
/* Compare with the earlier successful runs of its job. Adds the names of native code. 0;
 * -TRK_ERR_NODATA: there is none; or the error of reading them. */
int trk__compare_job(const struct trk_service *s, struct trk_history *h, struct trk_record *record,
		     struct trk_comparison *ret, struct trk_error *reterr);

/* Apply rules such as "duration>+5%,peak_mem>+10%" (NULL: none). Returns how many hold, or
 * -EINVAL. */
int trk__comparison_judge(struct trk_comparison *c, const char *rules, struct trk_error *reterr);

/* The judgement of a figure (enum trk_change_figure), in words; "": none. */
const char *trk__comparison_words(const struct trk_comparison *c, size_t figure);
/* One document of schema "resource-tracker.compare/1". */
void trk__comparison_json(struct trk_buf *b, const struct trk_comparison *c);

#endif
