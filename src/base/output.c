#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/libc.h"
#include "base/parse.h"

enum { PATH_SIZE = 4096, LINKS_MAX = 40 /* as the kernel has it */ };

/* The descriptor of this process that the path names, else -1. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = {"/proc/self/fd/", "/proc/thread-self/fd/",
					      "/dev/fd/"};
	uint64_t number;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t len = strlen(folders[i]);

		if (strncmp(path, folders[i], len) == 0 &&
		    trk__parse_u64(path + len, &number) == 0 && number <= INT32_MAX)
			return (int) number;
	}
	return -1;
}

/* The rule of the kernel's fs.protected_symlinks, for systems where it is off and for a link that
 * appears after the kernel's check: in a world-writable folder with the sticky bit, only a link of
 * the user or of the folder's owner is followed. No other user can create or remove such a link, so
 * it can be checked after it was read. */
static bool may_follow(const char *path, const char *slash)
{
	char folder[PATH_SIZE];
	struct stat link, dir;

	(void) snprintf(folder, sizeof(folder), "%.*s", slash ? (int) (slash - path) + 1 : 1,
			slash ? path : ".");
	if (stat(folder, &dir) < 0)
		return false;
	if (!(dir.st_mode & S_ISVTX) || !(dir.st_mode & S_IWOTH))
		return true;
	return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) &&
	       (link.st_uid == geteuid() || link.st_uid == dir.st_uid);
}

/* Follow one link at `path`, in place. 1; 0 when it is not a link; or a negative errno. */
static int follow(char path[PATH_SIZE])
{
	char target[PATH_SIZE], *slash = strrchr(path, '/');
	ssize_t len = readlink(path, target, sizeof(target));
	size_t folder;

	if (len < 0) /* not a link, or nothing */
		return 0;
	if (!may_follow(path, slash))
		return -EACCES;
	folder = target[0] == '/' || !slash ? 0 : (size_t) (slash - path) + 1;
	if (len == (ssize_t) sizeof(target) || folder + (size_t) len >= PATH_SIZE)
		return -ENAMETOOLONG;
	memcpy(path + folder, target, (size_t) len);
	path[folder + (size_t) len] = '\0';
	return 1;
}

/* The path after following all links, and the descriptor that it names, or -1. 0 or a negative
 * errno. */
static int resolve(const char *path, char ret_path[PATH_SIZE], int *ret_descriptor)
{
	struct stat st;
	int r = 1;

	*ret_descriptor = -1;
	if (snprintf(ret_path, PATH_SIZE, "%s", path) >= PATH_SIZE)
		return -ENAMETOOLONG;
	/* Try the kernel first: it may forbid to follow a link of another user. */
	if (stat(path, &st) < 0 && errno != ENOENT)
		return -errno;
	for (int i = 0; r > 0 && i <= LINKS_MAX; i++) {
		*ret_descriptor = descriptor_of(ret_path);
		/* Links of other processes' descriptors have no path behind them. */
		if (*ret_descriptor >= 0 || strncmp(ret_path, "/proc/", 6) == 0)
			return 0;
		r = follow(ret_path);
	}
	return r > 0 ? -ELOOP : r;
}

int trk__output_descriptor(const char *path)
{
	char real[PATH_SIZE];
	int fd;

	return resolve(path, real, &fd) < 0 ? -1 : fd;
}

static int open_resolved(const char *real, int descriptor)
{
	int fd = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
				 : open(real, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : fd;
}

int trk__output_open(const char *path)
{
	char real[PATH_SIZE];
	int descriptor, r;

	if (strcmp(path, "-") == 0)
		return open_resolved(path, STDOUT_FILENO);
	r = resolve(path, real, &descriptor);
	/* Unless it is a descriptor, open the original name, so that the kernel makes its
	 * checks. */
	return r < 0 ? r : open_resolved(path, descriptor);
}

static int write_and_close(int fd, const void *data, size_t len)
{
	int r = trk__write_all(fd, data, len);

	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

static int write_in_place(const char *path, int descriptor, const void *data, size_t len)
{
	int fd = open_resolved(path, descriptor);

	return fd < 0 ? fd : write_and_close(fd, data, len);
}

/* Give the new file the owner, mode and attributes of the old one. */
static bool take_after(int fd, const struct stat *old)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if ((st.st_uid != old->st_uid || st.st_gid != old->st_gid) &&
	    fchown(fd, old->st_uid, old->st_gid) < 0)
		return false;
	return fchmod(fd, old->st_mode & 07777) == 0;
}

/* Returns 0; 1 where the file must be written in place; or a negative errno. */
static int put_file(const char *via, const char *path, const struct stat *old, const void *data,
		    size_t len)
{
	int fd = open(via, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666), r;

	if (fd < 0)
		return old || errno == ENAMETOOLONG ? 1 : -errno; /* the longer name */
	if (old && !take_after(fd, old)) {
		(void) close(fd);
		(void) unlink(via);
		return 1;
	}
	r = write_and_close(fd, data, len);
	if (r == 0 && rename(via, path) < 0)
		r = errno == EBUSY || errno == EXDEV || errno == EPERM || errno == EACCES ? 1
											  : -errno;
	if (r != 0)
		(void) unlink(via);
	return r;
}

int trk__output_replace(const char *via, const char *path, const void *data, size_t len)
{
	char real[PATH_SIZE], temporary[PATH_SIZE + 16];
	struct stat st;
	int descriptor, r = resolve(path, real, &descriptor);
	bool exists;

	if (r < 0)
		return r;
	exists = descriptor < 0 && stat(real, &st) == 0;
	if (descriptor >= 0 || (exists && (!S_ISREG(st.st_mode) || st.st_nlink > 1)))
		return write_in_place(path, descriptor, data, len);
	if (!via) {
		(void) snprintf(temporary, sizeof(temporary), "%s.%08x", real, trk__random_bits());
		via = temporary;
	}
	r = put_file(via, real, exists ? &st : NULL, data, len);
	return r > 0 ? write_in_place(path, -1, data, len) : r;
}

int trk__output_replace_own(const char *path, const void *data, size_t len)
{
	char temporary[PATH_SIZE + 16];
	struct stat st;
	bool exists = lstat(path, &st) == 0;
	int r;

	if (strlen(path) >= PATH_SIZE)
		return -ENAMETOOLONG;
	if (exists && !S_ISREG(st.st_mode))
		return S_ISLNK(st.st_mode) ? -TRK_ERR_SYMLINK : -TRK_ERR_NOTFILE;
	if (exists && st.st_uid != geteuid())
		return -EPERM;
	(void) snprintf(temporary, sizeof(temporary), "%s.%08x", path, trk__random_bits());
	r = put_file(temporary, path, exists ? &st : NULL, data, len);
	return r > 0 ? -EACCES : r;
}
