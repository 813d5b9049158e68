#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/acl.h"
#include "base/file.h"
#include "base/os.h"
#include "base/parse.h"

enum {
	PATH_SIZE = 4096,
	NAME_SIZE = 256,
	LINKS_MAX = 40,         /* as the kernel has it */
	ACCOUNTS_MAX = 4 << 20, /* bytes of /etc/passwd and of /etc/group */
	UNMAPPED_ID = 65534,    /* the default of /proc/sys/kernel/overflowuid */
	ACL_SIZE = 4096,        /* 511 entries */
};

static const char NFS4_ACL[] = "system.nfs4_acl";

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

struct entry {
	int fd;           /* open; or the directory that it is in */
	const char *name; /* in that directory; NULL: open */
	bool is_listed;   /* one of many: its NFSv4 ACL is read once it is open */
	struct stat st;
};

static int look(struct entry *e, int fd, const char *name)
{
	*e = (struct entry){.fd = fd, .name = name};
	if (name ? fstatat(fd, name, &e->st, AT_SYMLINK_NOFOLLOW) < 0 : fstat(fd, &e->st) < 0)
		return -errno;
	return 0;
}

static bool is_own(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/* The access control list of an entry. 1; 0: it has none; a negative error: it cannot be read. */
static int read_acl(const struct entry *e, unsigned char data[ACL_SIZE], struct trk_acl *ret)
{
	ssize_t len = trk__os_attribute(e->fd, e->name, "system.posix_acl_access", data, ACL_SIZE);
	int r;

	if (len != 0) {
		r = len < 0 ? (int) len : trk__acl_posix(ret, data, (size_t) len);
		return r < 0 ? r : 1;
	}
	len = trk__os_attribute(e->fd, e->name, NFS4_ACL, data, ACL_SIZE);
	r = len <= 0 ? (int) len : trk__acl_nfs4(ret, data, (size_t) len);
	if (len > 0)
		return r < 0 ? r : 1;
	len = trk__os_attribute(e->fd, e->name, "system.richacl", NULL, 0);
	return len == 0 ? r : -EBADMSG;
}

static bool is_other(const struct trk_acl_entry *a, gid_t group)
{
	switch (a->who) {
	case TRK_ACL_OWNER:
		return false;
	case TRK_ACL_USER:
		return a->id != 0 && a->id != geteuid();
	case TRK_ACL_OWNER_GROUP:
		return !is_private_group(group);
	case TRK_ACL_GROUP:
		return a->id == TRK_ACL_NAMELESS || !is_private_group(a->id);
	default:
		return true;
	}
}

static bool is_writable_by_others(const struct entry *e)
{
	bool has_group = e->st.st_mode & S_IWGRP;
	unsigned char data[ACL_SIZE];
	struct trk_acl acl;
	struct trk_acl_entry a;
	int r;

	if (S_ISLNK(e->st.st_mode))
		return false;
	if (e->st.st_mode & S_IWOTH)
		return true;
	/* The mask of a POSIX ACL is in the mode. */
	if (!has_group &&
	    (e->is_listed || trk__os_attribute(e->fd, e->name, NFS4_ACL, NULL, 0) == 0))
		return false;
	r = read_acl(e, data, &acl);
	if (r <= 0)
		return has_group && (r < 0 || !is_private_group(e->st.st_gid));
	while ((r = trk__acl_next(&acl, &a)) > 0)
		if (a.access & TRK_ACL_WRITE && is_other(&a, e->st.st_gid))
			return true;
	return r < 0 && has_group;
}

static int refuse(struct trk_error *reterr, const char *path, const struct entry *e)
{
	unsigned char data[ACL_SIZE];
	struct trk_acl acl;

	if (!is_own(&e->st))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path,
				      "%s belongs to another user (uid %u)", path,
				      (unsigned int) e->st.st_uid);
	return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path,
			      "other users may write to %s (mode %04o%s)", path,
			      (unsigned int) e->st.st_mode & 07777,
			      read_acl(e, data, &acl) ? ", access control list" : "");
}

static int check_file(const struct entry *e, const char *path, bool shared,
		      struct trk_error *reterr)
{
	if (S_ISLNK(e->st.st_mode))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path, "%s is a symbolic link",
				      path);
	if (!S_ISREG(e->st.st_mode))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path, "%s is not a regular file",
				      path);
	if (!is_own(&e->st) || is_writable_by_others(e))
		return refuse(reterr, path, e);
	if (shared && e->st.st_nlink > 1)
		return trk__error_set(
			reterr, -TRK_ERR_UNTRUSTED, path,
			"%s has a second hard link, which another user may have created", path);
	return 0;
}

static int check_own_dir(const struct entry *e, const char *path, bool shared,
			 struct trk_error *reterr)
{
	if (S_ISLNK(e->st.st_mode))
		return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, path, "%s is a symbolic link",
				      path);
	/* For a file of another user: that user can replace it by a directory. */
	if (!S_ISDIR(e->st.st_mode) && is_own(&e->st))
		return trk__error_set(reterr, -ENOTDIR, path, "%s is not a directory", path);
	return is_own(&e->st) && !is_writable_by_others(e) ? 0 : refuse(reterr, path, e);
}

