/* Implementation of the public struct trk_recording. */
#ifndef TRK_API_RECORDING_H
#define TRK_API_RECORDING_H

#include "model/programs.h"
#include "recording/reader.h"

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
};

#endif
