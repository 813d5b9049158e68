/* Files out of a zip archive that Python's zipfile wrote: first.txt (stored), table.csv (deflated,
 * 200 rows) and nothing (empty). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/zip.h"

static char *archive;
static size_t archive_len;

static int read_archive(void **state)
{
	ssize_t len = trk__read_all_at(AT_FDCWD, TRK_FIXTURES "/zip/three.zip", 1 << 16, &archive);

	(void) state;
	archive_len = len < 0 ? 0 : (size_t) len;
	return len < 0;
}

static int free_archive(void **state)
{
	(void) state;
	free(archive);
	return 0;
}

static void table_text(struct trk_buf *b)
{
	trk__buf_init(b, 1 << 16);
	for (int i = 0; i < 200; i++)
		trk__buf_printf(b, "row,%d\n", i);
}

static void reads_stored_and_deflated_files_and_an_empty_one(void **state)
{
	struct trk_buf table, b;

	(void) state;
	table_text(&table);
	trk__buf_init(&b, 1 << 20);
	assert_int_equal(trk__zip_read(archive, archive_len, "first.txt", &b, NULL), 0);
	assert_string_equal(b.data, "stored as it is\n");
	/* What was there before stays before. */
	assert_int_equal(trk__zip_read(archive, archive_len, "table.csv", &b, NULL), 0);
	assert_int_equal(b.len, 16 + table.len);
	assert_string_equal(b.data + 16, table.data);
	assert_int_equal(trk__zip_read(archive, archive_len, "nothing", &b, NULL), 0);
	assert_int_equal(b.len, 16 + table.len);
	trk__buf_release(&b);
	trk__buf_release(&table);
}

static void says_which_file_is_not_there(void **state)
{
	struct trk_error error = {.code = 0};
	struct trk_buf b;

	(void) state;
	trk__buf_init(&b, 1 << 20);
	assert_int_equal(trk__zip_read(archive, archive_len, "table", &b, &error), -ENOENT);
	assert_string_equal(error.message, "the archive has no file table");
	assert_int_equal(trk__zip_read("", 0, "table.csv", &b, &error), -EBADMSG);
	assert_int_equal(trk__zip_read("PK", 2, "table.csv", &b, &error), -EBADMSG);
	assert_int_equal(b.len, 0);
	trk__buf_release(&b);
}

static void a_file_longer_than_the_buffer_may_be_is_refused(void **state)
{
	struct trk_error error = {.code = 0};
	struct trk_buf b;

	(void) state;
	trk__buf_init(&b, 1000);
	assert_int_equal(trk__zip_read(archive, archive_len, "table.csv", &b, &error), -EFBIG);
	assert_string_equal(error.message, "the archive's table.csv is too long");
	trk__buf_release(&b);
}

static void whatever_is_cut_or_changed_the_content_is_right_or_refused(void **state)
{
	char *damaged = malloc(archive_len);
	struct trk_buf table, b;
	/* Every bit takes minutes under valgrind; steps of 13 still come to each bit of a byte. */
	size_t bits = getenv("TRK_VALGRIND") ? 13 : 1;
	size_t refused = 0;

	(void) state;
	assert_non_null(damaged);
	table_text(&table);
	for (size_t cut = 0; cut < archive_len; cut++) {
		trk__buf_init(&b, 1 << 20);
		memcpy(damaged, archive, cut);
		/* All but the archive's comment is needed. */
		assert_int_equal(trk__zip_read(damaged, cut, "table.csv", &b, NULL) < 0,
				 cut < archive_len - strlen("a comment"));
		trk__buf_release(&b);
	}
	for (size_t i = 0; i < archive_len * 8; i += bits) {
		trk__buf_init(&b, 1 << 20);
		memcpy(damaged, archive, archive_len);
		damaged[i / 8] = (char) (damaged[i / 8] ^ (1 << (i % 8)));
		if (trk__zip_read(damaged, archive_len, "table.csv", &b, NULL) < 0) {
			refused++;
		} else {
			assert_int_equal(b.len, table.len);
			assert_memory_equal(b.data, table.data, table.len);
		}
		trk__buf_release(&b);
	}
	assert_true(refused > archive_len / bits);
	trk__buf_release(&table);
	free(damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_stored_and_deflated_files_and_an_empty_one),
		cmocka_unit_test(says_which_file_is_not_there),
		cmocka_unit_test(a_file_longer_than_the_buffer_may_be_is_refused),
		cmocka_unit_test(whatever_is_cut_or_changed_the_content_is_right_or_refused),
	};

	return cmocka_run_group_tests(tests, read_archive, free_archive);
}
