#include "base/human.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define SIZE TRK_HUMAN_SIZE

/* Larger numbers are written with an exponent. */
static const double LARGEST = 1e15;

__attribute__((format(printf, 2, 3))) static const char *print(char text[SIZE], const char *format,
							       ...)
{
	va_list args;

	va_start(args, format);
	(void) vsnprintf(text, SIZE, format, args);
	va_end(args);
	return text;
}

/* ---- numbers ---- */

const char *trk__human_number(char text[SIZE], double value)
{
	double size = fabs(value);

	if (isnan(value))
		return print(text, "-");
	if (value == 0)
		return print(text, "0");
	if (size < 0.01)
		return print(text, value < 0 ? "> -0.01" : "< 0.01");
	if (size >= LARGEST)
		return print(text, "%.3g", value);
	if (size >= 99.95)
		return print(text, "%.0f", value);
	return print(text, size < 0.995 ? "%.2f" : "%.1f", value);
}

const char *trk__human_amount(char text[SIZE], double value)
{
	return fabs(value) < LARGEST && value == (double) (int64_t) value
		       ? print(text, "%.0f", value)
		       : trk__human_number(text, value);
}

const char *trk__human_count(char text[SIZE], double value)
{
	return fabs(value) < LARGEST ? print(text, "%.0f", value) : trk__human_number(text, value);
}

const char *trk__human_percent(char text[SIZE], double share)
{
	if (isnan(share))
		return print(text, "-");
	if (share > 0 && share < 0.005)
		return print(text, "< 1 %%");
	return print(text, fabs(share) < 1000 ? "%.0f %%" : "%.3g %%", share * 100);
}

const char *trk__human_change(char text[SIZE], double share)
{
	double size = fabs(share);

	if (isnan(share))
		return print(text, "-");
	if (size < 0.0005)
		return print(text, "0 %%");
	if (size >= LARGEST)
		return print(text, "%+.3g %%", share * 100);
	return print(text, "%s%.*f %%", share < 0 ? "\u2212" : "+", size < 0.0995 ? 1 : 0,
		     size * 100);
}

/* ---- units ---- */

static const struct trk_human_unit memory_units[] = {
	{"MiB", 1}, {"GiB", 1024}, {"TiB", 1048576}, {"PiB", 1073741824}};
static const struct trk_human_unit byte_units[] = {{"B", 1},    {"kB", 1e3},  {"MB", 1e6},
						   {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15}};
