#include "api/beside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool trk__beside(const char *const *places, size_t n, const char *name, int mode, char *path,
		 size_t size)
{
	static const char here[] = "";
	const char *slash;
	Dl_info info;

	if (!dladdr(here, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	for (size_t i = 0; slash && i < n; i++) {
		int len = snprintf(path, size, "%.*s/%s%s", (int) (slash - info.dli_fname),
				   info.dli_fname, places[i], name);

		if (len > 0 && (size_t) len < size && access(path, mode) == 0)
			return true;
	}
	return false;
}
