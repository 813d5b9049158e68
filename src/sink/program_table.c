#include "sink/program_table.h"

#include <math.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct trk_line_column use_columns[] = {
	{"timestamp", 3}, {"elapsed_s", 3},  {"interval_s", 3}, {"program", TRK_LINE_TEXT},
	{"cpu_s", 3},     {"memory_mib", 3}, {"processes", 0},
};

void trk__program_table_head(struct trk_buf *b, const struct trk_line_format *f)
{
	trk__line_head(b, f, use_columns, COUNT(use_columns));
}

static void put_use(struct trk_buf *b, const struct trk_sample *row, const char *program,
		    const struct trk_program_row *u, const struct trk_line_format *f)
{
	const struct trk_line_cell cell[COUNT(use_columns)] = {
		{.number = trk__sample_get(row, TRK_TIMESTAMP)},
		{.number = trk__sample_get(row, TRK_ELAPSED)},
		{.number = trk__sample_get(row, TRK_INTERVAL)},
		{.text = program},
		{.number = u->cpu_s},
		{.number = u->memory_mib},
		{.number = (double) u->processes},
	};

	trk__line_row(b, f, use_columns, COUNT(use_columns), cell);
}

void trk__program_table_rows(struct trk_buf *b, const struct trk_program_log *log,
			     const struct trk_sample *row, bool is_new,
			     const struct trk_line_format *f)
{
	struct trk_program_row list[TRK_PROGRAMS_MAX + 1];
	size_t n = trk__program_rows(log, row, is_new, list);

	for (size_t i = 0; i < n; i++) {
		char label[96];
		const char *name = list[i].program == TRK_PROGRAM_REST
					   ? "the rest"
					   : trk__program_label(&log->program[list[i].program],
								label, sizeof(label));

		put_use(b, row, name, &list[i], f);
	}
}

static const struct trk_line_column process_columns[] = {
	{"program", TRK_LINE_TEXT}, {"pid", 0},   {"start_s", 3},      {"end_s", 3},
	{"ended", TRK_LINE_FLAG},   {"cpu_s", 3}, {"peak_rss_mib", 3}, {"command", TRK_LINE_TEXT},
};

void trk__process_table_head(struct trk_buf *b, const struct trk_line_format *f)
{
	trk__line_head(b, f, process_columns, COUNT(process_columns));
}

void trk__process_table_row(struct trk_buf *b, const struct trk_program_log *log, size_t index,
			    const struct trk_line_format *f)
{
	const struct trk_process_span *s = &log->span[index];
	char label[96];
	const struct trk_line_cell cell[COUNT(process_columns)] = {
		{.text = trk__program_label(&log->program[s->program], label, sizeof(label))},
		{.number = s->pid},
		{.number = (double) s->start_ms / 1e3},
		{.number = s->ended ? (double) s->end_ms / 1e3 : (double) NAN},
		{.number = s->ended},
		{.number = (double) s->cpu_ms / 1e3},
		{.number = (double) s->peak_bytes / 1048576},
		{.text = s->command[0] ? s->command : NULL},
	};

	trk__line_row(b, f, process_columns, COUNT(process_columns), cell);
}
