/* The public C API on recordings: complete, truncated, damaged, and files that are not
 * recordings. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "resource_tracker.h"
#include "rows.h"

enum { ROWS = 6, MANY = 256 /* all that the API has room for without growing */ };

struct place {
	struct folder folder;
	char path[300];
};

static void place_init(struct place *p)
{
	folder_init(&p->folder);
	(void) snprintf(p->path, sizeof(p->path), "%s/1.rtrk", p->folder.path);
}

static void place_release(struct place *p)
{
	(void) unlinkat(p->folder.fd, "1.rtrk", 0);
	folder_release(&p->folder);
}

static void a_recording_gives_its_rows_by_column(void **state)
{
	struct trk_recording *r = NULL;
	struct place p;

	place_init(&p);
	recording_write(p.folder.fd, "1.rtrk", ROWS, true);
	assert_int_equal(trk_recording_open(p.path, &r), 0);
	assert_non_null(r);
	assert_int_equal(trk_recording_rows(r), ROWS);
	assert_int_equal(trk_recording_samples(r), ROWS);
	assert_int_equal(trk_recording_damaged(r), 0);
	for (size_t i = 0; i < ROWS; i++) {
		struct trk_sample want;

		row_init(&want, (int64_t) i);
		for (size_t c = 0; c < trk_columns(); c++) {
			double expected = trk__sample_get(&want, (int) c);
			double value = trk_recording_value(r, i, c);

			assert_int_equal(isnan(value), isnan(expected));
			if (!isnan(expected))
				assert_true(value == expected);
		}
	}
	trk_recording_free(r);
	place_release(&p);
}

static void past_the_end_there_is_nothing_known(void **state)
{
	struct trk_recording *r = NULL;
	struct place p;

	place_init(&p);
	recording_write(p.folder.fd, "1.rtrk", MANY, true);
	trk_recording_free(NULL);
	assert_int_equal(trk_recording_open(p.path, &r), 0);
	assert_true(isnan(trk_recording_value(r, MANY, 0)));
	assert_true(isnan(trk_recording_value(r, SIZE_MAX, 0)));
	assert_true(isnan(trk_recording_value(r, 0, trk_columns())));
	assert_true(isnan(trk_recording_value(r, 0, SIZE_MAX)));
	assert_true(!isnan(trk_recording_value(r, MANY - 1, trk_columns() - 1)));
	trk_recording_free(r);
	place_release(&p);
}

static void columns_have_names_and_units(void **state)
{
	assert_int_equal((int) trk_columns(), TRK_COLUMNS);
	assert_string_equal(trk_column_name(TRK_PROCESS_CPU_USAGE), "process_cpu_usage");
	assert_string_equal(trk_column_unit(TRK_PROCESS_CPU_USAGE), "cores");
	assert_string_equal(trk_column_name(0), "timestamp");
	for (size_t i = 0; i < trk_columns(); i++)
		assert_true(*trk_column_name(i) && *trk_column_unit(i));
	assert_null(trk_column_name(trk_columns()));
	assert_null(trk_column_unit(trk_columns()));
	assert_null(trk_column_name(SIZE_MAX));
}

static void the_summary_is_the_document(void **state)
{
	struct trk_recording *r = NULL;
	struct place p;
	char *json;

	place_init(&p);
	recording_write(p.folder.fd, "1.rtrk", ROWS, true);
	assert_int_equal(trk_recording_open(p.path, &r), 0);
	json = trk_recording_summary(r);
	assert_non_null(json);
	assert_non_null(strstr(json, "\"schema\": \"resource-tracker.summary/1\""));
	assert_non_null(strstr(json, "\"id\": \"r-0a1b2c3d\""));
	assert_non_null(strstr(json, "\"code\": 3"));
	assert_non_null(strstr(json, "\"samples\": 6"));
	assert_string_equal(json + strlen(json) - 2, "}\n");
	free(json);
	assert_null(trk_recording_lines(r, NULL, NAN, NAN)); /* none were sampled */
	assert_null(trk_recording_lines(r, "column", NAN, NAN));
	trk_recording_free(r);
	place_release(&p);
}

static void assert_refused(const char *path, int want)
{
	struct trk_recording *r = (void *) 1;

	assert_int_equal(trk_recording_open(path, &r), want);
	assert_ptr_equal(r, (void *) 1); /* untouched */
	assert_true(*trk_strerror(want));
}

static void what_is_no_recording_is_refused(void **state)
{
	char fifo[4200];
	struct place p;
	unsigned char *data;
	size_t len;

	place_init(&p);
	assert_refused(p.path, -ENOENT);
	bytes_put(p.folder.fd, "1.rtrk", "root:x:0:0:root\n", 16);
	assert_refused(p.path, -TRK_ERR_FORMAT);
	assert_refused(p.folder.path, -EISDIR);
	assert_int_equal(mkfifoat(p.folder.fd, "fifo", 0600), 0);
	(void) snprintf(fifo, sizeof(fifo), "%s/fifo", p.folder.path);
	assert_refused(fifo, -TRK_ERR_NOTFILE); /* at once, without a writer */
	assert_refused("/dev/zero", -TRK_ERR_NOTFILE);
	assert_int_equal(unlinkat(p.folder.fd, "fifo", 0), 0);
	recording_write(p.folder.fd, "2.rtrk", ROWS, true);
	data = bytes_of(p.folder.fd, "2.rtrk", &len);
	assert_int_equal(unlinkat(p.folder.fd, "2.rtrk", 0), 0);
	data[4]++;
	bytes_put(p.folder.fd, "1.rtrk", data, len);
	assert_refused(p.path, -TRK_ERR_VERSION);
	data[4]--;
	data[40] ^= 0xff; /* within the first record */
	bytes_put(p.folder.fd, "1.rtrk", data, len);
	assert_refused(p.path, -TRK_ERR_DAMAGED);
	free(data);
	place_release(&p);
}

