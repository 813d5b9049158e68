/* Marks: names for moments of a run, sent by the job itself.
 *
 * The tracker of a run listens on a datagram socket, on Linux in the abstract namespace, on Windows
 * on a named pipe, whose name is made from the run's id; the job finds the id in RESOURCE_TRACKER_RUN. Nothing is inherited for it, so
 * it works through any number of programs in between, also such as close what they inherit. Only
 * processes of the tracker's own user are listened to. A container with a network namespace of its
 * own cannot reach it. */
#ifndef TRK_TRACK_MARKS_H
#define TRK_TRACK_MARKS_H

#include "model/run.h"

/* Stop listening; -1 is fine. */
void trk__marks_close(int fd);

/* Listen for the run. Returns a descriptor (close-on-exec, non-blocking) or a negative errno. */
int trk__marks_listen(const char *run_id);

/* Take one pending mark. Returns 1, or 0 when there is none. Control characters become blanks;
 * marks of other users are dropped. */
int trk__marks_take(int fd, char name[TRK_MARK_NAME_SIZE]);

/* From inside the job: `guard` is the value of RESOURCE_TRACKER_RUN, "<run id>:<pid>". Returns 0;
 * -EINVAL for an empty name or another guard; -ECONNREFUSED when the tracker is gone. */
int trk__marks_send(const char *guard, const char *name);

#endif
