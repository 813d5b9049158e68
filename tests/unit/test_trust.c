/* Which files in default places the program uses. tests/cli/test_strangers.py tests what other
 * users can do, with such users. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/acl.h"
#include "base/file.h"
#include "base/trust.h"
#include "skip.h"

static char folder[64];

static int enter(void **state)
{
	(void) snprintf(folder, sizeof(folder), "/tmp/trk-trust-XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void) !chdir("/");
	trk__remove_tree(folder);
	return 0;
}

static void put_file(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	trk__close(fd);
}

/* What opening a file gives: 0, or the error with a message that holds `words`. */
static void assert_opens(const char *path, int want, const char *words)
{
	struct trk_error error = {.code = 0};
	int fd = trk__trust_open_file(path, &error);

	assert_int_equal(fd < 0 ? fd : 0, want);
	assert_non_null(strstr(error.message, words));
	trk__close(fd);
}

static void a_regular_file_of_the_user_is_opened(void **state)
{
	char path[200];

	put_file("f", 0644);
	assert_opens("f", 0, "");
	assert_opens("./f", 0, "");
	assert_opens("../../tmp/./f/", -ENOENT, "");
	(void) snprintf(path, sizeof(path), "/%s//../%s/f", folder, strrchr(folder, '/') + 1);
	assert_opens(path, 0, "");
	assert_opens("none", -ENOENT, "");
	assert_opens("none/f", -ENOENT, "");
	assert_opens("f/g", -ENOTDIR, "");
}

static void nothing_but_a_regular_file_is_opened(void **state)
{
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(mkdir("dir", 0700), 0);
	put_file("f", 0600);
	assert_int_equal(symlink("f", "link"), 0);
	assert_opens("fifo", -TRK_ERR_UNTRUSTED, "fifo is not a regular file");
	assert_opens("dir", -TRK_ERR_UNTRUSTED, "dir is not a regular file");
	assert_opens("link", -TRK_ERR_UNTRUSTED, "link is a symbolic link");
	assert_opens("/dev/null", -TRK_ERR_UNTRUSTED, "not a regular file");
	assert_int_equal(trk__open_regular_at(AT_FDCWD, "fifo"), -TRK_ERR_NOTFILE);
	assert_int_equal(trk__open_regular_at(AT_FDCWD, "dir"), -EISDIR);
	assert_int_equal(trk__open_regular_at(AT_FDCWD, "none"), -ENOENT);
}

static void what_others_may_write_to_is_not_opened(void **state)
{
	put_file("f", 0666);
	assert_opens("f", -TRK_ERR_UNTRUSTED, "other users may write to f (mode 0666)");
	assert_int_equal(mkdir("open", 0700), 0);
	put_file("open/f", 0600);
	assert_opens("open/f", 0, "");
	assert_int_equal(chmod("open", 0777), 0);
	assert_opens("open/f", -TRK_ERR_UNTRUSTED, "/open (mode 0777)");
	/* In a directory as /tmp is, the file cannot be replaced; but it may be another file's
	 * name. */
	assert_int_equal(chmod("open", 01777), 0);
	assert_opens("open/f", 0, "");
	assert_int_equal(link("open/f", "second"), 0);
	assert_opens("open/f", -TRK_ERR_UNTRUSTED, "has a second hard link");
	assert_opens("second", 0, "");
}

/* An entry of a POSIX ACL. */
#define NOBODY                 "\xff\xff\xff\xff"
#define ENTRY(tag, access, id) tag "\0" access "\0" id
#define OWNER                  ENTRY("\1", "\6", NOBODY)
#define GROUP                  ENTRY("\4", "\4", NOBODY)
#define ALL                    ENTRY("\x20", "\4", NOBODY)
#define SOMEBODY               "\x39\x30\0\0" /* 12345 */

