#include "recording/follow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "recording/reading.h"

static int take_row(void *data, uint64_t rows, const struct trk_sample *mean,
		    const struct trk_sample *min, const struct trk_sample *max)
{
	struct trk_follow *f = data;

	return f->calls.on_row ? f->calls.on_row(f->calls.data, rows, mean, min, max) : 0;
}

/* Empty the record, keep the file. */
static int begin_anew(struct trk_follow *f)
{
	int r;

	trk__record_release(&f->record);
	memset(&f->record, 0, sizeof(f->record));
	free(f->reading->gpu);
	*f->reading = (struct trk_reading){
		.record = &f->record,
		.on_row = take_row,
		.data = f,
	};
	trk__reading_own(f->reading, f->fd);
	f->at = TRK_SIGNATURE_SIZE;
	r = trk__record_init(&f->record);
	if (r == 0 && f->calls.on_reset)
		f->calls.on_reset(f->calls.data);
	return r;
}

static int open_file(struct trk_follow *f, struct trk_error *reterr)
{
	unsigned char start[TRK_SIGNATURE_SIZE];
	struct stat st;
	ssize_t n;
	int r;

	trk__close(f->fd);
	f->fd = trk__record_open(f->dirfd, f->path, reterr);
	if (f->fd < 0)
		return f->fd;
	n = pread(f->fd, start, sizeof(start), 0);
	r = trk__signature_check(start, n > 0 ? (size_t) n : 0, f->path, reterr);
	if (r < 0)
		return r;
	if (fstat(f->fd, &st) < 0)
		return trk__error_set(reterr, -errno, f->path, "%s: %s", f->path,
				      trk__strerror(errno));
	f->dev = (uint64_t) st.st_dev;
	f->inode = st.st_ino;
	r = begin_anew(f);
	return r < 0 ? trk__error_set(reterr, r, f->path, "out of memory") : 0;
}

int trk__follow_open(struct trk_follow *f, int dirfd, const char *path, int64_t recent,
		     const struct trk_follow_calls *calls, struct trk_error *reterr)
{
	int r;

	memset(f, 0, sizeof(*f));
	f->fd = -1;
	f->dirfd = dirfd;
	f->recent = recent;
	f->calls = *calls;
	if (snprintf(f->path, sizeof(f->path), "%s", path) >= (int) sizeof(f->path))
		return trk__error_set(reterr, -ENAMETOOLONG, path, "%.80s…: the path is too long",
				      path);
	f->reading = calloc(1, sizeof(*f->reading));
	f->window = malloc(TRK_READING_WINDOW);
	r = f->reading && f->window ? open_file(f, reterr)
				    : trk__error_set(reterr, -ENOMEM, path, "out of memory");
	if (r < 0)
		trk__follow_close(f);
	return r;
}

void trk__follow_close(struct trk_follow *f)
{
	trk__close(f->fd);
	f->fd = -1;
	if (f->reading)
		free(f->reading->gpu);
	free(f->reading);
	free(f->window);
	f->reading = NULL;
	f->window = NULL;
	trk__record_release(&f->record);
	memset(&f->record, 0, sizeof(f->record));
}

/* Was the file replaced? If the name was removed (prune), the open file is still read. */
static int reopen(struct trk_follow *f)
{
	struct stat st;

	if (fstatat(f->dirfd, f->path, &st, 0) < 0 ||
	    ((uint64_t) st.st_dev == f->dev && st.st_ino == f->inode))
		return 0;
	return open_file(f, NULL);
}

/* Decode a record. In a long file, stop at the first one, to skip from there to the end. */
static int take_record(void *data, int type, const unsigned char *payload, size_t len)
{
	struct trk_follow *f = data;

	(void) trk__reading_take(f->reading, type, payload, len);
	f->taken++;
	if (f->calls.on_record && type != TRK_RECORD_SAMPLE && type != TRK_RECORD_THINNED)
		f->calls.on_record(f->calls.data, type);
	return f->recent > 0 && f->reading->has_start && f->at == TRK_SIGNATURE_SIZE;
}

static int take_all(struct trk_follow *f)
{
	return trk__frames_read(&f->reading->frames, f->fd, &f->at, f->window, take_record, f);
}

/* Skip to the recent part of the file. The start of a record is then found as after damage. */
static void skip_to_recent(struct trk_follow *f)
{
	struct stat st;

	if (f->recent <= 0 || !f->reading->has_start || fstat(f->fd, &st) < 0 ||
	    st.st_size - f->recent <= f->at)
		return;
	f->at = st.st_size - f->recent;
}

static void conclude(struct trk_follow *f, bool writing)
{
	long damaged = f->reading->frames.damaged;
	bool half = f->recent > 0 || damaged == 0;

	f->record.writing = writing && !f->record.ended;
	f->record.damaged = half ? 0 : (uint64_t) (damaged + f->reading->undecodable);
	trk__record_recover(&f->record);
}

long trk__follow_update(struct trk_follow *f)
{
	bool writing;
	int r = reopen(f);

	if (r < 0)
		return r;
	/* Check before reading: if the run ends meanwhile, it counts as running until its end is
	 * read. */
	writing = trk__reading_has_writer(f->fd);
	f->taken = 0;
	r = take_all(f);
	if (r == 0 && f->reading->frames.stopped) {
		skip_to_recent(f);
		r = take_all(f);
	}
	if (r < 0)
		return r;
	if (!f->reading->has_start)
		return -TRK_ERR_DAMAGED;
	if (f->taken || f->record.writing != writing)
		conclude(f, writing);
	return f->taken;
}
