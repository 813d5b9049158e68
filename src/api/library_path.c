#include "api/install_path.h"

#include <dlfcn.h>
#include <stdio.h>

bool trk__library_path(char *path, size_t size)
{
	static const char here[] = "";
	Dl_info info;

	return dladdr(here, &info) && info.dli_fname &&
	       snprintf(path, size, "%s", info.dli_fname) < (int) size;
}
