/* Writes the samples of another tool, one after the other, into one run. */
#ifndef TRK_IMPORT_SERIES_H
#define TRK_IMPORT_SERIES_H

#include "import/private.h"

struct trk_series {
	struct trk_importing *i;
	double interval_s; /* of the first row, if known; else computed from the next one */
	struct trk_sample first;
	bool waiting; /* `first` is not written yet: its interval is not known */
	bool begun;
	bool has_rates;          /* the file has columns for rates: an empty cell is unknown */
	double start_s, last_s;  /* wall clock */
	struct trk_imp_totals t; /* so far */
};

/* Add a value to a sum in which NaN is not known. */
void trk__series_sum(double *into, double value);
/* All of i->run except its start must be set. */
void trk__series_init(struct trk_series *s, struct trk_importing *i, double interval_s);
/* Add a row at `time_s` on the wall clock; all its columns except the stamps and the interval are
 * set. A row that is not later than the one before is counted as skipped. 0, or a write error. */
int trk__series_add(struct trk_series *s, const struct trk_sample *row, double time_s);
/* Write totals and end. 0, or an error; without rows no run is written. */
int trk__series_end(struct trk_series *s);

/* The column for a name of another table, and the factor that converts its values (stored = value *
 * factor); -1: none. `process`: names without a prefix are those of process columns. is_04: names
 * and units of 0.4, else of 0.5. */
int trk__series_column(const char *name, bool process, bool is_04, double *ret_factor);
/* Set a column from a value and the factor of trk__series_column. */
void trk__series_set(struct trk_sample *row, int column, double value, double factor);

#endif
