#include "base/acl.h"

#include <errno.h>
#include <string.h>

enum { POSIX_VERSION = 2, POSIX_HEAD = 4, POSIX_ENTRY = 8 };
enum {
	TAG_OWNER = 1,
	TAG_USER = 2,
	TAG_OWNER_GROUP = 4,
	TAG_GROUP = 8,
	TAG_MASK = 16,
	TAG_ALL = 32
};

enum { NFS4_ALLOW = 0, NFS4_DENY = 1, NFS4_INHERIT_ONLY = 8, NFS4_GROUP = 0x40 };
enum {
	/* WRITE_DATA (ADD_FILE), APPEND_DATA, DELETE_CHILD, WRITE_ACL, WRITE_OWNER */
	NFS4_WRITES = 0x2 | 0x4 | 0x40 | 0x40000 | 0x80000,
	NFS4_READS = 0x1 | 0x20, /* READ_DATA, EXECUTE */
};

static unsigned int two_bytes(const unsigned char *at)
{
	return at[0] | (unsigned int) at[1] << 8;
}

int trk__acl_posix(struct trk_acl *acl, const void *data, size_t len)
{
	const unsigned char *at = data;

	if (len < POSIX_HEAD || (len - POSIX_HEAD) % POSIX_ENTRY != 0 ||
	    two_bytes(at) != POSIX_VERSION || two_bytes(at + 2) != 0)
		return -EBADMSG;
	*acl = (struct trk_acl){at + POSIX_HEAD, at + len, 7, false};
	for (at = acl->at; at < acl->end; at += POSIX_ENTRY)
		if (two_bytes(at) == TAG_MASK)
			acl->mask = two_bytes(at + 2) & 7;
	return 0;
}

static int next_posix(struct trk_acl *acl, struct trk_acl_entry *ret)
{
	static const struct {
		unsigned int tag;
		enum trk_acl_who who;
		bool is_masked;
	} known[] = {
		{TAG_OWNER, TRK_ACL_OWNER, false},
		{TAG_USER, TRK_ACL_USER, true},
		{TAG_OWNER_GROUP, TRK_ACL_OWNER_GROUP, true},
		{TAG_GROUP, TRK_ACL_GROUP, true},
		{TAG_ALL, TRK_ACL_ALL, false},
	};
	const unsigned char *at = acl->at;

	if (at < acl->end && two_bytes(at) == TAG_MASK)
		at += POSIX_ENTRY;
	acl->at = at + POSIX_ENTRY;
	for (size_t i = 0; at < acl->end && i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].tag != two_bytes(at))
			continue;
		ret->who = known[i].who;
		ret->id = two_bytes(at + 4) | two_bytes(at + 6) << 16;
		ret->access = two_bytes(at + 2) & (known[i].is_masked ? acl->mask : 7u);
		return 1;
	}
	return at < acl->end ? -EBADMSG : 0;
}

static uint32_t take_number(struct trk_acl *acl)
{
	const unsigned char *at = acl->at;

	acl->at += 4;
	return (uint32_t) at[0] << 24 | (uint32_t) at[1] << 16 | (uint32_t) at[2] << 8 | at[3];
}

int trk__acl_nfs4(struct trk_acl *acl, const void *data, size_t len)
{
	const unsigned char *at = data;

	if (len < 4)
		return -EBADMSG;
	*acl = (struct trk_acl){at + 4, at + len, 7, true}; /* after the number of entries */
	return 0;
}

static enum trk_acl_who who_of(const unsigned char *name, size_t len, bool is_group)
{
	static const struct {
		const char *name;
		enum trk_acl_who who;
	} special[] = {{"OWNER@", TRK_ACL_OWNER},
		       {"GROUP@", TRK_ACL_OWNER_GROUP},
		       {"EVERYONE@", TRK_ACL_ALL}};

	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (len == strlen(special[i].name) && !memcmp(name, special[i].name, len))
			return special[i].who;
	return is_group ? TRK_ACL_GROUP : TRK_ACL_USER;
}

/* Type, flags, access, length and bytes of a name, which zeros complete to a multiple of four. */
static int next_nfs4(struct trk_acl *acl, struct trk_acl_entry *ret)
{
	while (acl->at < acl->end) {
		uint32_t type, flags, access, len;

		if (acl->end - acl->at < 16)
			return -EBADMSG;
		type = take_number(acl);
		flags = take_number(acl);
		access = take_number(acl);
		len = take_number(acl);
		if ((size_t) (acl->end - acl->at) < ((size_t) len + 3) / 4 * 4)
			return -EBADMSG;
		ret->who = who_of(acl->at, len, flags & NFS4_GROUP);
		ret->id = TRK_ACL_NAMELESS;
		ret->access =
			type == NFS4_DENY ? 0 : 7u & ~(access & NFS4_WRITES ? 0u : TRK_ACL_WRITE);
		acl->at += ((size_t) len + 3) / 4 * 4;
		/* Audits and alarms, and what denies no reading, permit and deny nothing. */
		if (!(flags & NFS4_INHERIT_ONLY) &&
		    (type == NFS4_ALLOW || (type == NFS4_DENY && access & NFS4_READS)))
			return 1;
	}
	return 0;
}

int trk__acl_next(struct trk_acl *acl, struct trk_acl_entry *ret)
{
	return acl->is_nfs4 ? next_nfs4(acl, ret) : next_posix(acl, ret);
}
