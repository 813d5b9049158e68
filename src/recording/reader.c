#include "recording/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/file.h"
#include "base/trust.h"
#include "recording/death.h"
#include "recording/line_record.h"
#include "recording/program_record.h"
#include "recording/reading.h"

enum { WINDOW = TRK_READING_WINDOW };

/* Many times the bound of the writer; a sparse file can have any size. */
#define FILE_MAX ((off_t) 1 << 30)

/* A sliding window over the file. */
struct window {
	int fd;
	unsigned char *data; /* owned */
	size_t len;
	off_t at;
	struct trk_frames frames;
};

static int fill(struct window *w)
{
	while (w->len < WINDOW) {
		ssize_t n = pread(w->fd, w->data + w->len, WINDOW - w->len, w->at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		w->at += n;
		w->len += (size_t) n;
	}
	return 0;
}

/* The next place that may be a record. */
static size_t next_sync(const unsigned char *data, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (data[i] == 0xb5 && (len - i < 4 || !memcmp(data + i, "\xb5rtk", 4)))
			return i;
	return len;
}

int trk__signature_check(const unsigned char *start, size_t len, const char *path,
			 struct trk_error *reterr)
{
	if (len < TRK_SIGNATURE_SIZE || memcmp(start, TRK_RECORDING_SIGNATURE, 4) != 0)
		return trk__error_set(reterr, -TRK_ERR_FORMAT, path,
				      "%s: not a resource-tracker recording", path);
	if (start[4] > (unsigned char) TRK_RECORDING_SIGNATURE[4])
		return trk__error_set(
			reterr, -TRK_ERR_VERSION, path,
			"%s: made by a newer version (format %u, this program reads %u)", path,
			(unsigned int) start[4], (unsigned int) TRK_RECORDING_SIGNATURE[4]);
	return 0;
}

size_t trk__frames_take(struct trk_frames *f, const unsigned char *data, size_t len, bool is_last,
			trk_record_fn *on_record, void *user)
{
	size_t used = 0;

	while (used < len && !f->stopped) {
		const unsigned char *payload = NULL;
		size_t size = 0;
		int type = 0;
		long n = trk__parse_frame(data + used, len - used, &f->wasted, &type, &payload,
					  &size);

		if (n > 0) {
			f->stopped = on_record(user, type, payload, size) != 0;
			used += (size_t) n;
			f->cut = 0;
		} else if (n < 0 || is_last) {
			/* Damage; or a record cut by the end of the file, which another may follow
			 * if the length itself is damaged. */
			f->damaged++;
			f->cut += n == 0 || f->cut > 0;
			used += next_sync(data + used, len - used);
		} else {
			break;
		}
	}
	return used;
}

int trk__frames_read(struct trk_frames *f, int fd, int64_t *at, unsigned char *window,
		     trk_record_fn *on_record, void *user)
{
	size_t used = 1;
	ssize_t n = 0;

	for (f->stopped = false; used > 0 && !f->stopped; *at += (int64_t) used) {
		n = pread(fd, window, WINDOW, (off_t) *at);
		used = n > 0 ? trk__frames_take(f, window, (size_t) n, false, on_record, user) : 0;
	}
	return n < 0 ? -errno : 0;
}

static long walk(int fd, const char *path, trk_record_fn *on_record, void *data, long *ret_cut,
		 struct trk_error *reterr)
{
	struct window w = {.fd = fd};
	bool more = true;
	size_t used = TRK_SIGNATURE_SIZE;
	int r;

	w.data = malloc(WINDOW);
	if (!w.data)
		return trk__error_set(reterr, -ENOMEM, path, "out of memory");
	r = fill(&w);
	if (r < 0)
		(void) trk__error_set(reterr, r, path, "%s: cannot read: %s", path,
				      trk__strerror(r));
	else
		r = trk__signature_check(w.data, w.len, path, reterr);
	/* Stop at the first end of file, even if the file grows meanwhile: the bytes after a cut
	 * record would be its second half. */
	while (r == 0 && more && !w.frames.stopped) {
		w.len -= used;
		memmove(w.data, w.data + used, w.len);
		r = fill(&w);
		if (r < 0 || w.len == 0)
			break;
		more = w.len == WINDOW;
		used = trk__frames_take(&w.frames, w.data, w.len, !more, on_record, data);
	}
	free(w.data);
	if (r < 0)
		return r;
	*ret_cut = w.frames.cut;
	return w.frames.damaged;
}

long trk__records_walk(int fd, const char *path, trk_record_fn *on_record, void *data)
{
	long cut;

	return walk(fd, path, on_record, data, &cut, NULL);
}

/* ---- a whole recording ---- */

static int take_rows(struct trk_reading *r, uint64_t rows, const struct trk_sample *mean,
		     const struct trk_sample *min, const struct trk_sample *max)
{
	struct trk_program_log *programs = &r->record->programs;
	double to_s = trk__sample_get(mean, TRK_ELAPSED);

	if (!r->rows_only)
		trk__record_add(r->record, rows, mean, min, max);
	if (programs->program) {
		trk__program_log_row(programs, to_s - trk__sample_get(mean, TRK_INTERVAL), to_s,
				     programs->rows != r->program_rows);
		r->program_rows = programs->rows;
	}
	return r->on_row ? r->on_row(r->data, rows, mean, min, max) : 0;
}

static int take_gpus(struct trk_reading *r, int type, const unsigned char *payload, size_t len)
{
	int64_t elapsed_us, interval_us;
	int bad;

	if (!r->gpu)
		r->gpu = calloc(TRK_GPUS_MAX, sizeof(*r->gpu));
	if (!r->gpu)
		return -ENOMEM;
	if (type == TRK_RECORD_GPUS) {
		trk__gpu_log_renew(&r->record->gpus);
		return trk__parse_gpus(payload, len, r->gpu, &r->gpus);
	}
	bad = trk__parse_gpu_row(payload, len, r->gpu, r->gpus, &elapsed_us, &interval_us);
	if (bad == 0)
		bad = trk__gpu_log_add_read(&r->record->gpus, r->gpu, r->gpus, elapsed_us,
					    (double) interval_us / 1e6);
	return bad;
}

void trk__reading_own(struct trk_reading *r, int fd)
{
	struct stat st;

	r->is_of_another = fstat(fd, &st) == 0 && st.st_uid != geteuid() && st.st_uid != 0;
	r->owner = r->is_of_another ? (int64_t) st.st_uid : 0;
}

static int take_lines(const struct trk_reading *r, int type, const unsigned char *payload,
		      size_t len)
{
	struct trk_record *record = r->record;
	int bad;

	if (!record->lines) {
		record->lines = trk__lines_new();
		if (!record->lines)
			return -ENOMEM;
		record->lines->keeps_windows = true;
	}
	bad = type == TRK_RECORD_LINE_NAMES    ? trk__parse_line_names(payload, len, record->lines)
	      : type == TRK_RECORD_LINE_COUNTS ? trk__parse_line_counts(payload, len, record->lines)
					       : trk__parse_line_state(payload, len, record->lines);
	if (r->is_of_another) /* whatever the file claims */
		record->lines->user = r->owner;
	return bad;
}

int trk__reading_take(void *data, int type, const unsigned char *payload, size_t len)
{
	struct trk_reading *r = data;
	struct trk_cursor c = {payload, payload + len, 0};
	struct trk_sample mean, min, max;
	struct trk_mark mark;
	uint64_t rows;
	int bad = 0;

	if (type == TRK_RECORD_START && r->has_start)
		return 0; /* a file has one */
	if (type == TRK_RECORD_START) {
		bad = trk__parse_start(payload, len, &r->schema, &r->record->run);
		r->has_start = bad == 0;
		return r->start_only && r->has_start;
	}
	if (!r->has_start ||
	    (r->rows_only && type != TRK_RECORD_SAMPLE && type != TRK_RECORD_THINNED))
		return 0;
	switch (type) {
	case TRK_RECORD_SAMPLE:
		bad = trk__parse_row(&c, &r->schema, &mean);
		if (bad == 0)
			return take_rows(r, 1, &mean, &mean, &mean);
		break;
	case TRK_RECORD_THINNED:
		bad = trk__parse_thinned(payload, len, &r->schema, &rows, &mean, &min, &max);
		if (bad == 0)
			return take_rows(r, rows, &mean, &min, &max);
		break;
	case TRK_RECORD_STATE:
	case TRK_RECORD_END:
		bad = trk__parse_outcome(payload, len, &r->record->outcome);
		r->record->ended |= bad == 0 && type == TRK_RECORD_END;
		break;
	case TRK_RECORD_MARK:
		bad = trk__parse_mark(payload, len, &mark);
		if (bad == 0)
			(void) trk__record_mark(r->record, &mark);
		break;
	case TRK_RECORD_LIMITS:
		bad = trk__parse_limits(payload, len, &r->record->run);
		break;
	case TRK_RECORD_PLACE:
		bad = trk__place_parse(payload, len, &r->record->place);
		break;
	case TRK_RECORD_GPUS:
	case TRK_RECORD_GPU_ROW:
		bad = take_gpus(r, type, payload, len);
		break;
	case TRK_RECORD_PROGRAMS:
		bad = trk__parse_programs(payload, len, &r->record->programs);
		break;
	case TRK_RECORD_LINE_NAMES:
	case TRK_RECORD_LINE_COUNTS:
	case TRK_RECORD_LINE_STATE:
		bad = take_lines(r, type, payload, len);
		break;
	default: /* of a newer version that old readers may skip */
		break;
	}
	r->undecodable += bad != 0;
	return 0;
}

/* The writer holds a lock for as long as it lives. */
bool trk__reading_has_writer(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	(void) flock(fd, LOCK_UN);
	return false;
}

int trk__record_open(int dirfd, const char *path, struct trk_error *reterr)
{
	struct trk_error why = {.code = 0};
	struct stat st;
	int fd = dirfd == AT_FDCWD ? trk__open_regular_at(dirfd, path)
				   : trk__trust_open_entry(dirfd, path, &why);

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size <= FILE_MAX)
		return fd;
	if (fd >= 0) {
		trk__close(fd);
		return trk__error_set(reterr, -EFBIG, path, "%s: larger than any recording", path);
	}
	if (why.message[0]) {
		if (reterr)
			*reterr = why;
		return fd;
	}
	return trk__error_set(reterr, fd, path, "%s: cannot open: %s", path, trk__strerror(fd));
}

