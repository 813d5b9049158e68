/* Samples of another tool, one after the other, into one run. */
#ifndef TRK_IMPORT_SERIES_H
#define TRK_IMPORT_SERIES_H

#include "import/private.h"

struct trk_series {
	struct trk_importing *i;
	double interval_s; /* of the first row, if known; else computed from the next one */
	struct trk_sample first;
	bool waiting; /* `first` is not written yet: its interval is not known */
	bool begun;
	bool has_rates; /* the file has columns for them: an empty cell is one that is not known */
	double start_s, last_s;                   /* wall clock */
	double cpu_s, user_s, system_s;           /* sums; NaN: not known */
	double peak_mib, read_bytes, write_bytes; /* NaN: not known */
	const char *peak_is;
};

/* i->run must be described but for its start. */
void trk__series_init(struct trk_series *s, struct trk_importing *i, double interval_s);
/* One row at `time_s` on the wall clock; its columns are set but for the stamps and the interval.
 * Rows that do not lie behind the one before are counted as skipped. 0, or the error of writing. */
int trk__series_add(struct trk_series *s, const struct trk_sample *row, double time_s);
/* Write totals and end. 0, or an error; a series without rows makes no run. */
int trk__series_end(struct trk_series *s);

/* The column for a name of another table, and the factor that converts its values (stored = value *
 * factor); -1: none. `process`: names without a prefix are of the process. is_04: names and units
 * of 0.4, else of 0.5. */
int trk__series_column(const char *name, bool process, bool is_04, double *ret_factor);
/* Set a column from a value and the factor of trk__series_column. */
void trk__series_set(struct trk_sample *row, int column, double value, double factor);

#endif
