/* Libraries that are loaded when they are first needed, so that the program links to libc alone. */
#ifndef TRK_BASE_DYNAMIC_H
#define TRK_BASE_DYNAMIC_H

#include <stddef.h>

struct trk_symbol {
	const char *name;
	void *to; /* where the pointer to the function goes */
};

/* Load `soname` (its name on Linux, as libz.so.1) and find all of n symbols. Returns a handle that
 * the caller may pass to dlclose(3); NULL when the library is not installed or lacks a symbol. */
void *trk__library_load(const char *soname, const struct trk_symbol *wanted, size_t n);

/* After dlopen(3) or dlsym(3) that may have failed: free the error text that the C library keeps
 * per thread. It would leak if the program exited at the moment in which the thread ends. */
void trk__library_forget(void);

#endif
