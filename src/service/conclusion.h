/* Conclusions from a run and the earlier runs of its job: what changed, and what to request. */
#ifndef TRK_SERVICE_CONCLUSION_H
#define TRK_SERVICE_CONCLUSION_H

#include "service/runs.h"

struct trk_conclusion {
	char unsent[256]; /* why no run can be sent to the database of the team; "": it can */
	bool has_change, has_advice;
	struct trk_change change;
	struct trk_advice advice; /* from all runs up to this one, as of `recommend` */
	struct trk_busy busy;     /* on which the advice is based */
};

/* Of a finished run. 0, or the error of a history that cannot be read. */
int trk__conclude(const struct trk_service *s, const struct trk_record *record,
		  struct trk_conclusion *ret);
/* The same at the end of a run, in a child process that is killed after 0.3 s: a locked or remote
 * database does not delay the end, and SQLite is not loaded into the tracker. */
bool trk__conclude_quickly(const struct trk_service *s, const struct trk_record *record,
			   struct trk_conclusion *ret);

/* Send the runs that the team's history lacks, from a process in the background that ends after a
 * minute at most. Does nothing without a history_url. */
void trk__conclusion_send(const struct trk_service *s);

#endif
