#include "cli/fleet_views.h"

#include <math.h>

#include "base/clock.h"
#include "cli/named_runs.h"

double cli_fleet_now(const struct cli_fleet_settings *settings)
{
	return isnan(settings->as_of_s) ? (double) trk__clock_wall_ns() / 1e9 : settings->as_of_s;
}

int cli_fleet_load(const struct cli_fleet_settings *settings, const char *verb,
		   struct trk_fleet_rows *ret, bool *ret_empty)
{
	double now_s = cli_fleet_now(settings);
	struct trk_error error = {.code = 0};
	struct trk_service service = cli_service(settings->dir);
	struct trk_history *h;
	int r;

	*ret_empty = false;
	trk__fleet_rows_init(ret, now_s, cli_utc_offset(now_s));
	h = cli_history_open(&service, &r);
	if (!h) {
		*ret_empty = r == EXIT_NODATA;
		return r;
	}
	r = trk__fleet_rows_read(h, (double) settings->since_ns / 86400e9, ret, &error);
	trk__history_free(h);
	if (r < 0)
		return cli_fail(verb, r, &error);
	*ret_empty = ret->count == 0;
	return ret->count ? 0 : EXIT_NODATA;
}
