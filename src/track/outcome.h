/* How a run ended, and the evidence for it. Pure: no I/O.
 *
 * An out-of-memory kill counts as the end of the job only if the job failed soon after it, one of
 * its processes ended when the kernel counted the kill, and the job held enough of the limit.
 * Otherwise the job went on without that process, or the victim may have been another process in the
 * control group, and the exit code or signal of the job stands. */
#ifndef TRK_TRACK_OUTCOME_H
#define TRK_TRACK_OUTCOME_H

#include "track/kills.h"
#include "model/run.h"

struct trk_outcome_facts {
	/* run: whether the job was reaped. */
	bool reaped;
	int wait_status;
	/* The tracker's limit for which it ended the job; TRK_END_RUNNING: it did not. */
	enum trk_end limit;
	const char *limit_text;
	bool root_ended; /* attach */
	bool lost;       /* run: the job has ended, and another waiter took its result */
	bool abandoned;  /* attach: the program that started the tracker has gone without a stop */
	bool stated;     /* attach: that program has sent the job's exit code */
	int stated_code;
	struct trk_kills kills;
	/* A sentence on kills in a group that a process of the job entered after the start (NULL or
	 * "": none), and the limit of that group (NaN: none). */
	const char *entered;
	double entered_limit_mib;
	bool is_alone;     /* no other process was ever seen in the job's group */
	bool limit_is_own; /* the memory limit is that of the job's own group, not of one above */
	double held_mib;   /* most that the job held; NaN: not known */
	double limit_mib;  /* that the kernel enforces, or the machine's memory; NaN: not known */
};

/* Set end, code, signal, evidence and memory_kills of *ret. */
void trk__outcome_judge(const struct trk_outcome_facts *f, struct trk_outcome *ret);

#endif
