#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/libc.h"

enum {
	/* The kernel fills a seq_file's buffer, a page or more, with whole lines: a result that
	 * leaves room for another line is the whole file. */
	SURELY_ALL = 3072,
};

struct trk_path trk__path(const char *format, ...)
{
	struct trk_path path;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(path.text, sizeof(path.text), format, args);
	va_end(args);
	if (len < 0 || (size_t) len >= sizeof(path.text))
		path.text[0] = '\0';
	return path;
}

static ssize_t read_piece(int fd, char *text, size_t size, size_t at)
{
	ssize_t n;

	do
		n = pread(fd, text + at, size - 1 - at, (off_t) at);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Continue after the first `len` bytes until the buffer is full or the file ends. */
static ssize_t read_rest(int fd, char *text, size_t size, size_t len)
{
	char more;

	while (len < size - 1) {
		ssize_t n = read_piece(fd, text, size, len);

		if (n <= 0) {
			text[n < 0 ? 0 : len] = '\0';
			return n < 0 ? n : (ssize_t) len;
		}
		len += (size_t) n;
	}
	text[len] = '\0';
	return pread(fd, &more, 1, (off_t) len) > 0 ? -EFBIG : (ssize_t) len;
}

ssize_t trk__read_fd(int fd, char *text, size_t size)
{
	return read_rest(fd, text, size, 0);
}

/* One call, and more only if it gave `enough` bytes or filled the buffer. */
static ssize_t read_short(int fd, char *text, size_t size, size_t enough)
{
	ssize_t len = read_piece(fd, text, size, 0);

	if (len > 0 && ((size_t) len >= enough || (size_t) len == size - 1))
		return read_rest(fd, text, size, (size_t) len);
	text[len > 0 ? len : 0] = '\0';
	return len;
}

ssize_t trk__read_once_fd(int fd, char *text, size_t size)
{
	return read_short(fd, text, size, size);
}

ssize_t trk__read_lines_fd(int fd, char *text, size_t size)
{
	return read_short(fd, text, size, SURELY_ALL);
}

static int open_file(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

ssize_t trk__read_at(int dirfd, const char *path, char *text, size_t size)
{
	TRK_FD_CLEANUP int fd = open_file(dirfd, path);

	return fd < 0 ? fd : trk__read_fd(fd, text, size);
}

ssize_t trk__read_once_at(int dirfd, const char *path, char *text, size_t size)
{
	TRK_FD_CLEANUP int fd = open_file(dirfd, path);

	return fd < 0 ? fd : trk__read_once_fd(fd, text, size);
}

/* What follows the first `at` bytes; in a pipe, what comes next. A writer may be slow. */
static ssize_t read_next(int fd, char *text, size_t size, size_t at)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	ssize_t n = read_piece(fd, text, size, at);

	if (n != -ESPIPE)
		return n;
	do
		n = read(fd, text + at, size - 1 - at);
	while (n < 0 && (errno == EINTR || (errno == EAGAIN && poll(&wait, 1, -1) >= 0)));
	return n < 0 ? -errno : n;
}

ssize_t trk__read_all_fd(int fd, size_t max, char **ret)
{
	ssize_t n = trk__file_exceeds(fd, max) ? -EFBIG : 1;
	size_t size = 2048, len = 0;
	char *text = NULL;

	while (n > 0) {
		if (!text || len == size - 1) {
			char *bigger;

			size = size > max / 2 ? max + 2 : size * 2;
			bigger = realloc(text, size);
			if (!bigger) {
				n = -ENOMEM;
				break;
			}
			text = bigger;
		}
		n = read_next(fd, text, size, len);
		len += n > 0 ? (size_t) n : 0;
		if (len > max)
			n = -EFBIG;
	}
	if (n < 0) {
		free(text);
		return n;
	}
	text[len] = '\0';
	*ret = text;
	return (ssize_t) len;
}

bool trk__file_exceeds(int fd, size_t max)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	       (uintmax_t) st.st_size > max;
}

