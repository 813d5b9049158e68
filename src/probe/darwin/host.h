/* Values of sysctl(3): a number of 32 or 64 bits (0: unknown), or a text ("": unknown). */
#ifndef TRK_PROBE_DARWIN_HOST_H
#define TRK_PROBE_DARWIN_HOST_H

#include <stddef.h>
#include <stdint.h>

uint64_t trk__mac_number(const char *name);
void trk__mac_text(const char *name, char *text, size_t size);

#endif
