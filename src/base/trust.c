#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/os.h"
#include "base/parse.h"

enum {
	PATH_SIZE = 4096,
	NAME_SIZE = 256,
	LINKS_MAX = 40,         /* as the kernel has it */
	ACCOUNTS_MAX = 4 << 20, /* bytes of /etc/passwd and of /etc/group */
	UNMAPPED_ID = 65534,    /* the default of /proc/sys/kernel/overflowuid */
};

/* ---- groups ---- */

/* Field n of the line at `at`, which ends at a line end or NUL. */
static const char *field(const char *at, int n, size_t *ret_len)
{
	for (; n > 0; n--) {
		at += strcspn(at, ":\n");
		at += *at == ':';
	}
	*ret_len = strcspn(at, ":\n");
	return at;
}

static bool is_number(const char *at, size_t len, unsigned int number)
{
	char text[16];

	return len == (size_t) snprintf(text, sizeof(text), "%u", number) && !memcmp(at, text, len);
}

/* The user's name; NULL where it is not listed, or another user has the group as the first one. */
static const char *name_of(const char *passwd, uid_t uid, gid_t gid, size_t *ret_len)
{
	const char *name = NULL;
	size_t len;

	for (const char *at = passwd; *at; at = trk__skip_line(at)) {
		const char *id = field(at, 2, &len);
		bool same = is_number(id, len, uid);
		const char *first = field(at, 3, &len);

		if (!same && is_number(first, len, gid))
			return NULL;
		if (same && !name)
			name = field(at, 0, ret_len);
	}
	return name;
}

bool trk__group_is_private(const char *passwd, const char *group, uid_t uid, gid_t gid)
{
	size_t name_len = 0, len;
	const char *name = name_of(passwd, uid, gid, &name_len);
	bool found = false;

	for (const char *at = group; name && *at; at = trk__skip_line(at)) {
		const char *id = field(at, 2, &len), *text;

		if (!is_number(id, len, gid))
			continue;
		text = field(at, 0, &len);
		if (len != name_len || memcmp(text, name, len) != 0)
			return false;
		text = field(at, 3, &len);
		if (len && (len != name_len || memcmp(text, name, len) != 0))
			return false;
		found = true;
	}
	return found;
}

static bool is_private_group(gid_t gid)
{
	char *passwd = NULL, *group = NULL;
	bool private = gid == 0;

	if (!private && trk__read_all_at(AT_FDCWD, "/etc/passwd", ACCOUNTS_MAX, &passwd) > 0 &&
	    trk__read_all_at(AT_FDCWD, "/etc/group", ACCOUNTS_MAX, &group) > 0)
	private = trk__group_is_private(passwd, group, geteuid(), gid);
	free(passwd);
	free(group);
	return private;
}

/* ---- one file or directory ---- */

static bool is_own(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

static bool is_writable_by_others(const struct stat *st)
{
	return st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !is_private_group(st->st_gid));
}

static int refuse(struct trk_error *reterr, const char *path, const struct stat *st)
{
	if (!is_own(st))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path,
				      "%s belongs to another user (uid %u)", path,
				      (unsigned int) st->st_uid);
	return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path,
			      "other users may write to %s (mode %04o)", path,
			      (unsigned int) st->st_mode & 07777);
}

static int check_file(const struct stat *st, const char *path, bool shared,
		      struct trk_error *reterr)
{
	if (S_ISLNK(st->st_mode))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path, "%s is a symbolic link",
				      path);
	if (!S_ISREG(st->st_mode))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path, "%s is not a regular file",
				      path);
	if (!is_own(st) || is_writable_by_others(st))
		return refuse(reterr, path, st);
	if (shared && st->st_nlink > 1)
		return trk__error_set(
			reterr, -TRK_ERR_UNTRUSTED, path,
			"%s has a second hard link, which another user may have created", path);
	return 0;
}

static int check_own_dir(const struct stat *st, const char *path, bool shared,
			 struct trk_error *reterr)
{
	if (S_ISLNK(st->st_mode))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path, "%s is a symbolic link",
				      path);
	/* For a file of another user: that user can replace it by a directory. */
	if (!S_ISDIR(st->st_mode) && is_own(st))
		return trk__error_set(reterr, -ENOTDIR, path, "%s is not a directory", path);
	return is_own(st) && !is_writable_by_others(st) ? 0 : refuse(reterr, path, st);
}

/* ---- the way ---- */

struct walk {
	struct trk_trust_folder at; /* that was reached, by trk__os_open_way() */
	char rest[PATH_SIZE];       /* what is left of the path */
	int links;
	bool named; /* the user named the path: its directories may belong to anybody */
};

