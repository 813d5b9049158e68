/* A run of 30 days at 1 Hz with a simulated clock. The recording stays bounded, and thinning
 * preserves sums and extremes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/reader.h"
#include "recording/tail.h"
#include "recording/writer.h"
#include "skip.h"

#define ROWS  ((IS_SANITIZED ? 6u : 30u) * 24 * 3600)
#define SPIKE (ROWS / 7) /* a row early on, which is merged again and again */

static struct trk_sample row_of(uint32_t i)
{
	struct trk_sample s = {0};

	trk__sample_set(&s, TRK_TIMESTAMP, 1700000000000 + (int64_t) i * 1000);
	trk__sample_set(&s, TRK_ELAPSED, (int64_t) i * 1000000);
	trk__sample_set(&s, TRK_INTERVAL, i ? 1000000 : 0);
	trk__sample_set(&s, TRK_PROCESS_UTIME, (int64_t) (i * 2654435761u % 1000000));
	trk__sample_set(&s, TRK_PROCESS_STIME, 1);
	trk__sample_set(&s, TRK_PROCESS_CPU_USAGE, (int64_t) (i * 2654435761u % 10000));
	trk__sample_set(&s, TRK_PROCESS_MEMORY, i == SPIKE ? 9ll << 30 : 100 << 20);
	trk__sample_set(&s, TRK_SYSTEM_MEMORY_FREE, i == SPIKE + 1 ? 7 : 1ll << 33);
	trk__sample_set(&s, TRK_PROCESS_DISK_READ, i % 4096);
	for (int c = TRK_SYSTEM_UTIME; c <= TRK_SYSTEM_UTIME + 20; c++)
		if (!trk__sample_knows(&s, c) && trk__columns[c].kind == TRK_KIND_DELTA)
			trk__sample_set(&s, c, (int64_t) (i % 1000 + (uint32_t) c));
	return s;
}

static uint64_t resident_bytes(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %lu", &pages), 1);
	(void) fclose(f);
	return (uint64_t) pages * (uint64_t) sysconf(_SC_PAGESIZE);
}

static void check(int dir, int64_t utime, int64_t read_bytes)
{
	struct trk_column_stats s;
	struct trk_record record;
	struct trk_tail tail = {0};
	char path[64];

	assert_int_equal(trk__record_read(dir, "long", &record, NULL, NULL, NULL), 0);
	assert_int_equal(record.samples, ROWS);
	assert_int_equal(record.damaged, 0);
	s = trk__stats_get(record.stats, TRK_PROCESS_UTIME);
	assert_true(s.sum == (double) utime / (double) trk__columns[TRK_PROCESS_UTIME].divisor);
	s = trk__stats_get(record.stats, TRK_PROCESS_DISK_READ);
	assert_true(s.sum ==
		    (double) read_bytes / (double) trk__columns[TRK_PROCESS_DISK_READ].divisor);
	s = trk__stats_get(record.stats, TRK_PROCESS_MEMORY);
	assert_true(s.max == 9216 && s.min == 100);
	s = trk__stats_get(record.stats, TRK_SYSTEM_MEMORY_FREE);
	assert_true(s.min < 0.001);
	s = trk__stats_get(record.stats, TRK_PROCESS_CPU_USAGE);
	assert_true(fabs(s.mean - 0.49995) < 0.001);
	trk__record_release(&record);
	(void) snprintf(path, sizeof(path), "/proc/self/fd/%d/long", dir);
	assert_int_equal(trk__tail_update(&tail, path), 0);
	assert_int_equal(tail.rows, ROWS);
}

static void thirty_days_at_one_hertz_stay_bounded_and_keep_sums_and_extremes(void **state)
{
	static struct trk_run run = {.id = "r-long", .job = "long", .kind = "run"};
	char folder[] = "/tmp/trk-long-XXXXXX";
	int64_t utime = 0, read_bytes = 0;
	uint64_t before, most = 0, lost;
	struct trk_writer *w;
	struct stat st;
	int dir;

	SKIP_UNDER_VALGRIND("it would take minutes and run no code that shorter cases do not");
	assert_non_null(mkdtemp(folder));
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w = trk__writer_new(dir, "long", &run, 0, NULL);
	assert_non_null(w);
	before = resident_bytes();
	for (uint32_t i = 0; i < ROWS; i++) {
		struct trk_sample s = row_of(i);

		utime += s.value[TRK_PROCESS_UTIME];
		read_bytes += s.value[TRK_PROCESS_DISK_READ];
		assert_int_equal(trk__writer_row(w, &s), 0);
		if (i % 65536 == 0) {
			assert_int_equal(fstatat(dir, "long", &st, 0), 0);
			most = (uint64_t) st.st_size > most ? (uint64_t) st.st_size : most;
		}
	}
	assert_int_equal(trk__writer_error(w, &lost), 0);
	trk__writer_free(w);
	assert_true(most <= TRK_WRITER_MAX_BYTES + 4096);
	assert_true(IS_SANITIZED || resident_bytes() <= before + (2 << 20));
	check(dir, utime, read_bytes);
	assert_int_equal(unlinkat(dir, "long", 0), 0);
	assert_int_equal(close(dir), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thirty_days_at_one_hertz_stay_bounded_and_keep_sums_and_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
