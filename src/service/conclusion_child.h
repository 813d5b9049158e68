/* Conclusions in a child process: at the end of a run, and what a running job needs of its earlier
 * runs. */
#ifndef TRK_SERVICE_CONCLUSION_CHILD_H
#define TRK_SERVICE_CONCLUSION_CHILD_H

#include "alert/live.h"
#include "probe/helper_process.h"
#include "service/conclusion.h"

/* trk__conclude() at the end of a run, in a child process that is killed after 0.3 s: a locked or remote
 * database does not delay the end, and SQLite is not loaded into the tracker. */
bool trk__conclude_quickly(const struct trk_service *s, const struct trk_record *record,
			   struct trk_conclusion *ret);

/* Send the runs that the team's history lacks, from a process in the background that ends after a
 * minute at most. Does nothing without a history_url. */
void trk__conclusion_send(const struct trk_service *s);

/* ---- run times of the earlier runs of a running job, for the alert `time-limit` ---- */

struct trk_earlier_times {
	struct trk_helper_process child;
	int fd;         /* pipe from the child; -1: none */
	int control_fd; /* that the child must not hold open; -1: none */
	bool asked;
};

void trk__earlier_times_init(struct trk_earlier_times *e, int control_fd);
/* Call after each row. The child is started when 30 s or a tenth of the requested time have passed,
 * whichever is first; without a requested time it is not started. Its answer is stored in *live. */
void trk__earlier_times_row(struct trk_earlier_times *e, const struct trk_service *s,
			    const struct trk_record *record, double elapsed_s,
			    struct trk_alert_live *live);
void trk__earlier_times_end(struct trk_earlier_times *e);

#endif
