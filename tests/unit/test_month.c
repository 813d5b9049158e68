/* A long run at 1 Hz, with rows in place of a clock: the recording stays below its bound, the writer
 * does not grow, sums are exact, minima and maxima survive each rewrite.
 *
 * TRK_DAYS=30 in the environment simulates a month (about a minute); by default it is shorter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <time.h>

#include "rows.h"

#define MIB 1048576L
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define RSS_IS_OURS 0 /* the sanitizer keeps what was freed */
#endif
#endif
#ifndef RSS_IS_OURS
#define RSS_IS_OURS 1
#endif

static int64_t row_count(void)
{
	const char *days = getenv("TRK_DAYS");

	if (days)
		return atoi(days) * INT64_C(86400);
	return getenv("TRK_VALGRIND") ? 3000 : 3 * INT64_C(86400);
}

static long rss_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long all, resident;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld %ld", &all, &resident), 2);
	(void) fclose(f);
	return resident * sysconf(_SC_PAGESIZE);
}

static double seconds_now(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

/* Amounts of every size; one row has the smallest and one the largest memory of the whole run. */
static void long_row(struct trk_sample *row, int64_t i, int64_t rows)
{
	row_init(row, i);
	trk__sample_set(row, TRK_SYSTEM_DISK_READ, i * 7919 % 1000003);
	trk__sample_set(row, TRK_PROCESS_MEMORY, i % 5000 * MIB + 2);
	if (i == rows / 3)
		trk__sample_set(row, TRK_PROCESS_MEMORY, 1);
	if (i == rows / 2)
		trk__sample_set(row, TRK_PROCESS_MEMORY, INT64_C(9000) * MIB);
}

static void a_month_keeps_its_sums_and_its_bounds(void **state)
{
	int64_t rows = row_count(), sum = 0;
	uint64_t bound = rows < 10000 ? MIB / 8 : 0, lost;
	struct trk_column_stats memory;
	struct trk_record record;
	struct trk_sample row;
	struct trk_run run;
	struct trk_writer *w;
	struct folder f;
	struct stat st;
	long rss = 0;
	double t;

	(void) state;
	folder_init(&f);
	run_init(&run);
	w = trk__writer_new(f.fd, "month.rtrk", &run, bound, NULL);
	assert_non_null(w);
	for (int64_t i = 0; i < rows; i++) {
		long_row(&row, i, rows);
		sum += row.value[TRK_SYSTEM_DISK_READ];
		assert_int_equal(trk__writer_row(w, &row), 0);
		if (i == 100)
			rss = rss_bytes();
	}
	rss = rss_bytes() - rss;
	assert_int_equal(trk__writer_error(w, &lost), 0);
	assert_int_equal(lost, 0);
	trk__writer_free(w);
	assert_int_equal(fstatat(f.fd, "month.rtrk", &st, 0), 0);
	t = seconds_now();
	assert_int_equal(trk__record_read(f.fd, "month.rtrk", &record, NULL, NULL, NULL), 0);
	t = seconds_now() - t;
	print_message("# %ld rows: %ld bytes, read in %.1f ms, RSS grew by %ld KiB\n", (long) rows,
		      (long) st.st_size, t * 1e3, rss / 1024);
	assert_true(st.st_size <= (bound ? (long) bound : 16 * MIB) + 4096);
	if (RSS_IS_OURS && !getenv("TRK_VALGRIND"))
		assert_true(rss <= 4 * MIB);
	assert_int_equal(record.samples, rows);
	assert_true(trk__stats_sum(record.stats, TRK_SYSTEM_DISK_READ) == sum);
	trk__stats_get(record.stats, TRK_PROCESS_MEMORY, &memory);
	assert_true(memory.max == 9000.0);
	assert_true(memory.min * (double) MIB == 1.0);
	trk__record_release(&record);
	assert_int_equal(unlinkat(f.fd, "month.rtrk", 0), 0);
	folder_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_month_keeps_its_sums_and_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
