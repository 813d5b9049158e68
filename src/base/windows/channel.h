/* Connected ends of named pipes that only this user may open, under the numbers of wake.h: the
 * sockets of base/os.h. */
#ifndef TRK_BASE_WINDOWS_CHANNEL_H
#define TRK_BASE_WINDOWS_CHANNEL_H

#include "base/windows/wide.h"

/* Access for this user only. The caller frees with LocalFree; NULL on failure. */
PSECURITY_DESCRIPTOR trk__own_access(void);

/* The pipe of an end (borrowed); NULL: it is another descriptor. */
HANDLE trk__channel_handle(int fd);

#endif
