/* The loop, on a machine of files with the clocks of this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "machine.h"
#include "record/track.h"

struct seen {
	struct machine *m;
	size_t rows;
	double first_load, last_load;
};

/* The load changes behind the first row: less than the five seconds later in which it is read again. */
static void see(void *data, const struct trk_record *record, const struct trk_sample *row,
		const struct trk_gpu_reading *gpus)
{
	struct seen *seen = data;
	double load = trk__sample_get(row, TRK_SYSTEM_LOAD_1M);

	(void) record;
	(void) gpus;
	if (seen->rows++ == 0) {
		seen->first_load = load;
		live_write(&seen->m->live, "loadavg", "1.25 0.50 0.10 2/321 4242\n");
	}
	seen->last_load = load;
}

static void nothing_is_left_out_of_the_last_row(void **state)
{
	static struct trk_track_result result;
	struct machine m;
	struct seen seen = {.m = &m};
	const struct trk_track_options options = {
		.interval_ns = 100 * MS,
		.duration_ns = 250 * MS,
		.control_fd = -1,
		.in_thread = true,
		.on_row = see,
		.data = &seen,
	};

	(void) state;
	machine_init(&m);
	m.live.env.monotonic_ns = trk__clock_monotonic_ns;
	m.live.env.wall_ns = trk__clock_wall_ns;
	m.live.env.boot_ns = trk__clock_boot_ns;
	set_cpu(&m, 1, 0, 0, 0);
	live_write(&m.live, "loadavg", "0.75 0.50 0.10 2/321 4242\n");
	assert_int_equal(trk__track(&m.live.env, &options, &result), 0);
	assert_true(seen.rows >= 2);
	assert_true(seen.first_load == 0.75);
	assert_true(seen.last_load == 1.25);
	trk__record_release(&result.record);
	machine_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_out_of_the_last_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
