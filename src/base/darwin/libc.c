/* What base/libc.h has for older C libraries, by the calls of macOS. */
#ifdef __APPLE__ /* else a checker of code reads this file with the headers of another system */

#include "base/libc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t trk__random_bits(void)
{
	return arc4random();
}

/* There is no memory file: one without a name, in the user's own temporary folder. */
int trk__memory_file(const char *name)
{
	char path[PATH_MAX];
	size_t len = confstr(_CS_DARWIN_USER_TEMP_DIR, path, sizeof(path));
	int fd;

	if (len == 0 || len > sizeof(path))
		return -ENOENT;
	if (snprintf(path + len - 1, sizeof(path) - len + 1, "/%.32s-XXXXXX", name) >=
	    (int) (sizeof(path) - len + 1))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void) unlink(path);
	return fd;
}

void trk__close_range(unsigned int first, unsigned int last)
{
	(void) trk__close_listed(first, last);
}

const char *trk__errno_text(int code)
{
	return code >= 0 && code <= ELAST ? strerror(code) : NULL;
}

#endif
