#include "probe/stack/cpython_lines.h"

#include <stdint.h>

enum { LINE_MAX_ABS = 1 << 28, VARINT_BYTES = 6 };

/* The line; 0 if it is not a valid one. */
static int checked(int64_t line)
{
	return line > 0 && line < LINE_MAX_ABS ? (int) line : 0;
}

/* Pairs of an unsigned increment of the offset and a signed increment of the line. */
static int line_of_lnotab(const unsigned char *table, size_t len, int first_line, int offset)
{
	int64_t line = first_line, at = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		at += table[i];
		if (at > offset)
			break;
		line += (signed char) table[i + 1];
	}
	return checked(line);
}

/* Pairs of the length of a range and the signed increment of its line; -128: no line. */
static int line_of_ranges(const unsigned char *table, size_t len, int first_line, int offset)
{
	int64_t line = first_line, end = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		signed char delta = (signed char) table[i + 1];

		if (delta != -128)
			line += delta;
		end += table[i];
		if (end > offset)
			return delta == -128 ? 0 : checked(line);
	}
	return 0;
}

static uint32_t varint(const unsigned char *table, size_t len, size_t *at)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < VARINT_BYTES && *at < len; i++) {
		unsigned char byte = table[(*at)++];

		value |= (uint32_t) (byte & 63) << (i * 6 < 30 ? i * 6 : 30);
		if (!(byte & 64))
			break;
	}
	return value;
}

static int32_t signed_varint(const unsigned char *table, size_t len, size_t *at)
{
	uint32_t value = varint(table, len, at);

	return value & 1 ? -(int32_t) (value >> 1) : (int32_t) (value >> 1);
}

/* Entries begin with a byte that has its highest bit set, a format in 4 bits, and the number of
 * two-byte instructions less one in 3 bits. */
static int line_of_locations(const unsigned char *table, size_t len, int first_line, int offset)
{
	enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
	int64_t line = first_line, end = 0;
	size_t at = 0;

	while (at < len) {
		unsigned int form = table[at] >> 3 & 15;
		int64_t units = (table[at] & 7) + 1;

		at++;
		if (form >= ONE_LINE && form < NO_COLUMNS)
			line += form - ONE_LINE;
		else if (form == NO_COLUMNS || form == LONG)
			line += signed_varint(table, len, &at);
		end += units * 2;
		if (end > offset)
			return form == NONE ? 0 : checked(line);
		while (at < len && !(table[at] & 128))
			at++;
	}
	return 0;
}

int trk__cpython_line(enum trk_cpython_form form, const unsigned char *table, size_t len,
		      int first_line, int offset)
{
	if (offset < 0)
		return checked(first_line);
	switch (form) {
	case TRK_CPYTHON_LNOTAB:
		return line_of_lnotab(table, len, first_line, offset);
	case TRK_CPYTHON_RANGES:
		return line_of_ranges(table, len, first_line, offset);
	default:
		return line_of_locations(table, len, first_line, offset);
	}
}
