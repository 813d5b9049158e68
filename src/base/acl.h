/* Access control lists of files: what they permit beyond the mode.
 *
 * Source: the attribute system.posix_acl_access (acl(5): version 2, then entries of 8 bytes, little
 * endian), or system.nfs4_acl of an NFSv4 mount (RFC 8881, XDR). With a POSIX ACL the bits of the
 * group in the mode are the mask of the list, so that a mode alone does not show who has access. */
#ifndef TRK_BASE_ACL_H
#define TRK_BASE_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRK_ACL_EXECUTE = 1, TRK_ACL_WRITE = 2, TRK_ACL_READ = 4 };

enum trk_acl_who {
	TRK_ACL_OWNER,
	TRK_ACL_USER,        /* id; TRK_ACL_NAMELESS for a user of an NFSv4 ACL */
	TRK_ACL_OWNER_GROUP, /* the group of the file */
	TRK_ACL_GROUP,       /* id, as for a user */
	TRK_ACL_ALL,
};
#define TRK_ACL_NAMELESS UINT32_MAX

struct trk_acl_entry {
	enum trk_acl_who who;
	uint32_t id;
	/* What the entry permits, reduced by the mask. For NFSv4, which permits the sum of several
	 * entries: an entry that permits something is complete but for TRK_ACL_WRITE, and one that
	 * denies permits nothing. */
	unsigned int access;
};

/* A list that is being read. Private; the bytes are borrowed. */
struct trk_acl {
	const unsigned char *at, *end;
	unsigned int mask;
	bool is_nfs4;
};

/* Begin to read a list. 0, or -EBADMSG where it is none. */
int trk__acl_posix(struct trk_acl *acl, const void *data, size_t len);
int trk__acl_nfs4(struct trk_acl *acl, const void *data, size_t len);
/* The next entry. 1; 0 at the end; -EBADMSG. */
int trk__acl_next(struct trk_acl *acl, struct trk_acl_entry *ret);

#endif
