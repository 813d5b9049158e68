/* Transport of marks, and the check that the sender is the same user. */
#ifndef TRK_TRACK_MARKS_SYSTEM_H
#define TRK_TRACK_MARKS_SYSTEM_H

#include <stddef.h>
#include <sys/types.h>

#include "track/marks.h"

/* Receive one message. Returns its length; 0: it is empty or from another user; a negative errno:
 * there is none. */
ssize_t trk__marks_receive(int fd, char *text, size_t size);

/* Send one to the run, whose id has `id_len` bytes. 0 or a negative errno. */
int trk__marks_deliver(const char *id, size_t id_len, const char *text, size_t len);

#endif
