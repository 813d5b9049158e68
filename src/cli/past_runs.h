/* Earlier runs for the verbs that look at more than one. */
#ifndef TRK_CLI_PAST_RUNS_H
#define TRK_CLI_PAST_RUNS_H

#include "cli/cli.h"
#include "history/history.h"
#include "report/change.h"

struct cli_past {
	struct trk_past *run; /* owned; newest first */
	size_t count, cap;
};

/* RESOURCE_TRACKER_HISTORY, the PostgreSQL of a team; NULL: the SQLite of this machine. */
const char *cli_history_url(void);
/* Send the runs that the team's history lacks, in the background; nothing without a URL. */
void cli_history_send(const char *dir);

/* Open the history of --recording or of the usual place. NULL after having complained; *ret_status
 * is then the exit status. What was noteworthy is told on stderr. */
struct trk_history *cli_history_open(const char *dir, int *ret_status);

/* A job that was named: by its name, or by "NAME in SCOPE", of which "." is the working directory. */
struct cli_job {
	char job[TRK_RUN_TEXT_SIZE], scope[TRK_RUN_TEXT_SIZE];
	bool has_scope;
	size_t namesakes;             /* jobs of that name, at least 1 */
	char newest[TRK_RUN_ID_SIZE]; /* run of it */
};

/* False where no job has that name. Of several the one of the working directory is taken, else that
 * which ran last. */
bool cli_job_find(struct trk_history *h, const char *reference, struct cli_job *ret);
/* Say which of several jobs of a name is meant, and how to name another; verb: of the command, NULL:
 * history, where all are. */
void cli_job_tell(struct trk_history *h, const struct cli_job *job, const char *verb);
struct trk_job_key cli_job_key(const struct cli_job *job);

/* What names a job becomes the id of its newest run, in `id`; anything else stays as it is. Tells
 * which of several jobs it is. */
const char *cli_newest_of(struct trk_history *h, const char *reference, const char *verb,
			  char id[TRK_RUN_ID_SIZE]);

/* The newest `max` runs (0: all) of a job (NULL: of all); unlisted: also those of --no-history. 0, or an exit status after having
 * complained. The caller releases. */
int cli_past_load(struct trk_history *h, const struct trk_job_key *job, size_t max, bool unlisted,
		  struct cli_past *ret);
void cli_past_release(struct cli_past *p);

/* What changed since the earlier runs of its job; max_new as of trk__history_open_some. Says nothing:
 * 0, or a negative error. */
int cli_change_of(const char *dir, const struct trk_record *record, size_t max_new,
		  struct trk_change *ret);
/* Name the phases of a notable change, from the recordings of the newest of `past` (newest first) that
 * ended well before this run. */
void cli_change_phases(const char *dir, const struct trk_record *record,
		       const struct cli_past *past, struct trk_change *c);
/* The same for the end of a run: in a process of its own, which is given up after 0.3 s, so that no
 * database that is locked or far away delays the end, and SQLite is not in the tracker's memory. */
bool cli_change_quickly(const char *dir, const struct trk_record *record, struct trk_change *ret);

#endif
