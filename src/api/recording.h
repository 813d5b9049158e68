/* Implementation of the public struct trk_recording. */
#ifndef TRK_API_RECORDING_H
#define TRK_API_RECORDING_H

#include "model/programs.h"
#include "service/runs.h"

/* What a program used in a row. */
struct trk_recorded_use {
	size_t row;
	struct trk_program_row of;
};

struct trk_recording {
	struct trk_record record;
	struct trk_sample *row; /* owned */
	size_t rows, cap;
	struct trk_recorded_use *use; /* owned; of all rows, in their order */
	size_t uses, uses_cap;
	uint64_t program_records; /* that were read so far */
	char (*program_name)[96]; /* owned; made on first use */
	int error;
	struct trk_job_runs runs; /* count 0: no earlier runs are used */
	struct trk_change change; /* since the earlier runs of a history */
	bool has_change;
};

/* Advice for the next run, from the runs of trk_recording_earlier(), and how busy the cores were,
 * for the cost on other servers (a view). Errors of trk__advice_make. */
int trk__recording_advise(const struct trk_recording *r, struct trk_advice *ret,
			  const struct trk_busy **ret_busy);

#endif
