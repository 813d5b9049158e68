/* The running runs in a directory of recordings, and the screen that lists them. */
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
	size_t left_out;    /* running runs beyond the maximum */
	int64_t changed_ns; /* modification time of the directory at the last update */
	uint64_t look_ns;   /* time of the next look into the directory, at the latest */
};

/* Add runs that began, remove those that ended, and read new rows of the others. A run counts as
 * running while its tracker holds the lock of its recording. now_ns: monotonic. 0 or a negative
 * error. */
int trk__list_update(struct trk_list *l, uint64_t now_ns);
void trk__list_release(struct trk_list *l);

/* Find the recording of the running run whose root process is `pid`, or whose id is in the
 * environment of `pid`. False: none. */
bool trk__list_find_pid(const struct trk_list *l, int proc_fd, pid_t pid, char name[96]);

/* Draw the list, one run per row; `chosen` is the row of the cursor, `scroll` rows are above the
 * screen. */
void trk__list_draw(struct trk_frame *f, const struct trk_list *l, size_t chosen, size_t scroll,
		    bool once, const char *message);
/* One object: schema "resource-tracker.top-list/1", and an array `runs`. */
void trk__list_json(struct trk_json *j, const struct trk_list *l);

#endif
