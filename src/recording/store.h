/* The directory of recordings, their file names, and how a user refers to one.
 *
 * DIR/runs/<start in ms>-<id>.rtrk, so that names sort by time. DIR is --recording, else
 * $RESOURCE_TRACKER_DIR, else $XDG_STATE_HOME/resource-tracker, else
 * ~/.local/state/resource-tracker; the caller resolves it. */
#ifndef TRK_RECORDING_STORE_H
#define TRK_RECORDING_STORE_H

#include "base/error.h"
#include "model/run.h"

/* Open (and create, mode 0700) DIR/runs to write to it. Returns a descriptor (the caller closes) or
 * a negative errno, with *reterr; -TRK_ERR_UNTRUSTED: DIR is behind a link of another user. create
 * false: only open it to read. */
int trk__store_open(const char *dir, bool create, struct trk_error *reterr);
/* Whether DIR ("": none) has a folder of recordings that may be used. */
bool trk__store_exists(const char *dir);

/* Set a new id for the run, whose start_ns is set. */
void trk__store_new_id(struct trk_run *run);
/* The file name of a run. */
void trk__store_name(const struct trk_run *run, char name[96]);
/* Whether a text has the form of such a name. Names from a database are checked before they are
 * used. */
bool trk__store_is_name(const char *name);
/* True if the name belongs to the run with this id and start time. */
bool trk__store_is_name_of(const char *name, const char *id, double start_s);

/* Entries with the name of a recording that a listing leaves out: not a regular file, or possibly
 * written by another user (base/trust.h). */
struct trk_store_refused {
	size_t count;
	struct trk_error why; /* of the first one */
};

/* Call fn for the file name of each run, in the order of time; non-zero stops. 0 or a negative
 * errno. *ret_refused (may be NULL): entries that were left out. */
int trk__store_each(int runs_fd, int (*fn)(void *data, const char *name), void *data,
		    struct trk_store_refused *ret_refused);

/* Find the file name of a run: an id or its prefix, "@" (the last), "@2" (the one before), "JOB@-1"
 * (the last of that name, or of "NAME in SCOPE"), "JOB" (the same, unless it is a whole id or
 * begins with "r-" as one does). Without "r-" a prefix has at least four characters. Returns 0,
 * TRK_ERR_NORUN or TRK_ERR_AMBIGUOUS with *reterr; *ret_refused, which may be NULL, in any case. */
int trk__store_find(int runs_fd, const char *reference, char name[96],
		    struct trk_store_refused *ret_refused, struct trk_error *reterr);

#endif
