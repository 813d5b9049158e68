/* How long the next run of a job may take: the time limit to request, from the runs so far.
 *
 * The method is that of memory.h with run times in the place of peaks and risk safe, as a run that
 * reaches its time limit is lost as a whole, and time that is not used costs nothing. Its request
 * times TRK_TIME_MARGIN is the limit. A run that ended well counts with its run time, and one that
 * a time limit ended as a run that was killed at that limit. All other runs, which failed or were
 * stopped, show only that a run may take as long as they did: they raise a limit and never lower
 * it. docs/advice-replay.md shows what the rule costs on recorded jobs. */
#ifndef TRK_ADVISE_TIME_H
#define TRK_ADVISE_TIME_H

#include "advise/memory.h"

enum { TRK_TIME_REASONS_MAX = 3, TRK_TIME_REASON_SIZE = 160 };

#define TRK_TIME_MARGIN 1.35

struct trk_time_advice {
	double exact_s;       /* before it is rounded up to … */
	double limit_s;       /* in whole minutes, so that it can be written in each batch system */
	double expected_s;    /* run time to expect: as many runs take longer as shorter */
	double chance_exceed; /* that the next run takes longer than limit_s, 0 to 1 */
	double longest_s;     /* of the runs that ended well; NaN: none did */
	size_t runs_used;
	bool retry; /* a time limit ended the newest run: this is for its retry */
	size_t reason_count;
	char reason[TRK_TIME_REASONS_MAX][TRK_TIME_REASON_SIZE];
};

/* Advise on the next run after `count` earlier ones, oldest first (borrowed): their ends, run
 * times, inputs and time limits are read. `input_bytes`: of the next run; NaN: not known. Returns
 * 0; -TRK_ERR_NODATA if no run ended well or at its time limit; -ENOMEM. */
int trk__time_advise(const struct trk_past_run *runs, size_t count, double input_bytes,
		     struct trk_time_advice *ret);

#endif
