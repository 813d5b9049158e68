/* The public function about lines of a recording. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/recording.h"
#include "lines/native.h"
#include "lines/write.h"
#include "report/line_phases.h"
#include "resource_tracker.h"

enum { JSON_MAX = 256 * 1024 * 1024 };

/* Seconds since the start as microseconds; NaN: this default. */
static int64_t moment(double seconds, int64_t otherwise)
{
	if (isnan(seconds))
		return otherwise;
	return seconds <= 0 ? 0 : seconds < 1e12 ? (int64_t) (seconds * 1e6) : INT64_MAX;
}

static char *text_of(const struct trk_record *r, const struct trk_lines *l,
		     const struct trk_profile_options *o)
{
	const struct trk_lines_table_style style = {
		.top = SIZE_MAX,
		.cpu_s = r->outcome.total[TRK_TOTAL_CPU_S].value,
		.run = r->run.id,
		.job = r->run.job,
	};
	struct trk_profile profile;
	struct trk_buf b;

	if (trk__profile_make(l, o, &profile) < 0)
		return NULL;
	trk__buf_init(&b, JSON_MAX);
	trk__lines_json(&b, l, &profile, o, &style);
	trk__buf_putc(&b, '\0');
	trk__profile_release(&profile);
	if (b.error)
		trk__buf_release(&b);
	return b.data;
}

char *trk_recording_lines(const struct trk_recording *recording, const char *by, double from_s,
			  double to_s)
{
	const struct trk_record *r = &recording->record;
	struct trk_profile_options o = {.from_us = moment(from_s, 0),
					.to_us = moment(to_s, INT64_MAX)};
	struct trk_line_phases *phases;
	struct trk_lines *named = NULL;
	int known = -1;
	char *text;

	for (int i = 0; i < TRK_LINES_BYS; i++)
		if (!strcmp(by ? by : "line", trk__lines_by_names[i]))
			known = i;
	if (known < 0 || !r->lines)
		return NULL;
	o.by = (enum trk_lines_by) known;
	phases = calloc(1, sizeof(*phases));
	if (!phases || trk__line_phases_of(r, phases) < 0) {
		free(phases);
		return NULL;
	}
	o.phase = phases->phase;
	o.phases = phases->count;
	(void) trk__lines_looked_up(r->lines, (double) r->run.start_ns / 1e9, &named);
	text = text_of(r, named ? named : r->lines, &o);
	trk__lines_free(named);
	free(phases);
	return text;
}
