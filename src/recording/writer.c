#include "recording/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/blocking.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "base/maths.h"
#include "base/os.h"
#include "recording/format.h"
#include "recording/reader.h"
#include "recording/program_record.h"

enum {
	BATCH_BYTES = 64 * 1024,
	HELD_BYTES = 4 * 1024 * 1024,
	FRAMES_MAX = HELD_BYTES + TRK_PAYLOAD_MAX + TRK_FRAME_SIZE,
	END_ROOM = 8 * 1024, /* for the end of a run, which takes 1 to 2 kB */
	RESERVE_STEP = 16 * 1024,
};

struct trk_writer {
	int dirfd; /* borrowed */
	int fd;
	char name[TRK_TEMPORARY_SIZE];
	uint64_t size, max_bytes;
	uint64_t reserved;    /* disk space up to here; UINT64_MAX: cannot be reserved */
	uint64_t merge;       /* rows that become one in the next rewrite */
	struct trk_buf out;   /* frames that are being written */
	uint64_t lines_bytes; /* of records of stacks */
	int error;
	uint64_t lost;
	/* A thread uses the above: it writes, or opens the file. It may block meanwhile, and be
	 * abandoned (base/blocking.h); another thread then uses only what follows. */
	atomic_bool is_busy;

	struct trk_buf payload;
	struct trk_buf frames;     /* not written yet: at most batch_bytes and a record */
	size_t batch_bytes;        /* 0: each record is written at once */
	uint64_t pending;          /* records in `frames` */
	uint64_t dropped;          /* records for which `frames` had no room */
	_Atomic uint32_t gpus_crc; /* hash of the GPU record written last; 0: none */
	struct trk_programs_written programs;
};

/* Reserve disk space for `len` more bytes and for the end of the run after them. Returns a negative
 * errno if there is room for the end only. If the file system cannot reserve space, the end is
 * written only if there is room for it at that time. */
static int reserve(struct trk_writer *w, size_t len)
{
	uint64_t wanted = len + END_ROOM, more = RESERVE_STEP;
	int r;

	if (w->size + wanted <= w->reserved)
		return 0;
	r = trk__os_reserve(w->fd, w->size, wanted + more);
	if (r < 0 && r != -EOPNOTSUPP) {
		more = 0;
		r = trk__os_reserve(w->fd, w->size, wanted);
	}
	if (r < 0 && r != -EOPNOTSUPP)
		return r;
	w->reserved = r == 0 ? w->size + wanted + more : UINT64_MAX;
	return 0;
}

/* After a short write the file is cut back, so that no partial record precedes the next ones. */
static int write_frames(struct trk_writer *w)
{
	int r = trk__write_all(w->fd, w->out.data, w->out.len);

	if (r == 0) {
		w->size += w->out.len;
		return 0;
	}
	(void) !ftruncate(w->fd, (off_t) w->size);
	(void) lseek(w->fd, (off_t) w->size, SEEK_SET);
	w->reserved = 0;
	return r;
}

static int make_room(struct trk_writer *w);

/* Write `out`. is_end: into the space that was reserved for it. No space is reserved for the start. */
static int write_out(struct trk_writer *w, bool is_end)
{
	int r = w->out.error;

	if (r == 0 && w->fd < 0)
		r = -EBADF;
	if (r == 0 && !is_end)
		r = make_room(w);
	if (r == 0 && !is_end && w->size > TRK_SIGNATURE_SIZE)
		r = reserve(w, w->out.len);
	return r == 0 ? write_frames(w) : r;
}

bool trk__writer_is_busy(struct trk_writer *w)
{
	return atomic_load(&w->is_busy);
}

/* Write what `frames` holds. While another thread does, it is kept, or dropped beyond its bound. */
static int flush(struct trk_writer *w, bool is_end)
{
	struct trk_buf frames = w->frames;
	uint64_t count = w->pending;
	int r;

	w->pending = 0;
	if (trk__writer_is_busy(w)) {
		w->dropped += count;
		trk__buf_clear(&w->frames);
		return -EBUSY;
	}
	atomic_store(&w->is_busy, true);
	w->frames = w->out;
	w->out = frames;
	trk__buf_clear(&w->frames);
	r = write_out(w, is_end);
	if (r < 0) {
		w->lost += count;
		w->gpus_crc = 0;
		if (!w->error)
			w->error = r;
	}
	atomic_store(&w->is_busy, false);
	return r;
}

