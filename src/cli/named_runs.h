/* Runs and jobs as a person names them. */
#ifndef TRK_CLI_NAMED_RUNS_H
#define TRK_CLI_NAMED_RUNS_H

#include "cli/cli.h"
#include "cli/environment.h"
#include "service/runs.h"

#define CLI_RUN_HELP                                                                               \
	"RUN is an id or its start, @ (the last run, the default), @2 (the one before), JOB@-1, "  \
	"or "                                                                                      \
	"the\npath of a recording."

/* The recording that is named: its path below dirfd, as of trk__record_read. Not to be copied. */
struct cli_run_file {
	int dirfd; /* closed by cli_run_close */
	const char *path;
	char name[96];
};

/* A path, an id or its start, "@" …; in the state directory. 0, or an exit status after having
 * complained. The caller closes, on success only. */
int cli_run_find(const char *dir, const char *reference, struct cli_run_file *ret);
void cli_run_close(struct cli_run_file *run);

/* The history of a verb that needs one. NULL after having complained; *ret_status is then the exit
 * status. */
struct trk_history *cli_history_open(const struct trk_service *s, int *ret_status);
/* As trk__run_list_read; 0, or an exit status after having complained. */
int cli_runs_list(struct trk_history *h, const struct trk_job_key *job, size_t max, bool unlisted,
		  struct trk_run_list *ret);
/* JSON of earlier runs from a file, for trk__job_runs_read; "" (no runs) where it cannot be read.
 * In static memory. */
const char *cli_earlier_runs(const char *path);

/* Say which of several jobs of a name is meant, and how to name another; verb: of the command,
 * NULL: history, where all are. */
void cli_job_tell(const struct trk_named_job *job, const char *verb);
/* The name of a job becomes the id of its newest run, in `id`; anything else stays as it is. Says
 * which of several jobs it is. h may be NULL. */
const char *cli_newest_of(struct trk_history *h, const char *reference, const char *verb,
			  char id[TRK_RUN_ID_SIZE]);

#endif
