#include "recording/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/trust.h"

enum { WINDOW = TRK_PAYLOAD_MAX + TRK_FRAME_SIZE };

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

static void count(struct trk_tail *t, int type, const unsigned char *payload, size_t len)
{
	struct trk_cursor c = {payload, payload + len, 0};

	if (type == TRK_RECORD_SAMPLE)
		t->rows++;
	else if (type == TRK_RECORD_THINNED)
		t->rows += trk__cursor_varint(&c);
	else if (type == TRK_RECORD_END)
		t->ended = true;
}

/* Count the whole records in the window. Returns how many bytes they take; a damaged place is
 * passed over byte by byte. */
static size_t count_all(struct trk_tail *t, const unsigned char *data, size_t len)
{
	size_t used = 0;

	while (used < len) {
		const unsigned char *payload;
		size_t size;
		int type;
		long n = trk__parse_frame(data + used, len - used, &t->wasted, &type, &payload,
					  &size);

		if (n == 0)
			break;
		if (n > 0) {
			count(t, type, payload, size);
			t->last_at = t->at + (off_t) used;
			memcpy(t->last, data + used, sizeof(t->last));
		}
		used += n > 0 ? (size_t) n : 1;
	}
	return used;
}

int trk__tail_update(struct trk_tail *t, const char *path)
{
	unsigned char *data;
	ssize_t n;
	TRK_FD_CLEANUP int fd = follow(t, path);

	if (fd < 0)
		return fd;
	data = malloc(WINDOW);
	if (!data)
		return -ENOMEM;
	while ((n = pread(fd, data, WINDOW, t->at)) > 0) {
		size_t used = count_all(t, data, (size_t) n);

		t->at += (off_t) used;
		if (used == 0)
			break;
	}
	free(data);
	return n < 0 ? -errno : 0;
}
