#include "lines/dominant.h"

#include <stdio.h>

#include "base/maths.h"
#include "lines/profile.h"

/* A window that reaches out of the part by up to SLACK_US counts as inside. */
enum { STACKS_MIN = 10, PERCENT = 60, SLACK_US = 1000000 };

/* Limit a part of the run to the windows inside it, as one that reaches out has also what ran before
 * or after. False: they do not cover half of it. */
static bool limit_to_windows(const struct trk_lines *l, int64_t *from_us, int64_t *to_us)
{
	int64_t half_us = (*to_us - *from_us) / 2;
	int64_t first_us = INT64_MAX, last_us = 0;

	for (size_t i = 0; i < l->windows; i++) {
		const struct trk_lines_window *w = &l->window[i];

		if (w->from_us < *from_us - SLACK_US || w->to_us > *to_us + SLACK_US)
			continue;
		first_us = w->from_us < first_us ? w->from_us : first_us;
		last_us = w->to_us > last_us ? w->to_us : last_us;
	}
	*from_us = first_us;
	*to_us = last_us;
	return last_us - first_us >= half_us;
}

int trk__lines_dominant(const struct trk_lines *l, double from_s, double to_s, char *ret,
			size_t size)
{
	struct trk_profile_options options = {.by = TRK_LINES_BY_FUNCTION,
					      .from_us = trk__whole(from_s * 1e6, 0, INT64_MAX),
					      .to_us = trk__whole(to_s * 1e6, 0, INT64_MAX)};
	const struct trk_profile_row *best = NULL;
	struct trk_profile p;
	int r;

	ret[0] = '\0';
	if (!limit_to_windows(l, &options.from_us, &options.to_us))
		return 0;
	r = trk__profile_make(l, &options, &p);
	if (r < 0)
		return r;
	for (size_t i = 0; p.all.samples >= STACKS_MIN && i < p.rows; i++) {
		const struct trk_profile_row *row = &p.row[i];
		const struct trk_lines_function *f = &l->function[l->node[row->node].function];

		/* Not "<module>", nor "<listcomp>". */
		if (f->is_library || f->name[0] == '<' || f->name[0] == '(' ||
		    row->with_callees.cpu_us * 100 < p.all.cpu_us * PERCENT)
			continue;
		if (!best || row->with_callees.cpu_us < best->with_callees.cpu_us)
			best = row;
	}
	if (best)
		(void) snprintf(ret, size, "%s", l->function[l->node[best->node].function].name);
	trk__profile_release(&p);
	return 0;
}