/* Check the directory that was reached. */
static int check_way(struct walk *w, struct trk_error *reterr)
{
	struct trk_trust_folder *at = &w->at;
	char text[PATH_SIZE];
	struct stat st;

	if (fstat(at->fd, &st) < 0)
		return -errno;
	at->uid = st.st_uid;
	at->others = is_writable_by_others(&st);
	at->shared = at->others && st.st_mode & S_ISVTX;
	at->unmapped = !is_own(&st) && st.st_uid == UNMAPPED_ID && trk__os_has_unmapped_ids();
	at->own = is_own(&st) || at->unmapped;
	if (w->named || (at->own && (!at->others || at->shared)))
		return 0;
	return refuse(reterr,
		      trk__os_path_of(w->at.fd, text, sizeof(text)) < 0 ? "a directory on the way"
									: text,
		      &st);
}

static int enter(struct walk *w, int fd, struct trk_error *reterr)
{
	if (fd < 0)
		return fd;
	trk__close(w->at.fd);
	w->at.fd = fd;
	return check_way(w, reterr);
}

/* The next name of the path. False at its end. */
static bool take_name(struct walk *w, char name[NAME_SIZE], int *ret_error)
{
	char *at = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(at, "/");

	*ret_error = len < NAME_SIZE ? 0 : -ENAMETOOLONG;
	if (len == 0 || *ret_error < 0)
		return false;
	memcpy(name, at, len);
	name[len] = '\0';
	at += len;
	at += strspn(at, "/");
	memmove(w->rest, at, strlen(at) + 1);
	return true;
}

bool trk__trust_may_follow(const struct trk_trust_folder *at, const struct stat *link)
{
	bool unmapped = at->unmapped && link->st_uid == UNMAPPED_ID;

	if (!at->own || !(is_own(link) || unmapped))
		return false;
	return at->others ? at->shared && !unmapped && link->st_nlink == 1 : true;
}

/* Put the target of a link, which is in a checked directory, before the rest of the path. The entry
 * may also be something other than a link. */
