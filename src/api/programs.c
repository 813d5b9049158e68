/* Programs and processes of a recording: the same rows as `export --what programs` and
 * `--what processes`. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/recording.h"
#include "base/array.h"
#include "resource_tracker.h"

int trk__recording_keep_programs(struct trk_recording *r)
{
	const struct trk_program_log *log = &r->record.programs;
	struct trk_program_row list[TRK_PROGRAMS_MAX + 1];
	bool is_new = log->rows != r->program_records;
	size_t n;

	if (!log->program)
		return 0;
	r->program_records = log->rows;
	n = trk__program_rows(log, &r->row[r->rows - 1], is_new, list);
	if (trk__array_reserve(&r->use, &r->uses_cap, r->uses + n, sizeof(*r->use)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		r->use[r->uses++] = (struct trk_recorded_use){r->rows - 1, list[i]};
	return 0;
}

/* Names are created once, as views of them are returned. */
static int make_names(struct trk_recording *r)
{
	const struct trk_program_log *log = &r->record.programs;

	if (r->program_name || !log->program)
		return 0;
	r->program_name = calloc(log->count + 1, sizeof(*r->program_name));
	if (!r->program_name)
		return -ENOMEM;
	for (size_t i = 0; i < log->count; i++) {
		const char *label = trk__program_label(&log->program[i], r->program_name[i],
						       sizeof(r->program_name[i]));

		if (label != r->program_name[i])
			(void) snprintf(r->program_name[i], sizeof(r->program_name[i]), "%s",
					label);
	}
	(void) snprintf(r->program_name[TRK_PROGRAM_REST], sizeof(*r->program_name), "the rest");
	return 0;
}

size_t trk_recording_programs(struct trk_recording *recording, struct trk_program_use *list,
			      size_t max)
{
	if (make_names(recording) < 0)
		return 0;
	for (size_t i = 0; i < recording->uses && i < max; i++) {
		const struct trk_recorded_use *u = &recording->use[i];
		const struct trk_sample *row = &recording->row[u->row];

		list[i] = (struct trk_program_use){
			.timestamp = trk__sample_get(row, TRK_TIMESTAMP),
			.elapsed_s = trk__sample_get(row, TRK_ELAPSED),
			.interval_s = trk__sample_get(row, TRK_INTERVAL),
			.program = recording->program_name[u->of.program],
			.cpu_s = u->of.cpu_s,
			.memory_mib = u->of.memory_mib,
			.processes = u->of.processes,
		};
	}
	return recording->uses;
}

size_t trk_recording_processes(struct trk_recording *recording, struct trk_recorded_process *list,
			       size_t max)
{
	const struct trk_program_log *log = &recording->record.programs;

	if (make_names(recording) < 0)
		return 0;
	for (size_t i = 0; i < log->spans && i < max; i++) {
		const struct trk_process_span *s = &log->span[i];

		list[i] = (struct trk_recorded_process){
			.program = recording->program_name[s->program],
			.command = s->command,
			.pid = s->pid,
			.start_s = (double) s->start_ms / 1e3,
			.end_s = s->ended ? (double) s->end_ms / 1e3 : (double) NAN,
			.cpu_s = (double) s->cpu_ms / 1e3,
			.peak_rss_mib = (double) s->peak_bytes / 1048576,
			.ended = s->ended,
		};
	}
	return log->spans;
}
