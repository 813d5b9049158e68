/* Follow a recording, finished or still being written: each call decodes what was appended since
 * the last one, so that no row is read twice. Live view and replay use the same code.
 *
 * Thinning replaces the file while it is written. The follower then starts again: it empties the
 * record, calls on_reset, and decodes all records again. */
#ifndef TRK_RECORDING_FOLLOW_H
#define TRK_RECORDING_FOLLOW_H

#include "recording/reader.h"

struct trk_reading;

struct trk_follow_calls {
	void (*on_reset)(void *data); /* discard all rows so far; may be NULL */
	trk_row_fn *on_row;           /* each row, in order; may be NULL */
	/* Called after each record other than a row has been added to follow->record; type: enum
	 * trk_record_type. */
	void (*on_record)(void *data, int type); /* may be NULL */
	void *data;
};

struct trk_follow {
	struct trk_record record;
	struct trk_reading *reading; /* owned */
	struct trk_follow_calls calls;
	unsigned char *window; /* owned */
	int dirfd;             /* of the recordings; borrowed; AT_FDCWD: path names a file */
	char path[4096];
	int fd;
	uint64_t dev, inode;
	int64_t at;     /* of the first byte that was not decoded yet */
	int64_t recent; /* see trk__follow_open */
	long taken;     /* records in this update */
};

/* Open the recording `path` below dirfd (as trk__record_open). recent > 0: of a longer file only
 * the first record and about the last `recent` bytes are decoded, for a list of many runs; totals
 * then cover that end only. Nothing is decoded before the first update. 0, or a negative error with
 * *reterr and nothing to close. */
int trk__follow_open(struct trk_follow *f, int dirfd, const char *path, int64_t recent,
		     const struct trk_follow_calls *calls, struct trk_error *reterr);
void trk__follow_close(struct trk_follow *f);

/* Decode what is new. Sets record.writing and record.ended, and recovers a run without an end
 * (trk__record_recover). Returns the records that were decoded, TRK_ERR_DAMAGED while the file has no
 * intact first record, or another negative error. */
long trk__follow_update(struct trk_follow *f);

#endif
