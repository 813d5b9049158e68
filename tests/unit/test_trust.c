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
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/trust.h"

static char folder[64];

static int enter(void **state)
{
	(void) state;
	(void) snprintf(folder, sizeof(folder), "/tmp/trk-trust-XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void) state;
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

	(void) state;
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
	(void) state;
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
	(void) state;
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

static void links_on_the_way_are_followed_and_what_they_lead_to_is_checked(void **state)
{
	char path[100];

	(void) state;
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

	(void) state;
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

	(void) state;
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

	(void) state;
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

	(void) state;
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

	(void) state;
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

static void only_a_marked_folder_is_removed_as_temporary(void **state)
{
	char made[] = "made-XXXXXX";

	(void) state;
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
		cmocka_unit_test(only_a_marked_folder_is_removed_as_temporary),
		cmocka_unit_test_setup_teardown(a_regular_file_of_the_user_is_opened, enter, leave),
		cmocka_unit_test_setup_teardown(nothing_but_a_regular_file_is_opened, enter, leave),
		cmocka_unit_test_setup_teardown(what_others_may_write_to_is_not_opened, enter,
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
