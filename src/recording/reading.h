/* Find the records of a recording one by one, and decode them into a struct trk_record. Private to
 * this folder. */
#ifndef TRK_RECORDING_READING_H
#define TRK_RECORDING_READING_H

#include "recording/reader.h"

/* Bytes of a file that are looked at together: the longest record fits. */
enum { TRK_READING_WINDOW = TRK_PAYLOAD_MAX + TRK_FRAME_SIZE };

/* Finding records. Zero-initialised: at the start of a file. */
struct trk_frames {
	long damaged;    /* places without an intact record */
	long cut;        /* the part of them after a record that the end of the file cuts off */
	uint64_t wasted; /* of trk__parse_frame() */
	bool stopped;    /* on_record has returned non-zero */
};

/* Pass on the whole records of data[0..len), up to one at which on_record returns non-zero. Returns
 * the bytes used; is_last: the file ends there, so that half a record at the end is damage. */
size_t trk__frames_take(struct trk_frames *f, const unsigned char *data, size_t len, bool is_last,
			trk_record_fn *on_record, void *user);
/* The same from *at on to the end of the file, which may grow: *at is advanced. `window`: memory for
 * TRK_READING_WINDOW bytes. 0 or a negative errno. */
int trk__frames_read(struct trk_frames *f, int fd, int64_t *at, unsigned char *window,
		     trk_record_fn *on_record, void *user);
/* Check the first bytes of a file. 0, -TRK_ERR_FORMAT or -TRK_ERR_VERSION with *reterr. */
int trk__signature_check(const unsigned char *start, size_t len, const char *path,
			 struct trk_error *reterr);

struct trk_reading {
	struct trk_record *record; /* borrowed */
	struct trk_schema schema;
	struct trk_frames frames;
	bool has_start, start_only, rows_only;
	trk_row_fn *on_row;
	void *data;
	long undecodable;
	uint64_t program_rows; /* records of programs in the time series of programs */
	bool is_of_another;    /* the file belongs to `owner`, neither this user nor root */
	int64_t owner;
	struct trk_gpu_device *gpu; /* owned: TRK_GPUS_MAX, as the file has them so far */
	size_t gpus;
};

/* Take one record: a trk_record_fn on a struct trk_reading. Non-zero stops. */
int trk__reading_take(void *data, int type, const unsigned char *payload, size_t len);
/* Set the owner of the open file. */
void trk__reading_own(struct trk_reading *r, int fd);
/* True if a writer holds its lock on the open file. */
bool trk__reading_has_writer(int fd);

#endif
