/* The runs that go on in a directory of recordings, and the screen that lists them. */
#ifndef TRK_TOP_LIST_H
#define TRK_TOP_LIST_H

#include "top/facts.h"
#include "top/frame.h"

enum { TRK_LIST_MAX = 128 };

struct trk_list_run {
	char name[96]; /* of its recording */
	struct trk_watch watch;
};

struct trk_list {
	int runs_fd;                            /* borrowed */
	struct trk_list_run *run[TRK_LIST_MAX]; /* owned; newest first */
	size_t count;
	size_t left_out;    /* running ones beyond the maximum */
	int64_t changed_ns; /* of the directory at the last look */
	uint64_t look_ns;   /* at the latest */
};

/* Look for runs that began, forget those that ended, and read what the others recorded. A run is
 * taken for running while its tracker holds its recording. now_ns: monotonic. 0 or a negative
 * error. */
int trk__list_update(struct trk_list *l, uint64_t now_ns);
void trk__list_release(struct trk_list *l);

/* The name of the recording of the running run whose first process, or the tracker's mark in whose
 * environment, is this pid's; false: none. */
bool trk__list_find_pid(const struct trk_list *l, int proc_fd, pid_t pid, char name[96]);

/* One a row; `chosen` is the row of the cursor, `scroll` rows are above the screen. */
void trk__list_draw(struct trk_frame *f, const struct trk_list *l, size_t chosen, size_t scroll,
		    bool once, const char *message);
/* One object: schema "resource-tracker.top-list/1", and an array `runs`. */
void trk__list_json(struct trk_json *j, const struct trk_list *l);

#endif
