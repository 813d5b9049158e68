/* Lines of mountinfo. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "probe/linux/mounts.h"

static void reads_every_field(void **state)
{
	const char *text = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:7 - ext3 /dev/root "
			   "rw,errors=c\n";
	struct trk_mount m;

	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_int_equal(m.id, 36);
	assert_int_equal(m.parent, 35);
	assert_int_equal(m.major, 98);
	assert_int_equal(m.minor, 0);
	assert_string_equal(m.root, "/mnt1");
	assert_string_equal(m.point, "/mnt2");
	assert_string_equal(m.type, "ext3");
	assert_string_equal(m.source, "/dev/root");
	assert_int_equal(trk__mount_parse(&text, &m), 0);
}

static void needs_no_optional_fields(void **state)
{
	const char *text = "36 35 0:98 / /a-b rw - tmpfs a-b rw";
	struct trk_mount m;

	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_string_equal(m.point, "/a-b");
	assert_string_equal(m.type, "tmpfs");
	assert_string_equal(m.source, "a-b");
	assert_int_equal(m.minor, 98);
}

static void undoes_the_octal_escapes(void **state)
{
	char *all = fixture_text("bind-mounts", "proc/self/mountinfo");
	const char *text = all;
	struct trk_mount m;

	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_string_equal(m.point, "/mnt/with blank");
	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_string_equal(m.point, "/mnt/with\nline\ttab");
	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_string_equal(m.point, "/mnt/second disk\\#");
	free(all);
}

/* The kernel writes no such thing; a path must not end early because of it. */
static void takes_an_escaped_nul_and_half_escapes_as_they_stand(void **state)
{
	const char *text = "1 2 3:4 / /a\\000b\\04\\999\\ rw - x y rw\n";
	struct trk_mount m;

	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_string_equal(m.point, "/a\\000b\\04\\999\\");
}

static void keeps_an_empty_source_empty(void **state)
{
	const char *text = "1 2 0:4 / /a rw shared:1 - tmpfs  rw,size=4k\n";
	struct trk_mount m;

	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_string_equal(m.source, "");
}

/* A line with "/" and `count` further bytes as its mount point. */
static char *line_with_long_point(size_t count)
{
	char *line = malloc(count + 64);
	size_t len;

	assert_non_null(line);
	len = (size_t) sprintf(line, "1 2 3:4 / /");
	memset(line + len, 'x', count);
	(void) strcpy(line + len + count, " rw - ext4 /dev/sda rw\n");
	return line;
}

static void never_cuts_a_path_into_another_one(void **state)
{
	struct trk_mount m;
	char *line = line_with_long_point(sizeof(m.point) - 2);
	const char *text = line;

	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_int_equal(strlen(m.point), sizeof(m.point) - 1);
	free(line);

	text = line = line_with_long_point(sizeof(m.point) - 1);
	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_string_equal(m.point, "");
	assert_string_equal(m.source, "/dev/sda");
	assert_int_equal(trk__mount_parse(&text, &m), 0);
	free(line);
}

static void knows_a_fuse_file_system_whose_type_does_not_fit(void **state)
{
	const char *text = "1 2 0:4 / /a rw - fuse.a-name-that-is-much-longer-than-the-rest x rw\n";
	struct trk_mount m;

	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_int_equal(strlen(m.type), sizeof(m.type) - 1);
	assert_memory_equal(m.type, "fuse.a-name", 11);
}

static void steps_over_lines_that_are_none(void **state)
{
	const char *text = "\n"
			   "1 2 3:4 / /a rw\n"
			   "1 2 3:4 / /a rw shared:1 -\n"
			   "1 2 3:4 / /a rw - ext4 /dev/sda\n"
			   "1 2 3 / /a rw - ext4 /dev/sda rw\n"
			   "-1 2 3:4 / /a rw - ext4 /dev/sda rw\n"
			   "1 2 3:99999999999 / /a rw - ext4 /dev/sda rw\n"
			   "1 2 3:4 / /b rw - ext4 /dev/sdb rw\n";
	struct trk_mount m;

	memset(&m, 0x55, sizeof(m));
	for (int i = 0; i < 7; i++) {
		assert_int_equal(trk__mount_parse(&text, &m), -EBADMSG);
		assert_int_equal(m.id, 0x55555555);
	}
	assert_int_equal(trk__mount_parse(&text, &m), 1);
	assert_string_equal(m.source, "/dev/sdb");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_field),
		cmocka_unit_test(needs_no_optional_fields),
		cmocka_unit_test(undoes_the_octal_escapes),
		cmocka_unit_test(takes_an_escaped_nul_and_half_escapes_as_they_stand),
		cmocka_unit_test(keeps_an_empty_source_empty),
		cmocka_unit_test(never_cuts_a_path_into_another_one),
		cmocka_unit_test(knows_a_fuse_file_system_whose_type_does_not_fit),
		cmocka_unit_test(steps_over_lines_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
