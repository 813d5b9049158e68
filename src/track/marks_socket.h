/* Address of the socket for marks, which differs between Linux and macOS. */
#ifndef TRK_TRACK_MARKS_SOCKET_H
#define TRK_TRACK_MARKS_SOCKET_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "track/marks_system.h"

/* The address of a run, whose id has `len` bytes. Returns its length. */
socklen_t trk__marks_address(const char *id, size_t len, struct sockaddr_un *ret);

#endif
