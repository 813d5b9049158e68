/* Recordings: written, read, truncated, damaged, of other versions, bounded, on a full disk. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>

#include "rows.h"
#include "skip.h"
#include "recording/format.h"
#include "recording/tail.h"

enum { FEW = 6 };

static void rows_and_outcome_come_back_as_written(void **state)
{
	struct trk_run run;
	struct trk_outcome *o = calloc(1, sizeof(*o));
	struct trk_record record;
	struct rows rows = {.count = 0};
	struct folder f;

	folder_init(&f);
	recording_write(f.fd, "1.rtrk", FEW, true);
	assert_int_equal(trk__record_read(f.fd, "1.rtrk", &record, rows_take, &rows, NULL), 0);
	assert_int_equal(rows.count, FEW);
	for (int64_t i = 0; i < FEW; i++) {
		struct trk_sample want;

		row_init(&want, i);
		assert_memory_equal(&rows.mean[i], &want, sizeof(want));
	}
	run_init(&run);
	assert_memory_equal(record.run.command, run.command, run.command_len);
	assert_memory_equal(record.run.tags, run.tags, run.tags_len);
	assert_int_equal(record.run.command_len, run.command_len);
	assert_string_equal(record.run.id, run.id);
	assert_string_equal(record.run.job, run.job);
	assert_true(record.run.start_ns == run.start_ns && record.run.pid == run.pid);
	assert_true(record.run.interval_ns == run.interval_ns);
	assert_true(record.run.limit[TRK_LIMIT_CPU].value == 16);
	assert_int_equal(record.run.limit[TRK_LIMIT_CPU].quality, TRK_QUALITY_EXACT);
	assert_true(isnan(record.run.limit[TRK_LIMIT_PIDS].value));
	outcome_init(o);
	assert_int_equal(record.outcome.code, 3);
	assert_int_equal(record.outcome.end, TRK_END_EXITED);
	assert_string_equal(record.outcome.evidence, o->evidence);
	assert_true(record.outcome.duration_ns == o->duration_ns);
	assert_true(isnan(record.outcome.total[TRK_TOTAL_MAJOR_FAULTS].value));
	assert_int_equal(record.outcome.total[TRK_TOTAL_MAJOR_FAULTS].quality, TRK_QUALITY_UNKNOWN);
	assert_true(record.outcome.total[TRK_TOTAL_CPU_USER_S].value == 10.5);
	assert_string_equal(record.outcome.total[TRK_TOTAL_CPU_USER_S].reason, "reason");
	assert_string_equal(record.outcome.top[0].command, "sort -u");
	assert_true(record.outcome.top[0].write_bytes == 8 && record.outcome.top_count == 1);
	assert_true(record.outcome.left_behind == 2 && record.outcome.late == 4);
	assert_string_equal(record.outcome.sources[0][1], "cgroup v2");
	assert_true(record.ended && record.damaged == 0 && record.samples == FEW);
	trk__record_release(&record);
	free(o);
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0), 0);
	folder_release(&f);
}

/* Every row that is read is one of those written, in their order. */
static void check_order(const struct rows *rows)
{
	int64_t at = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct trk_sample want;

		do {
			assert_true(at < FEW);
			row_init(&want, at++);
		} while (memcmp(&want, &rows->mean[i], sizeof(want)) != 0);
	}
}

static void a_cut_at_any_byte_leaves_the_rows_before_it(void **state)
{
	struct folder f;
	unsigned char *data;
	size_t len, last = 0;

	folder_init(&f);
	recording_write(f.fd, "1.rtrk", FEW, true);
	data = bytes_of(f.fd, "1.rtrk", &len);
	for (size_t cut = 0; cut < len; cut += every_byte()) {
		struct trk_record record;
		struct rows rows = {.count = 0};
		int r;

		bytes_put(f.fd, "cut", data, cut);
		r = trk__record_read(f.fd, "cut", &record, rows_take, &rows, NULL);
		if (r < 0) {
			assert_true(r == (cut < TRK_SIGNATURE_SIZE ? -TRK_ERR_FORMAT
								   : -TRK_ERR_DAMAGED));
			assert_int_equal(last, 0);
			continue;
		}
		assert_true(rows.count >= last);
		assert_true(!record.ended);
		assert_int_equal(record.outcome.end, TRK_END_TRACKER_DIED);
		/* Where the last byte is the first one of a sync mark, a second record may be cut. */
		assert_true(record.damaged <= (data[cut - 1] == 0xb5 ? 2 : 1));
		last = rows.count;
		for (size_t i = 0; i < rows.count; i++) {
			struct trk_sample want;

			row_init(&want, (int64_t) i);
			assert_memory_equal(&want, &rows.mean[i], sizeof(want));
		}
		trk__record_release(&record);
	}
	assert_int_equal(last, FEW);
	free(data);
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0) + unlinkat(f.fd, "cut", 0), 0);
	folder_release(&f);
}

