#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"

/* 0 or a negative errno; -EWOULDBLOCK: another process held it all the time. */
static int wait_for(int fd)
{
	const struct timespec nap = {.tv_nsec = 20 * (long) TRK_NS_PER_MS};
	uint64_t end_ns = trk__clock_monotonic_ns() + TRK_LOCK_WAIT_MS * TRK_NS_PER_MS;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EINTR && errno != EWOULDBLOCK)
			return -errno;
		if (trk__clock_monotonic_ns() >= end_ns)
			return -EWOULDBLOCK;
		(void) nanosleep(&nap, NULL);
	}
	return 0;
}

int trk__lock_error(struct trk_error *reterr, int dirfd, const char *path)
{
	struct stat st;
	long pid = fstatat(dirfd, path, &st, 0) < 0 ? 0 : (long) trk__os_lock_holder(&st);

	return pid > 0 ? trk__error_set(reterr, -EBUSY, path, "%s is locked by process %ld", path,
					pid)
		       : trk__error_set(reterr, -EBUSY, path, "%s is locked by another process",
					path);
}

/* In a folder with the sticky bit the kernel may refuse O_CREAT for the file of another user
 * (fs.protected_regular), which can be locked all the same. */
static int open_lock(int dirfd, const char *name)
{
	enum { FLAGS = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };
	int fd = openat(dirfd, name, FLAGS | O_CREAT, 0600);

	if (fd < 0 && errno == EACCES)
		fd = openat(dirfd, name, FLAGS);
	return fd < 0 ? -errno : fd;
}

int trk__lock_take(int dirfd, const char *name, struct trk_error *reterr)
{
	int fd = open_lock(dirfd, name), r = fd < 0 ? fd : 0;
	struct stat st;

	if (r == 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
		r = -TRK_ERR_NOTFILE;
	if (r == 0)
		r = wait_for(fd);
	if (r == 0)
		return fd;
	trk__close(fd);
	return r == -EWOULDBLOCK
		       ? trk__lock_error(reterr, dirfd, name)
		       : trk__error_set(reterr, r, name, "%s: %s", name, trk__strerror(r));
}
