/* The phases of a run, as rows of the table of lines: from its marks, else found by its figures. */
#ifndef TRK_REPORT_LINE_PHASES_H
#define TRK_REPORT_LINE_PHASES_H

#include "lines/profile.h"
#include "report/time_breakdown.h"

struct trk_line_phases {
	struct trk_lines_phase phase[TRK_PHASES_MAX]; /* names are below */
	char name[TRK_PHASES_MAX][TRK_RUN_PHASE_NAME];
	size_t count; /* a run of a single phase has one without a name */
};

/* 0, or -ENOMEM. *ret points into itself: it cannot be copied. */
int trk__line_phases_of(const struct trk_record *record, struct trk_line_phases *ret);

#endif
