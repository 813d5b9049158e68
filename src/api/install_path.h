/* Files that are installed along with the library. */
#ifndef TRK_API_INSTALL_PATH_H
#define TRK_API_INSTALL_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "service/prices.h"

/* The path of `name` in the first of `places` where access(2) grants `mode` (R_OK, X_OK). Places
 * are folders relative to that of the library, each ended by a slash, or "". False if there is
 * none; `path` is then undefined. */
bool trk__install_path(const char *const *places, size_t n, const char *name, int mode, char *path,
		       size_t size);

/* The path of the library or program that holds this code; false: not known. In each system's own
 * way. */
bool trk__library_path(char *path, size_t size);

/* The scores of servers that are installed along with the library; NULL: none. */
const char *trk__installed_scores(char path[TRK_PRICES_PATH_SIZE]);

#endif
