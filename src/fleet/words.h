/* Figures as text in the views over many jobs, the same for the terminal, the page and the JSON.
 * Money has no decimals from $10 on; unknown figures are "-". */
#ifndef TRK_FLEET_WORDS_H
#define TRK_FLEET_WORDS_H

#include <stddef.h>

enum { TRK_FLEET_WORD_SIZE = 40 };

/* "$5,240", "$1.19", "$0.042", "-". */
const char *trk__fleet_usd(char text[TRK_FLEET_WORD_SIZE], double usd);
/* "61.2 GiB", "64 GiB", "640 MiB". */
const char *trk__fleet_memory(char text[TRK_FLEET_WORD_SIZE], double bytes);
/* "2.2", "16"; cores. */
const char *trk__fleet_cores(char text[TRK_FLEET_WORD_SIZE], double cores);
/* "47 %", "0.4 %"; of a share. */
const char *trk__fleet_percent(char text[TRK_FLEET_WORD_SIZE], double share);
/* "+17 %", "-3.2 %". */
const char *trk__fleet_change(char text[TRK_FLEET_WORD_SIZE], double change);
/* "1 h 36 m", "12 m 05 s", "4.2 s". */
const char *trk__fleet_duration(char text[TRK_FLEET_WORD_SIZE], double seconds);
/* "13 Nov", of a count of days since 1970. */
const char *trk__fleet_date(char text[TRK_FLEET_WORD_SIZE], long day);
/* "2026-11-13". */
const char *trk__fleet_iso_date(char text[TRK_FLEET_WORD_SIZE], long day);
/* 1 to 31. */
long trk__fleet_day_of_month(long day);
/* "Fri". */
const char *trk__fleet_weekday(long day);
/* "18,217". */
const char *trk__fleet_count(char text[TRK_FLEET_WORD_SIZE], size_t count);
/* "" for 1, else "s". */
const char *trk__fleet_plural(size_t count);

#endif
