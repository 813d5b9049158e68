/* Files that are installed along with the library. */
#ifndef TRK_API_BESIDE_H
#define TRK_API_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The path of `name` in the first of `places` where it can be accessed so (R_OK, X_OK): folders relative
 * to that in which the library lies, each ended by a slash, or "". False, and `path` of no use: in none. */
bool trk__beside(const char *const *places, size_t n, const char *name, int mode, char *path,
		 size_t size);

#endif
