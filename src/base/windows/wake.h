/* Event handles of Windows under numbers that poll() and close() accept. The C library has
 * descriptors for files only. */
#ifndef TRK_BASE_WINDOWS_WAKE_H
#define TRK_BASE_WINDOWS_WAKE_H

#include "base/windows/wide.h"

/* Takes the handle, on failure too. Returns a number; close() of it closes the handle. Else
 * -EMFILE, or for a NULL handle the errno of the last error. */
int trk__wake_open(HANDLE handle);
/* The handle of such a number (borrowed); NULL: it is another descriptor. */
HANDLE trk__wake_handle(int fd);

#endif
