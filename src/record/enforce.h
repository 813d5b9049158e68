/* Limits that the tracker itself holds the job to: warn, then TERM, then KILL after a grace time.
 * Pure: the caller tells the time and the memory, and does what is asked for. */
#ifndef TRK_RECORD_ENFORCE_H
#define TRK_RECORD_ENFORCE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/run.h"

enum { TRK_ENFORCE_TEXT_SIZE = 160 };

struct trk_enforce {
	uint64_t time_ns;      /* 0: no limit */
	uint64_t memory_bytes; /* of the tree, PSS; 0: no limit */
	uint64_t grace_ns;     /* between TERM and KILL */
	/* State. */
	bool time_warned, memory_warned;
	bool killed;
	uint64_t kill_ns;         /* when KILL is due; 0: not told to end yet */
	enum trk_verdict verdict; /* which limit it was; TRK_VERDICT_RUNNING: none */
};

enum trk_enforce_step { TRK_ENFORCE_NOTHING, TRK_ENFORCE_WARN, TRK_ENFORCE_TERM, TRK_ENFORCE_KILL };

/* What is due now, one step a call; `text` says why for all but TRK_ENFORCE_NOTHING. A warning comes
 * once for each limit, at nine tenths of it. */
enum trk_enforce_step trk__enforce(struct trk_enforce *e, uint64_t elapsed_ns,
				   uint64_t memory_bytes, char text[TRK_ENFORCE_TEXT_SIZE]);

/* The next moment at which something is due whatever the memory does; UINT64_MAX: none. */
uint64_t trk__enforce_next_ns(const struct trk_enforce *e);

#endif
