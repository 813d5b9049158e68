/* Output files that a user names. What exists at the path decides the result. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "base/output.h"
#include "skip.h"

static char folder[64];

static int enter(void **state)
{
	(void) state;
	(void) snprintf(folder, sizeof(folder), "/tmp/trk-output-XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void) state;
	(void) !chdir("/");
	trk__remove_tree(folder);
	return 0;
}

static void put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	assert_true(fd >= 0);
	assert_int_equal(trk__write_all(fd, text, strlen(text)), 0);
	(void) close(fd);
}

static void assert_text(const char *path, const char *text)
{
	char found[64];

	assert_true(trk__read_at(AT_FDCWD, path, found, sizeof(found)) >= 0);
	assert_string_equal(found, text);
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static ino_t inode(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static int replace(const char *path, const char *text)
{
	return trk__output_replace(NULL, path, text, strlen(text));
}

static int stream(const char *path, const char *text)
{
	int fd = trk__output_open(path), r;

	if (fd < 0)
		return fd;
	r = trk__write_all(fd, text, strlen(text));
	(void) close(fd);
	return r;
}

static int (*const ways[])(const char *path, const char *text) = {replace, stream};

static void a_link_is_followed_and_stays(void **state)
{
	(void) state;
	assert_int_equal(mkdir("there", 0700), 0);
	for (int i = 0; i < 2; i++) {
		put_text("there/file", "old and longer");
		(void) unlink("near");
		(void) unlink("there/second");
		assert_int_equal(symlink("there/second", "near"), 0);
		assert_int_equal(symlink("file", "there/second"), 0); /* from where it stands */
		assert_int_equal(ways[i]("near", "new"), 0);
		assert_true(is_link("near") && is_link("there/second"));
		assert_text("there/file", "new");
	}
}

static void behind_a_link_to_nothing_the_file_is_made(void **state)
{
	(void) state;
	assert_int_equal(mkdir("other", 0700), 0);
	assert_int_equal(symlink("other/made", "dangling"), 0);
	assert_int_equal(symlink("nowhere/made", "lost"), 0);
	for (int i = 0; i < 2; i++) {
		(void) unlink("other/made");
		assert_int_equal(ways[i]("dangling", "new"), 0);
		assert_true(is_link("dangling"));
		assert_text("other/made", "new");
		assert_int_equal(ways[i]("lost", "new"), -ENOENT);
		assert_true(is_link("lost"));
	}
}

static void a_loop_and_a_folder_are_refused_and_stay(void **state)
{
	(void) state;
	assert_int_equal(symlink("b", "a"), 0);
	assert_int_equal(symlink("a", "b"), 0);
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(symlink("folder", "to-folder"), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ways[i]("a", "new"), -ELOOP);
		assert_true(is_link("a") && is_link("b"));
		assert_int_equal(ways[i]("folder", "new"), -EISDIR);
		assert_int_equal(ways[i]("to-folder", "new"), -EISDIR);
		assert_int_equal(rmdir("folder"), 0); /* nothing was put into it */
		assert_int_equal(mkdir("folder", 0700), 0);
	}
}

static void a_link_into_another_file_system_is_followed(void **state)
{
	char other[] = "/dev/shm/trk-output-XXXXXX";
	int fd = mkstemp(other);

	(void) state;
	if (fd < 0)
		SKIP("/dev/shm cannot be written to");
	(void) close(fd);
	assert_int_equal(symlink(other, "abroad"), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ways[i]("abroad", i ? "two" : "one"), 0);
		assert_true(is_link("abroad"));
		assert_text(other, i ? "two" : "one");
	}
	/* The file on the way is here, the target there. */
	assert_int_equal(trk__output_replace("via", "abroad", "three", 5), 0);
	assert_text(other, "three");
	assert_int_not_equal(access("via", F_OK), 0);
	(void) unlink(other);
}

static void devices_and_pipes_are_written_to_as_they_are(void **state)
{
	char text[8] = "";
	int fd;

	(void) state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ways[i]("/dev/null", "new"), 0);
		assert_int_equal(ways[i]("fifo", "new"), 0);
		assert_int_equal(read(fd, text, sizeof(text)), 3);
		assert_memory_equal(text, "new", 3);
		assert_int_equal(ways[i]("/dev/full", "new"), -ENOSPC);
	}
	(void) close(fd);
}

static void a_dash_is_stdout(void **state)
{
	struct stat st, of_stdout;
	int fd = trk__output_open("-");

	(void) state;
	assert_true(fd > 2);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(fstat(STDOUT_FILENO, &of_stdout), 0);
	assert_true(st.st_dev == of_stdout.st_dev && st.st_ino == of_stdout.st_ino);
	assert_int_equal(access("-", F_OK), -1);
	(void) close(fd);
}

