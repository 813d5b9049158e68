#include "recording/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "recording/reading.h"

/* Open the file; the count starts again where it was replaced: the record that was counted last is
 * not in its place. Its frame has the check sum of a row with its time. */
static int follow(struct trk_tail *t, const char *path)
{
	unsigned char frame[TRK_FRAME_SIZE];
	int fd = trk__open_regular_at(AT_FDCWD, path);

	if (fd < 0 || (pread(fd, frame, sizeof(frame), t->last_at) == (ssize_t) sizeof(frame) &&
		       !memcmp(frame, t->last, sizeof(frame))))
		return fd;
	t->at = TRK_SIGNATURE_SIZE;
	t->rows = 0;
	t->wasted = 0;
	return fd;
}

struct counting {
	struct trk_tail *tail;
	unsigned char *window; /* owned: the bytes from tail->at on */
};

static int count(void *data, int type, const unsigned char *payload, size_t len)
{
	const struct counting *counting = data;
	struct trk_tail *t = counting->tail;
	struct trk_cursor c = {payload, payload + len, 0};

	if (type == TRK_RECORD_SAMPLE)
		t->rows++;
	else if (type == TRK_RECORD_THINNED)
		t->rows += trk__cursor_varint(&c);
	else if (type == TRK_RECORD_END)
		t->ended = true;
	payload -= TRK_FRAME_SIZE;
	t->last_at = t->at + (payload - counting->window);
	memcpy(t->last, payload, sizeof(t->last));
	return 0;
}

int trk__tail_update(struct trk_tail *t, const char *path)
{
	struct counting counting = {.tail = t};
	struct trk_frames frames = {.wasted = 0};
	int r;
	TRK_FD_CLEANUP int fd = follow(t, path);

	if (fd < 0)
		return fd;
	counting.window = malloc(TRK_READING_WINDOW);
	if (!counting.window)
		return -ENOMEM;
	frames.wasted = t->wasted;
	r = trk__frames_read(&frames, fd, &t->at, counting.window, count, &counting);
	t->wasted = frames.wasted;
	free(counting.window);
	return r;
}