/* Whether a user (TRK_USER_UNKNOWN: every user) has this access. Groups that the user is in do not
 * count. */
static bool is_open_to(const struct entry *e, int64_t uid, unsigned int access)
{
	unsigned char data[ACL_SIZE];
	struct trk_acl acl;
	struct trk_acl_entry a;
	bool all = (e->st.st_mode & 0111 * access) == 0111 * access;
	int r;

	if (uid == 0)
		return true;
	if ((int64_t) e->st.st_uid == uid)
		return (e->st.st_mode >> 6 & access) == access;
	r = read_acl(e, data, &acl);
	while (r > 0 && (r = trk__acl_next(&acl, &a)) > 0) {
		if (a.who == TRK_ACL_USER && a.id == uid)
			return (a.access & access) == access;
		all &= (a.access & access) == access;
	}
	return r == 0 && all;
}

/* ---- the way ---- */

struct walk {
	struct trk_trust_folder at; /* that was reached, by trk__os_open_way() */
	char rest[PATH_SIZE];       /* what is left of the path */
	int links;
	bool named; /* the user named the path: its directories may belong to anybody */
	enum trk_trust_make make;
	mode_t mode; /* of what is made */
	/* Check for whom the directories are open, not who may write to them. */
	const int64_t *reader;
};

