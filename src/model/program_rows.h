/* The use by program of one row of a recording, for exports and the C API. */
#ifndef TRK_MODEL_PROGRAM_ROWS_H
#define TRK_MODEL_PROGRAM_ROWS_H

#include "model/programs.h"
#include "model/sample.h"

/* What a program used in a row. */
struct trk_program_row {
	size_t program; /* index; TRK_PROGRAM_REST: use of no listed program */
	double cpu_s, memory_mib;
	uint64_t processes; /* at its end */
};

/* Write an entry for each program that used CPU time in the row or holds memory, and one for the
 * rest, so that the sums equal the row's values. At most TRK_PROGRAMS_MAX + 1; returns how many.
 * `is_new`: the log's newest record belongs to this row. */
size_t trk__program_rows(const struct trk_program_log *log, const struct trk_sample *row,
			 bool is_new, struct trk_program_row *list);

#endif
