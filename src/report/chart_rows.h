/* Chart data collected in a pass over the rows: buckets of equal time, in the columns' units. */
#ifndef TRK_REPORT_CHART_ROWS_H
#define TRK_REPORT_CHART_ROWS_H

#include "report/report.h"

enum {
	TRK_CHART_FINER_MAX = 12, /* fine buckets per bucket, for zooming */
};

struct trk_chart_spec {
	const char *key, *title;
	enum trk_human_kind unit;
	int job, machine; /* columns; -1: there is none */
};

extern const struct trk_chart_spec trk__chart_specs[];
enum { TRK_CHART_SPECS = 10 };

/* One series of one chart, while it fills and after. */
struct trk_chart_fill {
	/* Per fine bucket, views into `series` of the rows: sum of value * seconds; min and max are
	 * NaN before the first value. */
	double *sum, *seconds, *min, *max;
	double all_sum, all_seconds, peak; /* peak: NaN */
	double peak_at_s;
};

/* What the rows have in addition to the charts. */
struct trk_report_gaps {
	size_t gaps, clock_back;
	double gap_s;
};

struct trk_report_rows {
	size_t buckets, finer;             /* finer: fine buckets per bucket of a chart */
	double end_s, width_s, interval_s; /* width: of a fine bucket */
	double last_s;
	int64_t last_timestamp_ms;
	struct trk_report_gaps gaps;
	struct trk_chart_fill fill[TRK_CHART_SPECS][2];
	struct trk_stats *rates; /* owned: of the rows, with amounts as rates */
	double *series;          /* owned */
};

#endif
