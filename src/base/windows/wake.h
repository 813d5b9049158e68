/* What wakes a loop: handles of Windows under numbers that poll() and close() take. The C library
 * has descriptors for files alone. */
#ifndef TRK_BASE_WINDOWS_WAKE_H
#define TRK_BASE_WINDOWS_WAKE_H

#include "base/windows/wide.h"

/* Takes the handle, on failure too. A number, which close() closes with the handle; else -EMFILE,
 * or the errno of a handle that is NULL. */
int trk__wake_open(HANDLE handle);
/* The handle of such a number (borrowed); NULL: it is another descriptor. */
HANDLE trk__wake_handle(int fd);

#endif
