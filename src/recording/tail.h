/* Count the rows of a recording that is being written, without reading a row twice. Thinning
 * replaces the file; the count then starts again, and thinned rows count as the rows that they
 * represent. A zero-initialised struct has counted nothing. No descriptor is kept: the host program
 * might close it. */
#ifndef TRK_RECORDING_TAIL_H
#define TRK_RECORDING_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "recording/format.h"

struct trk_tail {
	int64_t at,
		last_at; /* of the first record that was not counted yet, and of the one before */
	unsigned char last[TRK_FRAME_SIZE]; /* the frame of that one */
	uint64_t rows;
	uint64_t wasted; /* of trk__parse_frame() */
	bool ended;      /* the end was written */
};

/* Count what was appended to `path` since the last call. Returns 0, or a negative errno. */
int trk__tail_update(struct trk_tail *t, const char *path);

#endif
