/* Trust on Windows, by the owner of a file. A file or folder must belong to the user, to SYSTEM or
 * to the administrators. Folders on the way to it are not checked, as other users have no access to
 * a profile. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/trust.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

enum { PATH_SIZE = 4096 };

static bool is_own(const struct stat *st)
{
	return st->st_uid != TRK_UID_OTHER;
}

static int check(const struct stat *st, const char *path, bool is_folder, struct trk_error *reterr)
{
	if (S_ISLNK(st->st_mode))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path, "%s is a link", path);
	if (!is_own(st))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path,
				      "%s belongs to another user", path);
	if (is_folder && !S_ISDIR(st->st_mode))
		return trk__error_set(reterr, -ENOTDIR, path, "%s is not a directory", path);
	if (!is_folder && !S_ISREG(st->st_mode))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path, "%s is not a regular file",
				      path);
	return 0;
}

static int open_checked(int dirfd, const char *path, bool is_folder, struct trk_error *reterr)
{
	int fd = openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), r;
	struct stat st;

	if (fd < 0)
		return errno == ELOOP ? trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path,
						       "%s is a link", path)
				      : -errno;
	r = fstat(fd, &st) < 0 ? -errno : check(&st, path, is_folder, reterr);
	if (r == 0)
		return fd;
	trk__close(fd);
	return r;
}

static int check_at(int dirfd, const char *name, bool is_folder, struct trk_error *reterr)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return check(&st, name, is_folder, reterr);
}

int trk__trust_open_file(const char *path, struct trk_error *reterr)
{
	return open_checked(AT_FDCWD, path, false, reterr);
}

/* TRK_TRUST_RESERVE has no effect: no folder on the way is world-writable. */
static int make_folders(const char *path, enum trk_trust_make make, mode_t mode)
{
	char part[PATH_SIZE];
	size_t len = strlen(path);

	if (len == 0 || len >= sizeof(part))
		return -ENAMETOOLONG;
	memcpy(part, path, len + 1);
	for (size_t i = 1; i <= len; i++) {
		bool is_made = path[i] == '\0' ? make >= TRK_TRUST_MAKE
					       : path[i] == '/' && make == TRK_TRUST_MAKE;

		if (!is_made)
			continue;
		part[i] = '\0';
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			return -errno;
		part[i] = path[i];
	}
	return 0;
}

int trk__trust_open_dir(const char *path, enum trk_trust_make make, struct trk_error *reterr)
{
	int r = make_folders(path, make, 0700);

	return r < 0 ? r : open_checked(AT_FDCWD, path, true, reterr);
}

int trk__trust_check_file_at(int dirfd, const char *name, struct trk_error *reterr)
{
	return check_at(dirfd, name, false, reterr);
}

int trk__trust_open_file_at(int dirfd, const char *name, struct trk_error *reterr)
{
	return trk__trust_open_entry(dirfd, name, reterr);
}

int trk__trust_check_dir_at(int dirfd, const char *name, struct trk_error *reterr)
{
	return check_at(dirfd, name, true, reterr);
}

bool trk__trust_is_shared(int dirfd)
{
	struct stat dir;

	return fstat(dirfd, &dir) == 0 && !is_own(&dir);
}

int trk__trust_check_entry(int dirfd, const char *name, bool is_shared, struct trk_error *reterr)
{
	struct stat st;

	if (strpbrk(name, "/\\:"))
		return trk__error_set(reterr, -EINVAL, name, "%s: not the name of a file", name);
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return is_shared && S_ISREG(st.st_mode) ? 0 : check(&st, name, false, reterr);
}

int trk__trust_open_entry(int dirfd, const char *name, struct trk_error *reterr)
{
	int r = trk__trust_check_entry(dirfd, name, trk__trust_is_shared(dirfd), reterr);
	int fd = r < 0 ? r : openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return r < 0 ? r : fd < 0 ? -errno : fd;
}

/* Recordings with stacks are made on Linux, whose paths do not exist here. */
int trk__trust_open_as(int64_t uid, const char *path)
{
	return trk__open_regular_at(AT_FDCWD, path);
}

/* Another user can neither create links nor write to the folders of a profile: the whole path is
 * left to the system. */
int trk__trust_open_folder(const char *path, struct trk_trust_folder *ret, const char **ret_name)
{
	*ret = (struct trk_trust_folder){.fd = AT_FDCWD, .own = true};
	*ret_name = path;
	return 0;
}

bool trk__trust_may_follow(const struct trk_trust_folder *at, const struct stat *link)
{
	return true;
}

bool trk__trust_may_write(const struct trk_trust_folder *at, const struct stat *file)
{
	return true;
}

int trk__trust_make_named_dir(const char *path, enum trk_trust_make make, mode_t mode,
			      struct trk_trust_folder *ret)
{
	int r = make_folders(path, make, mode);

	r = r < 0 ? r : trk__open_dir_at(AT_FDCWD, path);
	if (r < 0)
		return r;
	*ret = (struct trk_trust_folder){.fd = r, .own = true};
	return 0;
}

int trk__trust_open_named_dir(const char *path)
{
	return trk__open_dir_at(AT_FDCWD, path);
}

#endif
