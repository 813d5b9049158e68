/* A line protocol over a socket between the library and the sampler process that it starts.
 *
 *     to the sampler      stop [EXIT CODE] | mark NAME
 *     from the sampler    recording PATH | gone TEXT | error TEXT | alert JSON
 *
 * gone: an error at the start, as the process that is to be tracked does not exist.
 *
 * The end of the stream means that the other process has exited. */
#ifndef TRK_TRACK_CONTROL_H
#define TRK_TRACK_CONTROL_H

#include <stddef.h>

enum { TRK_CONTROL_LINE = 4608 };

struct trk_control {
	int fd; /* borrowed; -1: none */
	char text[TRK_CONTROL_LINE];
	size_t len;
};

/* The next whole line, without its end, into line[TRK_CONTROL_LINE]; never blocks. Returns 1, 0
 * when there is none yet, or -EPIPE at the end of the stream. A line that is too long is
 * dropped. */
int trk__control_next(struct trk_control *c, char *line);

/* Send one line, "WORD REST". Never waits; 0 or a negative errno. */
int trk__control_send(int fd, const char *word, const char *rest);

#endif