static const struct trk_human_unit rate_units[] = {
	{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
static const struct trk_human_unit space_units[] = {{"GB", 1}, {"TB", 1e3}, {"PB", 1e6}};

#define UNITS(list) (list), sizeof(list) / sizeof((list)[0])

/* The largest unit in which the value is at least `least`. */
static struct trk_human_unit unit_of(double value, double least, const struct trk_human_unit *list,
				     size_t count)
{
	size_t i = 0;

	while (i + 1 < count && value >= least * list[i + 1].factor)
		i++;
	return list[i];
}

struct trk_human_unit trk__human_unit(enum trk_human_kind kind, double largest)
{
	switch (kind) {
	case TRK_HUMAN_MEMORY:
		return unit_of(largest, 1, UNITS(memory_units));
	case TRK_HUMAN_RATE:
		return unit_of(largest, 1, UNITS(rate_units));
	case TRK_HUMAN_SPACE:
		return unit_of(largest, 1, UNITS(space_units));
	case TRK_HUMAN_GPUS:
		return (struct trk_human_unit){"GPUs", 1};
	default:
		return (struct trk_human_unit){"cores", 1};
	}
}

const char *trk__human_memory(char text[SIZE], double mib)
{
	/* From 1023.5 MiB on "%.0f" would show 1024. */
	struct trk_human_unit unit = unit_of(mib, 0.9995, UNITS(memory_units));
	double value = mib / unit.factor;
	char number[SIZE];

	if (isnan(mib))
		return print(text, "-");
	if (unit.factor > 1 && value < 999.5)
		return print(text, "%.3g %s", value, unit.name);
	return print(text, "%s %s", trk__human_amount(number, value), unit.name);
}

const char *trk__human_request(char text[SIZE], double mib)
{
	double steps = mib / 128;

	if (isnan(mib))
		return print(text, "-");
	if (fabs(mib) < 1024)
		return print(text, "%.0f MiB", mib);
	return print(text,
		     fabs(steps) < 1e6 && steps == (double) (int64_t) steps ? "%.9g GiB"
									    : "%.4g GiB",
		     mib / 1024);
}

const char *trk__human_bytes(char text[SIZE], double bytes)
{
	struct trk_human_unit unit = unit_of(bytes, 0.9995, UNITS(byte_units));
	char number[SIZE];

	if (isnan(bytes))
		return print(text, "-");
	if (unit.factor <= 1)
		return print(text, fabs(bytes) < LARGEST ? "%.0f B" : "%.3g B", bytes);
	return print(text, "%s %s", trk__human_number(number, bytes / unit.factor), unit.name);
}

const char *trk__human_space(char text[SIZE], double gb)
{
	return trk__human_bytes(text, gb * 1e9);
}

const char *trk__human_energy(char text[SIZE], double joules)
{
	if (isnan(joules))
		return print(text, "-");
	if (fabs(joules) < 3600)
		return print(text, "%.0f J", joules);
	if (fabs(joules) < 3.6e6)
		return print(text, "%.2f Wh", joules / 3600);
	return print(text, fabs(joules) < LARGEST ? "%.2f kWh" : "%.3g kWh", joules / 3.6e6);
}

/* ---- time ---- */

/* A count of `first` and the rest in `second`: "1 h 42 m". */
static const char *two_units(char text[SIZE], double value, unsigned int second_in_first,
			     const char *first, const char *second)
{
	unsigned long long whole = (unsigned long long) (value + 0.5);

	return print(text, "%llu %s %u %s", whole / second_in_first, first,
		     (unsigned int) (whole % second_in_first), second);
}

const char *trk__human_seconds(char text[SIZE], double seconds)
{
	if (isnan(seconds))
		return print(text, "-");
	if (fabs(seconds) >= LARGEST)
		return print(text, "%.3g s", seconds);
	if (seconds < 0.9995)
		return print(text, "%.0f ms", seconds * 1e3);
	if (seconds < 59.95)
		return print(text, "%.1f s", seconds);
	if (seconds < 3599.5)
		return two_units(text, seconds, 60, "m", "s");
	if (seconds < 48.0 * 3600) /* from hours on, seconds are left out */
		return two_units(text, seconds / 60, 60, "h", "m");
	return two_units(text, seconds / 3600, 24, "d", "h");
}

const char *trk__human_rough_seconds(char text[SIZE], double seconds)
{
	if (!(fabs(seconds) < LARGEST) || fabs(seconds) < 0.0995)
		return trk__human_seconds(text, seconds);
	if (seconds < 119.5)
		return print(text, seconds < 9.95 ? "%.1f s" : "%.0f s", seconds);
	if (seconds < 3569.5) /* 59.5 minutes are an hour */
		return print(text, "%.0f m", seconds / 60);
	return trk__human_seconds(text, seconds > 3600 ? seconds : 3600);
}

/* The first `digits` of the time of day, "hh:mm:ss". */
static const char *print_moment(char text[SIZE], double wall_s, int digits)
{
	char iso[32];

	if (!(wall_s > 0) || wall_s > 1.8e10)
		return print(text, "-");
	trk__clock_iso8601((uint64_t) (wall_s * 1e9), iso);
	return print(text, "%.10s %.*s UTC", iso, digits, iso + 11);
}

const char *trk__human_moment(char text[SIZE], double wall_s)
{
	return print_moment(text, wall_s, 5);
}

const char *trk__human_moment_s(char text[SIZE], double wall_s)
{
	return print_moment(text, wall_s, 8);
}

/* ---- money ---- */

const char *trk__human_usd(char text[SIZE], double usd)
{
	double unit = 0.0995; /* below it two decimals show less than two digits */
	int digits = 2;

	if (isnan(usd))
		return print(text, "-");
	while (usd > 0 && usd < unit && digits < 8) {
		digits++;
		unit /= 10;
	}
	return fabs(usd) < LARGEST ? print(text, "$%.*f", digits, usd) : print(text, "$%.3g", usd);
}

const char *trk__human_usd_per_hour(char text[SIZE], double usd)
{
	size_t len;

	if (isnan(usd) || (usd > 0 && usd < 0.00995) || fabs(usd) >= LARGEST)
		return trk__human_usd(text, usd);
	print(text, "$%.4f", usd);
	len = strlen(text);
	for (int i = 0; i < 2 && len && text[len - 1] == '0'; i++) /* two decimals stay */
		text[--len] = '\0';
	return text;
}
