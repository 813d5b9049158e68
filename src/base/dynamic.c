#include "base/dynamic.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

void *trk__library_load(const char *soname, const struct trk_symbol *wanted, size_t n)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

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

const char *trk__library_advice(const char *install)
{
	/* The kernel gives the address of the dynamic loader; a static program has none. */
	if (getauxval(AT_BASE))
		return install;
	return "This program is static and loads no library. Try: the build for glibc, or the "
	       "package "
	       "of this system";
}

void trk__library_forget(void)
{
	/* The first call gives the text, the second frees it. */
	if (dlerror())
		(void) dlerror();
}
