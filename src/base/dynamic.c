#include "base/dynamic.h"

#include <dlfcn.h>
#include <string.h>

#include "base/os.h"

void *trk__library_load(const char *soname, const struct trk_symbol *wanted, size_t n)
{
	void *handle = trk__os_library(soname);

	for (size_t i = 0; handle && i < n; i++) {
		void *symbol = dlsym(handle, wanted[i].name);

		if (!symbol) {
			(void) dlclose(handle);
			handle = NULL;
			break;
		}
		memcpy(wanted[i].to, &symbol, sizeof(symbol));
	}
	if (!handle)
		trk__library_forget();
	return handle;
}

void trk__library_forget(void)
{
	/* The first call gives the text, the second frees it. */
	if (dlerror())
		(void) dlerror();
}