/* A reader may come when half of a record has been written. */
static void half_a_record_of_a_writer_that_lives_is_no_damage(void **state)
{
	struct folder f;
	unsigned char *data;
	size_t len, at;

	folder_init(&f);
	recording_write(f.fd, "1.rtrk", FEW, true);
	data = bytes_of(f.fd, "1.rtrk", &len);
	for (int alive = 0; alive < 2; alive++) {
		for (size_t cut = 1; cut < 300; cut += every_byte()) { /* within the last records */
			struct trk_record record;
			struct rows rows = {.count = 0};
			int fd;

			bytes_put(f.fd, "cut", data, len - cut);
			fd = openat(f.fd, "cut", O_RDONLY | O_CLOEXEC);
			assert_true(fd >= 0);
			assert_int_equal(alive ? flock(fd, LOCK_EX | LOCK_NB) : 0, 0);
			assert_int_equal(
				trk__record_read(f.fd, "cut", &record, rows_take, &rows, NULL), 0);
			assert_true(record.damaged <= !alive);
			assert_int_equal(record.writing, alive);
			assert_int_equal(record.outcome.end,
					 alive ? TRK_END_RUNNING : TRK_END_TRACKER_DIED);
			trk__record_release(&record);
			(void) close(fd);
		}
	}
	/* What is damaged before another record is. */
	at = len - 4;
	for (int records = 0; records < 2; at--)
		records += memcmp(data + at, "\xb5rtk", 4) == 0;
	data[at + 20] ^= 1;
	bytes_put(f.fd, "cut", data, len - 1);
	for (int alive = 0; alive < 2; alive++) {
		struct trk_record record;
		int fd = openat(f.fd, "cut", O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		assert_int_equal(alive ? flock(fd, LOCK_EX | LOCK_NB) : 0, 0);
		assert_int_equal(trk__record_read(f.fd, "cut", &record, NULL, NULL, NULL), 0);
		assert_int_equal(record.damaged, alive ? 1 : 2);
		trk__record_release(&record);
		(void) close(fd);
	}
	free(data);
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0) + unlinkat(f.fd, "cut", 0), 0);
	folder_release(&f);
}

static void a_damaged_byte_costs_one_record_at_most(void **state)
{
	struct folder f;
	unsigned char *data;
	size_t len, refused = 0;

	folder_init(&f);
	recording_write(f.fd, "1.rtrk", FEW, true);
	data = bytes_of(f.fd, "1.rtrk", &len);
	for (size_t at = 0; at < len; at += every_byte()) {
		struct trk_record record;
		struct rows rows = {.count = 0};
		int r;

		data[at] ^= (unsigned char) (1u << at % 8);
		bytes_put(f.fd, "flip", data, len);
		data[at] ^= (unsigned char) (1u << at % 8);
		r = trk__record_read(f.fd, "flip", &record, rows_take, &rows, NULL);
		if (r < 0) { /* the signature or the first record */
			assert_true(r == -TRK_ERR_FORMAT || r == -TRK_ERR_VERSION ||
				    r == -TRK_ERR_DAMAGED);
			refused = at;
			continue;
		}
		check_order(&rows);
		assert_true(rows.count + (record.ended ? 1 : 0) >= FEW);
		assert_true(at < TRK_SIGNATURE_SIZE || record.damaged >= 1);
		trk__record_release(&record);
	}
	/* All that was refused lies before the first row. */
	assert_true(refused < len / 2 + len / 4);
	free(data);
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0) + unlinkat(f.fd, "flip", 0), 0);
	folder_release(&f);
}