int trk__writer_flush(struct trk_writer *w)
{
	TRK_MAY_BLOCK(TRK_BLOCKING_STORAGE, 0);

	return w->pending == 0 || trk__writer_is_busy(w) ? 0 : flush(w, false);
}

static bool is_of_lines(enum trk_record_type type)
{
	return type >= TRK_RECORD_LINE_NAMES && type <= TRK_RECORD_LINE_STATE;
}

/* The payload of the next record, empty. */
static struct trk_buf *fresh(struct trk_writer *w)
{
	trk__buf_clear(&w->payload);
	return &w->payload;
}

/* Append the payload as one framed record. */
static int append(struct trk_writer *w, enum trk_record_type type)
{
	if (is_of_lines(type))
		w->lines_bytes += w->payload.len + TRK_FRAME_SIZE;
	trk__format_frame(&w->frames, type, &w->payload);
	w->pending++;
	if (w->frames.len < w->batch_bytes && !w->frames.error)
		return 0;
	return flush(w, type == TRK_RECORD_END);
}

/* Create a new file; fails for an existing file or a link. */
static int create(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int error = errno;
	struct stat st;

	if (fd >= 0)
		return fd;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		return -TRK_ERR_SYMLINK;
	return -error;
}

/* A writer without a file. */
static struct trk_writer *allocate(uint64_t max_bytes)
{
	struct trk_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = -1;
	w->max_bytes = max_bytes;
	w->merge = 8;
	trk__buf_init(&w->payload, TRK_PAYLOAD_MAX);
	trk__buf_init(&w->frames, FRAMES_MAX);
	trk__buf_init(&w->out, FRAMES_MAX);
	return w;
}

/* Make its file, which has a signature only. */
static int open_file(struct trk_writer *w, int dirfd, const char *name)
{
	int r;

	w->dirfd = dirfd;
	(void) snprintf(w->name, sizeof(w->name), "%s", name);
	w->fd = create(dirfd, name);
	r = w->fd < 0 ? w->fd : trk__write_all(w->fd, TRK_RECORDING_SIGNATURE, TRK_SIGNATURE_SIZE);
	if (r < 0)
		return r;
	w->size = TRK_SIGNATURE_SIZE;
	/* The lock shows readers that the run is still going on. */
	(void) flock(w->fd, LOCK_EX | LOCK_NB);
	return 0;
}

struct trk_writer *trk__writer_held(const struct trk_run *run)
{
	struct trk_writer *w = allocate(TRK_WRITER_MAX_BYTES);

	if (!w)
		return NULL;
	w->batch_bytes = HELD_BYTES;
	w->is_busy = true;
	trk__format_start(fresh(w), run);
	(void) append(w, TRK_RECORD_START);
	return w;
}

int trk__writer_open(struct trk_writer *w, int dirfd, const char *name)
{
	int r = open_file(w, dirfd, name);

	if (r < 0)
		w->error = r;
	atomic_store(&w->is_busy, false);
	return r;
}

struct trk_writer *trk__writer_new(int dirfd, const char *name, const struct trk_run *run,
				   uint64_t max_bytes, struct trk_error *reterr)
{
	struct trk_writer *w = trk__writer_held(run);
	int r = w ? trk__writer_open(w, dirfd, name) : -ENOMEM;

	if (r == 0) {
		w->max_bytes = max_bytes ? max_bytes : TRK_WRITER_MAX_BYTES;
		w->batch_bytes = 0;
		r = flush(w, false);
	}
	if (r == 0)
		return w;
	trk__writer_discard(w); /* not even its start could be written */
	(void) trk__error_set(reterr, r, name, "%s", trk__strerror(r));
	return NULL;
}

void trk__writer_free(struct trk_writer *w)
{
	if (!w)
		return;
	trk__close(w->fd);
	trk__buf_release(&w->payload);
	trk__buf_release(&w->frames);
	trk__buf_release(&w->out);
	free(w);
}

void trk__writer_discard(struct trk_writer *w)
{
	if (w && w->fd >= 0)
		(void) unlinkat(w->dirfd, w->name, 0);
	trk__writer_free(w);
}

/* ---- thinning ---- */

struct merged {
	uint64_t rows;
	double weight;
	struct trk_sample sum_or_last, min, max;
	double weighted[TRK_COLUMNS];
	double column_weight[TRK_COLUMNS];
};

