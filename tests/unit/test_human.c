/* Numbers formatted for people: one table per unit, with edge cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/human.h"

struct row {
	double value;
	const char *want;
};

static void check(trk_human_fn *words, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char text[TRK_HUMAN_SIZE];

		assert_ptr_equal(words(text, rows[i].value), text);
		assert_string_equal(text, rows[i].want);
	}
}

#define CHECK(words, ...)                                                                          \
	do {                                                                                       \
		static const struct row rows[] = {__VA_ARGS__};                                    \
		check(words, rows, sizeof(rows) / sizeof(rows[0]));                                \
	} while (0)

static void numbers_have_as_many_digits_as_tell(void **state)
{
	CHECK(trk__human_number, {0, "0"}, {0.004, "< 0.01"}, {-0.004, "> -0.01"}, {0.05, "0.05"},
	      {0.994, "0.99"}, {0.995, "1.0"}, {4.23, "4.2"}, {99.94, "99.9"}, {99.96, "100"},
	      {1234.5, "1234"}, {-4.23, "-4.2"}, {1e15, "1e+15"}, {INFINITY, "inf"}, {NAN, "-"});
	CHECK(trk__human_amount, {4, "4"}, {4.5, "4.5"}, {0.25, "0.25"}, {NAN, "-"},
	      {1e300, "1e+300"});
	CHECK(trk__human_count, {4.6, "5"}, {1234567, "1234567"}, {NAN, "-"}, {2e20, "2e+20"});
}

static void shares_are_percent(void **state)
{
	CHECK(trk__human_percent, {0, "0 %"}, {0.004, "< 1 %"}, {0.005, "0 %"}, {0.71, "71 %"},
	      {1.014, "101 %"}, {123.4, "12340 %"}, {1.5e9, "1.5e+11 %"}, {NAN, "-"});
	CHECK(trk__human_change, {0, "0 %"}, {0.0004, "0 %"}, {0.067, "+6.7 %"}, {0.4, "+40 %"},
	      {-0.067, "\u22126.7 %"}, {-1, "\u2212100 %"}, {NAN, "-"}, {INFINITY, "+inf %"});
}

static void memory_is_binary_and_requests_are_exact(void **state)
{
	CHECK(trk__human_memory, {0, "0 MiB"}, {0.004, "< 0.01 MiB"}, {0.25, "0.25 MiB"},
	      {85.31, "85.3 MiB"}, {640, "640 MiB"}, {1023, "1023 MiB"}, {1023.9, "1 GiB"},
	      {1280, "1.25 GiB"}, {4999, "4.88 GiB"}, {24106, "23.5 GiB"}, {1048576, "1 TiB"},
	      {1e12, "931 PiB"}, {2e12, "1863 PiB"}, {1e30, "9.31e+20 PiB"}, {NAN, "-"});
	CHECK(trk__human_request, {640, "640 MiB"}, {1023.4, "1023 MiB"}, {1920, "1.875 GiB"},
	      {5760, "5.625 GiB"}, {24106, "23.54 GiB"}, {1e12, "9.766e+08 GiB"}, {NAN, "-"});
}

static void bytes_are_decimal(void **state)
{
	CHECK(trk__human_bytes, {0, "0 B"}, {999, "999 B"}, {999.6, "1.0 kB"}, {1500, "1.5 kB"},
	      {999600, "1.0 MB"}, {2.5e9, "2.5 GB"}, {123e9, "123 GB"}, {4e18, "4000 PB"},
	      {1e40, "1e+25 PB"}, {NAN, "-"});
	CHECK(trk__human_space, {0.5, "500 MB"}, {1200, "1.2 TB"}, {NAN, "-"});
	CHECK(trk__human_energy, {0, "0 J"}, {840, "840 J"}, {9000, "2.50 Wh"},
	      {4.32e6, "1.20 kWh"}, {1e30, "2.78e+23 kWh"}, {NAN, "-"});
}

static void durations_have_two_units_at_most(void **state)
{
	CHECK(trk__human_seconds, {0, "0 ms"}, {0.0004, "0 ms"}, {0.25, "250 ms"},
	      {0.9994, "999 ms"}, {0.9995, "1.0 s"}, {12.34, "12.3 s"}, {59.94, "59.9 s"},
	      {59.95, "1 m 0 s"}, {3599.4, "59 m 59 s"}, {3599.5, "1 h 0 m"}, {6130, "1 h 42 m"},
	      {172799, "48 h 0 m"}, {172800, "2 d 0 h"}, {8e9, "92592 d 14 h"}, {1e300, "1e+300 s"},
	      {INFINITY, "inf s"}, {NAN, "-"});
	CHECK(trk__human_rough_seconds, {0.045, "45 ms"}, {0.0995, "0.1 s"}, {0.31, "0.3 s"},
	      {42.4, "42 s"}, {119.4, "119 s"}, {120, "2 m"}, {1080, "18 m"}, {3569, "59 m"},
	      {3570, "1 h 0 m"}, {4320, "1 h 12 m"}, {1e300, "1e+300 s"}, {NAN, "-"});
	CHECK(trk__human_moment, {1795140000, "2026-11-20 02:00 UTC"}, {0, "-"}, {1e300, "-"},
	      {NAN, "-"});
	CHECK(trk__human_moment_s, {1795140017, "2026-11-20 02:00:17 UTC"}, {-1, "-"});
}

static void money_shows_two_digits_that_count(void **state)
{
	CHECK(trk__human_usd, {0, "$0.00"}, {1.224, "$1.22"}, {0.0042, "$0.0042"},
	      {0.000042, "$0.000042"}, {1e-12, "$0.00000000"}, {12345.678, "$12345.68"},
	      {1e300, "$1e+300"}, {NAN, "-"});
	CHECK(trk__human_usd_per_hour, {0.384, "$0.384"}, {0.0475, "$0.0475"}, {2, "$2.00"},
	      {0.0042, "$0.0042"}, {NAN, "-"});
}

static void several_values_share_a_unit(void **state)
{
	static const struct {
		enum trk_human_kind kind;
		double largest;
		const char *name;
		double factor;
	} rows[] = {
		{TRK_HUMAN_CORES, 1e9, "cores", 1},       {TRK_HUMAN_MEMORY, 1023, "MiB", 1},
		{TRK_HUMAN_MEMORY, 1024, "GiB", 1024},    {TRK_HUMAN_MEMORY, NAN, "MiB", 1},
		{TRK_HUMAN_MEMORY, 1e30, "PiB", 1 << 30}, {TRK_HUMAN_RATE, 999, "B/s", 1},
		{TRK_HUMAN_RATE, 1e6, "MB/s", 1e6},       {TRK_HUMAN_SPACE, 1000, "TB", 1e3},
		{TRK_HUMAN_GPUS, 2, "GPUs", 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trk_human_unit unit = trk__human_unit(rows[i].kind, rows[i].largest);

		assert_string_equal(unit.name, rows[i].name);
		assert_true(unit.factor == rows[i].factor);
	}
}

/* The array bounds what is written, whatever the value. */
static void no_value_outgrows_its_text(void **state)
{
	static trk_human_fn *const all[] = {
		trk__human_number,      trk__human_amount,   trk__human_count,
		trk__human_percent,     trk__human_change,   trk__human_memory,
		trk__human_request,     trk__human_bytes,    trk__human_space,
		trk__human_energy,      trk__human_seconds,  trk__human_rough_seconds,
		trk__human_moment,      trk__human_moment_s, trk__human_usd,
		trk__human_usd_per_hour};
	static const double values[] = {-INFINITY, -1e308, -1e15, -1,    0,        1e-308,
					9.99e14,   1e15,   1e19,  1e308, INFINITY, NAN};

	for (size_t w = 0; w < sizeof(all) / sizeof(all[0]); w++)
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			char text[TRK_HUMAN_SIZE];

			assert_in_range(strlen(all[w](text, values[i])), 1, 24);
			assert_null(strstr(text, "nan"));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_as_many_digits_as_tell),
		cmocka_unit_test(shares_are_percent),
		cmocka_unit_test(memory_is_binary_and_requests_are_exact),
		cmocka_unit_test(bytes_are_decimal),
		cmocka_unit_test(durations_have_two_units_at_most),
		cmocka_unit_test(money_shows_two_digits_that_count),
		cmocka_unit_test(several_values_share_a_unit),
		cmocka_unit_test(no_value_outgrows_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
