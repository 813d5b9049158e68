/* Runs and jobs by the names that a user types. */
#ifndef TRK_CLI_NAMED_RUNS_H
#define TRK_CLI_NAMED_RUNS_H

#include "cli/cli.h"
#include "cli/environment.h"
#include "service/runs.h"

/* The named recording: its path relative to dirfd, as trk__record_read() takes it. Do not copy:
 * `path` may point to `name`. */
struct cli_run_file {
	int dirfd; /* closed by cli_run_close */
	const char *path;
	char name[96];
};

/* Find a run by path, by id or its start, by "@" …; in the state directory. 0, or an exit status
 * after a complaint. The caller closes *ret on success. */
int cli_run_find(const char *dir, const char *reference, struct cli_run_file *ret);
void cli_run_close(struct cli_run_file *run);

/* Open the history for a verb that needs it. NULL after a complaint; *ret_status is then the exit
 * status. */
struct trk_history *cli_history_open(const struct trk_service *s, int *ret_status);
/* Read JSON of earlier runs from a file, for trk__job_runs_read(); "" (no runs) if it cannot be
 * read. In static memory. */
const char *cli_earlier_runs(const char *path);

/* If several jobs have this name, print which one was chosen, and how to name another. verb: the
 * running command; NULL: suggest `history`, which lists all. */
void cli_job_note(const struct trk_named_job *job, const char *verb);
/* If `reference` is the name of a job, return the id of its newest run, in `id`; else `reference`.
 * Prints which of several jobs was chosen. h may be NULL. */
const char *cli_newest_of(struct trk_history *h, const char *reference, const char *verb,
			  char id[TRK_RUN_ID_SIZE]);

#endif