/* What was written there before, and what comes after, stays. */
static void a_name_of_a_descriptor_is_that_descriptor(void **state)
{
	char name[32];
	int fd;

	(void) state;
	assert_int_equal(symlink("/dev/stdout", "log"), 0);
	assert_int_equal(trk__output_descriptor("/dev/stdout"), 1);
	assert_int_equal(trk__output_descriptor("log"), 1);
	assert_int_equal(trk__output_descriptor("elsewhere"), -1);
	for (int i = 0; i < 2; i++) {
		fd = open("plain", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		(void) snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		assert_int_equal(trk__output_descriptor(name), fd);
		assert_int_equal(trk__write_all(fd, "before ", 7), 0);
		assert_int_equal(ways[i](name, "new"), 0);
		assert_int_equal(trk__write_all(fd, " after", 6), 0);
		assert_text("plain", "before new after");
		(void) close(fd);
		assert_true(ways[i](name, "new") < 0); /* closed */
	}
}

static void a_replaced_file_keeps_its_rights_and_is_never_half(void **state)
{
	struct stat st;
	ino_t before;

	(void) state;
	put_text("kept", "old");
	assert_int_equal(chmod("kept", 0600), 0);
	before = inode("kept");
	assert_int_equal(replace("kept", "new"), 0);
	assert_text("kept", "new");
	assert_int_not_equal(inode("kept"), before); /* a new one, at once */
	assert_int_equal(stat("kept", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* Of a file with two names both show what is new. */
	assert_int_equal(link("kept", "twin"), 0);
	assert_int_equal(replace("kept", "newer"), 0);
	assert_text("twin", "newer");
}

static void a_name_as_long_as_names_may_be_can_be_replaced(void **state)
{
	char name[256];

	(void) state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(replace(name, "old"), 0);
	assert_int_equal(replace(name, "new"), 0);
	assert_text(name, "new");
}

static void a_name_of_the_program_s_own_is_no_link(void **state)
{
	char text[16];

	(void) state;
	assert_int_equal(trk__output_replace_own("chosen-page", "one", 3), 0);
	assert_int_equal(chmod("chosen-page", 0640), 0);
	assert_int_equal(trk__output_replace_own("chosen-page", "two", 3), 0);
	assert_int_equal(trk__read_at(AT_FDCWD, "chosen-page", text, sizeof(text)), 3);
	assert_string_equal(text, "two");
	assert_int_equal(symlink("chosen-page", "chosen-link"), 0);
	assert_int_equal(symlink("chosen-nowhere", "chosen-dangling"), 0);
	assert_int_equal(mkfifo("chosen-fifo", 0600), 0);
	assert_int_equal(mkdir("chosen-dir", 0700), 0);
	assert_int_equal(trk__output_replace_own("chosen-link", "bad", 3), -TRK_ERR_SYMLINK);
	assert_int_equal(trk__output_replace_own("chosen-dangling", "bad", 3), -TRK_ERR_SYMLINK);
	assert_int_equal(trk__output_replace_own("chosen-fifo", "bad", 3), -TRK_ERR_NOTFILE);
	assert_int_equal(trk__output_replace_own("chosen-dir", "bad", 3), -TRK_ERR_NOTFILE);
	assert_int_equal(access("chosen-nowhere", F_OK), -1);
	assert_int_equal(trk__read_at(AT_FDCWD, "chosen-page", text, sizeof(text)), 3);
	assert_string_equal(text, "two");
}

static void a_link_of_another_user_where_everybody_may_write_is_refused(void **state)
{
	(void) state;
	if (geteuid() != 0)
		SKIP("gives links to other users: needs root");
	put_text("victim", "kept");
	assert_int_equal(mkdir("shared", 0700), 0);
	assert_int_equal(chmod("shared", 01777), 0);
	assert_int_equal(symlink("../victim", "shared/page"), 0);
	assert_int_equal(replace("shared/page", "mine"), 0);
	assert_text("victim", "mine");
	assert_int_equal(lchown("shared/page", 65534, 65534), 0);
	assert_int_equal(replace("shared/page", "bad"), -EACCES);
	assert_int_equal(trk__output_open("shared/page"), -EACCES);
	assert_text("victim", "mine");
	/* That of the folder's owner is followed, as in the kernel. */
	assert_int_equal(chown("shared", 65534, 65534), 0);
	assert_int_equal(replace("shared/page", "his"), 0);
	assert_text("victim", "his");
	/* Without the sticky bit its owner could put anything there. */
	assert_int_equal(chown("shared", 0, 0), 0);
	assert_int_equal(chmod("shared", 0777), 0);
	assert_int_equal(replace("shared/page", "free"), 0);
	assert_text("victim", "free");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_followed_and_stays),
		cmocka_unit_test(behind_a_link_to_nothing_the_file_is_made),
		cmocka_unit_test(a_loop_and_a_folder_are_refused_and_stay),
		cmocka_unit_test(a_link_into_another_file_system_is_followed),
		cmocka_unit_test(devices_and_pipes_are_written_to_as_they_are),
		cmocka_unit_test(a_dash_is_stdout),
		cmocka_unit_test(a_name_of_a_descriptor_is_that_descriptor),
		cmocka_unit_test(a_replaced_file_keeps_its_rights_and_is_never_half),
		cmocka_unit_test(a_name_of_the_program_s_own_is_no_link),
		cmocka_unit_test(a_link_of_another_user_where_everybody_may_write_is_refused),
		cmocka_unit_test(a_name_as_long_as_names_may_be_can_be_replaced),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
