/* The views over many jobs, from the history that the verbs have: read once, computed once. */
#ifndef TRK_CLI_FLEET_VIEWS_H
#define TRK_CLI_FLEET_VIEWS_H

#include "cli/cli.h"
#include "fleet/runs.h"

struct cli_fleet_settings {
	const char *dir, *as_of;
	uint64_t since_ns; /* length of the period; 0: 30 days */
};

/* The rows of the history, as of --as-of or of now. 0, or an exit status after having complained;
 * EXIT_NODATA (without a word where the history is empty, *ret_empty) with rows that hold none. The
 * caller releases in each case. */
int cli_fleet_load(const struct cli_fleet_settings *settings, const char *verb,
		   struct trk_fleet_rows *ret, bool *ret_empty);

/* The moment of --as-of, or now. 0, or EXIT_USAGE after having complained. */
int cli_fleet_now(const struct cli_fleet_settings *settings, const char *verb, double *ret_s);
double cli_fleet_utc_offset(double now_s);

/* Terminal text; `width` in columns, 40 to 200 are looked at. */
struct cli_fleet_page {
	struct trk_buf *b;
	const struct trk_fleet_rows *rows;
	size_t width;
	bool utf8, color;
};
void cli_fleet_overview_text(const struct cli_fleet_page *p, const struct trk_fleet_overview *o);
void cli_fleet_jobs_text(const struct cli_fleet_page *p, const struct trk_fleet_jobs *jobs);
void cli_fleet_job_text(const struct cli_fleet_page *p, const struct trk_fleet_job *job);
/* 0 or -ENOMEM. */
int cli_fleet_runs_text(const struct cli_fleet_page *p, const struct trk_fleet_run_filter *filter);
void cli_fleet_machines_text(const struct cli_fleet_page *p,
			     const struct trk_fleet_machines *machines);

#endif
