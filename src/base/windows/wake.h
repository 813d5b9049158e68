/* Event handles of Windows under numbers that poll() and close() accept. The C library has
 * descriptors for files only. */
#ifndef TRK_BASE_WINDOWS_WAKE_H
#define TRK_BASE_WINDOWS_WAKE_H

#include "base/windows/wide.h"

/* Takes the handle, on failure too. Returns a number; close() of it closes the handle. Else
 * -EMFILE, or for a NULL handle the errno of the last error. */
int trk__wake_open(HANDLE handle);
/* The same with data, on which close() calls `release`. Takes both, on failure too. */
typedef void trk__wake_release(void *data);
int trk__wake_open_with(HANDLE handle, void *data, trk__wake_release *release);
/* The data of a number that was opened with `release`; NULL: it is another one. */
void *trk__wake_data(int fd, trk__wake_release *release);
/* The handle of such a number (borrowed); NULL: it is another descriptor. */
HANDLE trk__wake_handle(int fd);

#endif
