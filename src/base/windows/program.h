/* Finding the file of a program. */
#ifndef TRK_BASE_WINDOWS_PROGRAM_H
#define TRK_BASE_WINDOWS_PROGRAM_H

#include "base/windows/wide.h"

/* A name without a folder is looked for in the folders of PATH. Unlike CreateProcessW, never in the
 * folder of this program or the working directory, nor in a folder of PATH that is relative to it.
 * A name that does not end in .com, .exe, .bat or .cmd gets one of these endings, in this order:
 * "python3.11" is python3.11.exe. Returns 0 or a negative errno: -ENOENT, or -EACCES for a file
 * that is no program. */
int trk__program_find(const char *name, wchar_t path[TRK_WIDE_PATH_MAX]);

/* Is it a file that cmd.exe runs? */
bool trk__program_is_batch(const wchar_t *path);

#endif
