/* What stands behind the public struct trk_recording. */
#ifndef TRK_API_RECORDING_H
#define TRK_API_RECORDING_H

#include "record/run.h"

struct trk_recording {
	struct trk_record record;
	struct trk_sample *row; /* owned */
	size_t rows, cap;
	int error;
};

#endif