static int read_with(int dirfd, const char *path, struct trk_reading *r, struct trk_error *reterr)
{
	TRK_FD_CLEANUP int fd = trk__record_open(dirfd, path, reterr);
	bool writing;
	long damaged, cut;

	if (fd < 0)
		return fd;
	/* Read first: a run that ends during the reading then counts as running, or its end is
	 * there. */
	writing = trk__reading_has_writer(fd);
	trk__reading_own(r, fd);
	damaged = walk(fd, path, trk__reading_take, r, &cut, reterr);
	free(r->gpu);
	r->gpu = NULL;
	if (damaged < 0)
		return (int) damaged;
	if (!r->has_start)
		return trk__error_set(reterr, -TRK_ERR_DAMAGED, path,
				      "%s: damaged recording: its first record is not intact",
				      path);
	r->record->writing = writing && !r->record->ended;
	/* Half a record may be one that is being written. */
	r->record->damaged = (uint64_t) (damaged - (writing ? cut : 0) + r->undecodable);
	return 0;
}

/* Without an end the totals are the sums of all rows. */
static void recover_totals(struct trk_record *record)
{
	static const struct {
		int total, column;
	} sums[] = {
		{TRK_TOTAL_CPU_USER_S, TRK_PROCESS_UTIME},
		{TRK_TOTAL_CPU_SYSTEM_S, TRK_PROCESS_STIME},
		{TRK_TOTAL_DISK_READ_BYTES, TRK_PROCESS_DISK_READ},
		{TRK_TOTAL_DISK_WRITE_BYTES, TRK_PROCESS_DISK_WRITE},
		{TRK_TOTAL_MAJOR_FAULTS, TRK_PROCESS_MAJOR_FAULTS},
	};
	struct trk_quantity *total = record->outcome.total;
	const char *reason = record->writing ? "still running: up to the last sample"
					     : "the recording has no end: up to its last sample";

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		struct trk_column_stats stats = trk__stats_get(record->stats, sums[i].column);

		if (!isnan(stats.sum))
			trk__quantity_set(&total[sums[i].total], stats.sum, TRK_QUALITY_AT_LEAST,
					  "sum of the samples", reason);
	}
	if (!isnan(total[TRK_TOTAL_CPU_USER_S].value))
		trk__quantity_set(&total[TRK_TOTAL_CPU_S],
				  total[TRK_TOTAL_CPU_USER_S].value +
					  total[TRK_TOTAL_CPU_SYSTEM_S].value,
				  TRK_QUALITY_AT_LEAST, "sum of the samples", reason);
	if (!isnan(record->max_memory_mib) &&
	    !(total[TRK_TOTAL_PEAK_MEMORY_MIB].value >= record->max_memory_mib))
		trk__quantity_set(&total[TRK_TOTAL_PEAK_MEMORY_MIB], record->max_memory_mib,
				  TRK_QUALITY_ESTIMATED, "largest sample", reason);
	record->outcome.duration_ns = (uint64_t) record->last_elapsed_us * 1000;
	record->outcome.stop_ns = (uint64_t) record->last_timestamp_ms * 1000000;
}

