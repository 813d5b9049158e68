/* The public view of a recording. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/recording.h"
#include "base/array.h"
#include "recording/reader.h"
#include "report/summary.h"
#include "resource_tracker.h"
#include "service/lines.h"

enum { SUMMARY_MAX = 4 << 20, JSON_MAX = 256 << 20 };

_Static_assert(TRK_UNKNOWN == (int) TRK_QUALITY_UNKNOWN && TRK_EXACT == (int) TRK_QUALITY_EXACT &&
		       TRK_AT_LEAST == (int) TRK_QUALITY_AT_LEAST &&
		       TRK_AT_MOST == (int) TRK_QUALITY_AT_MOST &&
		       TRK_ESTIMATED == (int) TRK_QUALITY_ESTIMATED,
	       "the public qualities are ours");

const char *trk_version(void)
{
	return TRK_BUILD_VERSION;
}

const char *trk_strerror(int code)
{
	return trk__strerror(code);
}

size_t trk_columns(void)
{
	return TRK_COLUMNS;
}

const char *trk_column_name(size_t column)
{
	return column < TRK_COLUMNS ? trk__columns[column].name : NULL;
}

const char *trk_column_unit(size_t column)
{
	return column < TRK_COLUMNS ? trk__columns[column].unit : NULL;
}

const char *trk_column_description(size_t column)
{
	return column < TRK_COLUMNS ? trk__columns[column].description : NULL;
}

/* Store the use by program of the newest row. 0 or -ENOMEM. */
static int keep_programs(struct trk_recording *r)
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

static int keep_row(void *data, uint64_t rows, const struct trk_sample *mean,
		    const struct trk_sample *min, const struct trk_sample *max)
{
	struct trk_recording *r = data;

	r->error = trk__array_reserve(&r->row, &r->cap, r->rows + 1, sizeof(*r->row));
	if (r->error < 0)
		return 1;
	r->row[r->rows++] = *mean;
	r->error = keep_programs(r);
	return r->error < 0;
}

int trk_recording_open(const char *path, struct trk_recording **ret)
{
	struct trk_recording *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	error = trk__record_read(AT_FDCWD, path, &r->record, keep_row, r, NULL);
	if (error < 0) {
		free(r->use);
		free(r->row);
		free(r);
		return error;
	}
	if (r->error) {
		error = r->error;
		trk_recording_free(r);
		return error;
	}
	*ret = r;
	return 0;
}

void trk_recording_free(struct trk_recording *recording)
{
	if (!recording)
		return;
	trk__record_release(&recording->record);
	free(recording->use);
	free(recording->program_name);
	free(recording->row);
	free(recording);
}

uint64_t trk_recording_samples(const struct trk_recording *recording)
{
	return recording->record.samples;
}

uint64_t trk_recording_damaged(const struct trk_recording *recording)
{
	return recording->record.damaged;
}

size_t trk_recording_rows(const struct trk_recording *recording)
{
	return recording->rows;
}

double trk_recording_value(const struct trk_recording *recording, size_t row, size_t column)
{
	if (row >= recording->rows || column >= TRK_COLUMNS)
		return NAN;
	return trk__sample_get(&recording->row[row], (int) column);
}

int trk_recording_stats(const struct trk_recording *recording, size_t column,
			struct trk_column_summary *ret)
{
	struct trk_column_stats s;

	if (column >= TRK_COLUMNS)
		return -ENOENT;
	s = trk__stats_get(recording->record.stats, (int) column);
	*ret = (struct trk_column_summary){s.mean, s.max, s.min, s.p50, s.p95, s.p99, s.sum};
	return 0;
}

static int find_quantity(const struct trk_quantity *list, const char *const *keys, size_t n,
			 const char *key, struct trk_figure *ret)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(keys[i], key)) {
			*ret = (struct trk_figure){list[i].value, (int) list[i].quality,
						   list[i].source, list[i].reason};
			return 0;
		}
	return -ENOENT;
}

int trk_recording_total(const struct trk_recording *recording, const char *key,
			struct trk_figure *ret)
{
	return find_quantity(recording->record.outcome.total, trk__total_keys, TRK_TOTALS, key,
			     ret);
}

int trk_recording_limit(const struct trk_recording *recording, const char *key,
			struct trk_figure *ret)
{
	return find_quantity(recording->record.run.limit, trk__limit_keys, TRK_LIMITS, key, ret);
}

int trk_recording_mark(const struct trk_recording *recording, size_t index, const char **ret_name,
		       double *ret_elapsed_s)
{
	const struct trk_record *r = &recording->record;

	if (index >= r->marks)
		return -ENOENT;
	*ret_name = r->mark[index].name;
	*ret_elapsed_s = (double) r->mark[index].elapsed_ns / 1e9;
	return 0;
}

char *trk_recording_summary(const struct trk_recording *recording)
{
	struct trk_advice *advice = malloc(sizeof(*advice));
	TRK_BUF_LOCAL(b, SUMMARY_MAX);
	bool has = advice && trk__advice_of_run(&recording->record, advice) == 0;

	trk__summary_json(&b, &recording->record, NULL, has ? advice : NULL);
	free(advice);
	return trk__buf_take(&b);
}

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
