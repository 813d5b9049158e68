/* The live view on a terminal: the loop of frames and keys. */
#ifndef TRK_TOP_LIVE_H
#define TRK_TOP_LIVE_H

#include "top/session.h"

struct trk_live_options {
	int in_fd, out_fd; /* of a terminal; borrowed */
	bool color, utf8;
};

/* Until a key quits it, or the terminal is gone. 0 or a negative errno; the terminal is as
 * before. */
int trk__live(struct trk_session *s, const struct trk_live_options *o);

#endif