void trk__record_recover(struct trk_record *record)
{
	/* Without /proc only the rows are used to explain the end. */
	struct trk_env env = {.proc_fd = -1, .sys_fd = -1, .cgroup_fd = -1};

	if (record->gpus.count)
		trk__place_take_gpus(&record->place, &record->gpus.total[0].device,
				     sizeof(record->gpus.total[0]), record->gpus.count);
	if (record->ended)
		return;
	record->outcome.end = record->writing ? TRK_END_RUNNING : TRK_END_TRACKER_DIED;
	record->outcome.code = -1;
	recover_totals(record);
	if (!record->writing) {
		(void) trk__env_init(&env);
		trk__death_explain(&env, record);
		trk__env_release(&env);
	}
}

int trk__record_read(int dirfd, const char *path, struct trk_record *record, trk_row_fn *on_row,
		     void *data, struct trk_error *reterr)
{
	struct trk_reading reading = {.record = record, .on_row = on_row, .data = data};
	int r = trk__record_init(record);

	if (r < 0)
		return trk__error_set(reterr, r, path, "out of memory");
	r = read_with(dirfd, path, &reading, reterr);
	if (r < 0) {
		trk__record_release(record);
		return r;
	}
	trk__record_recover(record);
	return 0;
}

int trk__record_read_rows(int dirfd, const char *path, trk_row_fn *on_row, void *data,
			  struct trk_error *reterr)
{
	struct trk_record *record = calloc(1, sizeof(*record));
	struct trk_reading reading = {
		.record = record, .rows_only = true, .on_row = on_row, .data = data};
	int r = record ? read_with(dirfd, path, &reading, reterr)
		       : trk__error_set(reterr, -ENOMEM, path, "out of memory");

	free(record);
	return r;
}

int trk__record_read_start(int dirfd, const char *path, struct trk_run *ret)
{
	struct trk_record *record = calloc(1, sizeof(*record));
	struct trk_reading reading = {.record = record, .start_only = true};
	int r;

	if (!record)
		return -ENOMEM;
	r = read_with(dirfd, path, &reading, NULL);
	if (r == 0)
		*ret = record->run;
	free(record);
	return r;
}
