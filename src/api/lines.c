/* The public function about lines of a recording. */
#include <math.h>
#include <string.h>

#include "api/recording.h"
#include "resource_tracker.h"
#include "service/lines.h"

enum { JSON_MAX = 256 * 1024 * 1024 };

/* Seconds since the start as microseconds; NaN: this default. */
static int64_t moment(double seconds, int64_t otherwise)
{
	if (isnan(seconds))
		return otherwise;
	return seconds <= 0 ? 0 : seconds < 1e12 ? (int64_t) (seconds * 1e6) : INT64_MAX;
}

char *trk_recording_lines(const struct trk_recording *recording, const char *by, double from_s,
			  double to_s)
{
	static const struct trk_run_lines_style style = {.top = SIZE_MAX, .json = true};
	struct trk_profile_options o = {.from_us = moment(from_s, 0),
					.to_us = moment(to_s, INT64_MAX)};
	struct trk_run_lines lines;
	TRK_BUF_LOCAL(b, JSON_MAX);
	int known = -1;

	for (int i = 0; i < TRK_LINES_BYS; i++)
		if (!strcmp(by ? by : "line", trk__lines_by_names[i]))
			known = i;
	if (known < 0 || !recording->record.lines ||
	    trk__run_lines_read(&recording->record, &lines) < 0)
		return NULL;
	o.by = (enum trk_lines_by) known;
	known = trk__run_lines_write(&lines, &o, &style, &b);
	trk__buf_putc(&b, '\0');
	trk__run_lines_release(&lines);
	return known < 0 ? NULL : trk__buf_take(&b);
}
