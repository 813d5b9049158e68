/* The lock of a folder: a file in it on which one process at a time holds flock(2).
 *
 * Another user of a shared folder can hold it for ever. A caller waits at most TRK_LOCK_WAIT_MS, and
 * its error names the file and, by /proc/locks, the process that holds it. */
#ifndef TRK_BASE_LOCK_H
#define TRK_BASE_LOCK_H

#include "base/error.h"

enum { TRK_LOCK_WAIT_MS = 2000 };

/* Take the lock `name` below dirfd (borrowed); the file is made where it is missing. Returns a
 * descriptor that close(2) releases; or -EBUSY, -TRK_ERR_NOTFILE or another negative errno with
 * *reterr. */
int trk__lock_take(int dirfd, const char *name, struct trk_error *reterr);

/* The error -EBUSY of a file on which another process holds a lock of any kind. */
int trk__lock_error(struct trk_error *reterr, int dirfd, const char *path);

#endif