static void other_files_and_newer_versions_are_refused(void **state)
{
	struct trk_record record;
	struct trk_error error;
	struct folder f;
	unsigned char *data;
	size_t len;

	folder_init(&f);
	recording_write(f.fd, "1.rtrk", 1, true);
	data = bytes_of(f.fd, "1.rtrk", &len);
	data[4]++;
	bytes_put(f.fd, "1.rtrk", data, len);
	assert_int_equal(trk__record_read(f.fd, "1.rtrk", &record, NULL, NULL, &error),
			 -TRK_ERR_VERSION);
	assert_non_null(strstr(error.message, "newer version"));
	bytes_put(f.fd, "1.rtrk", "timestamp,cpu\n1,2\n", 18);
	assert_int_equal(trk__record_read(f.fd, "1.rtrk", &record, NULL, NULL, &error),
			 -TRK_ERR_FORMAT);
	bytes_put(f.fd, "1.rtrk", "", 0);
	assert_int_equal(trk__record_read(f.fd, "1.rtrk", &record, NULL, NULL, NULL),
			 -TRK_ERR_FORMAT);
	assert_int_equal(trk__record_read(f.fd, "none", &record, NULL, NULL, NULL), -ENOENT);
	free(data);
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0), 0);
	folder_release(&f);
}

static void a_small_bound_keeps_sums_extremes_and_the_newest_rows(void **state)
{
	enum { ROWS = 20000, BOUND = 64 * 1024 };
	struct trk_stats *want = trk__stats_new();
	struct trk_record record;
	struct rows rows = {.count = 0};
	struct trk_sample row = {0};
	struct trk_writer *w;
	struct trk_run run;
	struct folder f;
	struct stat st;
	struct trk_place place;

	folder_init(&f);
	run_init(&run);
	trk__place_init(&place);
	place.has_server = true;
	place.server.vcpus = 12;
	w = trk__writer_new(f.fd, "1.rtrk", &run, BOUND, NULL);
	assert_non_null(w);
	assert_int_equal(trk__writer_place(w, &place, TRK_PLACE_SERVER), 0);
	assert_int_equal(trk__writer_place(w, &place, TRK_PLACE_COST), 0); /* there is none */
	for (int64_t i = 0; i < ROWS; i++) {
		row_init(&row, i);
		trk__stats_add(want, 1, &row, &row, &row);
		assert_int_equal(trk__writer_row(w, &row), 0);
		if (i % 100 == 0) {
			assert_int_equal(fstatat(f.fd, "1.rtrk", &st, 0), 0);
			assert_true(st.st_size < BOUND + 1024); /* one row past at most */
		}
	}
	trk__writer_free(w);
	assert_int_equal(trk__record_read(f.fd, "1.rtrk", &record, rows_take, &rows, NULL), 0);
	assert_int_equal(rows.stands_for, ROWS);
	assert_int_equal(record.samples, ROWS);
	assert_true(rows.count < ROWS / 10);
	assert_memory_equal(&rows.last, &row, sizeof(row));
	assert_int_equal(rows.last_rows, 1);
	for (int i = 0; i < TRK_COLUMNS; i++) {
		struct trk_column_stats a = trk__stats_get(want, i);
		struct trk_column_stats b = trk__stats_get(record.stats, i);

		assert_true(a.sum == b.sum || (isnan(a.sum) && isnan(b.sum)));
		if (trk__columns[i].kind == TRK_KIND_STAMP)
			continue;
		assert_true(a.min == b.min && a.max == b.max);
	}
	/* What is said once is there, however often the rows were merged. */
	assert_true(record.place.has_server && record.place.server.vcpus == 12);
	assert_false(record.place.has_cost);
	trk__record_release(&record);
	trk__stats_free(want);
	/* No half-made copy is left. */
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0), 0);
	folder_release(&f);
}

static void columns_that_are_not_known_are_skipped(void **state)
{
	struct trk_schema schema = {.count = 3,
				    .column = {TRK_PROCESS_THREADS, -1, TRK_INTERVAL},
				    .divisor = {1, 1, 1000000}};
	struct trk_buf b;
	struct trk_cursor c;
	struct trk_sample s;

	trk__buf_init(&b, 1000);
	trk__buf_varint(&b, 7);
	trk__buf_svarint(&b, 11);
	trk__buf_svarint(&b, -22);
	trk__buf_svarint(&b, 33);
	c = (struct trk_cursor){(unsigned char *) b.data, (unsigned char *) b.data + b.len, 0};
	assert_int_equal(trk__parse_row(&c, &schema, &s), 0);
	assert_true(s.known == ((trk_column_bits) 1 << TRK_PROCESS_THREADS |
				(trk_column_bits) 1 << TRK_INTERVAL));
	assert_true(s.value[TRK_PROCESS_THREADS] == 11 && s.value[TRK_INTERVAL] == 33);
	trk__buf_clear(&b);
	trk__buf_varint(&b, 8); /* a column that the schema lacks */
	trk__buf_svarint(&b, 1);
	c = (struct trk_cursor){(unsigned char *) b.data, (unsigned char *) b.data + b.len, 0};
	assert_int_equal(trk__parse_row(&c, &schema, &s), -EBADMSG);
	trk__buf_release(&b);
}

