#include "lines/dominant.h"

#include <stdio.h>

#include "lines/profile.h"

enum { STACKS_MIN = 10, PERCENT = 60 };

int trk__lines_dominant(const struct trk_lines *l, double from_s, double to_s, char *ret,
			size_t size)
{
	const struct trk_profile_options options = {.by = TRK_LINES_BY_FUNCTION,
						    .from_us = (int64_t) (from_s * 1e6),
						    .to_us = (int64_t) (to_s * 1e6)};
	const struct trk_profile_row *best = NULL;
	struct trk_profile p;
	int r = trk__profile_make(l, &options, &p);

	if (r < 0)
		return r;
	ret[0] = '\0';
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
