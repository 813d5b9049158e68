/* Conclusions from a run and the earlier runs of its job: what changed, and what to request. */
#ifndef TRK_SERVICE_CONCLUSION_H
#define TRK_SERVICE_CONCLUSION_H

#include "service/runs.h"
#include "service/service.h"

struct trk_conclusion {
	char unsent[256]; /* why no run can be sent to the database of the team; "": it can */
	bool has_change, has_advice;
	struct trk_change change;
	struct trk_advice advice; /* from all runs up to this one, as of `recommend` */
	struct trk_busy busy;     /* on which the advice is based */
};

/* Called with what is known so far, and again when the phases of the change are known. */
typedef void trk_conclusion_fn(void *data, const struct trk_conclusion *c);

/* Of a finished run. max_new: the number of recordings that are taken into the history before. on_known
 * may be NULL. 0, or the error of a history that cannot be read. */
int trk__conclude(const struct trk_service *s, const struct trk_record *record, size_t max_new,
		  struct trk_conclusion *ret, trk_conclusion_fn *on_known, void *data);

#endif
