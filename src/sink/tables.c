#include "sink/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB         1048576.0
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* ---- GPUs ---- */

static const struct trk_line_column gpu_columns[] = {
	{"timestamp", 3},        {"elapsed_s", 6},          {"gpu", 0},
	{"parent", 0},           {"vendor", TRK_LINE_TEXT}, {"name", TRK_LINE_TEXT},
	{"uuid", TRK_LINE_TEXT},
};

enum {
	GPU_FIRST = sizeof(gpu_columns) / sizeof(gpu_columns[0]),
	GPU_COLUMNS = GPU_FIRST + TRK_GPU_METRICS,
};

struct gpu_columns {
	struct trk_line_column column[GPU_COLUMNS];
	char name[TRK_GPU_METRICS][64];
};

/* "utilization_share": names end with the unit, as in all tables, except counts and numbers. */
static void name_column(int metric, char name[64])
{
	const char *unit = trk__gpu_metric_units[metric];

	if (!strcmp(unit, "count") || !strcmp(unit, "number")) {
		(void) snprintf(name, 64, "%s", trk__gpu_metric_keys[metric]);
		return;
	}
	(void) snprintf(name, 64, "%s_%s", trk__gpu_metric_keys[metric],
			!strcmp(unit, "bytes/s") ? "bytes_per_s"
			: !strcmp(unit, "degC")  ? "c"
			: !strcmp(unit, "W")     ? "w"
			: !strcmp(unit, "J")     ? "j"
			: !strcmp(unit, "Hz")    ? "hz"
						 : unit);
}

static void make_columns(struct gpu_columns *c)
{
	memcpy(c->column, gpu_columns, sizeof(gpu_columns));
	for (int i = 0; i < TRK_GPU_METRICS; i++) {
		name_column(i, c->name[i]);
		c->column[GPU_FIRST + i] = (struct trk_line_column){c->name[i], TRK_LINE_ANY};
	}
}

void trk__gpu_table_head(struct trk_buf *b, const struct trk_line_format *f)
{
	struct gpu_columns c;

	make_columns(&c);
	trk__line_head(b, f, c.column, GPU_COLUMNS);
}

void trk__gpu_table_rows(struct trk_buf *b, const struct trk_gpu_log *log,
			 const struct trk_sample *row, const struct trk_line_format *f)
{
	struct gpu_columns c;

	make_columns(&c);
	for (size_t i = 0; i < log->count; i++) {
		const struct trk_gpu_device *d = &log->total[i].device;
		struct trk_line_cell cell[GPU_COLUMNS] = {
			{.number = trk__sample_get(row, TRK_TIMESTAMP)},
			{.number = (double) log->elapsed_us / 1e6},
			{.number = (double) i},
			{.number = d->parent >= 0 ? d->parent : (double) NAN},
			{.text = d->vendor},
			{.text = d->name[0] ? d->name : NULL},
			{.text = d->uuid[0] ? d->uuid : NULL},
		};

		for (int k = 0; k < TRK_GPU_METRICS; k++)
			cell[GPU_FIRST + k].number = d->metric[k].value;
		trk__line_row(b, f, c.column, GPU_COLUMNS, cell);
	}
}

/* ---- programs and processes ---- */

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

/* ---- lines ---- */

static const struct trk_line_column line_columns[] = {
	{"from_s", 3},
	{"to_s", 3},
	{"process", TRK_LINE_TEXT},
	{"pid", 0},
	{"tid", 0},
	{"file", TRK_LINE_TEXT},
	{"line", 0},
	{"function", TRK_LINE_TEXT},
	{"caller_file", TRK_LINE_TEXT},
	{"caller_line", 0},
	{"samples", 0},
	{"cpu_s", 6},
	{"wall_s", 6},
	{"growth_mib", 3},
	{"growth_between_mib", 3},
	{"released_mib", 3},
};

void trk__line_table_head(struct trk_buf *b, const struct trk_line_format *f)
{
	trk__line_head(b, f, line_columns, COUNT(line_columns));
}

static const char *file_of(const struct trk_lines *l, uint32_t node)
{
	return node == TRK_LINES_ROOT ? NULL : l->function[l->node[node].function].file;
}

static double line_of(const struct trk_lines *l, uint32_t node)
{
	return l->node[node].line > 0 ? l->node[node].line : (double) NAN;
}

void trk__line_table_row(struct trk_buf *b, const struct trk_lines *l,
			 const struct trk_lines_window *window, const struct trk_lines_count *c,
			 const struct trk_line_format *f)
{
	const struct trk_lines_lane *lane = &l->lane[c->lane];
	const struct trk_lines_amounts *a = &c->amounts;
	uint32_t user = trk__lines_user(l, c->node);
	const struct trk_line_cell cell[COUNT(line_columns)] = {
		{.number = (double) window->from_us / 1e6},
		{.number = (double) window->to_us / 1e6},
		{.text = lane->process},
		{.number = lane->pid},
		{.number = lane->tid},
		{.text = file_of(l, c->node)},
		{.number = line_of(l, c->node)},
		{.text = l->function[l->node[c->node].function].name},
		{.text = file_of(l, user)},
		{.number = line_of(l, user)},
		{.number = (double) a->samples},
		{.number = (double) a->cpu_us / 1e6},
		{.number = (double) a->wall_us / 1e6},
		{.number = (double) a->sure_bytes / MIB},
		{.number = (double) a->between_bytes / MIB},
		{.number = (double) a->released_bytes / MIB},
	};

	trk__line_row(b, f, line_columns, COUNT(line_columns), cell);
}
