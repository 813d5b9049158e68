/* The views over many jobs, computed once from the history. */
#ifndef TRK_CLI_FLEET_VIEWS_H
#define TRK_CLI_FLEET_VIEWS_H

#include "cli/cli.h"
#include "fleet/answer.h"

struct cli_fleet_settings {
	const char *dir;
	double as_of_s;    /* of --as-of; NaN: now */
	uint64_t since_ns; /* length of the period; 0: 30 days */
};

/* Read the rows of the history as of --as-of, or as of now. 0, or an exit status after a complaint;
 * EXIT_NODATA with *ret that has no rows (without a complaint if the history is empty: *ret_empty).
 * The caller releases *ret in each case. */
int cli_fleet_load(const struct cli_fleet_settings *settings, const char *verb,
		   struct trk_fleet_rows *ret, bool *ret_empty);

/* The moment of --as-of, or now. */
double cli_fleet_now(const struct cli_fleet_settings *settings);

#endif