static void a_schema_of_a_newer_version_is_mapped_by_name(void **state)
{
	struct trk_schema schema;
	struct trk_run run;
	struct trk_buf b;

	trk__buf_init(&b, 1000);
	trk__buf_varint(&b, 3);
	trk__buf_bytes(&b, "warp_factor", 11);
	trk__buf_varint(&b, 10);
	trk__buf_bytes(&b, "process_threads", 15);
	trk__buf_varint(&b, 1);
	trk__buf_bytes(&b, "interval_s", 10);
	trk__buf_varint(&b, 999); /* its unit has changed */
	for (int i = 0; i < 6; i++)
		trk__buf_bytes(&b, "r-1", i < 4 ? 3 : 0);
	for (int i = 0; i < 17; i++) /* the rest of the run: zeros and empty texts */
		trk__buf_varint(&b, 0);
	assert_int_equal(trk__parse_start(b.data, b.len, &schema, &run), 0);
	assert_int_equal(schema.count, 3);
	assert_int_equal(schema.column[0], -1);
	assert_int_equal(schema.column[1], TRK_PROCESS_THREADS);
	assert_int_equal(schema.column[2], -1);
	trk__buf_release(&b);
}

static void rows_lost_to_a_full_disk_are_counted(void **state)
{
	struct rlimit old, small;
	struct trk_record record;
	struct rows rows = {.count = 0};
	struct trk_writer *w;
	struct trk_sample row;
	struct trk_run run;
	struct folder f;
	uint64_t lost = 0;
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);

	folder_init(&f);
	run_init(&run);
	w = trk__writer_new(f.fd, "1.rtrk", &run, 0, NULL);
	assert_non_null(w);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){.rlim_cur = 4096, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int64_t i = 0; i < 30; i++) {
		row_init(&row, i);
		(void) trk__writer_row(w, &row);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(trk__writer_error(w, &lost), -EFBIG);
	assert_true(lost > 0 && lost < 30);
	/* There is room again. */
	row_init(&row, 30);
	assert_int_equal(trk__writer_row(w, &row), 0);
	trk__writer_free(w);
	assert_int_equal(trk__record_read(f.fd, "1.rtrk", &record, rows_take, &rows, NULL), 0);
	assert_int_equal(rows.count + lost, 31);
	assert_int_equal(record.damaged, 0);
	assert_memory_equal(&rows.last, &row, sizeof(row));
	trk__record_release(&record);
	assert_true(signal(SIGXFSZ, before) == SIG_IGN);
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0), 0);
	folder_release(&f);
}

static void a_place_comes_back_as_written(void **state)
{
	struct trk_place to, p;
	struct trk_buf b;

	trk__place_init(&p);
	trk__place_init(&to);
	trk__buf_init(&b, 65536);
	trk__place_format(&b, &p, TRK_PLACE_SERVER); /* not there: nothing is written */
	assert_int_equal(b.len, 0);
	p.has_server = p.has_cloud = true;
	p.server.vcpus = 4;
	p.server.memory_mib = 7725.156;
	(void) snprintf(p.server.cpu_model, sizeof(p.server.cpu_model), "ARM Neoverse-N1");
	(void) snprintf(p.cloud.region, sizeof(p.cloud.region), "eu-west-1");
	trk__place_format(&b, &p, TRK_PLACE_SERVER);
	assert_int_equal(trk__place_parse(b.data, b.len, &to), 0);
	assert_true(to.has_server && !to.has_cloud && !to.has_cost);
	trk__buf_clear(&b);
	trk__place_format(&b, &p, TRK_PLACE_CLOUD);
	assert_int_equal(trk__place_parse(b.data, b.len, &to), 0);
	assert_true(to.has_cloud);
	assert_true(to.server.vcpus == 4 && to.server.memory_mib == 7725.156);
	assert_string_equal(to.server.cpu_model, "ARM Neoverse-N1");
	assert_string_equal(to.cloud.region, "eu-west-1");
	assert_string_equal(to.cloud.vendor, "");
	assert_true(isnan(to.server.cores) && isnan(to.cost.usd));
	/* A cut is noticed; a part and a key of a newer version are passed over. */
	assert_int_equal(trk__place_parse(b.data, b.len - 1, &to), -EBADMSG);
	assert_int_equal(trk__place_parse(b.data, 0, &to), -EBADMSG);
	assert_int_equal(trk__place_parse("\x63zzz", 4, &to), 0);
	assert_int_equal(trk__place_parse("\x01\x03new\x01x", 7, &to), 0);
	trk__buf_release(&b);
}

