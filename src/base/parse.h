/* Hand-written number scanners for kernel text, and readers of the numbers that people type.
 *
 * The scanners never allocate, never touch the locale, and are about five times cheaper than
 * sscanf. Kernel text is NUL-terminated by the reader that loaded it. */
#ifndef TRK_BASE_PARSE_H
#define TRK_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* Skip blanks and tabs (not line ends). */
const char *trk__skip_blanks(const char *s);
/* First byte of the next line, or the terminating NUL. */
const char *trk__skip_line(const char *s);

/* The rest of s after the prefix; NULL if it does not start with it. */
static inline const char *trk__skip_prefix(const char *s, const char *prefix)
{
	while (*prefix && *s == *prefix) {
		s++;
		prefix++;
	}
	return *prefix ? NULL : s;
}

/* Read the digits at `at`, which is at or before `end`. Returns where they end, or NULL for none or
 * more than 19. */
const char *trk__take_digits(const char *at, const char *end, uint64_t *ret);
/* The first numbers of a text of `len` bytes and a NUL, a blank between any two. False where there
 * are fewer. */
bool trk__take_numbers(const char *text, size_t len, uint64_t *ret, size_t count);

/* Scan an unsigned decimal at *at (leading blanks allowed) and advance. False, *at and *ret
 * untouched, when there is no digit or the number does not fit. */
bool trk__scan_u64(const char **at, uint64_t *ret);

/* A line "KEY 123 kB", as in /proc/meminfo. */
struct trk_kib_line {
	const char *key; /* with its colon */
	uint64_t *bytes;
	bool *seen; /* may be NULL */
};
/* Read the lines with these keys, which are expected in this order. -EBADMSG: one has no number. */
int trk__kib_lines_parse(const char *text, const struct trk_kib_line *lines, size_t count);
/* The same with an optional minus sign. */
bool trk__scan_i64(const char **at, int64_t *ret);
/* The value of a hexadecimal digit; -1: it is none. */
int trk__hex_digit(char c);
/* A hexadecimal without prefix. */
bool trk__scan_hex(const char **at, uint64_t *ret);
/* A decimal fraction such as "12.34" in units of 10^-digits ("12.34", 2 -> 1234); further digits
 * are cut. */
bool trk__scan_fixed(const char **at, unsigned int digits, uint64_t *ret);

/* Set the day from a text that begins with one as "2026-12-24". Returns the rest of the text, or NULL
 * with *ret untouched. */
const char *trk__scan_date(const char *text, struct tm *ret);

/* A whole string that is one unsigned decimal. 0, -EINVAL or -ERANGE. */
int trk__parse_u64(const char *text, uint64_t *ret);
/* A whole string that is a decimal number ("1", "-2.5", "1.2e-3"), with a point whatever the
 * locale, to a few units in the last place. 0, -EINVAL (also for nan and inf), or -ERANGE beyond
 * 1e300. */
int trk__parse_decimal(const char *text, double *ret);
/* "250ms", "1.5s", "2m", "1h", "3d", "10us"; a bare number is seconds. Returns 0, -EINVAL for other
 * text (nan, 1x, an empty string), -ERANGE for a negative duration or one over 10 years. */
int trk__parse_duration(const char *text, uint64_t *ret_ns);
/* "512M", "2GiB", "1.5g", "1000kB"; a bare number is bytes. Powers of 1024, as Slurm, Docker's and
 * Java's options read them. 0, -EINVAL or -ERANGE. */
int trk__parse_size(const char *text, uint64_t *ret_bytes);

#endif
