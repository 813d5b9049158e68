/* Background processes that outlive the program. */
#ifndef TRK_BASE_DETACH_H
#define TRK_BASE_DETACH_H

#include <stdbool.h>

/* Fork a detached process: in its own session, adopted by init, with /dev/null as its three
 * standard descriptors, no other descriptor, no blocked signal, and the default action of SIGPIPE.
 * Returns true in that process, which calls exec or _exit; false in the caller, also if fork
 * failed. */
bool trk__detach(void);

#endif