static void a_recording_is_private_and_never_written_through_a_link(void **state)
{
	struct trk_run run;
	struct folder f;
	struct stat st;

	folder_init(&f);
	recording_write(f.fd, "1.rtrk", 1, true);
	assert_int_equal(fstatat(f.fd, "1.rtrk", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	run_init(&run);
	assert_int_equal(symlinkat("target", f.fd, "2.rtrk"), 0);
	assert_null(trk__writer_new(f.fd, "2.rtrk", &run, 0, NULL));
	assert_int_equal(faccessat(f.fd, "target", F_OK, 0), -1);
	assert_null(trk__writer_new(f.fd, "1.rtrk", &run, 0, NULL)); /* nor over another run */
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0) + unlinkat(f.fd, "2.rtrk", 0), 0);
	folder_release(&f);
}

/* In a forged file a long record with a wrong check sum may begin at every few bytes. */
static void wrong_check_sums_cost_a_bounded_number_of_bytes(void **state)
{
	struct trk_buf payload, frame;
	const unsigned char *data, *at;
	uint64_t wasted = 0;
	size_t len;
	int type;

	trk__buf_init(&payload, 100);
	trk__buf_init(&frame, 200);
	trk__buf_puts(&payload, "payload");
	trk__format_frame(&frame, TRK_RECORD_MARK, &payload);
	data = (const unsigned char *) frame.data;
	assert_int_equal(trk__parse_frame(data, frame.len, &wasted, &type, &at, &len), frame.len);
	assert_int_equal(wasted, 0);
	frame.data[frame.len - 1] ^= 1;
	assert_int_equal(trk__parse_frame(data, frame.len, &wasted, &type, &at, &len), -EBADMSG);
	assert_int_equal(wasted, 7);
	frame.data[frame.len - 1] ^= 1;
	wasted = TRK_WASTED_MAX;
	assert_int_equal(trk__parse_frame(data, frame.len, &wasted, &type, &at, &len), -EBADMSG);
	trk__buf_release(&payload);
	trk__buf_release(&frame);
}

/* The number of an inode may be used again for the file that replaces it. */
static void a_file_that_was_replaced_is_counted_anew(void **state)
{
	struct trk_tail tail = {.rows = 0};
	struct folder f;
	char path[300], text[65536];
	ssize_t len;
	int fd;

	folder_init(&f);
	(void) snprintf(path, sizeof(path), "%s/1.rtrk", f.path);
	recording_write(f.fd, "1.rtrk", FEW - 2, true);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(trk__tail_update(&tail, path), 0);
		assert_int_equal(tail.rows, FEW - 2);
	}
	recording_write(f.fd, "2.rtrk", FEW, true);
	len = trk__read_at(f.fd, "2.rtrk", text, sizeof(text));
	assert_true(len > 0);
	fd = openat(f.fd, "1.rtrk", O_WRONLY | O_CLOEXEC);
	assert_int_equal(trk__write_all(fd, text, (size_t) len), 0);
	trk__close(fd);
	assert_int_equal(trk__tail_update(&tail, path), 0);
	assert_int_equal(tail.rows, FEW);
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0), 0);
	assert_int_equal(unlinkat(f.fd, "2.rtrk", 0), 0);
	folder_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_and_outcome_come_back_as_written),
		cmocka_unit_test(a_cut_at_any_byte_leaves_the_rows_before_it),
		cmocka_unit_test(wrong_check_sums_cost_a_bounded_number_of_bytes),
		cmocka_unit_test(half_a_record_of_a_writer_that_lives_is_no_damage),
		cmocka_unit_test(a_damaged_byte_costs_one_record_at_most),
		cmocka_unit_test(other_files_and_newer_versions_are_refused),
		cmocka_unit_test(a_small_bound_keeps_sums_extremes_and_the_newest_rows),
		cmocka_unit_test(columns_that_are_not_known_are_skipped),
		cmocka_unit_test(a_schema_of_a_newer_version_is_mapped_by_name),
		cmocka_unit_test(rows_lost_to_a_full_disk_are_counted),
		cmocka_unit_test(a_place_comes_back_as_written),
		cmocka_unit_test(a_file_that_was_replaced_is_counted_anew),
		cmocka_unit_test(a_recording_is_private_and_never_written_through_a_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
