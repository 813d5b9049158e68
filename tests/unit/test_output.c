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
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "base/output.h"
#include "skip.h"

static char folder[64];

static int enter(void **state)
{
	(void) snprintf(folder, sizeof(folder), "/tmp/trk-output-XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
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

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(replace(name, "old"), 0);
	assert_int_equal(replace(name, "new"), 0);
	assert_text(name, "new");
}

static void a_name_of_the_program_s_own_is_no_link(void **state)
{
	char text[16];

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

/* ---- other users ---- */

enum { STRANGER = 65534 };

/* A folder of this owner, in which nothing is. */
static void make_folder(const char *path, mode_t mode, uid_t owner)
{
	trk__remove_tree(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chown(path, owner, owner), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void put_link(const char *target, const char *path, uid_t owner)
{
	(void) unlink(path);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(lchown(path, owner, owner), 0);
}

static void put_owned(const char *path, const char *text, uid_t owner)
{
	put_text(path, text);
	assert_int_equal(chown(path, owner, owner), 0);
}

static void assert_refused(const char *path)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ways[i](path, "bad"), -TRK_ERR_UNTRUSTED);
		assert_text("victim", "kept");
	}
}

static void assert_written(const char *path)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ways[i](path, i ? "two" : "one"), 0);
		assert_text(path, i ? "two" : "one");
	}
}

static void a_link_is_followed_only_if_nobody_else_can_have_put_it_there(void **state)
{
	if (geteuid() != 0)
		SKIP("gives links to other users: needs root");
	put_text("victim", "kept");
	make_folder("d", 01777, 0); /* as /tmp */
	put_link("../victim", "d/page", STRANGER);
	assert_refused("d/page");
	put_link("../victim", "d/page", 0);
	put_link("d/page", "own", 0);
	assert_int_equal(linkat(AT_FDCWD, "d/page", AT_FDCWD, "d/second", 0), 0);
	assert_refused("d/page"); /* somebody may have given it this name */
	(void) unlink("d/second");
	make_folder("d", 0777, 0);
	put_link("../victim", "d/page", 0);
	assert_refused("d/page");
	make_folder("d", 0755, STRANGER);
	put_link("../victim", "d/page", STRANGER);
	assert_refused("d/page");
	assert_refused("own"); /* over an own link */
	make_folder("d", 01777, STRANGER);
	put_link("../victim", "d/page", STRANGER);
	assert_refused("d/page");

	make_folder("d", 01777, 0);
	put_link("../file", "d/page", 0);
	assert_written("own");
	assert_true(is_link("d/page"));
	make_folder("d", 0755, 0);
	put_link("../file", "d/page", 0);
	assert_written("own");
}

static void a_link_on_the_way_is_no_stranger_s_either(void **state)
{
	if (geteuid() != 0)
		SKIP("gives links to other users: needs root");
	put_text("victim", "kept");
	make_folder("d", 01777, 0);
	put_link("..", "d/way", STRANGER);
	assert_refused("d/way/victim");
	assert_int_equal(trk__output_replace_own("d/way/victim", "bad", 3), -TRK_ERR_UNTRUSTED);
	put_link("d/way/victim", "own", 0);
	assert_refused("own");
	put_link("..", "d/way", 0);
	assert_written("d/way/file");
	make_folder("d", 0755, STRANGER); /* a folder on the way may be anybody's */
	make_folder("d/below", 0700, 0);
	assert_written("d/below/file");
}

static void only_a_file_that_nobody_else_can_have_put_there_is_written_to(void **state)
{
	if (geteuid() != 0)
		SKIP("gives files to other users: needs root");
	put_text("victim", "kept");
	make_folder("d", 01777, 0);
	put_owned("d/page", "theirs", STRANGER);
	assert_refused("d/page");
	assert_text("d/page", "theirs");
	(void) unlink("d/page");
	assert_int_equal(link("victim", "d/page"), 0);
	assert_refused("d/page");
	(void) unlink("d/page");
	assert_int_equal(mkfifo("d/page", 0666), 0);
	assert_int_equal(chown("d/page", STRANGER, STRANGER), 0);
	assert_refused("d/page"); /* without waiting for its reader */
	make_folder("d", 0755, STRANGER);
	assert_int_equal(link("victim", "d/page"), 0);
	assert_refused("d/page");
	put_owned("d/other", "theirs", STRANGER - 1);
	assert_refused("d/other");

	put_owned("d/theirs", "old", STRANGER); /* the user has named that folder */
	assert_written("d/theirs");
	put_text("d/own", "old");
	assert_written("d/own");
	make_folder("d", 01777, 0);
	put_text("d/own", "old");
	assert_written("d/own");
	make_folder("d", 0755, 0); /* nobody else can have given it */
	put_owned("d/given", "old", STRANGER);
	assert_written("d/given");
}

