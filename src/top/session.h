/* A session of the live view: its state, the effect of keys, and the frames. The caller passes the
 * time, so that tests control it. */
#ifndef TRK_TOP_SESSION_H
#define TRK_TOP_SESSION_H

#include "base/env.h"
#include "top/list.h"
#include "top/view.h"

struct trk_session_options {
	const char *dir; /* of the recordings, for the history; borrowed */
	int runs_fd;     /* borrowed; -1: none */
	int proc_fd;     /* borrowed; -1: none */
	double at_s;     /* where a replay begins; NaN: at the newest moment */
	enum trk_facts_sort sort;
};

struct trk_session {
	struct trk_session_options options;
	bool has_run; /* else the list is shown */
	struct trk_watch watch;
	struct trk_usual_course *usual; /* owned; NULL: not known */
	bool usual_looked_for;
	struct trk_processes processes;
	struct trk_list list;
	size_t chosen, scroll;
	struct trk_view_options view;
	struct trk_facts *facts; /* owned */
	double t_s;              /* of a replay */
	uint64_t moved_ns;       /* when t_s was moved last */
	char filter[64], message[160];
	bool quit;
};

/* The list of running runs, or, with a recording `run` below dirfd, that run. 0,
 * or a negative error with *reterr and nothing to release. */
int trk__session_init(struct trk_session *s, const struct trk_session_options *o, const char *run,
		      int dirfd, struct trk_error *reterr);
void trk__session_release(struct trk_session *s);

/* Read new rows and advance a replay. 0 or a negative error. */
int trk__session_update(struct trk_session *s, uint64_t now_ns);
/* Load the usual course of the job from the history. May be slow: call it after the first frame. */
void trk__session_load_usual(struct trk_session *s);
void trk__session_key(struct trk_session *s, int key, uint64_t now_ns);
/* Draw the current frame. */
void trk__session_draw(struct trk_session *s, struct trk_frame *f);
void trk__session_json(struct trk_session *s, struct trk_buf *b);

#endif
