/* Earlier runs for the verbs that look at more than one. */
#ifndef TRK_CLI_PAST_RUNS_H
#define TRK_CLI_PAST_RUNS_H

#include "cli/cli.h"
#include "history/history.h"

struct cli_past {
	struct trk_past *run; /* owned; newest first */
	size_t count, cap;
};

/* Open the history of --recording or of the usual place. NULL after having complained; *ret_status
 * is then the exit status. What was noteworthy is told on stderr. */
struct trk_history *cli_history_open(const char *dir, int *ret_status);

/* What names a job becomes the id of its newest run, in `id`; anything else stays as it is. */
const char *cli_newest_of(struct trk_history *h, const char *reference, char id[TRK_RUN_ID_SIZE]);

/* The newest `max` runs (0: all) of a job (NULL: of all). 0, or an exit status after having
 * complained. The caller releases. */
int cli_past_load(struct trk_history *h, const char *job, size_t max, struct cli_past *ret);
void cli_past_release(struct cli_past *p);

#endif
