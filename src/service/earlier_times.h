/* Run times of the earlier runs of a running job, for the alert `time-limit`.
 *
 * A child process reads them once from the history, so that no sample waits for a database. It is a
 * helper process and not counted as part of the job. */
#ifndef TRK_SERVICE_EARLIER_TIMES_H
#define TRK_SERVICE_EARLIER_TIMES_H

#include "alert/live.h"
#include "probe/helper_process.h"
#include "service/service.h"

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
