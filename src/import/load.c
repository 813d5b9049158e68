/* Files, compressed or not. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/gzip.h"
#include "import/import.h"

/* All of it, at most the bound and a byte. */
static int read_all(void *from, int (*read_some)(void *from, void *to, unsigned int len),
		    char **ret, size_t *retlen)
{
	size_t len = 0, cap = 1 << 16;
	char *text = malloc(cap);
	int n = 0;

	while (text && (n = read_some(from, text + len, (unsigned int) (cap - len - 1))) > 0) {
		char *bigger;

		len += (size_t) n;
		if (len < cap - 1)
			continue;
		cap *= 2;
		if (cap > TRK_IMPORT_MAX_BYTES + 1) {
			free(text);
			return -EFBIG;
		}
		bigger = realloc(text, cap);
		if (!bigger)
			free(text);
		text = bigger;
	}
	if (!text)
		return -ENOMEM;
	if (n < 0) {
		free(text);
		return n;
	}
	text[len] = '\0';
	*ret = text;
	*retlen = len;
	return 0;
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

static int load_gzip(int fd, char **ret, size_t *retlen)
{
	struct trk_gzip *z;
	int r;

	z = trk__gzip_open(fd, 0, &r);
	if (!z)
		return r;
	r = read_all(z, read_gzip, ret, retlen);
	/* Also tells of an end that is missing. */
	if (trk__gzip_close(z) < 0 && r == 0) {
		free(*ret);
		r = -EBADMSG;
	}
	return r;
}

int trk__import_load(const char *path, char **ret, size_t *retlen, struct trk_error *reterr)
{
	unsigned char head[2] = {0, 0};
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;
	struct stat st;

	if (fd < 0)
		return trk__error_set(reterr, -errno, path, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		trk__close(fd);
		return trk__error_set(reterr, -EISDIR, path, "%s: is a directory", path);
	}
	if (pread(fd, head, 2, 0) == 2 && head[0] == 0x1f && head[1] == 0x8b)
		r = load_gzip(fd, ret, retlen);
	else
		r = read_all(&fd, read_plain, ret, retlen);
	trk__close(fd);
	if (r == -TRK_E_UNSUPPORTED)
		return trk__error_set(reterr, r, path,
				      "%s: compressed, and libz.so.1 is not there. Try: gunzip",
				      path);
	if (r == -EBADMSG)
		return trk__error_set(reterr, r, path, "%s: damaged gzip file", path);
	return r < 0 ? trk__error_set(reterr, r, path, "%s: %s", path, trk__strerror(r)) : 0;
}