/* Check the directory that was reached. */
static int check_way(struct walk *w, struct trk_error *reterr)
{
	struct trk_trust_folder *at = &w->at;
	char text[PATH_SIZE];
	struct entry e;
	int r = look(&e, at->fd, NULL);

	if (r < 0)
		return r;
	if (w->reader)
		return is_open_to(&e, *w->reader, TRK_ACL_EXECUTE) ? 0 : -EACCES;
	at->uid = e.st.st_uid;
	at->others = is_writable_by_others(&e);
	at->shared = at->others && e.st.st_mode & S_ISVTX;
	at->unmapped = !is_own(&e.st) && e.st.st_uid == UNMAPPED_ID && trk__os_has_unmapped_ids();
	at->own = is_own(&e.st) || at->unmapped;
	if (w->named || (at->own && (!at->others || at->shared)))
		return 0;
	return refuse(reterr,
		      trk__os_path_of(at->fd, text, sizeof(text)) < 0 ? "a directory on the way"
								      : text,
		      &e);
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
	struct entry e;
	int r = look(&e, w->at.fd, name);

	if (r < 0)
		return r;
	if (w->named && !S_ISLNK(e.st.st_mode))
		return -ENOTDIR;
	if (!w->reader &&
	    !trk__trust_may_follow(&w->at, &e.st)) /* it can be replaced at any time */
		return refuse(reterr, name, &e);
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

/* Whether a missing directory below the one that was reached is created. */
static bool makes(const struct walk *w, bool is_last)
{
	return w->make == TRK_TRUST_MAKE || (w->make == TRK_TRUST_RESERVE && w->at.shared) ||
	       (w->make == TRK_TRUST_MAKE_LAST && is_last);
}

static int go_into(struct walk *w, const char *name, struct trk_error *reterr)
{
	int fd = trk__os_open_way(w->at.fd, name);

	if (fd == -ENOENT && makes(w, !*w->rest)) {
		if (mkdirat(w->at.fd, name, w->mode) < 0 && errno != EEXIST)
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

/* Go to the directory in which the last name of the path lies. At first w->at.fd is -1; the caller
 * closes it in any case. */
static int walk_to(const char *path, struct walk *w, char last[NAME_SIZE], struct trk_error *reterr)
{
	char name[NAME_SIZE];
	int r;

	r = split(path, w, last);
	if (r == 0)
		r = enter(w, trk__os_open_way(AT_FDCWD, "/"), reterr);
	while (r == 0 && take_name(w, name, &r))
		r = go_into(w, name, reterr);
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

typedef int check_fn(const struct entry *e, const char *path, bool shared,
		     struct trk_error *reterr);

static int check_entry(const struct entry *e, const char *name, bool is_shared,
		       struct trk_error *reterr)
{
	return is_shared && S_ISREG(e->st.st_mode) ? 0 : check_file(e, name, false, reterr);
}

static int check_at(int dirfd, const char *name, check_fn *check, const char *path, bool shared,
		    struct trk_error *reterr)
{
	struct entry e;
	int r = look(&e, dirfd, name);

	e.is_listed = name && check == check_entry;
	return r < 0 ? r : check(&e, path, shared, reterr);
}

/* Check it before it is opened, as opening a device may have side effects, and what was opened. */
static int open_at(int dirfd, const char *name, int flags, check_fn *check, const char *path,
		   bool shared, struct trk_error *reterr)
{
	int r = check_at(dirfd, name, check, path, shared, reterr), fd;

	if (r < 0)
		return r;
	fd = openat(dirfd, name, flags);
	r = fd < 0 ? -errno : check_at(fd, NULL, check, path, shared, reterr);
	if (r == 0)
		return fd;
	trk__close(fd);
	return r;
}

int trk__trust_open_file(const char *path, struct trk_error *reterr)
{
	char last[NAME_SIZE];
	struct walk w = {.at.fd = -1};
	int r = walk_to(path, &w, last, reterr);

	if (r == 0)
		r = open_at(w.at.fd, last, FILE_FLAGS, check_file, path, w.at.shared, reterr);
	trk__close(w.at.fd);
	return r;
}

int trk__trust_open_dir(const char *path, enum trk_trust_make make, struct trk_error *reterr)
{
	char last[NAME_SIZE];
	struct walk w = {.at.fd = -1, .make = make, .mode = 0700};
	int r = walk_to(path, &w, last, reterr);

	if (r == 0 && makes(&w, true) && mkdirat(w.at.fd, last, w.mode) < 0 && errno != EEXIST)
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

int trk__trust_open_file_at(int dirfd, const char *name, struct trk_error *reterr)
{
	return open_at(dirfd, name, FILE_FLAGS, check_file, name, true, reterr);
}

int trk__trust_check_dir_at(int dirfd, const char *name, struct trk_error *reterr)
{
	return check_at(dirfd, name, check_own_dir, name, false, reterr);
}

bool trk__trust_is_shared(int dirfd)
{
	struct entry dir;

	return look(&dir, dirfd, NULL) == 0 && (!is_own(&dir.st) || is_writable_by_others(&dir));
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

/* Go on to the directory of the last name of the rest of the path, the target of a link. */
static int walk_rest(struct walk *w, char last[NAME_SIZE])
{
	int r = 0;

	(void) snprintf(last, NAME_SIZE, ".");
	while (r == 0 && take_name(w, last, &r) && *w->rest)
		r = go_into(w, last, NULL);
	return r;
}

int trk__trust_open_as(int64_t uid, const char *path)
{
	char last[NAME_SIZE];
	struct walk w = {.at.fd = -1, .reader = &uid};
	struct entry e;
	int r, fd = -1;

	if (uid == (int64_t) geteuid())
		return trk__open_regular_at(AT_FDCWD, path);
	if (uid == UNMAPPED_ID && trk__os_has_unmapped_ids())
		uid = TRK_USER_UNKNOWN;
	r = walk_to(path, &w, last, NULL);
	while (r == 0 && (fd = openat(w.at.fd, last, FILE_FLAGS)) < 0) {
		r = errno == ELOOP ? follow_link(&w, last, NULL) : -errno;
		r = r < 0 ? r : walk_rest(&w, last);
	}
	trk__close(w.at.fd);
	r = r < 0 ? r : look(&e, fd, NULL);
	if (r == 0 && !S_ISREG(e.st.st_mode))
		r = -TRK_ERR_NOTFILE;
	if (r == 0 && !is_open_to(&e, uid, TRK_ACL_READ))
		r = -EACCES;
	if (r == 0)
		return fd;
	trk__close(fd);
	return r;
}

/* ---- files that the user names for writing ---- */

/* Open the directory that is the first `len` bytes of the path. */
static int open_named(const char *path, size_t len, enum trk_trust_make make, mode_t mode,
		      struct trk_trust_folder *ret)
{
	struct walk w = {.at.fd = -1, .named = true, .make = make, .mode = mode};
	char name[NAME_SIZE];
	int r;

	if (len >= sizeof(w.rest))
		return -ENAMETOOLONG;
	memcpy(w.rest, path, len);
	r = enter(&w, trk__os_open_way(AT_FDCWD, *path == '/' ? "/" : "."), NULL);
	while (r == 0 && take_name(&w, name, &r))
		r = go_into(&w, name, NULL);
	if (r < 0) {
		trk__close(w.at.fd);
		return r;
	}
	*ret = w.at;
	return 0;
}

int trk__trust_open_folder(const char *path, struct trk_trust_folder *ret, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t) (slash - path) : 0;
	int r = open_named(path, len, TRK_TRUST_FIND, 0, ret);

	if (r == 0)
		*ret_name = slash ? slash + 1 : path;
	return r;
}

bool trk__trust_may_write(const struct trk_trust_folder *at, const struct stat *file)
{
	if (S_ISCHR(file->st_mode) || S_ISBLK(file->st_mode) || (at->own && !at->others))
		return true;
	return file->st_nlink == 1 && (is_own(file) || (!at->others && file->st_uid == at->uid));
}

int trk__trust_make_named_dir(const char *path, enum trk_trust_make make, mode_t mode,
			      struct trk_trust_folder *ret)
{
	return open_named(path, strlen(path), make, mode, ret);
}

int trk__trust_open_named_dir(const char *path)
{
	struct trk_trust_folder at;
	int r = open_named(path, strlen(path), TRK_TRUST_FIND, 0, &at);

	return r < 0 ? r : at.fd;
}