struct rewrite {
	struct trk_writer *to;
	struct trk_schema schema;
	struct trk_run run; /* as the old file has it */
	bool has_start;
	uint64_t offset;     /* bytes of rows read so far in the old file */
	uint64_t keep_after; /* rows beyond this offset are copied */
	uint64_t merge;
	uint64_t gpu_rows; /* rows about GPUs among the merged rows: one in `merge` is kept */
	struct merged group;
	struct trk_program_log log; /* of the rows that are merged */
	struct trk_programs_merged programs;
	bool has_programs;           /* a record of programs was read, its row was not */
	struct trk_lines_sums lines; /* of `windows` records of counts of stacks */
	uint64_t windows;
	int64_t lines_from_us, lines_to_us;
};

static void merge_row(struct merged *m, uint64_t rows, const struct trk_sample *mean,
		      const struct trk_sample *min, const struct trk_sample *max)
{
	double seconds = trk__sample_get(mean, TRK_INTERVAL);

	if (!(seconds > 0))
		seconds = 1e-6;
	for (int i = 0; i < TRK_COLUMNS; i++) {
		bool first = !trk__sample_knows(&m->sum_or_last, i);

		if (!trk__sample_knows(mean, i))
			continue;
		if (trk__columns[i].kind == TRK_KIND_DELTA)
			trk__sample_set(&m->sum_or_last, i,
					(int64_t) ((uint64_t) m->sum_or_last.value[i] +
						   (uint64_t) mean->value[i]));
		else
			trk__sample_set(&m->sum_or_last, i, mean->value[i]);
		m->weighted[i] += (double) mean->value[i] * seconds;
		m->column_weight[i] += seconds;
		if (first || min->value[i] < m->min.value[i])
			trk__sample_set(&m->min, i, min->value[i]);
		if (first || max->value[i] > m->max.value[i])
			trk__sample_set(&m->max, i, max->value[i]);
	}
	m->rows += rows;
}

/* The use by program of the rows that are merged, before them. */
static void flush_programs(struct rewrite *w)
{
	trk__programs_merge_end(fresh(w->to), &w->programs);
	if (w->to->payload.len)
		(void) append(w->to, TRK_RECORD_PROGRAMS);
}

static void flush_group(struct rewrite *w)
{
	struct merged *m = &w->group;

	if (m->rows == 0)
		return;
	for (int i = 0; i < TRK_COLUMNS; i++) {
		enum trk_column_kind kind = trk__columns[i].kind;

		if ((kind == TRK_KIND_GAUGE || kind == TRK_KIND_RATE) && m->column_weight[i] > 0)
			m->sum_or_last.value[i] = trk__whole(
				m->weighted[i] / m->column_weight[i] + 0.5, INT64_MIN, INT64_MAX);
	}
	flush_programs(w);
	trk__format_thinned(fresh(w->to), m->rows, &m->sum_or_last, &m->min, &m->max);
	(void) append(w->to, TRK_RECORD_THINNED);
	memset(m, 0, sizeof(*m));
}

static int append_counts(struct trk_writer *w, int64_t from_us, int64_t to_us,
			 const struct trk_lines_count *count, size_t counts)
{
	enum { COUNTS_MAX = 3000 }; /* of a record: below its bound with the largest amounts */
	int r = 0;

	for (size_t at = 0; at < counts && r == 0; at += COUNTS_MAX) {
		size_t n = counts - at < COUNTS_MAX ? counts - at : COUNTS_MAX;

		trk__format_line_counts(fresh(w), from_us, to_us, count + at, n);
		r = append(w, TRK_RECORD_LINE_COUNTS);
	}
	return r;
}

/* Merge the counts of several intervals into one. */
static void flush_lines(struct rewrite *w)
{
	if (w->windows)
		(void) append_counts(w->to, w->lines_from_us, w->lines_to_us, w->lines.count,
				     w->lines.counts);
	trk__lines_sums_release(&w->lines);
	w->windows = 0;
}

static void merge_lines(struct rewrite *w, const unsigned char *payload, size_t len)
{
	if (w->windows++ == 0) {
		w->lines_from_us = INT64_MAX;
		w->lines_to_us = INT64_MIN;
	}
	(void) trk__merge_line_counts(payload, len, &w->lines, &w->lines_from_us, &w->lines_to_us);
	if (w->windows >= w->merge)
		flush_lines(w);
}

