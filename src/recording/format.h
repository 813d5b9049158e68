/* The binary format of a recording. docs/recording-format.md describes it for readers, with all
 * payloads; a test decodes recordings by that page.
 *
 * A file is an 8-byte signature, then records. A record is
 *
 *     sync    4  b5 72 74 6b
 *     type    1
 *     flags   1  0
 *     length  4  of the payload, little-endian
 *     crc     4  CRC-32C of type, flags, length and payload
 *     payload
 *
 * Records are only appended. If a checksum fails, the reader looks for the next sync, so that a
 * damaged record does not affect others. Rows are a bit set of known columns and zigzag
 * varints; the first record names the columns and their units, so that files stay readable when the
 * table of columns changes. */
#ifndef TRK_RECORDING_FORMAT_H
#define TRK_RECORDING_FORMAT_H

#include "base/buf.h"
#include "model/run.h"

#define TRK_RECORDING_SIGNATURE "RTRK\x01\r\n\x1a"
enum {
	TRK_SIGNATURE_SIZE = 8,
	TRK_FRAME_SIZE = 14,
	TRK_PAYLOAD_MAX = 256 * 1024,
	TRK_WASTED_MAX = 256 << 20
};

enum trk_record_type {
	TRK_RECORD_START = 1, /* schema and struct trk_run */
	TRK_RECORD_SAMPLE,    /* one row */
	TRK_RECORD_THINNED,   /* several rows: count, means, minima, maxima */
	TRK_RECORD_STATE,     /* struct trk_outcome so far */
	TRK_RECORD_END,       /* struct trk_outcome at the end */
	TRK_RECORD_MARK,      /* struct trk_mark */
	TRK_RECORD_PLACE = 8, /* a part of struct trk_place (model/place.h) */
	TRK_RECORD_GPUS = 9,  /* the GPUs: model/gpu_log.h */
	TRK_RECORD_GPU_ROW,   /* their values, before the row of the same moment */
	TRK_RECORD_LIMITS,    /* limits and requests of struct trk_run, changed since the start */
	TRK_RECORD_PROGRAMS = 16, /* use by program, processes, before the row of the same moment */
	TRK_RECORD_LINE_NAMES = 20, /* this and the next: recording/line_record.h */
	TRK_RECORD_LINE_COUNTS,
	TRK_RECORD_LINE_STATE,
};

/* How the columns of a file map to the current ones. */
struct trk_schema {
	size_t count;
	int column[TRK_COLUMN_BITS];      /* the current one, or -1: unknown */
	int64_t divisor[TRK_COLUMN_BITS]; /* of the file */
};

/* Append one framed record with this payload. */
void trk__format_frame(struct trk_buf *out, enum trk_record_type type,
		       const struct trk_buf *payload);

/* Append the payload of a record to b. */
void trk__format_start(struct trk_buf *b, const struct trk_run *run);
void trk__format_row(struct trk_buf *b, const struct trk_sample *s);
void trk__format_thinned(struct trk_buf *b, uint64_t rows, const struct trk_sample *mean,
			 const struct trk_sample *min, const struct trk_sample *max);
void trk__format_outcome(struct trk_buf *b, const struct trk_outcome *o);

void trk__format_limits(struct trk_buf *b, const struct trk_run *run);
/* The names of the devices and the reason for each unknown value: when any of these changes. The
 * values of one sample come before the row of that sample; a reader adds them up as the tracker
 * did. */
void trk__format_gpus(struct trk_buf *b, const struct trk_gpu_device *device, size_t count);
void trk__format_gpu_row(struct trk_buf *b, const struct trk_gpu_device *device, size_t count,
			 int64_t elapsed_us, int64_t interval_us);
/* Pairs of a key and a value, in a record per part; nothing if the part is not known. The machine is
 * written at the start, the cloud when the metadata service has answered, the cost at the end. A
 * reader skips unknown keys; a later record adds to an earlier one. */
void trk__place_format(struct trk_buf *b, const struct trk_place *p, enum trk_place_part part);
void trk__format_mark(struct trk_buf *b, const struct trk_mark *m);

/* Decode a payload. Each returns 0 or -EBADMSG. */
int trk__parse_start(const void *data, size_t len, struct trk_schema *schema, struct trk_run *run);
int trk__parse_row(struct trk_cursor *c, const struct trk_schema *schema, struct trk_sample *ret);
int trk__parse_thinned(const void *data, size_t len, const struct trk_schema *schema,
		       uint64_t *ret_rows, struct trk_sample *mean, struct trk_sample *min,
		       struct trk_sample *max);
/* Sets limits and requests only. */
int trk__parse_limits(const void *data, size_t len, struct trk_run *run);
/* Into device[0..TRK_GPUS_MAX); a failure leaves everything untouched. */
int trk__parse_gpus(const void *data, size_t len, struct trk_gpu_device *device, size_t *ret_count);
/* Set the values of `device`, which trk__parse_gpus has filled. */
int trk__parse_gpu_row(const void *data, size_t len, struct trk_gpu_device *device, size_t count,
		       int64_t *ret_elapsed_us, int64_t *ret_interval_us);
/* Add the fields of one part to *p. */
int trk__place_parse(const void *data, size_t len, struct trk_place *p);
int trk__parse_mark(const void *data, size_t len, struct trk_mark *ret);
int trk__parse_outcome(const void *data, size_t len, struct trk_outcome *ret);

/* A whole frame at data[0..len): returns its size with the payload's place and type; 0 when more
 * bytes are needed; -EBADMSG when the record is not intact.
 *
 * Adds the bytes of a record with a wrong check sum to *wasted, 0 at the start of a file. From
 * TRK_WASTED_MAX on no record counts as intact: in a forged file a long one may begin at every few
 * bytes. */
long trk__parse_frame(const unsigned char *data, size_t len, uint64_t *wasted, int *ret_type,
		      const unsigned char **ret_payload, size_t *ret_len);

#endif
