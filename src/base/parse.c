#include "base/parse.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *trk__skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

const char *trk__skip_line(const char *s)
{
	const char *end = strchr(s, '\n');

	return end ? end + 1 : s + strlen(s);
}

static bool is_above_range(const char *digits, const char *end)
{
	uint64_t value = 0;

	for (; digits < end; digits++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t) (*digits - '0'), &value))
			return true;
	return false;
}

const char *trk__take_digits(const char *at, const char *end, uint64_t *ret)
{
	const char *start = at;
	uint64_t value = 0;

	for (unsigned int digit; at < end && (digit = (unsigned int) *at - '0') <= 9; at++)
		value = value * 10 + digit;
	if (at == start || at - start > 19)
		return NULL;
	*ret = value;
	return at;
}

bool trk__take_numbers(const char *text, size_t len, uint64_t *ret, size_t count)
{
	const char *end = text + len;

	for (size_t i = 0; i < count; i++) {
		if (i > 0 && *text++ != ' ')
			return false;
		text = trk__take_digits(text, end, &ret[i]);
		if (!text)
			return false;
	}
	return true;
}

bool trk__scan_u64(const char **at, uint64_t *ret)
{
	const char *start = trk__skip_blanks(*at), *s = start;
	uint64_t value = 0;

	for (unsigned int digit; (digit = (unsigned int) *s - '0') <= 9; s++)
		value = value * 10 + digit;
	/* Any 19 digits fit. */
	if (s == start || (s - start > 19 && is_above_range(start, s)))
		return false;
	*at = s;
	*ret = value;
	return true;
}

bool trk__scan_i64(const char **at, int64_t *ret)
{
	const char *s = trk__skip_blanks(*at);
	bool minus = *s == '-';
	uint64_t value;

	if (minus)
		s++;
	if (*s < '0' || *s > '9' || !trk__scan_u64(&s, &value) ||
	    value > (uint64_t) INT64_MAX + minus)
		return false;
	*at = s;
	*ret = minus ? (int64_t) (0 - value) : (int64_t) value;
	return true;
}

int trk__hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool trk__scan_hex(const char **at, uint64_t *ret)
{
	const char *s = trk__skip_blanks(*at);
	uint64_t value = 0;

	if (trk__hex_digit(*s) < 0)
		return false;
	for (; trk__hex_digit(*s) >= 0; s++) {
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t) trk__hex_digit(*s);
	}
	*at = s;
	*ret = value;
	return true;
}

bool trk__scan_fixed(const char **at, unsigned int digits, uint64_t *ret)
{
	const char *s = *at;
	uint64_t value;

	if (!trk__scan_u64(&s, &value))
		return false;
	if (*s == '.')
		s++;
	for (; digits > 0; digits--) {
		unsigned int digit = 0;

		if (*s >= '0' && *s <= '9')
			digit = (unsigned int) (*s++ - '0');
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	while (*s >= '0' && *s <= '9')
		s++;
	*at = s;
	*ret = value;
	return true;
}

const char *trk__scan_date(const char *text, struct tm *ret)
{
	int year, month, day, len = 0;

	if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &len) != 3 || year < 0 ||
	    month < 1 || month > 12 || day < 1 || day > 31)
		return NULL;
	ret->tm_year = year - 1900;
	ret->tm_mon = month - 1;
	ret->tm_mday = day;
	return text + len;
}

int trk__parse_u64(const char *text, uint64_t *ret)
{
	const char *s = text;
	uint64_t value;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	if (!trk__scan_u64(&s, &value))
		return -ERANGE;
	if (*s)
		return -EINVAL;
	*ret = value;
	return 0;
}

struct unit {
	const char *name;
	uint64_t factor;
};

/* The decimals at *at, if any, in billionths; further digits are cut. */
static uint64_t scan_billionths(const char **at)
{
	const char *s = *at;
	uint64_t value = 0, unit = 100000000;

	if (*s != '.')
		return 0;
	for (s++; *s >= '0' && *s <= '9'; s++, unit /= 10)
		value += unit * (uint64_t) (*s - '0');
	*at = s;
	return value;
}

/* Number with up to nine decimals, then a unit name of the table (matched without case where
 * `fold`). The result is number x factor, rounded down. */
