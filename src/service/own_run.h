/* Runs of this program under its own tracker, for the self checks. */
#ifndef TRK_SERVICE_OWN_RUN_H
#define TRK_SERVICE_OWN_RUN_H

#include <stddef.h>

#include "model/run.h"
#include "recording/reader.h"

/* Make an empty folder below `base`. Returns 0, or a negative errno: `path` then is the folder that
 * could not be made. trk__remove_tree() removes it. */
int trk__scratch_folder(char *path, size_t size, const char *base);

/* Track this program with these arguments (at most 14, NULL at the end) as a job of the name `job`,
 * with a minimal environment and without configuration, and read the recording, which is written
 * into `folder`. Its standard output is out_fd (-1: discarded). Returns 0, a negative
 * errno (-EBADMSG: the recording cannot be read), or the exit status of the tracker; the caller
 * releases *record where it is 0. */
int trk__own_run(const char *folder, const char *job, const char *const *arguments, int out_fd,
		 struct trk_record *record);

#endif
