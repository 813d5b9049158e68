/* Default paths of the user's files, from environment variables; for the command and the
 * library. */
#ifndef TRK_SERVICE_USUAL_PLACES_H
#define TRK_SERVICE_USUAL_PLACES_H

#include "base/error.h"

enum { TRK_PLACE_PATH_SIZE = 4096 };

typedef char *trk_variable_fn(const char *name); /* as getenv(3) */

/* The state directory: $RESOURCE_TRACKER_DIR, else resource-tracker in $XDG_STATE_HOME, else
 * .local/state/resource-tracker in $HOME, else /tmp/resource-tracker-UID. 0; or, if
 * $RESOURCE_TRACKER_DIR is not set and another user owns the directory or may write to it, a
 * negative error with "PATH: why" in *reterr. */
int trk__usual_state_dir(trk_variable_fn *get, char path[TRK_PLACE_PATH_SIZE],
			 struct trk_error *reterr);

#endif
