/* The screens of the live view, drawn into a frame. Pure: facts in, cells out. */
#ifndef TRK_TOP_VIEW_H
#define TRK_TOP_VIEW_H

#include "top/facts.h"
#include "top/frame.h"

struct trk_view_options {
	bool live;    /* shows the newest moment */
	bool playing; /* a replay is not paused */
	double speed; /* of a replay: seconds a second */
	bool overlay; /* draw the usual course over the charts */
	bool hide_gpus;
	bool help;       /* show the keys instead of the processes */
	bool once;       /* one frame: no line of keys */
	double window_s; /* time that charts show; 0: the whole run */
	enum trk_facts_sort sort;
	const char *filter;  /* "": none */
	bool typing;         /* the filter is being typed */
	size_t scroll;       /* number of processes above the first shown one */
	const char *message; /* in the last line instead of the keys; "": none */
};

/* One run. */
void trk__view_run(struct trk_frame *f, const struct trk_facts *facts,
		   const struct trk_watch *watch, const struct trk_view_options *o);

/* One line about a running run, as SIGUSR1 prints it: "align r-0a1b2c3d running 00:31:07 · CPU 6.1
 * of 16 · memory 13.9 of 16 GiB". */
void trk__view_line(struct trk_buf *b, const struct trk_facts *facts, bool utf8);

/* "00:31:07", "2d 03:04:05" from a day on. */
const char *trk__view_clock(char text[32], double seconds);

#endif
