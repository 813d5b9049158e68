/* Limits that the tracker itself enforces: a warning, then TERM, then KILL after a grace time.
 * Pure: the caller passes the time and the memory, and carries out the result. */
#ifndef TRK_TRACK_ENFORCE_H
#define TRK_TRACK_ENFORCE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/run.h"

enum { TRK_ENFORCE_TEXT_SIZE = 160 };
#define TRK_ENFORCE_GRACE_NS 5000000000ull /* between TERM and KILL, if nothing else is said */

struct trk_enforce {
	uint64_t time_ns;      /* 0: no limit */
	uint64_t memory_bytes; /* of trk__sampler_held_bytes; 0: no limit */
	uint64_t grace_ns;     /* between TERM and KILL */
	/* State. */
	bool time_warned, memory_warned;
	bool killed;
	uint64_t kill_ns;   /* when KILL is due; 0: no TERM was sent */
	enum trk_end limit; /* which limit it was; TRK_END_RUNNING: none */
};

enum trk_enforce_step { TRK_ENFORCE_NOTHING, TRK_ENFORCE_WARN, TRK_ENFORCE_TERM, TRK_ENFORCE_KILL };

/* The next step that is due, one a call; `text` is the reason for all but TRK_ENFORCE_NOTHING. Each
 * limit warns once, at 90 %. */
enum trk_enforce_step trk__enforce(struct trk_enforce *e, uint64_t elapsed_ns,
				   uint64_t memory_bytes, char text[TRK_ENFORCE_TEXT_SIZE]);

/* KILL is due now, if TERM was sent. */
void trk__enforce_hurry(struct trk_enforce *e, uint64_t elapsed_ns);

/* The next time at which a step is due, whatever the memory; UINT64_MAX: none. */
uint64_t trk__enforce_next_ns(const struct trk_enforce *e);

#endif
