#include "import/values.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/parse.h"

/* A decimal number at *at, without sign; false and *at untouched when there is none. */
static bool scan_number(const char **at, double *ret)
{
	size_t len = strspn(*at, "0123456789.");
	char text[32];

	if (len == 0 || len >= sizeof(text))
		return false;
	memcpy(text, *at, len);
	text[len] = '\0';
	if (trk__parse_decimal(text, ret) < 0)
		return false;
	*at += len;
	return true;
}

double trk__value_clock(const char *text)
{
	double total = 0, part;
	const char *s = text;
	int parts = 0;

	for (;;) {
		if (!scan_number(&s, &part))
			return NAN;
		parts++;
		if (*s == '-' && parts == 1) { /* days */
			total = part * 24;
			s++;
			continue;
		}
		total += part;
		if (*s != ':')
			break;
		total *= 60;
		s++;
	}
	/* After days come hours: "2-03:04:05". */
	return *s == '\0' && parts >= 2 && parts <= 4 ? total : (double) NAN;
}

double trk__value_words(const char *text)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"ms", 1e-3}, {"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}};
	const char *s = text;
	double total = 0, number;
	bool any = false;

	for (;;) {
		size_t i = 0;

		s = trk__skip_blanks(s);
		if (*s == '\0')
			return any ? total : (double) NAN;
		if (!scan_number(&s, &number))
			return NAN;
		s = trk__skip_blanks(s);
		if (*s == '\0' && !any)
			return number / 1e3;
		while (i < 5 && strncmp(s, units[i].unit, strlen(units[i].unit)) != 0)
			i++;
		if (i == 5)
			return NAN;
		s += strlen(units[i].unit);
		total += number * units[i].seconds;
		any = true;
	}
}

double trk__value_bytes(const char *text, double unit, const char **ret_rest)
{
	static const char letters[] = "KMGTP";
	const char *s = trk__skip_blanks(text), *letter;
	double value;

	if (!scan_number(&s, &value))
		return NAN;
	s = trk__skip_blanks(s);
	letter = *s ? strchr(letters, *s == 'k' ? 'K' : *s) : NULL;
	if (letter) {
		for (const char *l = letters; l <= letter; l++)
			value *= 1024;
		s++;
		s += *s == 'i';
		s += *s == 'B';
	} else if (*s == 'B') {
		s++;
	} else {
		value *= unit;
	}
	if (ret_rest)
		*ret_rest = s;
	return ret_rest || *s == '\0' ? value : (double) NAN;
}

double trk__value_date(const char *text)
{
	struct tm t = {.tm_isdst = 0};
	int year, month, day, hour, minute, n = 0;
	double second = 0, number;
	const char *s;

	if (trk__parse_decimal(text, &number) == 0)
		return number > 0 ? number / 1e3 : (double) NAN;
	if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%n", &year, &month, &day, &hour, &minute, &n) !=
		    5 ||
	    n == 0)
		return NAN;
	s = text + n;
	if (!scan_number(&s, &second) || (*s != '\0' && *s != 'Z') || year < 1970 || month < 1 ||
	    month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second >= 61)
		return NAN;
	t.tm_year = year - 1900;
	t.tm_mon = month - 1;
	t.tm_mday = day;
	t.tm_hour = hour;
	t.tm_min = minute;
	return (double) timegm(&t) + second;
}
