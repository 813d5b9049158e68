#include "api/install_path.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool trk__install_path(const char *const *places, size_t n, const char *name, int mode, char *path,
		       size_t size)
{
	char library[TRK_PRICES_PATH_SIZE];
	const char *slash =
		trk__library_path(library, sizeof(library)) ? strrchr(library, '/') : NULL;

	for (size_t i = 0; slash && i < n; i++) {
		int len = snprintf(path, size, "%.*s/%s%s", (int) (slash - library), library,
				   places[i], name);

		if (len > 0 && (size_t) len < size && access(path, mode) == 0)
			return true;
	}
	return false;
}

/* Relative to the library: LIB/../share, also from an architecture's library folder. */
const char *trk__installed_scores(char path[TRK_PRICES_PATH_SIZE])
{
	static const char *const places[] = {"../share/resource-tracker/",
					     "../../share/resource-tracker/", ""};

	return trk__install_path(places, 3, "sparecores.tsv", R_OK, path, TRK_PRICES_PATH_SIZE)
		       ? path
		       : NULL;
}
