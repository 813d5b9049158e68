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
#include "base/trust.h"

enum {
	PATH_SIZE = 4096,
	LINKS_MAX = 40, /* as the kernel has it */
	TRIES_MAX = 100 /* where others create and remove the file */
};

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

/* Whether the path is that of a descriptor of another process, such as /proc/1234/fd/5: a link
 * without a path behind it, which the kernel opens only for the user of that process. */
static bool is_of_process(const char *path)
{
	static const char digits[] = "0123456789";
	size_t len = strncmp(path, "/proc/", 6) == 0 ? 6 + strspn(path + 6, digits) : 0;

	if (len <= 6 || strncmp(path + len, "/fd/", 4) != 0 || !path[len + 4])
		return false;
	return path[len + 4 + strspn(path + len + 4, digits)] == '\0';
}

/* What the name of an output leads to. */
struct target {
	char path[PATH_SIZE];       /* after following all links */
	int descriptor;             /* of this process that it names, or -1 */
	bool is_link;               /* to a descriptor of another process */
	struct trk_trust_folder at; /* of the last name */
	const char *name;           /* in that folder; a view of the path */
	struct stat st;             /* of what is there */
	bool exists;
};

/* Look at what has the name now. 0 or a negative errno. */
static int look(struct target *t)
{
	t->exists = fstatat(t->at.fd, t->name, &t->st, AT_SYMLINK_NOFOLLOW) == 0;
	return t->exists || errno == ENOENT ? 0 : -errno;
}

/* Replace the last name of the path by the target of the link that has it. */
static int follow(struct target *t)
{
	char target[PATH_SIZE];
	size_t folder = (size_t) (t->name - t->path);
	ssize_t len;

	if (!trk__trust_may_follow(&t->at, &t->st))
		return -TRK_ERR_UNTRUSTED;
	len = readlinkat(t->at.fd, t->name, target, sizeof(target));
	if (len < 0)
		return -errno;
	folder = target[0] == '/' ? 0 : folder;
	if (len == (ssize_t) sizeof(target) || folder + (size_t) len >= PATH_SIZE)
		return -ENAMETOOLONG;
	memcpy(t->path + folder, target, (size_t) len);
	t->path[folder + (size_t) len] = '\0';
	return 0;
}

/* One step: 1 where the path was a link. */
static int step(struct target *t)
{
	int r;

	t->descriptor = descriptor_of(t->path);
	t->is_link = is_of_process(t->path);
	if (t->descriptor >= 0 || t->is_link)
		return 0;
	r = trk__trust_open_folder(t->path, &t->at, &t->name);
	if (r == 0 && !*t->name)
		r = *t->path ? -EISDIR : -ENOENT;
	r = r < 0 ? r : look(t);
	if (r < 0 || !t->exists || !S_ISLNK(t->st.st_mode))
		return r;
	r = follow(t);
	trk__close(t->at.fd);
	t->at.fd = -1;
	return r < 0 ? r : 1;
}

/* 0 or a negative errno. The caller closes ret->at.fd in any case. */
static int find(const char *path, struct target *ret)
{
	int r = 1;

	ret->at.fd = -1;
	ret->descriptor = -1;
	if (snprintf(ret->path, PATH_SIZE, "%s", path) >= PATH_SIZE)
		return -ENAMETOOLONG;
	for (int i = 0; r > 0 && i <= LINKS_MAX; i++)
		r = step(ret);
	return r > 0 ? -ELOOP : r;
}

int trk__output_descriptor(const char *path)
{
	struct target t;
	int r = find(path, &t);

	trk__close(t.at.fd);
	return r < 0 ? -1 : t.descriptor;
}

/* Others may have exchanged what was opened: check it, and that it has this one name. */
static int check_opened(struct target *t, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (look(t) < 0 || !t->exists || t->st.st_dev != st.st_dev || t->st.st_ino != st.st_ino ||
	    !trk__trust_may_write(&t->at, &t->st))
		return -TRK_ERR_UNTRUSTED;
	return fcntl(fd, F_SETFL, 0) < 0 ? -errno : 0; /* without O_NONBLOCK */
}

/* Open what exists, which is neither created nor truncated. -ENOENT: it was removed. */
static int open_existing(struct target *t)
{
	bool is_private = t->at.own && !t->at.others;
	/* Do not wait for the reader of a FIFO that others put there. */
	int wait = is_private || S_ISFIFO(t->st.st_mode) ? 0 : O_NONBLOCK, fd, r;

	if (S_ISDIR(t->st.st_mode))
		return -EISDIR;
	if (S_ISLNK(t->st.st_mode) || !trk__trust_may_write(&t->at, &t->st))
		return -TRK_ERR_UNTRUSTED;
	fd = openat(t->at.fd, t->name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | wait);
	if (fd < 0)
		return errno == ELOOP || (wait && errno == ENXIO) ? -TRK_ERR_UNTRUSTED : -errno;
	r = is_private ? 0 : check_opened(t, fd);
	if (r == 0)
		return fd;
	trk__close(fd);
	return r;
}

