/* Ending all processes of the job, once a limit has acted.
 *
 * Each process of the tree gets TERM once, those that are found later as well; after the grace time
 * all that are left get KILL. The tree is searched again and again meanwhile, because members fork,
 * and orphans are adopted. The tracker ends when no process is left, or when those that are left
 * cannot be ended.
 *
 * Processes are found as the tracker's children and their descendants: as a subreaper it adopts the
 * orphans. Systems without subreapers have the members of trk_tree. */
#ifndef TRK_TRACK_TERMINATE_H
#define TRK_TRACK_TERMINATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "track/enforce.h"

struct trk_termination {
	int signo;    /* SIGTERM, then SIGKILL; 0: no limit has acted */
	int sent;     /* by the search that is going on: also SIGSTOP, before SIGKILL */
	bool is_over; /* no process is left, or those that are left cannot be ended */
	uint64_t begin_ns, next_ns; /* when this signal was sent first; of the next search */
	uint64_t found_ns;          /* when it was last sent to a process for the first time */
	unsigned char *told; /* owned; a bit for each pid that got the signal; NULL: no memory */
	pid_t *list;         /* owned; live processes of the last search */
	size_t count, cap;
	size_t told_now, refused; /* in that search: got the signal first; cannot be sent one */
	unsigned int empty;       /* searches in a row that found no process */
	bool is_complete;         /* it has found all children of the tracker */
	bool is_busy;             /* it has found a process that runs */
	pid_t cursor;             /* pids to ask for next, where nothing lists processes */
	uint64_t born_ticks;      /* start of the job, as of struct trk_pid_stat; 0: unknown */
	unsigned int requests;    /* to end the tracker, such as Ctrl-C, since TERM */
	/* In that search: "4711 (python): operation not permitted, 4712 …". is_cut: not all fit. */
	char left[TRK_ENFORCE_TEXT_SIZE];
	bool is_cut;
};

#endif
