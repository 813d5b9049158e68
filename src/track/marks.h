/* Marks: names for moments of a run, sent by the job.
 *
 * The tracker listens on a datagram socket in the abstract namespace. Its name is made from the run's
 * id, which the job finds in RESOURCE_TRACKER_RUN. No descriptor is inherited, so it also works
 * through programs that close inherited ones. Marks of other users are dropped. A container with its
 * own network namespace cannot reach the socket. */
#ifndef TRK_TRACK_MARKS_H
#define TRK_TRACK_MARKS_H

#include "model/run.h"

/* Listen for the run. Returns a descriptor (close-on-exec, non-blocking) or a negative errno. */
int trk__marks_listen(const char *run_id);

/* Take one pending mark. Returns 1, or 0 when there is none. Control characters become blanks. */
int trk__marks_read(int fd, char name[TRK_MARK_NAME_SIZE]);

/* From inside the job: `guard` is the value of RESOURCE_TRACKER_RUN, "<run id>:<pid>". Returns 0;
 * -EINVAL for an empty name or another guard; -ECONNREFUSED when the tracker is gone. */
int trk__marks_send(const char *guard, const char *name);

#endif