/* Open it for writing from the start; create it if it is missing. */
static int open_target(struct target *t)
{
	int fd = -ENOENT, r;

	if (t->descriptor >= 0)
		fd = fcntl(t->descriptor, F_DUPFD_CLOEXEC, 3);
	else if (t->is_link)
		fd = open(t->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (t->descriptor >= 0 || t->is_link)
		return fd < 0 ? -errno : fd;
	for (int i = 0; fd == -ENOENT && i < TRIES_MAX; i++) {
		fd = openat(t->at.fd, t->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0666);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
		r = look(t);
		fd = r < 0 ? r : t->exists ? open_existing(t) : -ENOENT;
	}
	if (fd >= 0 && S_ISREG(t->st.st_mode) && ftruncate(fd, 0) < 0) {
		r = -errno;
		trk__close(fd);
		return r;
	}
	return fd;
}

int trk__output_open(const char *path)
{
	struct target t = {.descriptor = STDOUT_FILENO, .at.fd = -1};
	int r = strcmp(path, "-") == 0 ? 0 : find(path, &t);

	r = r < 0 ? r : open_target(&t);
	trk__close(t.at.fd);
	return r;
}

static int write_and_close(int fd, const void *data, size_t len)
{
	int r = trk__write_all(fd, data, len);

	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

static int write_in_place(struct target *t, const void *data, size_t len)
{
	int fd = open_target(t);

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

/* Write a new file `via` below via_fd and rename it. Returns 0; 1 where the file must be written in
 * place; or a negative errno. */
static int put_file(int via_fd, const char *via, const struct target *t, const void *data,
		    size_t len)
{
	int fd = openat(via_fd, via, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666), r;

	if (fd < 0)
		return t->exists || errno == ENAMETOOLONG ? 1 : -errno; /* the longer name */
	if (t->exists && !take_after(fd, &t->st)) {
		(void) close(fd);
		(void) unlinkat(via_fd, via, 0);
		return 1;
	}
	r = write_and_close(fd, data, len);
	if (r == 0 && renameat(via_fd, via, t->at.fd, t->name) < 0)
		r = errno == EBUSY || errno == EXDEV || errno == EPERM || errno == EACCES ? 1
											  : -errno;
	if (r != 0)
		(void) unlinkat(via_fd, via, 0);
	return r;
}

/* By a new file in the same folder. */
static int put_beside(const struct target *t, const void *data, size_t len)
{
	char via[PATH_SIZE + 16];

	(void) snprintf(via, sizeof(via), "%s.%08x", t->name, trk__random_bits());
	return put_file(t->at.fd, via, t, data, len);
}

/* By a new file of this path; one that a killed process has left there is removed. */
static int put_via(const char *path, const struct target *t, const void *data, size_t len)
{
	struct trk_trust_folder at;
	const char *name;
	int r = trk__trust_open_folder(path, &at, &name);

	if (r < 0)
		return r;
	(void) unlinkat(at.fd, name, 0);
	r = put_file(at.fd, name, t, data, len);
	trk__close(at.fd);
	return r;
}

static int replace(const char *via, struct target *t, const void *data, size_t len)
{
	int r = 1;

	if (t->descriptor < 0 && !t->is_link &&
	    !(t->exists && (!S_ISREG(t->st.st_mode) || t->st.st_nlink > 1))) {
		if (t->exists && !trk__trust_may_write(&t->at, &t->st))
			return -TRK_ERR_UNTRUSTED;
		r = via ? put_via(via, t, data, len) : put_beside(t, data, len);
	}
	return r > 0 ? write_in_place(t, data, len) : r;
}

int trk__output_replace(const char *via, const char *path, const void *data, size_t len)
{
	struct target t;
	int r = find(path, &t);

	r = r < 0 ? r : replace(via, &t, data, len);
	trk__close(t.at.fd);
	return r;
}

int trk__output_replace_own(const char *path, const void *data, size_t len)
{
	struct target t;
	int r;

	if (snprintf(t.path, PATH_SIZE, "%s", path) >= PATH_SIZE)
		return -ENAMETOOLONG;
	r = trk__trust_open_folder(t.path, &t.at, &t.name);
	if (r < 0)
		return r;
	r = look(&t);
	if (r == 0 && t.exists && !S_ISREG(t.st.st_mode))
		r = S_ISLNK(t.st.st_mode) ? -TRK_ERR_SYMLINK : -TRK_ERR_NOTFILE;
	if (r == 0 && t.exists && t.st.st_uid != geteuid())
		r = -EPERM;
	r = r < 0 ? r : put_beside(&t, data, len);
	trk__close(t.at.fd);
	return r > 0 ? -EACCES : r;
}
