/* The live view on a terminal: the loop of frames and keys. */
#ifndef TRK_TOP_LIVE_H
#define TRK_TOP_LIVE_H

#include "top/session.h"

struct trk_live_options {
	int in_fd, out_fd; /* of a terminal; borrowed */
	bool color, utf8;
};

/* Run until a key quits the view or the terminal hangs up, then restore the terminal. 0 or a
 * negative errno. */
int trk__live(struct trk_session *s, const struct trk_live_options *o);

#endif
