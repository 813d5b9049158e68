/* The page over many jobs as one file: its script and style, the figures of the views as data, and
 * the first view as plain HTML for a browser without scripts. It sends no request, and its
 * Content-Security-Policy permits none.
 *
 * Without a filter, every figure on the page comes from the views. Charts of single runs use the
 * lists "charts" of the data, with three digits. With a filter of jobs the page adds up the exact
 * sums of these jobs, and marks figures from the charts. */
#ifndef TRK_FLEET_DASHBOARD_H
#define TRK_FLEET_DASHBOARD_H

#include "base/buf.h"
#include "fleet/overview.h"

enum { TRK_DASHBOARD_PERIODS = 3 };
/* 7, 30 and 90 days; the second is shown first. */
extern const int trk__dashboard_days[TRK_DASHBOARD_PERIODS];

/* Where the page finds the reports of runs. */
enum trk_dashboard_kind {
	TRK_DASHBOARD_FILE,   /* nowhere: the page is one file */
	TRK_DASHBOARD_FOLDER, /* runs/ID.html next to the page, for the runs in `reported` */
	TRK_DASHBOARD_SERVED, /* run/ID of the server that the page is from */
};

struct trk_dashboard {
	const struct trk_fleet_rows *rows;
	struct trk_fleet_views *period; /* owned; TRK_DASHBOARD_PERIODS of them */
	/* Set by the caller before the page is written; borrowed. */
	enum trk_dashboard_kind kind;
	const char *alerts; /* JSON object of service/alert_list.h; NULL: null */
	const char (*reported)[TRK_RUN_ID_SIZE];
	size_t reported_count;
};

/* Compute the views of `rows` (borrowed). 0 or -ENOMEM. The caller releases, on success only. */
int trk__dashboard_make(const struct trk_fleet_rows *rows, struct trk_dashboard *ret);
void trk__dashboard_release(struct trk_dashboard *d);

/* Write the page. Without zlib its data is not compressed. 0, -ENOMEM, -EFBIG or -EIO. */
int trk__dashboard_html(const struct trk_dashboard *d, struct trk_buf *b);

/* The data as JSON, which the page contains compressed. 0 or a negative error. */
int trk__dashboard_json(const struct trk_dashboard *d, struct trk_buf *b);

/* Generated from web/dashboard by web/build.mjs. */
extern const char trk__dashboard_css[], trk__dashboard_js[];
extern const char trk__dashboard_css_hash[], trk__dashboard_js_hash[];

#endif