static int follow_link(struct walk *w, const char *name, struct trk_error *reterr)
{
	char target[PATH_SIZE], rest[PATH_SIZE];
	ssize_t len;
	struct stat st;

	if (fstatat(w->at.fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (w->named && !S_ISLNK(st.st_mode))
		return -ENOTDIR;
	if (!trk__trust_may_follow(&w->at, &st)) /* it can be replaced at any time */
		return refuse(reterr, name, &st);
	len = readlinkat(w->at.fd, name, target, sizeof(target) - 1);
	if (len < 0)
		return -ENOTDIR; /* neither a link nor a directory */
	target[len] = '\0';
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (snprintf(rest, sizeof(rest), "%s/%s", target, w->rest) >= (int) sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(w->rest, rest, sizeof(rest));
	return target[0] == '/' ? enter(w, trk__os_open_way(AT_FDCWD, "/"), reterr) : 0;
}

static int go_into(struct walk *w, const char *name, enum trk_trust_make make,
		   struct trk_error *reterr)
{
	int fd = trk__os_open_way(w->at.fd, name);

	if (fd == -ENOENT && make == TRK_TRUST_RESERVE && w->at.shared) {
		if (mkdirat(w->at.fd, name, 0700) < 0 && errno != EEXIST)
			return -errno;
		fd = trk__os_open_way(w->at.fd, name);
	}
	if (fd == -ENOTDIR || fd == -ELOOP)
		return follow_link(w, name, reterr);
	return enter(w, fd, reterr);
}

/* Split off the last name. A relative path is one below the working directory. */
static int split(const char *path, struct walk *w, char last[NAME_SIZE])
{
	size_t len = 0;
	char *slash;

	if (*path != '/') {
		if (!getcwd(w->rest, sizeof(w->rest)))
			return -errno;
		len = strlen(w->rest);
	}
	if (len && w->rest[0] != '/') /* outside of the root directory */
		return -ENOENT;
	if (snprintf(w->rest + len, sizeof(w->rest) - len, "/%s", path) >=
	    (int) (sizeof(w->rest) - len))
		return -ENAMETOOLONG;
	len = strlen(w->rest);
	while (len > 1 && w->rest[len - 1] == '/')
		w->rest[--len] = '\0';
	slash = strrchr(w->rest, '/');
	if (strlen(slash + 1) >= NAME_SIZE)
		return -ENAMETOOLONG;
	(void) snprintf(last, NAME_SIZE, "%s", slash + 1);
	slash[1] = '\0';
	return 0;
}

/* Go to the directory in which the last name of the path lies. The caller closes w->at.fd in
 * any case. */
static int walk_to(const char *path, enum trk_trust_make make, struct walk *w, char last[NAME_SIZE],
		   struct trk_error *reterr)
{
	char name[NAME_SIZE];
	int r;

	*w = (struct walk){.at.fd = -1};
	r = split(path, w, last);
	if (r == 0)
		r = enter(w, trk__os_open_way(AT_FDCWD, "/"), reterr);
	while (r == 0 && take_name(w, name, &r))
		r = go_into(w, name, make, reterr);
	if (r == 0 && w->at.unmapped) /* it may be any user: refused for the file's own folder */
		r = trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path,
				   "the directory of %s belongs to an unknown user", path);
	return r;
}

/* ---- what callers use ---- */

enum {
	FILE_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
	DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

typedef int check_fn(const struct stat *st, const char *path, bool shared,
		     struct trk_error *reterr);

static int check_at(int dirfd, const char *name, check_fn *check, const char *path, bool shared,
		    struct trk_error *reterr)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return check(&st, path, shared, reterr);
}

/* Check it before it is opened, as opening a device may have side effects, and what was opened. */
static int open_at(int dirfd, const char *name, int flags, check_fn *check, const char *path,
		   bool shared, struct trk_error *reterr)
{
	int r = check_at(dirfd, name, check, path, shared, reterr), fd;
	struct stat st;

	if (r < 0)
		return r;
	fd = openat(dirfd, name, flags);
	r = fd < 0 || fstat(fd, &st) < 0 ? -errno : check(&st, path, shared, reterr);
	if (r == 0)
		return fd;
	trk__close(fd);
	return r;
}

int trk__trust_open_file(const char *path, struct trk_error *reterr)
{
	char last[NAME_SIZE];
	struct walk w;
	int r = walk_to(path, TRK_TRUST_FIND, &w, last, reterr);

	if (r == 0)
		r = open_at(w.at.fd, last, FILE_FLAGS, check_file, path, w.at.shared, reterr);
	trk__close(w.at.fd);
	return r;
}

int trk__trust_open_dir(const char *path, enum trk_trust_make make, struct trk_error *reterr)
{
	char last[NAME_SIZE];
	struct walk w;
	int r = walk_to(path, make, &w, last, reterr);

	if (r == 0 && make == TRK_TRUST_RESERVE && w.at.shared &&
	    mkdirat(w.at.fd, last, 0700) < 0 && errno != EEXIST)
		r = -errno;
	if (r == 0)
		r = open_at(w.at.fd, last, DIR_FLAGS, check_own_dir, path, w.at.shared, reterr);
	trk__close(w.at.fd);
	return r;
}

int trk__trust_check_file_at(int dirfd, const char *name, struct trk_error *reterr)
{
	return check_at(dirfd, name, check_file, name, false, reterr);
}

int trk__trust_check_dir_at(int dirfd, const char *name, struct trk_error *reterr)
{
	return check_at(dirfd, name, check_own_dir, name, false, reterr);
}

bool trk__trust_is_shared(int dirfd)
{
	struct stat dir;

	return fstat(dirfd, &dir) == 0 && (!is_own(&dir) || is_writable_by_others(&dir));
}

static int check_entry(const struct stat *st, const char *name, bool is_shared,
		       struct trk_error *reterr)
{
	return is_shared && S_ISREG(st->st_mode) ? 0 : check_file(st, name, false, reterr);
}

int trk__trust_check_entry(int dirfd, const char *name, bool is_shared, struct trk_error *reterr)
{
	if (strchr(name, '/'))
		return trk__error_set(reterr, -EINVAL, name, "%s: not the name of a file", name);
	return check_at(dirfd, name, check_entry, name, is_shared, reterr);
}

int trk__trust_open_entry(int dirfd, const char *name, struct trk_error *reterr)
{
	bool is_shared = trk__trust_is_shared(dirfd);
	int r = trk__trust_check_entry(dirfd, name, is_shared, reterr);

	return r < 0 ? r : open_at(dirfd, name, FILE_FLAGS, check_entry, name, is_shared, reterr);
}

/* ---- files that the user names for writing ---- */

int trk__trust_open_folder(const char *path, struct trk_trust_folder *ret, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t) (slash - path) : 0;
	struct walk w = {.at.fd = -1, .named = true};
	char name[NAME_SIZE];
	int r;

	if (len >= sizeof(w.rest))
		return -ENAMETOOLONG;
	memcpy(w.rest, path, len);
	r = enter(&w, trk__os_open_way(AT_FDCWD, *path == '/' ? "/" : "."), NULL);
	while (r == 0 && take_name(&w, name, &r))
		r = go_into(&w, name, TRK_TRUST_FIND, NULL);
	if (r < 0) {
		trk__close(w.at.fd);
		return r;
	}
	*ret = w.at;
	*ret_name = slash ? slash + 1 : path;
	return 0;
}

bool trk__trust_may_write(const struct trk_trust_folder *at, const struct stat *file)
{
	if (S_ISCHR(file->st_mode) || S_ISBLK(file->st_mode) || (at->own && !at->others))
		return true;
	return file->st_nlink == 1 && (is_own(file) || (!at->others && file->st_uid == at->uid));
}

int trk__trust_open_named_dir(const char *path)
{
	char whole[PATH_SIZE];
	struct trk_trust_folder at;
	const char *name;
	int r;

	if (snprintf(whole, sizeof(whole), "%s/", path) >= (int) sizeof(whole))
		return -ENAMETOOLONG;
	r = trk__trust_open_folder(whole, &at, &name);
	return r < 0 ? r : at.fd;
}
