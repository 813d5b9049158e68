/* How other tools write durations, sizes and dates. */
#ifndef TRK_IMPORT_VALUES_H
#define TRK_IMPORT_VALUES_H

#include <stdint.h>

/* "1:02.50", "1:02:03", "2-03:04:05", "00:01:02.123" as seconds; NaN for other texts. */
double trk__value_clock(const char *text);
/* "2m 3s", "1h 2m", "350ms", "1d 2h 3.5s"; a bare number is milliseconds, as Nextflow writes raw
 * values. NaN for other texts. */
double trk__value_words(const char *text);
/* "1.2 GB", "512K", "4000Mc", "3.5 MB", a bare number times `unit`: bytes, by powers of 1024.
 * *ret_rest (may be NULL) receives the text after the unit. NaN for other texts. */
double trk__value_bytes(const char *text, double unit, const char **ret_rest);
/* "2026-01-31 12:30:00.123", with a T or a blank, taken as UTC; or milliseconds since 1970. As
 * seconds since 1970; NaN for other texts. */
double trk__value_date(const char *text);

#endif
