/* The log of the GPUs of a run: means weighted by time, energy, its form in a recording, and
 * thinning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "model/gpu_log.h"

#include "rows.h"
#include "recording/format.h"

static void fill(struct trk_gpu_device *d, double share, double joules)
{
	*d = (struct trk_gpu_device){.name = "H100", .vendor = "nvidia", .parent = -1, .node = 3};
	for (int i = 0; i < TRK_GPU_METRICS; i++)
		d->metric[i] = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
	d->metric[TRK_GPU_UTILIZATION_METRIC] = trk__gpu_known(share);
	d->metric[TRK_GPU_TREE_SHARE_METRIC] = trk__gpu_known(share);
	d->metric[TRK_GPU_ENERGY_METRIC] =
		isnan(joules) ? trk__gpu_unknown(TRK_GPU_LOST) : trk__gpu_known(joules);
	d->metric[TRK_GPU_MEMORY_USED_METRIC] = trk__gpu_known(5e11 + 1);
	d->metric[TRK_GPU_POWER_METRIC] = trk__gpu_unknown(TRK_GPU_DENIED);
}

static void a_log_weighs_by_time_and_sums_energy(void **state)
{
	struct trk_gpu_log log = {.count = 0};
	struct trk_gpu_device d[2];
	bool all;

	fill(&d[0], 0.5, 100);
	fill(&d[1], 0, 1000);
	assert_int_equal(trk__gpu_log_add(&log, d, 2, 1, 1), 0);
	fill(&d[0], 1, 130);
	fill(&d[1], 0, 1007);
	assert_int_equal(trk__gpu_log_add(&log, d, 2, 2, 3), 0);
	assert_true(fabs(trk__gpu_total_mean(&log.total[0], TRK_GPU_UTILIZATION_METRIC) - 0.875) <
		    1e-12);
	assert_true(trk__gpu_total_max(&log.total[0], TRK_GPU_UTILIZATION_METRIC) == 1);
	assert_true(isnan(trk__gpu_total_mean(&log.total[0], TRK_GPU_POWER_METRIC)));
	assert_true(trk__gpu_log_energy(&log, &all) == 30); /* of the one that was used */
	assert_false(all);
	trk__gpu_log_release(&log);
}

static void a_gpu_without_a_counter_leaves_the_energy_of_the_others(void **state)
{
	struct trk_gpu_log log = {.count = 0};
	struct trk_gpu_device d[2];
	bool all;

	for (int i = 0; i < 2; i++) {
		fill(&d[0], 0.5, 100 + i * 30);
		fill(&d[1], 0.5, NAN);
		assert_int_equal(trk__gpu_log_add(&log, d, 2, i, 1), 0);
	}
	assert_true(trk__gpu_log_energy(&log, &all) == 30);
	assert_true(trk__gpu_log_energy_is_cut(&log));
	assert_true(trk__gpu_log_is_partial(&log, TRK_GPU_ENERGY_METRIC));
	assert_false(trk__gpu_log_is_partial(&log, TRK_GPU_UTILIZATION_METRIC));
	assert_false(trk__gpu_log_is_partial(&log, TRK_GPU_POWER_METRIC)); /* none has it */
	trk__gpu_log_release(&log);
}

static void energy_survives_a_gap_and_a_reset(void **state)
{
	static const double counter[] = {100, NAN, 150, 10, 25};
	struct trk_gpu_log log = {.count = 0};
	struct trk_gpu_device d;
	bool all;

	for (size_t i = 0; i < sizeof(counter) / sizeof(counter[0]); i++) {
		fill(&d, 0, counter[i]);
		assert_int_equal(trk__gpu_log_add(&log, &d, 1, 1, 1), 0);
	}
	assert_true(trk__gpu_log_energy(&log, &all) == 50 + 15);
	assert_true(all); /* used by nobody that is known */
	trk__gpu_log_release(&log);
}

static void nothing_seen_is_no_energy(void **state)
{
	struct trk_gpu_log log = {.count = 0};
	bool all;

	assert_true(isnan(trk__gpu_log_energy(&log, &all)));
}

static void bytes_come_back_as_they_went(void **state)
{
	struct trk_gpu_device d[2], back[TRK_GPUS_MAX];
	int64_t elapsed, interval;
	struct trk_buf b;
	size_t count;

	fill(&d[0], 0.1234, 99.125);
	fill(&d[1], 1, 0);
	d[1].parent = 0;
	d[1].mig = true;
	trk__buf_init(&b, 1 << 16);
	trk__format_gpus(&b, d, 2);
	assert_int_equal(trk__parse_gpus(b.data, b.len, back, &count), 0);
	assert_int_equal(count, 2);
	for (size_t len = 0; len < b.len; len++) /* cut anywhere */
		assert_int_equal(trk__parse_gpus(b.data, len, back, &count), -EBADMSG);
	trk__buf_clear(&b);
	trk__format_gpu_row(&b, d, 2, 123456, 1000);
	assert_int_equal(trk__parse_gpu_row(b.data, b.len, back, 2, &elapsed, &interval), 0);
	assert_int_equal(trk__parse_gpu_row(b.data, b.len, back, 1, &elapsed, &interval), -EBADMSG);
	for (size_t len = 0; len < b.len; len++)
		assert_int_equal(trk__parse_gpu_row(b.data, len, back, 2, &elapsed, &interval),
				 -EBADMSG);
	assert_int_equal(elapsed, 123456);
	assert_int_equal(interval, 1000);
	assert_string_equal(back[0].name, "H100");
	assert_int_equal(back[0].node, 3);
	assert_int_equal(back[1].parent, 0);
	assert_true(back[1].mig);
	for (int i = 0; i < TRK_GPU_METRICS; i++) {
		assert_int_equal(back[0].metric[i].why, d[0].metric[i].why);
		assert_true(isnan(d[0].metric[i].value)
				    ? isnan(back[0].metric[i].value)
				    : fabs(back[0].metric[i].value - d[0].metric[i].value) < 1e-9);
	}
	trk__buf_release(&b);
}

