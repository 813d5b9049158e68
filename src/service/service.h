/* The functions of the program as a library, called by the verbs of the command and by the C API.
 *
 * A service returns 0 or a negative error with a sentence in *reterr; -EINVAL for a wrong argument.
 * It neither prints nor reads the environment: the caller passes the paths of the user's
 * recordings, history and prices, and a callback for notes. */
#ifndef TRK_SERVICE_SERVICE_H
#define TRK_SERVICE_SERVICE_H

#include <stdint.h>

#include "service/prices.h"

/* All borrowed. Zero-initialised: no recordings, no history, list prices, notes are dropped. */
struct trk_service {
	const char *dir;         /* state directory: recordings, history.sqlite; NULL or "": none */
	const char *history_url; /* PostgreSQL of a team in place of history.sqlite; NULL: none */
	struct trk_price_layers layers;
	/* A note: one line about a problem that is not an error; NULL: dropped. */
	void (*note)(void *data, const char *text);
	/* A download: url NULL at its end; `total` 0: not known. NULL: not shown. */
	void (*progress)(void *data, const char *url, uint64_t done, uint64_t total);
	void *data; /* of both */
};

void trk__service_note(const struct trk_service *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* In a child that was forked while a job runs: redirect the standard streams to /dev/null and close
 * the control socket (-1: none). If memory runs out, the kernel kills the child before the job. */
void trk__service_child(int control_fd);

enum { TRK_PLACE_PATH_SIZE = 4096 };

typedef char *trk_variable_fn(const char *name); /* as getenv(3) */

/* The state directory: $RESOURCE_TRACKER_DIR, else resource-tracker in $XDG_STATE_HOME, else
 * .local/state/resource-tracker in $HOME, else /tmp/resource-tracker-UID. 0; or, if
 * $RESOURCE_TRACKER_DIR is not set and another user owns the directory or may write to it, a
 * negative error with "PATH: why" in *reterr. */
int trk__usual_state_dir(trk_variable_fn *get, char path[TRK_PLACE_PATH_SIZE],
			 struct trk_error *reterr);

#endif