/* Give a file or directory this ACL: the entries before and after GROUP. */
static void put_acl(const char *path, const char *user, size_t user_len, const char *group,
		    size_t group_len, const char *mask)
{
	char acl[128], *at = acl;
	static const char head[] = {2, 0, 0, 0};
	struct {
		const char *text;
		size_t len;
	} part[] = {{head, 4},          {OWNER, 8}, {user, user_len}, {GROUP, 8},
		    {group, group_len}, {mask, 8},  {ALL, 8}};

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		memcpy(at, part[i].text, part[i].len);
		at += part[i].len;
	}
	if (setxattr(path, "system.posix_acl_access", acl, (size_t) (at - acl), 0) < 0)
		SKIP("no POSIX ACLs on the file system of /tmp");
}

#define USER_ACL(path, user, mask)   put_acl(path, user, 8, "", 0, mask)
#define GROUP_ACL(path, group, mask) put_acl(path, "", 0, group, 8, mask)

static void an_entry_of_an_acl_counts_like_the_mode(void **state)
{
	static const char writes[] = ENTRY("\2", "\6", SOMEBODY),
			  reads[] = ENTRY("\2", "\4", SOMEBODY);
	static const char group_writes[] = ENTRY("\10", "\6", SOMEBODY);
	static const char root_writes[] = ENTRY("\2", "\6", "\0\0\0\0"),
			  root_group_writes[] = ENTRY("\10", "\6", "\0\0\0\0");
	static const char all[] = ENTRY("\x10", "\7", NOBODY),
			  read_only[] = ENTRY("\x10", "\4", NOBODY);
	int dir = trk__open_dir_at(AT_FDCWD, folder);

	put_file("f", 0644);
	USER_ACL("f", writes, all);
	assert_opens("f", -TRK_ERR_UNTRUSTED,
		     "other users may write to f (mode 0674, access control list)");
	assert_int_equal(trk__trust_check_file_at(dir, "f", NULL), -TRK_ERR_UNTRUSTED);
	USER_ACL("f", writes, read_only); /* the mask takes it away */
	assert_opens("f", 0, "");
	USER_ACL("f", reads, all);
	assert_opens("f", 0, "");
	GROUP_ACL("f", group_writes, all);
	assert_opens("f", -TRK_ERR_UNTRUSTED, "access control list");
	USER_ACL("f", root_writes, all);
	assert_opens("f", 0, "");
	GROUP_ACL("f", root_group_writes, all);
	assert_opens("f", 0, "");
	assert_int_equal(mkdir("d", 0700), 0);
	put_file("d/f", 0600);
	USER_ACL("d", writes, all);
	assert_int_equal(trk__trust_check_dir_at(dir, "d", NULL), -TRK_ERR_UNTRUSTED);
	assert_int_equal(trk__trust_open_dir("d", TRK_TRUST_FIND, NULL), -TRK_ERR_UNTRUSTED);
	assert_opens("d/f", -TRK_ERR_UNTRUSTED, "/d (mode 0674, access control list)");
	trk__close(dir);
}

/* A second name or a link in a folder to which an ACL lets another user write may be theirs. */
static void an_acl_of_the_folder_of_an_output_counts(void **state)
{
	static const char writes[] = ENTRY("\2", "\6", SOMEBODY),
			  all[] = ENTRY("\x10", "\7", NOBODY);
	struct trk_trust_folder at;
	struct stat link_st, second;
	const char *name;

	put_file("f", 0600);
	assert_int_equal(mkdir("d", 0700), 0);
	assert_int_equal(link("f", "d/second"), 0);
	assert_int_equal(symlink("..", "d/link"), 0);
	assert_int_equal(lstat("d/second", &second), 0);
	assert_int_equal(lstat("d/link", &link_st), 0);
	for (int by_acl = 0; by_acl < 2; by_acl++) {
		if (by_acl)
			USER_ACL("d", writes, all);
		assert_int_equal(trk__trust_open_folder("d/x", &at, &name), 0);
		assert_int_equal(trk__trust_may_write(&at, &second), !by_acl);
		assert_int_equal(trk__trust_may_follow(&at, &link_st), !by_acl);
		trk__close(at.fd);
		assert_int_equal(trk__trust_open_folder("d/link/x", &at, &name),
				 by_acl ? -TRK_ERR_UNTRUSTED : 0);
		if (!by_acl)
			trk__close(at.fd);
	}
}