/* Beyond its bound a recording keeps some of the old rows, and the energy is still right. */
/* Versions before this one have also recorded fan, limits, link and retired memory. */
static void figures_of_older_recordings_are_passed_over(void **state)
{
	enum { TEMPERATURE = 7, FAN = 21, LINK = 25, ECC = 27, XID_LAST = 30, ROWS = 32, PLACES };
	static const unsigned int known[] = {TEMPERATURE, FAN, LINK, ECC + 1, XID_LAST, ROWS};
	struct trk_gpu_device back[TRK_GPUS_MAX];
	int64_t elapsed, interval;
	struct trk_buf b;
	uint64_t bits = 0;
	size_t count;

	trk__buf_init(&b, 1 << 16);
	trk__buf_varint(&b, 1);
	for (int i = 0; i < 5; i++) /* vendor, name, uuid, bus, driver */
		trk__buf_text(&b, "x");
	trk__buf_svarint(&b, -1);
	trk__buf_svarint(&b, 3);
	trk__buf_varint(&b, 0);
	trk__buf_varint(&b, PLACES);
	for (int i = 0; i < PLACES; i++)
		trk__buf_putc(&b, i == FAN   ? TRK_GPU_DENIED
				  : i == ECC ? TRK_GPU_UNSUPPORTED
					     : TRK_GPU_NOT_ASKED);
	assert_int_equal(trk__parse_gpus(b.data, b.len, back, &count), 0);
	trk__buf_clear(&b);
	trk__buf_svarint(&b, 5);
	trk__buf_svarint(&b, 6);
	trk__buf_varint(&b, 1);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		bits |= 1ull << known[i];
	trk__buf_varint(&b, bits);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		trk__buf_svarint(&b, known[i] == TEMPERATURE ? 51000 : (int) known[i]);
	assert_int_equal(trk__parse_gpu_row(b.data, b.len, back, 1, &elapsed, &interval), 0);
	assert_true(back[0].metric[TRK_GPU_TEMPERATURE_METRIC].value == 51);
	assert_int_equal(back[0].metric[TRK_GPU_ECC_CORRECTED_METRIC].why, TRK_GPU_UNSUPPORTED);
	assert_true(back[0].metric[TRK_GPU_ECC_UNCORRECTED_METRIC].value == ECC + 1);
	assert_true(back[0].metric[TRK_GPU_XID_LAST_METRIC].value == XID_LAST);
	assert_int_equal(back[0].metric[TRK_GPU_XID_METRIC].why, TRK_GPU_NOT_ASKED);
	trk__buf_release(&b);
}

static void a_long_series_is_thinned(void **state)
{
	struct trk_record *record = calloc(1, sizeof(*record));
	struct trk_sample row = {0};
	struct trk_gpu_device d;
	struct trk_writer *w;
	struct folder f;
	struct trk_run run;
	bool all;

	assert_non_null(record);
	folder_init(&f);
	run_init(&run);
	w = trk__writer_new(f.fd, "long.rtrk", &run, 64 * 1024, NULL);
	assert_non_null(w);
	for (int i = 0; i < 5000; i++) {
		fill(&d, (i % 2) * 0.5, i * 10.0);
		trk__sample_set(&row, TRK_ELAPSED, i * INT64_C(1000000));
		trk__sample_set(&row, TRK_INTERVAL, 1000000);
		assert_int_equal(trk__writer_gpus(w, &d, 1, i * INT64_C(1000000), 1000000), 0);
		assert_int_equal(trk__writer_row(w, &row), 0);
	}
	trk__writer_free(w);
	assert_int_equal(trk__record_read(f.fd, "long.rtrk", record, NULL, NULL, NULL), 0);
	assert_int_equal(record->damaged, 0);
	assert_int_equal(record->samples, 5000);
	assert_true(record->gpus.rows > 50 && record->gpus.rows < 2500);
	assert_true(trk__gpu_log_energy(&record->gpus, &all) == 49990);
	trk__record_release(record);
	free(record);
	assert_int_equal(unlinkat(f.fd, "long.rtrk", 0), 0);
	(void) close(f.fd);
	assert_int_equal(rmdir(f.path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_weighs_by_time_and_sums_energy),
		cmocka_unit_test(a_gpu_without_a_counter_leaves_the_energy_of_the_others),
		cmocka_unit_test(energy_survives_a_gap_and_a_reset),
		cmocka_unit_test(nothing_seen_is_no_energy),
		cmocka_unit_test(bytes_come_back_as_they_went),
		cmocka_unit_test(figures_of_older_recordings_are_passed_over),
		cmocka_unit_test(a_long_series_is_thinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
