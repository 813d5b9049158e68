/* Runs of the past, for tests of the advice on memory. */
#ifndef TEST_PAST_RUNS_H
#define TEST_PAST_RUNS_H

#include "model/past_run.h"

static inline struct trk_past_run past_run_of(double peak_bytes, double duration_s,
					      double input_bytes, double limit_bytes,
					      enum trk_past_end end)
{
	struct trk_past_run run;

	trk__past_run_init(&run);
	run.memory.bytes = peak_bytes;
	run.duration_s = duration_s;
	run.input_bytes = input_bytes;
	run.limit_memory_bytes = limit_bytes;
	run.end = end;
	return run;
}

#endif
