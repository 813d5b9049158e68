#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Read until the buffer is full or the file ends. /proc files of one record come in one read, but
 * seq_file sources such as /proc/stat come in pieces. */
static ssize_t read_from(int fd, char *text, size_t size)
{
	size_t len = 0;

	while (len < size - 1) {
		ssize_t n = pread(fd, text + len, size - 1 - len, (off_t) len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			text[0] = '\0';
			return -errno;
		}
		if (n == 0)
			break;
		len += (size_t) n;
	}
	text[len] = '\0';
	return (ssize_t) len;
}

ssize_t trk__read_fd(int fd, char *text, size_t size)
{
	ssize_t len = read_from(fd, text, size);
	char more;

	if (len == (ssize_t) size - 1 && pread(fd, &more, 1, len) > 0)
		return -EFBIG;
	return len;
}

ssize_t trk__read_once_fd(int fd, char *text, size_t size)
{
	ssize_t len;

	do
		len = pread(fd, text, size - 1, 0);
	while (len < 0 && errno == EINTR);
	if (len == (ssize_t) size - 1)
		return trk__read_fd(fd, text, size);
	text[len > 0 ? len : 0] = '\0';
	return len < 0 ? -errno : len;
}

ssize_t trk__read_at(int dirfd, const char *path, char *text, size_t size)
{
	TRK_FD_CLEANUP int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	return trk__read_fd(fd, text, size);
}

ssize_t trk__read_all_at(int dirfd, const char *path, size_t max, char **ret)
{
	TRK_FD_CLEANUP int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t size = max < 4096 ? max + 1 : 4096;
	char *text = NULL;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *bigger = realloc(text, size);
		ssize_t len;

		if (!bigger) {
			free(text);
			return -ENOMEM;
		}
		text = bigger;
		len = trk__read_fd(fd, text, size);
		if (len >= 0) {
			*ret = text;
			return len;
		}
		if (len != -EFBIG || size > max) {
			free(text);
			return len;
		}
		size = size > max / 2 ? max + 1 : size * 2;
	}
}

int trk__write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t) n;
	}
	return 0;
}

int trk__open_dir_at(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

void trk__close(int fd)
{
	if (fd >= 0)
		(void) close(fd);
}

void trk__close_ptr(int *fd)
{
	trk__close(*fd);
}