static void a_damaged_record_is_skipped_and_counted(void **state)
{
	struct trk_recording *r = NULL;
	unsigned char *whole, *data;
	struct place p;
	size_t len, before;

	place_init(&p);
	recording_write(p.folder.fd, "1.rtrk", ROWS - 1, false);
	free(bytes_of(p.folder.fd, "1.rtrk", &before));
	assert_int_equal(unlinkat(p.folder.fd, "1.rtrk", 0), 0);
	recording_write(p.folder.fd, "1.rtrk", ROWS, true);
	whole = bytes_of(p.folder.fd, "1.rtrk", &len);
	data = malloc(len);
	assert_non_null(data);
	memcpy(data, whole, len);
	data[before + 20] ^= 0x10; /* within the last row */
	bytes_put(p.folder.fd, "1.rtrk", data, len);
	assert_int_equal(trk_recording_open(p.path, &r), 0);
	assert_int_equal(trk_recording_rows(r), ROWS - 1);
	assert_int_equal(trk_recording_samples(r), ROWS - 1);
	assert_int_equal(trk_recording_damaged(r), 1);
	trk_recording_free(r);
	bytes_put(p.folder.fd, "1.rtrk", whole, before + 20); /* cut within the last row */
	assert_int_equal(trk_recording_open(p.path, &r), 0);
	assert_int_equal(trk_recording_rows(r), ROWS - 1);
	assert_int_equal(trk_recording_damaged(r), 1);
	trk_recording_free(r);
	free(data);
	free(whole);
	place_release(&p);
}

static void a_report_is_written_whole_or_not_at_all(void **state)
{
	struct trk_report_options options = TRK_REPORT_OPTIONS_INIT;
	unsigned char *page;
	char path[512];
	struct place p;
	size_t len;

	place_init(&p);
	recording_write(p.folder.fd, "1.rtrk", ROWS, true);
	(void) snprintf(path, sizeof(path), "%s/page", p.folder.path);
	options.format = "pdf";
	assert_int_equal(trk_report_write_with(p.path, path, &options), -EINVAL);
	assert_int_equal(trk_report_write_with("/nowhere.rtrk", path, NULL), -ENOENT);
	assert_int_equal(trk_report_write_with(p.path, "/nowhere/page", NULL), -ENOENT);
	assert_int_equal(faccessat(p.folder.fd, "page", F_OK, 0), -1);
	options.format = "md";
	assert_int_equal(trk_report_write_with(p.path, path, &options), 0);
	assert_int_equal(trk_report_write_with(p.path, path, NULL), 0);
	page = bytes_of(p.folder.fd, "page", &len);
	assert_true(len > 10000);
	assert_memory_equal(page, "<!doctype html>", 15);
	free(page);
	assert_int_equal(unlinkat(p.folder.fd, "page", 0), 0);
	place_release(&p);
}

static void a_report_takes_what_its_caller_knows(void **state)
{
	struct trk_report_options options = TRK_REPORT_OPTIONS_INIT;
	unsigned char *page;
	char path[512];
	struct place p;
	size_t len;

	place_init(&p);
	recording_write(p.folder.fd, "1.rtrk", ROWS, true);
	(void) snprintf(path, sizeof(path), "%s/page", p.folder.path);
	options.failed = 1;
	options.integration = "Metaflow 2.19";
	options.earlier = "[{\"peak_memory_mib\": 4096, \"cpu_mean\": 1, \"duration_s\": 60}]";
	assert_int_equal(trk_report_write_with(p.path, path, &options), 0);
	page = bytes_of(p.folder.fd, "page", &len);
	assert_non_null(memmem(page, len, "The job failed", 14));
	assert_non_null(memmem(page, len, "Metaflow 2.19", 13));
	assert_non_null(memmem(page, len, "4 GiB", 5)); /* the earlier run's peak */
	free(page);
	/* A caller that was built before these were there. */
	options.size = offsetof(struct trk_report_options, failed);
	assert_int_equal(trk_report_write_with(p.path, path, &options), 0);
	page = bytes_of(p.folder.fd, "page", &len);
	assert_null(memmem(page, len, "Metaflow 2.19", 13));
	free(page);
	assert_int_equal(unlinkat(p.folder.fd, "page", 0), 0);
	place_release(&p);
}

static void errors_have_texts_in_either_sign(void **state)
{
	assert_string_equal(trk_strerror(-TRK_ERR_DAMAGED), "damaged recording");
	assert_string_equal(trk_strerror(TRK_ERR_DAMAGED), "damaged recording");
	assert_string_equal(trk_strerror(-ENOENT), "No such file or directory");
	assert_non_null(trk_strerror(-99999999));
	assert_non_null(trk_strerror(INT32_MIN));
	assert_string_equal(trk_version(), TRK_BUILD_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_gives_its_rows_by_column),
		cmocka_unit_test(past_the_end_there_is_nothing_known),
		cmocka_unit_test(columns_have_names_and_units),
		cmocka_unit_test(the_summary_is_the_document),
		cmocka_unit_test(what_is_no_recording_is_refused),
		cmocka_unit_test(a_damaged_record_is_skipped_and_counted),
		cmocka_unit_test(a_report_is_written_whole_or_not_at_all),
		cmocka_unit_test(a_report_takes_what_its_caller_knows),
		cmocka_unit_test(errors_have_texts_in_either_sign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
