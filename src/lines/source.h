/* The text of lines of source files, as it was when a run began.
 *
 * The names of the files come from a recording, which may be of another user. A line is shown only
 * of a regular file of the effective user or of root that is source code (by its suffix, or a first
 * line "#!" that names python) and was not written to since the run began, nor since the program of
 * native code was built. Secrets are masked (base/mask.h). Where no line of a file is shown, the
 * reason is given. */
#ifndef TRK_LINES_SOURCE_H
#define TRK_LINES_SOURCE_H

#include <stddef.h>

#include "model/lines.h"

/* The file that was read last. Zero-initialised but for start_s. */
struct trk_lines_source {
	double start_s;    /* of the run, seconds since 1970 */
	char *file, *text; /* owned */
	double changed_s;  /* when it was written to */
	const char *why;   /* there is no text; static */
};

/* Fits trk_lines_source_fn; data is a struct trk_lines_source. */
const char *trk__lines_source(void *data, const struct trk_lines_function *f, int line, char *text,
			      size_t size, const char **ret_why);
void trk__lines_source_release(struct trk_lines_source *s);

#endif
