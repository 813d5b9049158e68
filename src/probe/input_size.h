/* The size of a job's input files, found by the arguments of its command. */
#ifndef TRK_PROBE_INPUT_SIZE_H
#define TRK_PROBE_INPUT_SIZE_H

#include <stdint.h>

/* The file that an argument names: the argument, or what follows '=' in an option. NULL: none. */
const char *trk__input_path(const char *argument);
/* Its size; 0 if it is no regular file. May block on a dead file server. */
uint64_t trk__input_bytes(const char *path);

enum { TRK_INPUTS_MAX = 256 }; /* arguments that are looked at */

#endif
