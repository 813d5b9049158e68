/* Numbers as people read them: values as text with a unit (over many jobs: fleet/words.h).
 *
 * Memory is in binary units (MiB, GiB), as in requests to schedulers; disk and network traffic in
 * decimal units (MB, GB), as vendors state it. Each function writes into a caller's array of
 * TRK_HUMAN_SIZE bytes and returns it; NaN is "-". The text is UTF-8, with ASCII alone except for
 * the minus sign of trk__human_change. */
#ifndef TRK_BASE_HUMAN_H
#define TRK_BASE_HUMAN_H

#include <stddef.h>

enum { TRK_HUMAN_SIZE = 48 };

/* Any of the functions below that take one value. */
typedef const char *trk_human_fn(char text[TRK_HUMAN_SIZE], double value);

/* "4.2", "0.05", "1234": two decimals below 1, one below 100, then none. */
trk_human_fn trk__human_number;
/* As above, but whole numbers without a fraction: requested amounts, not measured ones. */
trk_human_fn trk__human_amount;
/* "1234": no fraction. */
trk_human_fn trk__human_count;
/* Of a share: "71 %", "< 1 %". */
trk_human_fn trk__human_percent;
/* Of a share: "+6.7 %", "−40 %". */
trk_human_fn trk__human_change;

/* Of MiB: "844 MiB", "4.64 GiB", "1.5 TiB". */
trk_human_fn trk__human_memory;
/* Of MiB: "640 MiB", "1.875 GiB". A request is a multiple of 128 MiB and is exact to the digit, so
 * that it can be copied. */
trk_human_fn trk__human_request;
/* Of bytes: "999 B", "2.5 GB". */
trk_human_fn trk__human_bytes;
/* Of GB: "2.5 GB", "1.2 TB". */
trk_human_fn trk__human_space;
/* Of J: "840 J", "2.50 Wh", "1.20 kWh". */
trk_human_fn trk__human_energy;

/* Of seconds: "250 ms", "12.3 s", "1 m 4 s", "1 h 42 m", "2 d 3 h". */
trk_human_fn trk__human_seconds;
/* Of seconds: "45 ms", "0.3 s", "42 s", "18 m", "1 h 12 m". */
trk_human_fn trk__human_rough_seconds;
/* Of seconds since the epoch: "2026-11-20 02:00 UTC", and with the second. */
trk_human_fn trk__human_moment, trk__human_moment_s;

/* Of US dollars: "$1.22", "$0.0042": two decimals, at least two significant digits. */
trk_human_fn trk__human_usd;
/* A price by the hour: "$0.384", "$0.0475": up to four decimals, or as trk__human_usd. */
trk_human_fn trk__human_usd_per_hour;

/* One unit for several values of a kind: shown = value / factor. */
struct trk_human_unit {
	const char *name;
	double factor;
};

enum trk_human_kind {
	TRK_HUMAN_CORES,
	TRK_HUMAN_MEMORY, /* MiB */
	TRK_HUMAN_RATE,   /* bytes a second */
	TRK_HUMAN_SPACE,  /* GB */
	TRK_HUMAN_GPUS,
};

/* The unit in which `largest`, in the unit of its kind, is at least 1. */
struct trk_human_unit trk__human_unit(enum trk_human_kind kind, double largest);

#endif
