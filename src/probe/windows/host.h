/* Facts of a machine with Windows. */
#ifndef TRK_PROBE_WINDOWS_HOST_H
#define TRK_PROBE_WINDOWS_HOST_H

#include <stddef.h>
#include <stdint.h>

/* Number of active processors and of cores; 0: unknown. */
uint64_t trk__nt_processors(void);
uint64_t trk__nt_cores(void);
/* A text of the registry below HKEY_LOCAL_MACHINE; "": unknown. */
void trk__nt_text(const char *key, const char *name, char *text, size_t size);

#endif