/* An entry of an NFSv4 ACL: type, flags, access, and a name of at most 12 bytes. */
static size_t put_nfs4(unsigned char *at, int type, int flags, unsigned int access,
		       const char *name)
{
	size_t len = strlen(name);
	const unsigned char head[16] = {[3] = (unsigned char) type,
					[7] = (unsigned char) flags,
					[9] = (unsigned char) (access >> 16),
					[11] = (unsigned char) access,
					[15] = (unsigned char) len};

	memcpy(at, head, 16);
	memset(at + 16, 0, 12);
	memcpy(at + 16, name, len);
	return 16 + (len + 3) / 4 * 4;
}

static void an_acl_of_nfs_is_read(void **state)
{
	unsigned char data[200] = {0, 0, 0, 5};
	size_t len = 4, cut;
	struct trk_acl acl;
	struct trk_acl_entry e;

	len += put_nfs4(data + len, 0, 0, 0x16, "OWNER@");
	len += put_nfs4(data + len, 0, 8, 0x2, "eve@site.org"); /* for new files only */
	len += put_nfs4(data + len, 1, 0x40, 0x1, "GROUP@");
	len += put_nfs4(data + len, 0, 0x40, 0x40000, "staff@site");
	cut = len;
	len += put_nfs4(data + len, 0, 0, 0x21, "EVERYONE@");
	assert_int_equal(trk__acl_nfs4(&acl, data, len), 0);
	assert_int_equal(trk__acl_next(&acl, &e), 1);
	assert_int_equal(e.who, TRK_ACL_OWNER);
	assert_int_equal(trk__acl_next(&acl, &e), 1);
	assert_int_equal(e.who, TRK_ACL_OWNER_GROUP);
	assert_int_equal(e.access, 0);
	assert_int_equal(trk__acl_next(&acl, &e), 1);
	assert_int_equal(e.who, TRK_ACL_GROUP);
	assert_int_equal(e.id, TRK_ACL_NAMELESS);
	assert_true(e.access & TRK_ACL_WRITE);
	assert_int_equal(trk__acl_next(&acl, &e), 1);
	assert_int_equal(e.who, TRK_ACL_ALL);
	assert_false(e.access & TRK_ACL_WRITE);
	assert_int_equal(trk__acl_next(&acl, &e), 0);
	for (int i = 0; i < 2; i++) { /* in the middle of a name, and of a head */
		assert_int_equal(trk__acl_nfs4(&acl, data, cut - (i ? 14 : 2)), 0);
		assert_int_equal(trk__acl_next(&acl, &e), 1);
		assert_int_equal(trk__acl_next(&acl, &e), 1);
		assert_int_equal(trk__acl_next(&acl, &e), -EBADMSG);
	}
	assert_int_equal(trk__acl_posix(&acl, "\2\0\0\0\1", 5), -EBADMSG);
	assert_int_equal(trk__acl_posix(&acl, "\1\0\0\0", 4), -EBADMSG);
	assert_int_equal(trk__acl_posix(&acl, "\2\0\0\0" ENTRY("\3", "\6", NOBODY), 12), 0);
	assert_int_equal(trk__acl_next(&acl, &e), -EBADMSG);
}

static void assert_opens_as(int64_t uid, const char *path, int want)
{
	int fd = trk__trust_open_as(uid, path);

	assert_int_equal(fd < 0 ? fd : 0, want);
	trk__close(fd);
}

