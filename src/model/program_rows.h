/* The use by program of one row of a recording, as exports and the C API give it. */
#ifndef TRK_MODEL_PROGRAM_ROWS_H
#define TRK_MODEL_PROGRAM_ROWS_H

#include "model/programs.h"
#include "model/sample.h"

/* What a program used in a row. */
struct trk_program_row {
	size_t program; /* index; TRK_PROGRAM_REST: what belongs to none that is listed */
	double cpu_s, memory_mib;
	uint64_t processes; /* at its end */
};

/* One for each program that used CPU time in the row or holds memory, and one for what belongs to
 * none: their sums are the row's. At most TRK_PROGRAMS_MAX + 1; returns how many. `is_new`: the log's
 * newest record is of this row. */
size_t trk__program_rows(const struct trk_program_log *log, const struct trk_sample *row,
			 bool is_new, struct trk_program_row *list);

#endif
