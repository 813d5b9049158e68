#include "service/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "lines/native.h"
#include "lines/source.h"
#include "lines/write.h"
#include "answer/time_breakdown.h"

int trk__run_lines_read(const struct trk_record *record, struct trk_run_lines *ret)
{
	struct trk_lines *named = NULL;
	int r = trk__lines_looked_up(record->lines, (double) record->run.start_ns / 1e9, &named);

	if (r == 0)
		*ret = (struct trk_run_lines){record, named ? named : record->lines, named};
	return r;
}

void trk__run_lines_release(struct trk_run_lines *l)
{
	trk__lines_free(l->named);
	*l = (struct trk_run_lines){.record = NULL};
}

int trk__run_lines_phase(const struct trk_record *record, const char *name,
			 struct trk_profile_options *o)
{
	for (size_t i = 0; i < record->marks; i++) {
		if (strcmp(record->mark[i].name, name) != 0)
			continue;
		o->from_us = (int64_t) (record->mark[i].elapsed_ns / 1000);
		if (i + 1 < record->marks)
			o->to_us = (int64_t) (record->mark[i + 1].elapsed_ns / 1000);
		return 0;
	}
	return -TRK_ERR_NODATA;
}

/* ---- the phases of a run as rows ---- */

struct phases {
	struct trk_time_breakdown times;
	struct trk_lines_phase phase[TRK_PHASES_MAX]; /* names are below */
	char name[TRK_PHASES_MAX][TRK_RUN_PHASE_NAME];
	size_t count; /* a run of a single phase has one without a name */
};

/* 0 or -ENOMEM. *ret points into itself: it cannot be copied. */
static int phases_of(const struct trk_run_lines *l, struct phases *ret)
{
	int64_t end_us = l->lines->windows ? l->lines->window[l->lines->windows - 1].to_us : 0;
	int r = trk__time_breakdown_of(l->record, &ret->times);

	if (r < 0)
		return r;
	ret->count = ret->times.phase_count;
	for (size_t i = 0; i < ret->count; i++) {
		const struct trk_run_phase *p = &ret->times.phase[i];

		trk__run_phase_name(p, ret->name[i]);
		ret->phase[i] = (struct trk_lines_phase){ret->name[i],
							 trk__whole(p->start_s * 1e6, 0, INT64_MAX),
							 trk__whole(p->end_s * 1e6, 0, INT64_MAX)};
	}
	if (ret->count == 0)
		ret->phase[ret->count++] = (struct trk_lines_phase){ret->name[0], 0, 0};
	/* The last stacks may be recorded after the last sample. */
	if (end_us > ret->phase[ret->count - 1].to_us)
		ret->phase[ret->count - 1].to_us = end_us;
	return 0;
}

/* ---- the table ---- */

static int write_rows(const struct trk_run_lines *l, const struct trk_profile_options *o,
		      const struct trk_run_lines_style *style, struct trk_buf *b)
{
	const struct trk_run *run = &l->record->run;
	struct trk_lines_source source = {.user = l->lines->user,
					  .start_s = (double) run->start_ns / 1e9};
	const struct trk_lines_table_style table = {
		.top = style->top,
		.utf8 = style->utf8,
		.source = style->source ? &source : NULL,
		.cpu_s = l->record->outcome.total[TRK_TOTAL_CPU_S].value,
		.run = run->id,
		.job = run->job,
	};
	struct trk_profile profile;
	int r = trk__profile_make(l->lines, o, &profile);

	if (r < 0)
		return r;
	(style->json ? trk__lines_json : trk__lines_text)(b, l->lines, &profile, o, &table);
	trk__profile_release(&profile);
	trk__lines_source_release(&source);
	return 0;
}

int trk__run_lines_write(const struct trk_run_lines *l, const struct trk_profile_options *o,
			 const struct trk_run_lines_style *style, struct trk_buf *b)
{
	struct trk_profile_options with_phases = *o;
	struct phases *phases;
	int r;

	if (o->by != TRK_LINES_BY_PHASE)
		return write_rows(l, o, style, b);
	phases = calloc(1, sizeof(*phases));
	r = phases ? phases_of(l, phases) : -ENOMEM;
	if (r == 0) {
		with_phases.phase = phases->phase;
		with_phases.phases = phases->count;
		r = write_rows(l, &with_phases, style, b);
	}
	free(phases);
	return r;
}