static void copy_record(struct rewrite *w, int type, const unsigned char *payload, size_t len)
{
	if (type != TRK_RECORD_GPU_ROW && !is_of_lines((enum trk_record_type)(type)))
		flush_group(w);
	/* Its row is the first one that is kept. */
	if (w->has_programs && (type == TRK_RECORD_SAMPLE || type == TRK_RECORD_THINNED)) {
		trk__programs_merge(&w->programs, 1e-6, true);
		flush_programs(w);
		w->has_programs = false;
	}
	if (type == TRK_RECORD_LINE_COUNTS)
		flush_lines(w);
	trk__buf_add(fresh(w->to), payload, len);
	(void) append(w->to, (enum trk_record_type) type);
}

/* Add a row of the older part to the group of rows that become one. */
static void merge_old_row(struct rewrite *w, int type, const unsigned char *payload, size_t len)
{
	struct trk_cursor c = {payload, payload + len, 0};
	struct trk_sample mean, min, max;
	uint64_t rows = 1;
	int r = -EBADMSG;

	if (type == TRK_RECORD_SAMPLE) {
		r = trk__parse_row(&c, &w->schema, &mean);
		min = max = mean;
	} else if (type == TRK_RECORD_THINNED) {
		r = trk__parse_thinned(payload, len, &w->schema, &rows, &mean, &min, &max);
	}
	if (r < 0)
		return;
	merge_row(&w->group, rows, &mean, &min, &max);
	trk__programs_merge(&w->programs, trk__sample_get(&mean, TRK_INTERVAL), w->has_programs);
	w->has_programs = false;
	if (w->group.rows >= w->merge)
		flush_group(w);
}

static int rewrite_record(void *data, int type, const unsigned char *payload, size_t len)
{
	struct rewrite *w = data;

	w->offset += len + TRK_FRAME_SIZE;
	if (type == TRK_RECORD_START) {
		w->has_start = trk__parse_start(payload, len, &w->schema, &w->run) == 0;
		if (w->has_start)
			copy_record(w, type, payload, len);
		return w->to->error;
	}
	if (type == TRK_RECORD_STATE ||
	    (type == TRK_RECORD_LINE_STATE && w->offset <= w->keep_after))
		return 0; /* a newer one follows */
	if (type == TRK_RECORD_PROGRAMS && w->offset <= w->keep_after) {
		w->has_programs = trk__parse_programs(payload, len, &w->log) == 0;
		return 0;
	}
	if (type == TRK_RECORD_LINE_COUNTS && w->offset <= w->keep_after) {
		merge_lines(w, payload, len);
		return w->to->error;
	}
	/* Marks and other single records are copied unchanged. */
	if (w->offset > w->keep_after || (type >= TRK_RECORD_MARK && type != TRK_RECORD_GPU_ROW) ||
	    (type == TRK_RECORD_GPU_ROW && w->gpu_rows++ % w->merge == 0)) {
		copy_record(w, type, payload, len);
		return w->to->error;
	}
	merge_old_row(w, type, payload, len);
	return w->to->error;
}

/* Write the thinned copy into `to`. Returns 0 or a negative error. */
static int rewrite_into(struct trk_writer *w, struct trk_writer *to)
{
	struct rewrite *work = calloc(1, sizeof(*work));
	long r;

	if (!work)
		return -ENOMEM;
	work->to = to;
	work->merge = w->merge;
	work->keep_after = w->size - w->size / 4;
	work->programs.log = &work->log;
	r = trk__records_walk(w->fd, w->name, rewrite_record, work);
	if (r >= 0) {
		flush_group(work);
		flush_lines(work);
	}
	if (r >= 0)
		r = work->has_start ? to->error : -EBADMSG;
	trk__lines_sums_release(&work->lines);
	trk__program_log_release(&work->log);
	free(work);
	return (int) r;
}

static int thin(struct trk_writer *w)
{
	char name[TRK_TEMPORARY_SIZE];
	struct trk_writer *to = allocate(UINT64_MAX);
	int r;

	if (!to)
		return -ENOMEM;
	trk__temporary_name(name, w->name);
	to->batch_bytes = BATCH_BYTES;
	r = open_file(to, w->dirfd, name);
	if (r == 0)
		r = rewrite_into(w, to);
	if (r == 0)
		r = flush(to, false);
	if (r == 0 && renameat(w->dirfd, name, w->dirfd, w->name) < 0)
		r = -errno;
	if (r < 0) {
		trk__writer_discard(to);
		return r;
	}
	trk__close(w->fd);
	w->fd = to->fd;
	w->size = to->size;
	w->reserved = to->reserved;
	w->lines_bytes = to->lines_bytes;
	to->fd = -1;
	trk__writer_free(to);
	return 0;
}

