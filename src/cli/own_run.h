/* Runs of this program that track this program: how a check tries the whole of it. */
#ifndef TRK_CLI_OWN_RUN_H
#define TRK_CLI_OWN_RUN_H

#include <stddef.h>

#include "model/run.h"
#include "recording/reader.h"

/* Make an empty folder in $TMPDIR, else in `usual`. Returns 0 or a negative errno; the path then is
 * what could not be made. trk__remove_tree() removes it. */
int cli_scratch_folder(char *path, size_t size, const char *usual);

/* Track this program with these arguments (at most 14, NULL at the end) as a job of the name `job`,
 * with an environment of its own and no configuration, and read the recording, which is put into
 * `folder`. Its standard output goes to out_fd, or nowhere with -1. Returns 0, a negative errno, or
 * the exit status of the tracker; *record is released by the caller where it is 0. */
int cli_own_run(const char *folder, const char *job, const char *const *arguments, int out_fd,
		struct trk_record *record);

#endif
