/* The phase in which a change happened. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/change.h"

enum { RUNS = 3 };

static struct trk_time_breakdown now, earlier[RUNS];

static void put(struct trk_time_breakdown *c, const char *name, double seconds, double mib)
{
	double start_s = c->phase_count ? c->phase[c->phase_count - 1].end_s : 0;
	struct trk_run_phase *p = &c->phase[c->phase_count++];

	*p = (struct trk_run_phase){
		.start_s = start_s, .end_s = start_s + seconds, .memory_peak_mib = mib};
	(void) snprintf(p->name, sizeof(p->name), "%s", name);
	c->marked = c->marked || *name;
}

/* "load" and "train" of so many seconds in three earlier runs; nothing in this one. */
static int start(void **state)
{
	memset(&now, 0, sizeof(now));
	memset(earlier, 0, sizeof(earlier));
	for (int i = 0; i < RUNS; i++) {
		put(&earlier[i], "load", 10 + i, 100);
		put(&earlier[i], "train", 90, 500);
	}
	return 0;
}

static struct trk_change change_of(double before_s, double now_s, double before_mib, double now_mib,
				   enum trk_anomaly_kind kind)
{
	struct trk_past_run then = {.duration_s = before_s, .memory.bytes = before_mib * TRK_MIB};
	struct trk_past_run this = {.duration_s = now_s, .memory.bytes = now_mib * TRK_MIB};
	struct trk_change c;

	trk__change_from_run(&this, &then, &c);
	c.figure[TRK_CHANGE_DURATION].kind = kind;
	trk__change_find_phases(&c, &now, earlier, RUNS);
	return c;
}

static void the_phase_that_took_longer_is_named(void **state)
{
	struct trk_change c;
	struct trk_buf b;

	put(&now, "load", 31, 100);
	put(&now, "train", 91, 500);
	c = change_of(101, 122, 500, 500, TRK_ANOMALY_HIGH);
	assert_string_equal(c.time_phase.name, "load");
	assert_int_equal(c.time_phase.number, 1);
	assert_true(c.time_phase.before == 11 && c.time_phase.now == 31); /* the median of three */
	assert_int_equal(c.time_phase.runs, RUNS);
	assert_int_equal(c.memory_phase.runs, 0); /* memory has not changed */
	trk__buf_init(&b, 1000);
	trk__change_text(&b, &c);
	trk__buf_putc(&b, '\0');
	assert_string_equal(b.data, "+20.8 % time vs the run before: load +20 s");
	trk__buf_release(&b);
}

static void a_figure_that_was_always_zero_is_known(void **state)
{
	struct trk_past_run runs[2] = {{.id = "a", .start_s = 1}, {.id = "b", .start_s = 2}};
	struct trk_past_run this = {.id = "c", .start_s = 3, .disk_read_bytes = 7};
	struct trk_change c;

	trk__change_from_history(&this, runs, 2, &c);
	assert_true(c.figure[TRK_CHANGE_DISK_READ].before == 0 &&
		    isnan(c.figure[TRK_CHANGE_DISK_READ].share));
	runs[0].disk_read_bytes = runs[1].disk_read_bytes = NAN;
	trk__change_from_history(&this, runs, 2, &c);
	assert_true(isnan(c.figure[TRK_CHANGE_DISK_READ].before));
}

static void what_is_usual_or_small_has_no_phase(void **state)
{
	put(&now, "load", 31, 100);
	put(&now, "train", 91, 500);
	assert_int_equal(change_of(101, 122, 500, 500, TRK_ANOMALY_NO).time_phase.runs, 0);
	assert_int_equal(change_of(120, 122, 500, 500, TRK_ANOMALY_TOO_FEW).time_phase.runs, 0);
	assert_int_equal(change_of(101, 122, 500, 500, TRK_ANOMALY_TOO_FEW).time_phase.runs, RUNS);
}

static void a_change_that_all_phases_share_has_none(void **state)
{
	put(&now, "load", 16, 100);
	put(&now, "train", 94, 500);
	put(&now, "write", 5, 100);
	assert_int_equal(change_of(101, 115, 500, 500, TRK_ANOMALY_HIGH).time_phase.runs, 0);
}

static void a_new_phase_and_one_that_is_gone_are_named(void **state)
{
	struct trk_change c;

	put(&now, "load", 11, 100);
	put(&now, "train", 90, 500);
	put(&now, "write", 20, 100);
	c = change_of(101, 121, 500, 500, TRK_ANOMALY_HIGH);
	assert_string_equal(c.time_phase.name, "write");
	assert_true(c.time_phase.before == 0 && c.time_phase.now == 20);
	memset(&now, 0, sizeof(now));
	put(&now, "train", 90, 500);
	c = change_of(101, 90, 500, 500, TRK_ANOMALY_LOW);
	assert_string_equal(c.time_phase.name, "load");
	assert_int_equal(c.time_phase.number, 0);
	assert_true(c.time_phase.before == 11 && c.time_phase.now == 0);
}

static void phases_of_one_name_are_one(void **state)
{
	struct trk_change c;

	put(&now, "load", 6, 100);
	put(&now, "train", 60, 500);
	put(&now, "load", 5, 100);
	put(&now, "train", 60, 700);
	c = change_of(101, 131, 500, 700, TRK_ANOMALY_HIGH);
	assert_string_equal(c.time_phase.name, "train");
	assert_true(c.time_phase.now == 120);
	assert_string_equal(c.memory_phase.name, "train");
	assert_true(c.memory_phase.before == 500 && c.memory_phase.now == 700);
}

static void phases_without_a_name_are_found_by_number_among_as_many(void **state)
{
	struct trk_change c;

	memset(earlier, 0, sizeof(earlier));
	for (int i = 0; i < RUNS; i++) {
		put(&earlier[i], "", 10, 100);
		put(&earlier[i], "", 90, 500);
	}
	put(&earlier[0], "", 5, 1); /* one of three phases is of no use */
	put(&now, "", 10, 100);
	put(&now, "", 140, 500);
	c = change_of(100, 150, 500, 500, TRK_ANOMALY_HIGH);
	assert_int_equal(c.time_phase.number, 2);
	assert_string_equal(c.time_phase.name, "");
	assert_int_equal(c.time_phase.runs, RUNS - 1);
	put(&now, "", 1, 1);
	c = change_of(100, 150, 500, 500, TRK_ANOMALY_HIGH);
	assert_int_equal(c.time_phase.runs, 1);
	put(&now, "", 1, 1);
	c = change_of(100, 150, 500, 500, TRK_ANOMALY_HIGH);
	assert_int_equal(c.time_phase.runs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_phase_that_took_longer_is_named, start),
		cmocka_unit_test_setup(a_figure_that_was_always_zero_is_known, start),
		cmocka_unit_test_setup(what_is_usual_or_small_has_no_phase, start),
		cmocka_unit_test_setup(a_change_that_all_phases_share_has_none, start),
		cmocka_unit_test_setup(a_new_phase_and_one_that_is_gone_are_named, start),
		cmocka_unit_test_setup(phases_of_one_name_are_one, start),
		cmocka_unit_test_setup(phases_without_a_name_are_found_by_number_among_as_many,
				       start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