ssize_t trk__read_all_at(int dirfd, const char *path, size_t max, char **ret)
{
	TRK_FD_CLEANUP int fd = open_file(dirfd, path);

	return fd < 0 ? fd : trk__read_all_fd(fd, max, ret);
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

void trk__temporary_name(char ret[TRK_TEMPORARY_SIZE], const char *name)
{
	(void) snprintf(ret, TRK_TEMPORARY_SIZE, ".%.240s.%08x", name, trk__random_bits());
}

int trk__create_temporary_at(int dirfd, const char *name, mode_t mode, char ret[TRK_TEMPORARY_SIZE])
{
	int fd;

	trk__temporary_name(ret, name);
	fd = openat(dirfd, ret, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	return fd < 0 ? -errno : fd;
}

int trk__replace_at(int dirfd, const char *name, mode_t mode, const void *data, size_t len)
{
	char temporary[TRK_TEMPORARY_SIZE];
	int fd = trk__create_temporary_at(dirfd, name, mode, temporary), r;

	if (fd < 0)
		return fd;
	r = trk__write_all(fd, data, len);
	if (r == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && renameat(dirfd, temporary, dirfd, name) < 0)
		r = -errno;
	if (r < 0)
		(void) unlinkat(dirfd, temporary, 0);
	return r;
}

int trk__open_regular_at(int dirfd, const char *path)
{
	int fd = open_file(dirfd, path);
	struct stat st = {.st_mode = 0};

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	trk__close(fd);
	return S_ISDIR(st.st_mode) ? -EISDIR : -TRK_ERR_NOTFILE;
}

int trk__open_dir_at(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

DIR *trk__list_dir_at(int dirfd, const char *path)
{
	int fd = trk__open_dir_at(dirfd, path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir) {
		trk__close(fd);
		errno = ENOMEM;
	}
	return dir;
}

struct dirent *trk__next_entry(DIR *dir)
{
	struct dirent *entry;

	do
		entry = dir ? readdir(dir) : NULL;
	while (entry && entry->d_name[0] == '.');
	return entry;
}

void trk__close_dir_ptr(DIR **dir)
{
	if (*dir)
		(void) closedir(*dir);
}

ssize_t trk__read_link_at(int dirfd, const char *path, char *text, size_t size)
{
	ssize_t len = readlinkat(dirfd, path, text, size - 1);

	text[len > 0 ? len : 0] = '\0';
	return len < 0 ? -errno : len;
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

struct trk_fd_identity trk__fd_identity(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return (struct trk_fd_identity){.is_known = false};
	return (struct trk_fd_identity){(uint64_t) st.st_dev, (uint64_t) st.st_ino, true};
}

bool trk__fd_is(int fd, struct trk_fd_identity identity)
{
	struct trk_fd_identity now;

	if (!identity.is_known)
		return true;
	now = trk__fd_identity(fd);
	return now.is_known && now.device == identity.device && now.inode == identity.inode;
}

static void remove_at(int parent_fd, const char *name)
{
	const struct dirent *entry;
	DIR *dir;
	int fd;

	if (unlinkat(parent_fd, name, 0) == 0)
		return;
	fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		trk__close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			remove_at(dirfd(dir), entry->d_name);
	(void) closedir(dir);
	(void) unlinkat(parent_fd, name, AT_REMOVEDIR);
}

void trk__remove_tree(const char *path)
{
	remove_at(AT_FDCWD, path);
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int put_mark(const char *path)
{
	TRK_FD_CLEANUP int dirfd = trk__open_dir_at(AT_FDCWD, path);
	TRK_FD_CLEANUP int fd = dirfd < 0 ? dirfd
					  : openat(dirfd, TRK_TEMPORARY_MARK,
						   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (dirfd < 0 || fd < 0)
		return dirfd < 0 ? dirfd : -errno;
	return trk__write_all(fd, name_of(path), strlen(name_of(path)));
}

int trk__make_temporary(char *path)
{
	int r;

	if (!mkdtemp(path))
		return -errno;
	r = put_mark(path);
	if (r < 0)
		trk__remove_tree(path);
	return r;
}

void trk__remove_temporary(const char *path)
{
	TRK_FD_CLEANUP int dirfd = trk__open_dir_at(AT_FDCWD, path);
	char name[256];

	if (dirfd >= 0 && trk__read_at(dirfd, TRK_TEMPORARY_MARK, name, sizeof(name)) >= 0 &&
	    strcmp(name, name_of(path)) == 0)
		trk__remove_tree(path);
}
