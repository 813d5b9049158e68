#include "fleet/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/maths.h"

/* With thousands separators. */
static void group_digits(char *text, size_t size, double value)
{
	char plain[32];
	size_t len, n = 0;

	(void) snprintf(plain, sizeof(plain), "%.0f", value < 1e15 ? value : 1e15);
	len = strlen(plain);
	for (size_t i = 0; i < len && n + 2 < size; i++) {
		text[n++] = plain[i];
		if (len - i > 1 && (len - i) % 3 == 1 && plain[i] != '-')
			text[n++] = ',';
	}
	text[n] = '\0';
}

const char *trk__fleet_count(char text[TRK_FLEET_WORD_SIZE], size_t count)
{
	group_digits(text, TRK_FLEET_WORD_SIZE, (double) count);
	return text;
}

const char *trk__fleet_plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static const char *unknown(char text[TRK_FLEET_WORD_SIZE])
{
	(void) snprintf(text, TRK_FLEET_WORD_SIZE, "-");
	return text;
}

const char *trk__fleet_usd(char text[TRK_FLEET_WORD_SIZE], double usd)
{
	const char *sign = usd < 0 ? "-" : "";
	char digits[32];

	if (!isfinite(usd))
		return unknown(text);
	usd = fabs(usd);
	if (usd >= 9.995)
		group_digits(digits, sizeof(digits), usd);
	else if (usd >= 0.0995)
		(void) snprintf(digits, sizeof(digits), "%.2f", usd);
	else if (usd >= 0.000995)
		(void) snprintf(digits, sizeof(digits), "%.*f", usd >= 0.00995 ? 3 : 4, usd);
	else
		(void) snprintf(digits, sizeof(digits), usd > 0 ? "%.1g" : "0", usd);
	if (usd > 0 && usd < 0.000995)
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%sunder $0.001", sign);
	else
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%s$%s", sign, digits);
	return text;
}

/* Three significant digits, without trailing zeros. */
static void short_number(char *text, size_t size, double value)
{
	int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;

	(void) snprintf(text, size, "%.*f", decimals, value);
	if (decimals) {
		size_t len = strlen(text);

		while (len > 0 && text[len - 1] == '0')
			text[--len] = '\0';
		if (len > 0 && text[len - 1] == '.')
			text[len - 1] = '\0';
	}
}

const char *trk__fleet_memory(char text[TRK_FLEET_WORD_SIZE], double bytes)
{
	double mib = bytes / TRK_MIB;
	char number[32];

	if (!isfinite(mib))
		return unknown(text);
	if (mib > 0 && mib < 0.005) {
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "under 0.01 MiB");
		return text;
	}
	if (mib < 999.5) {
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%.*f MiB",
				mib == 0 || mib >= 9.95 ? 0
				: mib >= 0.995          ? 1
							: 2,
				mib);
		return text;
	}
	short_number(number, sizeof(number), mib / 1024);
	(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%s GiB", number);
	return text;
}

const char *trk__fleet_cores(char text[TRK_FLEET_WORD_SIZE], double cores)
{
	double whole = trk__round_even(cores);

	if (!isfinite(cores))
		return unknown(text);
	if (cores > 0 && cores < 0.005)
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "< 0.01");
	else if (fabs(cores - whole) < 0.005 || cores >= 99.95)
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%.0f", whole);
	else
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, cores < 0.095 ? "%.2f" : "%.1f", cores);
	return text;
}

const char *trk__fleet_percent(char text[TRK_FLEET_WORD_SIZE], double share)
{
	if (!isfinite(share))
		return unknown(text);
	if (share > 0 && share < 0.001)
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "under 0.1 %%");
	else
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%.*f %%",
				share > 0 && share < 0.0995 ? 1 : 0, share * 100);
	return text;
}

const char *trk__fleet_change(char text[TRK_FLEET_WORD_SIZE], double change)
{
	if (!isfinite(change))
		return unknown(text);
	if (fabs(change) < 0.0005)
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "0 %%");
	else
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%+.*f %%",
				fabs(change) < 0.0995 ? 1 : 0, change * 100);
	return text;
}

const char *trk__fleet_duration(char text[TRK_FLEET_WORD_SIZE], double seconds)
{
	long whole;

	if (!isfinite(seconds) || seconds < 0 || seconds > 1e12)
		return unknown(text);
	whole = (long) (seconds + 0.5);
	if (seconds > 0 && seconds < 0.0005)
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "under 1 ms");
	else if (seconds < 0.9995)
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%.0f ms", seconds * 1e3);
	else if (seconds < 59.95)
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%.1f s", seconds);
	else if (whole < 3600)
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%ld m %02ld s", whole / 60, whole % 60);
	else
		(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%ld h %02ld m", whole / 3600,
				whole % 3600 / 60);
	return text;
}

static struct tm date_of(long day)
{
	time_t at = (time_t) day * 86400;
	struct tm date = {.tm_mday = 1};

	(void) gmtime_r(&at, &date);
	return date;
}

const char *trk__fleet_date(char text[TRK_FLEET_WORD_SIZE], long day)
{
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	struct tm date = date_of(day);

	(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%d %s", date.tm_mday, months[date.tm_mon]);
	return text;
}

const char *trk__fleet_iso_date(char text[TRK_FLEET_WORD_SIZE], long day)
{
	struct tm date = date_of(day);

	(void) snprintf(text, TRK_FLEET_WORD_SIZE, "%04d-%02d-%02d", date.tm_year + 1900,
			date.tm_mon + 1, date.tm_mday);
	return text;
}

long trk__fleet_day_of_month(long day)
{
	return date_of(day).tm_mday;
}

const char *trk__fleet_weekday(long day)
{
	static const char *const names[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};

	return names[((day % 7) + 7) % 7];
}