static void a_file_is_read_for_a_user_who_could_read_it(void **state)
{
	static const char reads[] = ENTRY("\2", "\4", SOMEBODY),
			  nothing[] = ENTRY("\2", "\0", SOMEBODY);
	static const char all[] = ENTRY("\x10", "\7", NOBODY);

	assert_int_equal(chmod(folder, 0711), 0);
	put_file("secret", 0600);
	put_file("open", 0644);
	assert_int_equal(symlink("secret", "link"), 0);
	assert_int_equal(symlink("/../tmp//nowhere/../..//./", "away"), 0);
	assert_int_equal(symlink("./open", "to_open"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(mkdir("closed", 0750), 0);
	put_file("closed/open", 0644);
	put_file("for_group", 0604);
	for (int64_t uid = TRK_USER_UNKNOWN; uid < 60000; uid += 12346) {
		assert_opens_as(uid, "secret", -EACCES);
		assert_opens_as(uid, "link", -EACCES);
		assert_opens_as(uid, "closed/open", -EACCES);
		assert_opens_as(uid, "for_group", -EACCES); /* the user may be in the group */
		assert_opens_as(uid, "open", 0);
		assert_opens_as(uid, "to_open", 0);
		assert_opens_as(uid, "loop", -ELOOP);
		assert_opens_as(uid, "away", -ENOENT);
		assert_opens_as(uid, "none", -ENOENT);
		assert_opens_as(uid, ".", -TRK_ERR_NOTFILE);
	}
	assert_opens_as(geteuid(), "secret", 0);
	assert_opens_as(0, "closed/open", 0);
	USER_ACL("secret", reads, all);
	assert_opens_as(12345, "secret", 0);
	assert_opens_as(12346, "secret", 0); /* the mode is 0674 now */
	USER_ACL("open", nothing, all);
	assert_opens_as(12345, "open", -EACCES);
	assert_opens_as(TRK_USER_UNKNOWN, "open", -EACCES);
}

static void links_on_the_way_are_followed_and_what_they_lead_to_is_checked(void **state)
{
	char path[100];

	assert_int_equal(mkdir("real", 0700), 0);
	assert_int_equal(mkdir("real/deep", 0700), 0);
	put_file("real/deep/f", 0600);
	assert_int_equal(symlink("real", "relative"), 0);
	(void) snprintf(path, sizeof(path), "%s/relative/deep", folder);
	assert_int_equal(symlink(path, "absolute"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_opens("relative/deep/f", 0, "");
	assert_opens("absolute/f", 0, "");
	assert_opens("relative/../real/deep/f", 0, "");
	assert_opens("loop/f", -ELOOP, "");
	assert_int_equal(chmod("real", 0777), 0);
	assert_opens("absolute/f", -TRK_ERR_UNTRUSTED, "/real (mode 0777)");
}

static void long_names_are_errors(void **state)
{
	static char path[6000];

	memset(path, 'a', sizeof(path) - 1);
	assert_opens(path, -ENAMETOOLONG, "");
	path[300] = '\0';
	assert_opens(path, -ENAMETOOLONG, "");
	path[0] = '/';
	path[299] = '/';
	assert_opens(path, -ENAMETOOLONG, "");
}

static void a_directory_of_our_own_is_no_link_and_nobody_else_s(void **state)
{
	int fd;

	assert_int_equal(mkdir("own", 0700), 0);
	assert_int_equal(symlink("own", "link"), 0);
	put_file("f", 0600);
	fd = trk__trust_open_dir("own", TRK_TRUST_FIND, NULL);
	assert_true(fd >= 0);
	trk__close(fd);
	assert_int_equal(trk__trust_open_dir("link", TRK_TRUST_FIND, NULL), -TRK_ERR_UNTRUSTED);
	assert_int_equal(trk__trust_open_dir("f", TRK_TRUST_FIND, NULL), -ENOTDIR);
	assert_int_equal(trk__trust_open_dir("none", TRK_TRUST_FIND, NULL), -ENOENT);
	assert_int_equal(chmod("own", 01777), 0); /* not even with the sticky bit */
	assert_int_equal(trk__trust_open_dir("own", TRK_TRUST_FIND, NULL), -TRK_ERR_UNTRUSTED);
}

static void what_others_could_make_first_is_made_at_once(void **state)
{
	struct stat st;
	int fd;

	assert_int_equal(trk__trust_open_dir("a/b", TRK_TRUST_RESERVE, NULL), -ENOENT);
	assert_int_equal(access("a", F_OK), -1);
	assert_int_equal(mkdir("open", 0700), 0);
	assert_int_equal(chmod("open", 01777), 0);
	assert_int_equal(trk__trust_open_dir("open/a/b", TRK_TRUST_FIND, NULL), -ENOENT);
	assert_int_equal(access("open/a", F_OK), -1);
	/* Below the first of its own nobody else can make anything. */
	assert_int_equal(trk__trust_open_dir("open/a/b", TRK_TRUST_RESERVE, NULL), -ENOENT);
	assert_int_equal(stat("open/a", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	fd = trk__trust_open_dir("open/c", TRK_TRUST_RESERVE, NULL);
	assert_true(fd >= 0);
	trk__close(fd);
}

static void an_entry_has_a_bare_name(void **state)
{
	int dir = trk__open_dir_at(AT_FDCWD, folder), fd;

	put_file("f", 0600);
	put_file("w", 0666);
	assert_int_equal(trk__trust_check_entry(dir, "../f", false, NULL), -EINVAL);
	assert_int_equal(trk__trust_check_entry(dir, "/etc/passwd", false, NULL), -EINVAL);
	assert_int_equal(trk__trust_open_entry(dir, "../x", NULL), -EINVAL);
	assert_int_equal(trk__trust_check_entry(dir, "..", false, NULL), -TRK_ERR_UNTRUSTED);
	assert_int_equal(trk__trust_open_entry(dir, "w", NULL), -TRK_ERR_UNTRUSTED);
	fd = trk__trust_open_entry(dir, "f", NULL);
	assert_true(fd >= 0);
	trk__close(fd);
	/* A directory that is shared holds files of all. */
	assert_int_equal(chmod(folder, 0777), 0);
	fd = trk__trust_open_entry(dir, "w", NULL);
	assert_true(fd >= 0);
	trk__close(fd);
	trk__close(dir);
}

static void a_group_is_private_if_it_is_named_as_the_user_and_has_no_other_member(void **state)
{
	static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
				     "ann:x:1000:1000::/home/ann:/bin/sh\n"
				     "bob:x:1001:1001::/home/bob:/bin/sh\n"
				     "eve:x:1002:1001::/home/eve:/bin/sh\n"
				     "dan:x:1003:100::/home/dan:/bin/sh\n";

	assert_true(trk__group_is_private(passwd, "ann:x:1000:\n", 1000, 1000));
	assert_true(trk__group_is_private(passwd, "x:x:1:\nann:x:1000:ann", 1000, 1000));
	assert_false(trk__group_is_private(passwd, "ann:x:1000:bob\n", 1000, 1000));
	assert_false(trk__group_is_private(passwd, "ann:x:1000:ann,bob\n", 1000, 1000));
	assert_false(trk__group_is_private(passwd, "team:x:1000:\n", 1000, 1000));
	assert_false(trk__group_is_private(passwd, "ann:x:1000:\nteam:x:1000:bob\n", 1000, 1000));
	assert_false(trk__group_is_private(passwd, "ann:x:10000:\n", 1000, 1000));
	assert_false(trk__group_is_private(passwd, "", 1000, 1000));
	/* Eve has it as her first group. */
	assert_false(trk__group_is_private(passwd, "bob:x:1001:\n", 1001, 1001));
	assert_false(trk__group_is_private(passwd, "dan:x:1003:\n", 1004, 1003));
	assert_false(trk__group_is_private("", "ann:x:1000:\n", 1000, 1000));
	assert_false(trk__group_is_private("ann\nann:x\n:::\n", "ann:x:1000", 1000, 1000));
}

/* Returns 0, or the error. */
static int make(const char *path, enum trk_trust_make how)
{
	struct trk_trust_folder at = {.fd = -1};
	int r = trk__trust_make_named_dir(path, how, 0700, &at);

	assert_true(r < 0 || at.own);
	trk__close(at.fd);
	return r;
}

static void a_named_folder_is_made_where_the_way_leads(void **state)
{
	struct stat st;

	assert_int_equal(make("m/a", TRK_TRUST_MAKE_LAST), -ENOENT);
	assert_int_equal(make("m", TRK_TRUST_FIND), -ENOENT);
	assert_int_equal(make("m/", TRK_TRUST_MAKE_LAST), 0);
	assert_int_equal(make("m/a//b/", TRK_TRUST_MAKE), 0);
	assert_int_equal(make("m/a/b", TRK_TRUST_FIND), 0);
	assert_int_equal(stat("m/a", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(symlink("a", "m/link"), 0);
	assert_int_equal(make("m/link/c", TRK_TRUST_MAKE_LAST), 0);
	assert_int_equal(stat("m/a/c", &st), 0);
	put_file("m/f", 0600);
	assert_int_equal(make("m/f", TRK_TRUST_MAKE), -ENOTDIR);
	assert_int_equal(make("m/f/a", TRK_TRUST_MAKE), -ENOTDIR);
	/* Others could have put the link there. */
	assert_int_equal(chmod("m", 0777), 0);
	assert_int_equal(make("m/link/d", TRK_TRUST_MAKE), -TRK_ERR_UNTRUSTED);
	assert_int_equal(make("m/none/../link/d", TRK_TRUST_MAKE), -TRK_ERR_UNTRUSTED);
	assert_int_equal(stat("m/a/d", &st), -1);
}

static void only_a_marked_folder_is_removed_as_temporary(void **state)
{
	char made[] = "made-XXXXXX";

	assert_int_equal(trk__make_temporary(made), 0);
	assert_int_equal(rename(made, "moved"), 0); /* the mark has another name */
	trk__remove_temporary("moved");
	assert_int_equal(access("moved", F_OK), 0);
	assert_int_equal(rename("moved", made), 0);
	trk__remove_temporary(made);
	assert_int_equal(access(made, F_OK), -1);
	assert_int_equal(mkdir("named", 0700), 0);
	put_file("named/thesis", 0600);
	trk__remove_temporary("named");
	assert_int_equal(access("named/thesis", F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_named_folder_is_made_where_the_way_leads, enter,
						leave),
		cmocka_unit_test_setup_teardown(only_a_marked_folder_is_removed_as_temporary, enter,
						leave),
		cmocka_unit_test_setup_teardown(a_regular_file_of_the_user_is_opened, enter, leave),
		cmocka_unit_test_setup_teardown(nothing_but_a_regular_file_is_opened, enter, leave),
		cmocka_unit_test_setup_teardown(what_others_may_write_to_is_not_opened, enter,
						leave),
		cmocka_unit_test_setup_teardown(an_entry_of_an_acl_counts_like_the_mode, enter,
						leave),
		cmocka_unit_test_setup_teardown(an_acl_of_the_folder_of_an_output_counts, enter,
						leave),
		cmocka_unit_test(an_acl_of_nfs_is_read),
		cmocka_unit_test_setup_teardown(a_file_is_read_for_a_user_who_could_read_it, enter,
						leave),
		cmocka_unit_test_setup_teardown(
			links_on_the_way_are_followed_and_what_they_lead_to_is_checked, enter,
			leave),
		cmocka_unit_test_setup_teardown(long_names_are_errors, enter, leave),
		cmocka_unit_test_setup_teardown(a_directory_of_our_own_is_no_link_and_nobody_else_s,
						enter, leave),
		cmocka_unit_test_setup_teardown(what_others_could_make_first_is_made_at_once, enter,
						leave),
		cmocka_unit_test_setup_teardown(an_entry_has_a_bare_name, enter, leave),
		cmocka_unit_test(
			a_group_is_private_if_it_is_named_as_the_user_and_has_no_other_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
