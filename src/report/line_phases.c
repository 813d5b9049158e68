#include "report/line_phases.h"

#include <errno.h>
#include <stdlib.h>

int trk__line_phases_of(const struct trk_record *record, struct trk_line_phases *ret)
{
	struct trk_time_breakdown *times = calloc(1, sizeof(*times));
	const struct trk_lines *l = record->lines;
	int64_t end_us = l && l->windows ? l->window[l->windows - 1].to_us : 0;
	int r = times ? trk__time_breakdown_of(record, times) : -ENOMEM;

	if (r < 0) {
		free(times);
		return r;
	}
	*ret = (struct trk_line_phases){.count = times->phase_count};
	for (size_t i = 0; i < ret->count; i++) {
		const struct trk_run_phase *p = &times->phase[i];

		trk__run_phase_name(p, ret->name[i]);
		ret->phase[i] = (struct trk_lines_phase){ret->name[i], (int64_t) (p->start_s * 1e6),
							 (int64_t) (p->end_s * 1e6)};
	}
	if (ret->count == 0)
		ret->phase[ret->count++] = (struct trk_lines_phase){ret->name[0], 0, 0};
	/* The last stacks may be recorded after the last sample. */
	if (end_us > ret->phase[ret->count - 1].to_us)
		ret->phase[ret->count - 1].to_us = end_us;
	free(times);
	return 0;
}
