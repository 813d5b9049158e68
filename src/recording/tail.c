#include "recording/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/trust.h"
#include "recording/format.h"

enum { WINDOW = TRK_PAYLOAD_MAX + TRK_FRAME_SIZE };

void trk__tail_init(struct trk_tail *t)
{
	*t = (struct trk_tail){.fd = -1};
}

void trk__tail_release(struct trk_tail *t)
{
	trk__close(t->fd);
	t->fd = -1;
}

/* The file at `path`, opened again when it was replaced. */
static int follow(struct trk_tail *t, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (t->fd >= 0 && st.st_ino == t->inode)
		return 0;
	trk__tail_release(t);
	t->fd = trk__open_regular_at(AT_FDCWD, path);
	if (t->fd < 0)
		return t->fd;
	if (fstat(t->fd, &st) < 0)
		return -errno;
	t->inode = st.st_ino;
	t->at = TRK_SIGNATURE_SIZE;
	t->rows = 0;
	return 0;
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
		long n = trk__parse_frame(data + used, len - used, &type, &payload, &size);

		if (n == 0)
			break;
		if (n > 0)
			count(t, type, payload, size);
		used += n > 0 ? (size_t) n : 1;
	}
	return used;
}

int trk__tail_update(struct trk_tail *t, const char *path)
{
	unsigned char *data;
	ssize_t n;
	int r = follow(t, path);

	if (r < 0)
		return r;
	data = malloc(WINDOW);
	if (!data)
		return -ENOMEM;
	while ((n = pread(t->fd, data, WINDOW, t->at)) > 0) {
		size_t used = count_all(t, data, (size_t) n);

		t->at += (off_t) used;
		if (used == 0)
			break;
	}
	r = n < 0 ? -errno : 0;
	free(data);
	return r;
}
