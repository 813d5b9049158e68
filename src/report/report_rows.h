/* What the pass over the rows leaves for the charts: buckets of equal time, in the columns' units. */
#ifndef TRK_REPORT_REPORT_ROWS_H
#define TRK_REPORT_REPORT_ROWS_H

#include "report/report_private.h"

enum { TRK_REPORT_BINS = 1024 };

enum trk_chart_unit {
	TRK_CHART_CORES,
	TRK_CHART_MEMORY,
	TRK_CHART_RATE,
	TRK_CHART_SPACE,
	TRK_CHART_GPUS
};

struct trk_chart_spec {
	const char *key, *title;
	enum trk_chart_unit unit;
	int job, machine; /* columns; -1: there is none */
};

extern const struct trk_chart_spec trk__chart_specs[];
enum { TRK_CHART_SPECS = 10 };

/* One series of one chart, while it fills and after. */
struct trk_chart_fill {
	/* Of fine buckets, views into the rows' own: value * seconds; least and greatest NaN: none yet. */
	double *sum, *seconds, *min, *max;
	double all_sum, all_seconds, peak; /* peak: NaN */
	double peak_at_s;
	double bin[TRK_REPORT_BINS]; /* seconds by value, 16 bins a power of two */
};

struct trk_report_rows {
	size_t buckets, finer;             /* of the drawn charts; of each, so many fine ones */
	double end_s, width_s, interval_s; /* width: of a fine bucket */
	double last_s;
	int64_t last_timestamp_ms;
	struct trk_report_gaps gaps;
	struct trk_chart_fill fill[TRK_CHART_SPECS][2];
	double *series; /* owned */
};

/* Several buckets as one. */
struct trk_chart_bucket {
	double seconds, mean, min, max; /* seconds that are known; 0: a gap, and the others NaN */
};
struct trk_chart_bucket trk__chart_bucket(const struct trk_chart_fill *f, size_t first,
					  size_t count);

/* The value below which the series stayed for that share of its time; NaN without one. */
double trk__chart_percentile(const struct trk_chart_fill *f, double share);

#endif
