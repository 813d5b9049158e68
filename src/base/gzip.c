#include "base/gzip.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/dynamic.h"
#include "base/error.h"
#include "base/file.h"

/* Of zlib's interface, which has been the same since 1995. */
struct trk_gzip {
	void *handle;
	void *file;
	int writes;
	void *(*gzdopen)(int fd, const char *mode);
	int (*gzread)(void *file, void *to, unsigned int len);
	int (*gzwrite)(void *file, const void *data, unsigned int len);
	int (*gzclose)(void *file);
};

static int load(struct trk_gzip *z)
{
	const struct trk_symbol wanted[] = {
		{"gzdopen", &z->gzdopen},
		{"gzread", &z->gzread},
		{"gzwrite", &z->gzwrite},
		{"gzclose", &z->gzclose},
	};

	z->handle = trk__library_load("libz.so.1", wanted, sizeof(wanted) / sizeof(wanted[0]));
	return z->handle ? 0 : -TRK_ERR_UNSUPPORTED;
}

static void discard(struct trk_gzip *z)
{
	if (z->handle)
		(void) dlclose(z->handle);
	free(z);
}

struct trk_gzip *trk__gzip_open(int fd, int write, int *reterr)
{
	struct trk_gzip *z = calloc(1, sizeof(*z));
	int copy;

	*reterr = z ? load(z) : -ENOMEM;
	if (*reterr < 0) {
		if (z)
			discard(z);
		return NULL;
	}
	z->writes = write;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy >= 0)
		z->file = z->gzdopen(copy, write ? "wb" : "rb");
	if (z->file)
		return z;
	*reterr = copy < 0 ? -errno : -ENOMEM;
	trk__close(copy);
	discard(z);
	return NULL;
}

int trk__gzip_read(struct trk_gzip *z, void *to, unsigned int len)
{
	int n = z->gzread(z->file, to, len);

	return n < 0 ? -EBADMSG : n;
}

int trk__gzip_write(struct trk_gzip *z, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		unsigned int part = len > 1u << 20 ? 1u << 20 : (unsigned int) len;

		if (z->gzwrite(z->file, at, part) != (int) part)
			return -EIO;
		at += part;
		len -= part;
	}
	return 0;
}

int trk__gzip_close(struct trk_gzip *z)
{
	int writes = z->writes, r = z->gzclose(z->file);

	discard(z);
	if (r == 0)
		return 0;
	return writes ? -EIO : -EBADMSG;
}
