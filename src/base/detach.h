/* Background processes that outlive the program. */
#ifndef TRK_BASE_DETACH_H
#define TRK_BASE_DETACH_H

#include <stdbool.h>

/* Fork a detached process: in a session of its own, adopted by init, with /dev/null
 * as its three standard descriptors, no other descriptor, no blocked signal, and SIGPIPE as by
 * default. True in that process, which calls exec or _exit; false in the caller, also where no
 * process could be made. */
bool trk__detach(void);

#endif
