/* Files and directories that the program finds by itself: configurations, recordings, the history,
 * caches.
 *
 * Another user may have put one where the program looks. It is used only where it belongs to the
 * effective user or to root and no other user may write to it, nor to a directory on the way to it:
 *
 * - A file is opened without following a link and without waiting (a FIFO), and the descriptor is
 *   checked: a regular file, its owner, its mode.
 * - Every directory from / on is opened and checked in turn. A link on the way is followed if it
 *   belongs to the user or to root, and its target is checked in the same way.
 * - A directory that others may write to is accepted on the way if it has the sticky bit (/tmp):
 *   only the owner can rename or remove an entry there, and the entry's owner is checked. A file in
 *   such a directory must have one name only, since others can give a second name to a file.
 * - Write access of a group counts as none if the group is the user's own (named as the user,
 *   without other members: umask 002) or root's. Entries of an access control list count like the
 *   mode; a list that cannot be read counts as write access if the mode has that of the group.
 * - In a user namespace all unmapped ids appear as one user. A directory of that user is accepted
 *   on the way, as / itself may belong to it, but not as the last directory.
 *
 * A file that the user names for reading is not checked like this: it is only opened so that it
 * cannot block. For writing, see below. */
#ifndef TRK_BASE_TRUST_H
#define TRK_BASE_TRUST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

enum trk_trust_make {
	TRK_TRUST_FIND, /* make nothing */
	/* Create what is missing directly below a world-writable directory, before others can. */
	TRK_TRUST_RESERVE,
	TRK_TRUST_MAKE,      /* create all that is missing */
	TRK_TRUST_MAKE_LAST, /* create the directory itself, if only that is missing */
};

/* Open a regular file for reading. Returns a descriptor (the caller closes); -TRK_ERR_UNTRUSTED with
 * *reterr, which names what is wrong and where; or another negative errno. A relative path is below
 * the working directory. */
int trk__trust_open_file(const char *path, struct trk_error *reterr);

/* Open a directory of the program, which must not be a link and to which no other user may write.
 * Returns as above. */
int trk__trust_open_dir(const char *path, enum trk_trust_make make, struct trk_error *reterr);

/* Check an entry of an open directory without opening it: a regular file, or a directory of the
 * program. 0, or as above. */
int trk__trust_check_file_at(int dirfd, const char *name, struct trk_error *reterr);
/* Open such a file. A descriptor, or as above. */
int trk__trust_open_file_at(int dirfd, const char *name, struct trk_error *reterr);
int trk__trust_check_dir_at(int dirfd, const char *name, struct trk_error *reterr);

/* A file in a directory that the user may have named: it must be a regular file under a name
 * without a slash, and where no other user may write to the directory, no other user may own the
 * file or write to it. In a directory that the user shares with others, the files of all are
 * accepted. Open it for reading, or check it only: is_shared is the result of trk__trust_is_shared
 * for the directory. */
int trk__trust_open_entry(int dirfd, const char *name, struct trk_error *reterr);
int trk__trust_check_entry(int dirfd, const char *name, bool is_shared, struct trk_error *reterr);
/* True if another user owns the directory or may write to it. */
bool trk__trust_is_shared(int dirfd);

/* A user whose id is not known. */
#define TRK_USER_UNKNOWN (-1)
/* Open a file for reading whose name is from elsewhere, such as a recording, if this user could read
 * it: by the owner, mode and access control list of the file and of every directory on the way. If
 * the user is not known, only what everybody can read; the effective user opens it without a check,
 * as the kernel checks that. A descriptor, -EACCES, -TRK_ERR_NOTFILE or another negative errno. */
int trk__trust_open_as(int64_t uid, const char *path);

/* ---- files that the user names for writing ----
 *
 * Their directories may belong to anybody. Another user who may write to one could plant a link to
 * a file of this user there, a second hard link to it, or a file of their own. */

/* A directory that is open. */
struct trk_trust_folder {
	int fd;        /* owned; AT_FDCWD on Windows */
	uid_t uid;     /* owner */
	bool own;      /* it belongs to the user, to root or to an id that is not mapped */
	bool others;   /* others may write to it */
	bool shared;   /* others may, and it has the sticky bit */
	bool unmapped; /* it belongs to an id that is not mapped */
};

/* Open the directory of the last name in the path; *ret_name: that name, a view of the path. A link
 * on the way must be one that trk__trust_may_follow() accepts, else -TRK_ERR_UNTRUSTED. 0 or a
 * negative errno; the caller closes ret->fd. */
int trk__trust_open_folder(const char *path, struct trk_trust_folder *ret, const char **ret_name);
/* Whether only the user or root can have put this link, the result of fstatat(2), into the
 * directory, so that it can be read after the check. */
bool trk__trust_may_follow(const struct trk_trust_folder *at, const struct stat *link);
/* Whether this entry can be written to: a device; anything in a directory where only the user or
 * root can create names; elsewhere what has this name only, and belongs to the user, to root, or to
 * the owner of a directory that nobody else may write to. */
bool trk__trust_may_write(const struct trk_trust_folder *at, const struct stat *file);
/* Open a directory that the user names to create files in; it cannot be listed. Returns a descriptor
 * (the caller closes), or an error as above, also if it is such a link itself. */
int trk__trust_open_named_dir(const char *path);
/* The same, and create what is missing with this mode. The caller closes ret->fd. 0, or an error as
 * above. */
int trk__trust_make_named_dir(const char *path, enum trk_trust_make make, mode_t mode,
			      struct trk_trust_folder *ret);

/* Whether a group has no member but the user, by the text of /etc/passwd and /etc/group. Pure. */
bool trk__group_is_private(const char *passwd, const char *group, uid_t uid, gid_t gid);

#endif