static int parse_with_unit(const char *text, const struct unit *units, bool fold, uint64_t max,
			   uint64_t *ret)
{
	const char *s = trk__skip_blanks(text);
	uint64_t number, billionths;
	__uint128_t value;

	if (*s == '-' && s[1] >= '0' && s[1] <= '9')
		return -ERANGE;
	if (*s < '0' || *s > '9')
		return -EINVAL;
	if (!trk__scan_u64(&s, &number))
		return -ERANGE;
	billionths = scan_billionths(&s);
	s = trk__skip_blanks(s);
	for (; units->name; units++)
		if (fold ? !strcasecmp(s, units->name) : !strcmp(s, units->name))
			break;
	if (!units->name)
		return -EINVAL;
	value = (__uint128_t) number * units->factor +
		(__uint128_t) billionths * units->factor / 1000000000;
	if (value > max)
		return -ERANGE;
	*ret = (uint64_t) value;
	return 0;
}

int trk__parse_duration(const char *text, uint64_t *ret_ns)
{
	static const struct unit units[] = {
		{"", 1000000000},
		{"s", 1000000000},
		{"sec", 1000000000},
		{"ns", 1},
		{"us", 1000},
		{"ms", 1000000},
		{"m", 60ull * 1000000000},
		{"min", 60ull * 1000000000},
		{"h", 3600ull * 1000000000},
		{"d", 86400ull * 1000000000},
		{NULL, 0},
	};

	return parse_with_unit(text, units, false, 3650ull * 86400 * 1000000000, ret_ns);
}

int trk__parse_size(const char *text, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{"", 1},
		{"b", 1},
		{"k", 1ull << 10},
		{"kb", 1ull << 10},
		{"kib", 1ull << 10},
		{"ki", 1ull << 10},
		{"m", 1ull << 20},
		{"mb", 1ull << 20},
		{"mib", 1ull << 20},
		{"mi", 1ull << 20},
		{"g", 1ull << 30},
		{"gb", 1ull << 30},
		{"gib", 1ull << 30},
		{"gi", 1ull << 30},
		{"t", 1ull << 40},
		{"tb", 1ull << 40},
		{"tib", 1ull << 40},
		{"ti", 1ull << 40},
		{NULL, 0},
	};

	return parse_with_unit(text, units, true, UINT64_MAX >> 1, ret_bytes);
}

/* Digits with at most one point; false when there is none. */
static bool scan_mantissa(const char **at, double *ret)
{
	bool any = false, fraction = false;
	double value = 0, scale = 1;
	const char *s = *at;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !fraction); s++) {
		if (*s == '.') {
			fraction = true;
			continue;
		}
		any = true;
		value = value * 10 + (*s - '0');
		if (fraction)
			scale *= 10;
	}
	*at = s;
	*ret = value / scale;
	return any;
}

/* Read the exponent after an e; false when there is no digit. */
static bool scan_exponent(const char **at, int *ret)
{
	const char *s = *at;
	bool below = *s == '-', any;
	int value = 0;

	s += *s == '-' || *s == '+';
	any = *s >= '0' && *s <= '9';
	for (; *s >= '0' && *s <= '9'; s++)
		value = value < 1000 ? value * 10 + (*s - '0') : value;
	*at = s;
	*ret = below ? -value : value;
	return any;
}

int trk__parse_decimal(const char *text, double *ret)
{
	const char *s = text;
	bool negative = *s == '-';
	double value;
	int exponent = 0;

	s += *s == '-' || *s == '+';
	if (!scan_mantissa(&s, &value))
		return -EINVAL;
	if (*s == 'e' || *s == 'E') {
		s++;
		if (!scan_exponent(&s, &exponent))
			return -EINVAL;
	}
	if (*s)
		return -EINVAL;
	for (; exponent > 0 && value > 0 && value <= 1e300; exponent--)
		value *= 10;
	for (; exponent < 0 && value > 0; exponent++)
		value /= 10;
	/* Not a number when there were more digits than a double can count. */
	if (!(value <= 1e300))
		return -ERANGE;
	*ret = negative ? -value : value;
	return 0;
}

int trk__kib_lines_parse(const char *text, const struct trk_kib_line *lines, size_t count)
{
	size_t found = 0, last = 0;

	for (; *text && found < count; text = trk__skip_line(text)) {
		for (size_t k = 0; k < count; k++) {
			size_t i = last + k < count ? last + k : last + k - count;
			const char *at = trk__skip_prefix(text, lines[i].key);
			uint64_t kib;

			if (!at)
				continue;
			if (!trk__scan_u64(&at, &kib) || kib > UINT64_MAX >> 13)
				return -EBADMSG;
			*lines[i].bytes = kib << 10;
			if (lines[i].seen)
				*lines[i].seen = true;
			found++;
			last = i + 1; /* the next line usually matches the next entry */
			break;
		}
	}
	return 0;
}
