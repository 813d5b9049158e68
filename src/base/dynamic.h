/* Libraries that are loaded when they are first needed, so that the program links to libc alone. */
#ifndef TRK_BASE_DYNAMIC_H
#define TRK_BASE_DYNAMIC_H

#include <stddef.h>

struct trk_symbol {
	const char *name;
	void *to; /* where the pointer to the function goes */
};

/* Load `soname` (its name on Linux, as libz.so.1) and find all of n symbols. The handle is the
 * caller's, for dlclose(3). NULL when it is not installed or lacks one of them. */
void *trk__library_load(const char *soname, const struct trk_symbol *wanted, size_t n);

/* After dlopen(3) or dlsym(3) that may have failed: free what the C library keeps of the failure
 * for each thread, which it loses when the program ends in the moment in which that thread does. */
void trk__library_forget(void);

#endif
