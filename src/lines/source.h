/* The text of lines of source files, as it was when a run began.
 *
 * The names of the files are from a job, which may have had another user, and from a recording,
 * which may be another user's. Lines are shown only of a regular file that the job's user
 * (trk_lines.user) could read. It must belong to that user, the effective user or root, be source
 * code (by its suffix, or a first line "#!" with python), and be unmodified since the run began,
 * and, for native code, since the program was built. Secrets are masked (base/mask.h). If a file is
 * not shown, the reason is returned. */
#ifndef TRK_LINES_SOURCE_H
#define TRK_LINES_SOURCE_H

#include <stddef.h>

#include "model/lines.h"

/* The file that was read last. Zero-initialised but for user and start_s. */
struct trk_lines_source {
	int64_t user;      /* trk_lines.user */
	double start_s;    /* of the run, seconds since 1970 */
	char *file, *text; /* owned */
	double changed_s;  /* modification time */
	const char *why;   /* why there is no text; static */
};

/* Read a line of a function's file, as it was when the run began, into `text`, without blanks
 * around it. NULL: not available. *ret_why: why no line of the file is available; or NULL. */
const char *trk__lines_source(struct trk_lines_source *s, const struct trk_lines_function *f,
			      int line, char *text, size_t size, const char **ret_why);
/* Why a file that this user could not read is not read. Static. */
const char *trk__lines_closed_file(int64_t user);
void trk__lines_source_release(struct trk_lines_source *s);

#endif
