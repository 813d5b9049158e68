/* Decode the records of a recording one by one into a struct trk_record; used by reader.c and
 * follow.c. Private to this folder. */
#ifndef TRK_RECORDING_READING_H
#define TRK_RECORDING_READING_H

#include "recording/reader.h"

struct trk_reading {
	struct trk_record *record; /* borrowed */
	struct trk_schema schema;
	bool has_start, start_only, rows_only;
	trk_row_fn *on_row;
	void *data;
	long undecodable;
	uint64_t program_rows;      /* records of programs in the time series of programs */
	struct trk_gpu_device *gpu; /* owned: TRK_GPUS_MAX, as the file has them so far */
	size_t gpus;
};

/* Take one record: a trk_record_fn on a struct trk_reading. Non-zero stops. */
int trk__reading_take(void *data, int type, const unsigned char *payload, size_t len);
/* True if a writer holds its lock on the open file. */
bool trk__reading_has_writer(int fd);

#endif
