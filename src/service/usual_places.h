/* Where the files of this user lie unless a caller names others: by variables of the environment,
 * for the command and the library alike. */
#ifndef TRK_SERVICE_USUAL_PLACES_H
#define TRK_SERVICE_USUAL_PLACES_H

#include "base/error.h"

enum { TRK_PLACE_PATH_SIZE = 4096 };

typedef char *trk_variable_fn(const char *name); /* as getenv(3) */

/* The state directory: $RESOURCE_TRACKER_DIR, else resource-tracker in $XDG_STATE_HOME, else
 * .local/state/resource-tracker in $HOME, else /tmp/resource-tracker-UID. 0; or, where no variable
 * of the tracker named it and another user owns it or may write to it, a negative error with
 * "PATH: why" in *reterr. */
int trk__usual_state_dir(trk_variable_fn *get, char path[TRK_PLACE_PATH_SIZE],
			 struct trk_error *reterr);

#endif
