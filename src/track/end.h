/* How a run ended: the verdict, and the evidence for it. Pure: no I/O.
 *
 * A kill by the kernel, out of memory, must fit the job before it counts as the job's end: the job
 * has failed, one of its processes ended when the kill was counted, and it held enough of the
 * limit. A neighbour in the same control group may have been the victim, and then the job's own
 * exit code stands. */
#ifndef TRK_TRACK_END_H
#define TRK_TRACK_END_H

#include "track/kills.h"
#include "model/run.h"

struct trk_end_facts {
	/* run: the job was reaped. */
	bool reaped;
	int wait_status;
	/* The tracker ended the job for a limit of its own; TRK_VERDICT_RUNNING: it did not. */
	enum trk_verdict limit;
	const char *limit_text;
	/* attach: see struct trk_finish. */
	bool root_ended, lost, abandoned, stated;
	int stated_code;
	struct trk_kills kills;
	/* Kills in a group that a process of the job entered after the start, as a sentence, and
	 * its limit; NULL or "", and NaN: none. */
	const char *entered;
	double entered_limit_mib;
	bool is_alone;     /* no process of others was ever seen in the job's group */
	bool limit_is_own; /* the memory limit is that of the job's own group, not of one above */
	double held_mib;   /* most that the job held; NaN: not known */
	double limit_mib;  /* that the kernel enforces, or the machine's memory; NaN: not known */
};

/* Set verdict, code, signal and evidence of *ret. */
void trk__end_judge(const struct trk_end_facts *f, struct trk_outcome *ret);

#endif
