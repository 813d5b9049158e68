#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/gzip.h"
#include "base/os.h"

enum { PIECE = 1 << 16 };

typedef int read_fn(void *from, void *to, unsigned int len);

/* Without `keeps` the bytes are only counted. -TRK_ERR_FORMAT: it is no text, as a hole of a sparse
 * file. */
static int read_all(void *from, read_fn *read_some, bool keeps, struct trk_buf *text)
{
	size_t len = 0;
	int n;

	do {
		if (trk__buf_reserve(text, PIECE) < 0)
			return text->error;
		n = read_some(from, text->data + text->len, PIECE);
		if (n > 0 && memchr(text->data + text->len, '\0', (size_t) n))
			return -TRK_ERR_FORMAT;
		len += n > 0 ? (size_t) n : 0;
		if (len > TRK_IMPORT_MAX_BYTES)
			return -EFBIG;
		text->len = keeps ? len : 0;
	} while (n > 0);
	text->data[text->len] = '\0';
	return n;
}

static int read_plain(void *from, void *to, unsigned int len)
{
	ssize_t n;

	do {
		n = read(*(const int *) from, to, len);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : (int) n;
}

static int read_gzip(void *from, void *to, unsigned int len)
{
	return trk__gzip_read(from, to, len);
}

static int load_gzip(int fd, bool keeps, struct trk_buf *text)
{
	struct trk_gzip *z;
	int r;

	z = trk__gzip_open(fd, 0, &r);
	if (!z)
		return r;
	r = read_all(z, read_gzip, keeps, text);
	/* Also detects a missing end. */
	if (trk__gzip_close(z) < 0 && r == 0)
		r = -EBADMSG;
	return r;
}

/* The text of a file, which may be compressed. A file that is too large is refused before memory is
 * taken for it: a compressed one is read twice. */
static int load(int fd, struct trk_buf *text)
{
	unsigned char head[2] = {0, 0};
	int r;

	if (trk__file_exceeds(fd, TRK_IMPORT_MAX_BYTES))
		return -EFBIG;
	if (pread(fd, head, 2, 0) != 2 || head[0] != 0x1f || head[1] != 0x8b)
		return read_all(&fd, read_plain, true, text);
	r = load_gzip(fd, false, text);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	return r < 0 ? r : load_gzip(fd, true, text);
}

static int load_text(const char *path, struct trk_buf *text, struct trk_error *reterr)
{
	/* O_NONBLOCK: a FIFO without a writer reads as empty, instead of blocking. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r;
	struct stat st;

	if (fd >= 0)
		(void) fcntl(fd, F_SETFL, O_RDONLY);
	if (fd < 0)
		return trk__error_set(reterr, -errno, path, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		trk__close(fd);
		return trk__error_set(reterr, -EISDIR, path, "%s: is a directory", path);
	}
	r = load(fd, text);
	trk__close(fd);
	if (r == -TRK_ERR_UNSUPPORTED)
		return trk__error_set(reterr, r, path,
				      "%s: compressed, and libz.so.1 is not installed. Try: gunzip",
				      path);
	if (r == -TRK_ERR_FORMAT)
		return trk__error_set(reterr, r, path, "%s: not a file that can be imported", path);
	if (r == -EBADMSG)
		return trk__error_set(reterr, r, path, "%s: damaged gzip file", path);
	return r < 0 ? trk__error_set(reterr, r, path, "%s: %s", path, trk__strerror(r)) : 0;
}

int trk__import_file(const struct trk_import *import, enum trk_import_format format,
		     struct trk_import_result *ret, struct trk_error *reterr)
{
	struct trk_error error = {.code = 0};
	struct trk_import of = *import;
	struct stat st;
	TRK_BUF_LOCAL(text, TRK_IMPORT_MAX_BYTES + PIECE);
	int r = load_text(of.file, &text, &error);

	if (r == 0) {
		if (!of.time_ns && stat(of.file, &st) == 0)
			of.time_ns = (uint64_t) trk__os_modified_ns(&st);
		if (!of.time_ns)
			of.time_ns = trk__clock_wall_ns();
		r = trk__import_text(&of, text.data, text.len, format, ret, &error);
	}
	if (r == 0)
		return 0;
	return trk__error_set(
		reterr, r, of.file, "%s%s%s", strstr(error.message, of.file) ? "" : of.file,
		strstr(error.message, of.file) ? "" : ": ", trk__error_text(&error, r));
}