/* Keep the file below its bound. If thinning fails (no room for the copy), rows are dropped until
 * it succeeds. */
static int make_room(struct trk_writer *w)
{
	int r;

	if (w->size < w->max_bytes)
		return 0;
	r = thin(w);
	/* Merge more rows until at least 40 % are free, so that rewrites are rare. */
	while (r == 0 && w->size > w->max_bytes / 5 * 3 && w->merge < 1u << 30) {
		w->merge *= 2;
		r = thin(w);
	}
	return r;
}

int trk__writer_gpus(struct trk_writer *w, const struct trk_gpu_device *device, size_t count,
		     int64_t elapsed_us, int64_t interval_us)
{
	uint32_t crc;
	int r;

	trk__format_gpus(fresh(w), device, count);
	crc = trk__crc32c(1, w->payload.data, w->payload.len);
	if (crc != w->gpus_crc) {
		r = append(w, TRK_RECORD_GPUS);
		if (r < 0)
			return r;
		w->gpus_crc = crc;
	}
	trk__format_gpu_row(fresh(w), device, count, elapsed_us, interval_us);
	return append(w, TRK_RECORD_GPU_ROW);
}

int trk__writer_programs(struct trk_writer *w, const struct trk_programs_now *now,
			 int64_t elapsed_us, bool is_last)
{
	trk__format_programs(fresh(w), &w->programs, now, elapsed_us / 1000, is_last);
	return w->payload.len ? append(w, TRK_RECORD_PROGRAMS) : 0;
}

int trk__writer_row(struct trk_writer *w, const struct trk_sample *s)
{
	trk__format_row(fresh(w), s);
	return append(w, TRK_RECORD_SAMPLE);
}

int trk__writer_state(struct trk_writer *w, const struct trk_outcome *o)
{
	trk__format_outcome(fresh(w), o);
	return append(w, TRK_RECORD_STATE);
}

int trk__writer_limits(struct trk_writer *w, const struct trk_run *run)
{
	trk__format_limits(fresh(w), run);
	return append(w, TRK_RECORD_LIMITS);
}

int trk__writer_mark(struct trk_writer *w, const struct trk_mark *m)
{
	trk__format_mark(fresh(w), m);
	return append(w, TRK_RECORD_MARK);
}

int trk__writer_place(struct trk_writer *w, const struct trk_place *p, enum trk_place_part part)
{
	trk__place_format(fresh(w), p, part);
	return w->payload.len ? append(w, TRK_RECORD_PLACE) : 0;
}

int trk__writer_lines(struct trk_writer *w, const struct trk_lines *l,
		      struct trk_lines_written *from, int64_t from_us, int64_t to_us,
		      const struct trk_lines_count *count, size_t counts)
{
	int r = 0;

	while (r == 0) {
		if (!trk__format_line_names(fresh(w), l, from))
			break;
		r = append(w, TRK_RECORD_LINE_NAMES);
	}
	if (r == 0)
		r = append_counts(w, from_us, to_us, count, counts);
	if (r < 0)
		return r;
	trk__format_line_state(fresh(w), l);
	return append(w, TRK_RECORD_LINE_STATE);
}

void trk__writer_sizes(const struct trk_writer *w, uint64_t *ret_bytes, uint64_t *ret_lines_bytes)
{
	*ret_bytes = w->size;
	*ret_lines_bytes = w->lines_bytes;
}

int trk__writer_end(struct trk_writer *w, const struct trk_outcome *o)
{
	TRK_MAY_BLOCK(TRK_BLOCKING_STORAGE, 0);
	int r;

	if (trk__writer_is_busy(w)) {
		w->dropped += w->pending + 1;
		return -EBUSY;
	}
	if (w->pending)
		(void) flush(w, false);
	trk__format_outcome(fresh(w), o);
	w->batch_bytes = 0;
	r = append(w, TRK_RECORD_END);
	/* Frees what was reserved and is not used. */
	if (w->fd >= 0)
		(void) !ftruncate(w->fd, (off_t) w->size);
	return r;
}

void trk__writer_batch(struct trk_writer *w)
{
	w->batch_bytes = BATCH_BYTES;
}

int trk__writer_error(const struct trk_writer *w, uint64_t *ret_lost)
{
	*ret_lost = w->lost + w->dropped;
	return w->error ? w->error : w->dropped ? -EBUSY : 0;
}
