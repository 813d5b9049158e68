/* The socket on which a tracker takes marks: each system has another kind of address for it, and of
 * proof that a sender is the same user. */
#ifndef TRK_TRACK_MARKS_SOCKET_H
#define TRK_TRACK_MARKS_SOCKET_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* The address of a run, whose id has `len` bytes. Returns its length. */
socklen_t trk__marks_address(const char *id, size_t len, struct sockaddr_un *ret);

/* One message. Returns its length; 0: it is empty, or of another user; a negative errno: there is
 * none. */
ssize_t trk__marks_receive(int fd, char *text, size_t size);

#endif
