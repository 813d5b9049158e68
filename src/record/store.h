/* Where recordings lie, what they are called, and how a person names one.
 *
 * DIR/runs/<start in ms>-<id>.rtrk, so that a listing is in the order of time. DIR is --recording,
 * else $RESOURCE_TRACKER_DIR, else $XDG_STATE_HOME/resource-tracker, else
 * ~/.local/state/resource-tracker; the caller resolves it. */
#ifndef TRK_RECORD_STORE_H
#define TRK_RECORD_STORE_H

#include "base/error.h"
#include "record/run.h"

/* Open (and create, mode 0700) DIR/runs. Returns a descriptor (the caller closes) or a negative
 * errno, with *reterr. create false: only open. */
int trk__store_open(const char *dir, bool create, struct trk_error *reterr);

/* Give the run, whose start_ns is set, a new id. */
void trk__store_new_id(struct trk_run *run);
/* The file name of a run. */
void trk__store_name(const struct trk_run *run, char name[96]);

/* Call for the file name of each run, in the order of time; non-zero stops. 0 or a negative errno. */
int trk__store_each(int runs_fd, int (*fn)(void *data, const char *name), void *data);

/* Find the file name of a run: an id or its prefix, "@" (the last), "@2" (the one before), "JOB@-1"
 * (the last of that name, or of "NAME in SCOPE"). Returns 0, TRK_E_NORUN or TRK_E_AMBIGUOUS with *reterr. */
int trk__store_find(int runs_fd, const char *reference, char name[96], struct trk_error *reterr);

#endif