static void a_private_folder_needs_no_check(void **state)
{
	make_folder("d", 0700, geteuid());
	put_text("d/one", "old");
	assert_int_equal(link("d/one", "d/two"), 0);
	assert_written("d/one");
	assert_text("d/two", "two");
}

/* ---- what changes between two calls ---- */

/* Done once, before the call that has this number among the calls of openat() and renameat() for
 * the name "page"; a rename is refused then. */
static void (*change)(void);
static int calls_before;
static bool is_at_look; /* before a call of fstatat() instead */

static bool strikes(const char *path)
{
	void (*now)(void) = change;

	if (!now || strncmp(path, "page", 4) != 0 || calls_before-- > 0)
		return false;
	change = NULL;
	now();
	return true;
}

/* These take the place of the C library's: openat(), and the one that the compiler calls for flags
 * that are no constant. */
int swapping_openat(int dirfd, const char *path, int flags, ...) __asm__("openat64");
int swapping_openat_2(int dirfd, const char *path, int flags) __asm__("__openat64_2");

int swapping_openat(int dirfd, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode = 0;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	(void) strikes(path);
	return (int) syscall(SYS_openat, dirfd, path, flags, mode);
}

int swapping_openat_2(int dirfd, const char *path, int flags)
{
	return swapping_openat(dirfd, path, flags);
}

int swapping_fstatat(int dirfd, const char *path, struct stat *ret, int flags) __asm__("fstatat64");

int swapping_fstatat(int dirfd, const char *path, struct stat *ret, int flags)
{
	if (is_at_look)
		(void) strikes(path);
	return (int) syscall(SYS_newfstatat, dirfd, path, ret, flags);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (strikes(to)) {
		errno = EPERM;
		return -1;
	}
	return (int) syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

static void swap_for_a_link(void)
{
	put_link("../victim", "d/page", STRANGER);
}

static void swap_for_a_second_name(void)
{
	(void) unlink("d/page");
	assert_int_equal(link("victim", "d/page"), 0);
}

static void swap_for_a_file(void)
{
	(void) unlink("d/page");
	put_owned("d/page", "theirs", STRANGER);
}

static void swap_for_a_fifo(void)
{
	(void) unlink("d/page");
	assert_int_equal(mkfifo("d/page", 0666), 0);
	assert_int_equal(chown("d/page", STRANGER, STRANGER), 0);
}

/* As others can move it here where there is no sticky bit. */
static void swap_for_an_own_link(void)
{
	put_link("../victim", "d/page", 0);
}

static void swap_back(void)
{
	(void) unlink("d/page");
	put_text("d/page", "harmless");
	is_at_look = false;
}

static void swap_for_a_second_name_and_back(void)
{
	swap_for_a_second_name();
	change = swap_back;
	is_at_look = true;
}

static void what_is_swapped_between_two_calls_is_refused(void **state)
{
	static void (*const swaps[])(void) = {
		swap_for_a_link, swap_for_a_second_name, swap_for_a_file,
		swap_for_a_fifo, swap_for_an_own_link,   swap_for_a_second_name_and_back};

	if (geteuid() != 0)
		SKIP("gives files to other users: needs root");
	put_text("victim", "kept");
	for (size_t swap = 0; swap < sizeof(swaps) / sizeof(swaps[0]); swap++) {
		for (int way = 0; way < 2; way++) {
			for (int call = 0; call < 4; call++) {
				int r;

				make_folder("d", call & 1 ? 01777 : 0777, 0);
				if (call & 2)
					put_text("d/page", "old");
				change = swaps[swap];
				calls_before = way == 0 || call & 2 ? 1 : 0;
				r = ways[way]("d/page", "bad");
				assert_null(change);
				assert_text("victim", "kept");
				/* Changed back before the look, it is a file of this user. */
				if (swaps[swap] != swap_for_a_second_name_and_back ||
				    (way == 1 && call & 2))
					assert_int_equal(r, -TRK_ERR_UNTRUSTED);
			}
		}
	}
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
		cmocka_unit_test(a_link_is_followed_only_if_nobody_else_can_have_put_it_there),
		cmocka_unit_test(a_link_on_the_way_is_no_stranger_s_either),
		cmocka_unit_test(only_a_file_that_nobody_else_can_have_put_there_is_written_to),
		cmocka_unit_test(a_private_folder_needs_no_check),
		cmocka_unit_test(what_is_swapped_between_two_calls_is_refused),
		cmocka_unit_test(a_name_as_long_as_names_may_be_can_be_replaced),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
