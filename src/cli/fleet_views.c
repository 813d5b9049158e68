#include "cli/fleet_views.h"

#include <time.h>

#include "base/clock.h"
#include "base/parse.h"
#include "cli/named_runs.h"

/* "2026-11-22" (its end) or seconds since 1970. */
static int parse_moment(const char *verb, const char *text, double *ret)
{
	struct tm tm = {.tm_isdst = -1};
	const char *end = trk__scan_date(text, &tm);

	if (end && !*end) {
		tm.tm_mday++;
		*ret = (double) mktime(&tm) - 1;
		return 0;
	}
	if (trk__parse_decimal(text, ret) == 0 && *ret >= 0 && *ret < 1e11)
		return 0;
	return cli_reject(EXIT_USAGE,
			  "%s: --as-of %s: not a date such as 2026-11-22, nor seconds since 1970",
			  verb, text);
}

int cli_fleet_now(const struct cli_fleet_settings *settings, const char *verb, double *ret_s)
{
	if (settings->as_of)
		return parse_moment(verb, settings->as_of, ret_s);
	*ret_s = (double) trk__clock_wall_ns() / 1e9;
	return 0;
}

int cli_fleet_load(const struct cli_fleet_settings *settings, const char *verb,
		   struct trk_fleet_rows *ret, bool *ret_empty)
{
	double now_s = 0;
	struct trk_error error = {.code = 0};
	struct trk_service service = cli_service(settings->dir);
	struct trk_history *h;
	int r = cli_fleet_now(settings, verb, &now_s);

	*ret_empty = false;
	trk__fleet_rows_init(ret, now_s, cli_utc_offset(now_s));
	if (r != 0)
		return r;
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
