#include "export/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"

static bool is_04(enum trk_column_set set)
{
	return set == TRK_SET_04_PROCESS || set == TRK_SET_04_SYSTEM;
}

/* Prefix of the sets for only the process tree or only the system. */
static const char *prefix_of(enum trk_column_set set)
{
	switch (set) {
	case TRK_SET_04_PROCESS:
	case TRK_SET_05_PROCESS:
		return "process_";
	case TRK_SET_04_SYSTEM:
	case TRK_SET_05_SYSTEM:
		return "system_";
	default:
		return NULL;
	}
}

/* The column's name in the set, or NULL where the set lacks it. */
static const char *name_in(enum trk_column_set set, int column)
{
	const struct trk_column_info *info = &trk__columns[column];
	const char *prefix = prefix_of(set), *name = info->name;

	if (set == TRK_SET_05 || set == TRK_SET_05_PROCESS || set == TRK_SET_05_SYSTEM)
		name = info->name_05;
	else if (is_04(set))
		name = info->name_04;
	/* Only the sibling has it, not the Python package's two tables of 0.5. */
	if (!name[0] || (column == TRK_SYSTEM_STEAL && set == TRK_SET_05_SYSTEM))
		return NULL;
	if (!prefix || column == TRK_TIMESTAMP)
		return name;
	if (strncmp(info->name, prefix, strlen(prefix)) != 0)
		return NULL;
	return is_04(set) ? name : name + strlen(prefix);
}

bool trk__table_has_row(enum trk_column_set set, const struct trk_sample *row)
{
	switch (set) {
	case TRK_SET_FULL:
		return true;
	case TRK_SET_04_PROCESS:
	case TRK_SET_05_PROCESS:
		return trk__sample_knows(row, TRK_PROCESS_CPU_USAGE);
	case TRK_SET_05: /* has both, and either may be missing */
		return trk__sample_knows(row, TRK_SYSTEM_CPU_USAGE) ||
		       trk__sample_knows(row, TRK_PROCESS_CPU_USAGE);
	default:
		return trk__sample_knows(row, TRK_SYSTEM_CPU_USAGE);
	}
}

/* Add the amounts of an earlier row. */
static void add_amounts(struct trk_sample *row, const struct trk_sample *earlier)
{
	for (int i = 0; i < TRK_COLUMNS; i++)
		if (trk__columns[i].kind == TRK_KIND_DELTA && trk__sample_knows(earlier, i))
			trk__sample_set(row, i, row->value[i] + earlier->value[i]);
}

void trk__table_hold(struct trk_table_lead *lead, const struct trk_sample *row)
{
	struct trk_sample sum = *row;

	if (lead->has_held)
		add_amounts(&sum, &lead->held);
	lead->held = sum;
	lead->has_held = true;
}

bool trk__table_begin(struct trk_table_lead *lead, enum trk_column_set set, struct trk_sample *row)
{
	if (lead->has_begun)
		return true;
	if (!trk__table_has_row(set, row)) {
		trk__table_hold(lead, row);
		return false;
	}
	if (lead->has_held)
		add_amounts(row, &lead->held);
	lead->has_held = false;
	lead->has_begun = true;
	return true;
}

const struct trk_sample *trk__table_only_row(const struct trk_table_lead *lead)
{
	return lead->has_held ? &lead->held : NULL;
}

int64_t trk__table_value(enum trk_column_set set, const struct trk_sample *row, int column)
{
	/* The older sets count space reserved for root as used. */
	if (set != TRK_SET_FULL && column == TRK_SYSTEM_SPACE_USED &&
	    trk__sample_knows(row, TRK_SYSTEM_SPACE_TOTAL) &&
	    trk__sample_knows(row, TRK_SYSTEM_SPACE_FREE))
		return row->value[TRK_SYSTEM_SPACE_TOTAL] - row->value[TRK_SYSTEM_SPACE_FREE];
	return row->value[column];
}

int64_t trk__table_rounded(int64_t value, int64_t divisor, unsigned int decimals)
{
	int64_t scale = 1;
	__int128 scaled;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	scaled = (__int128) value * scale * 2 + (value < 0 ? -divisor : divisor);
	return (int64_t) (scaled / ((__int128) divisor * 2));
}

static void add_value(struct trk_buf *b, enum trk_column_set set, int column,
		      const struct trk_sample *row)
{
	const struct trk_column_info *info = &trk__columns[column];
	int64_t divisor = is_04(set) ? info->divisor_04 : info->divisor;
	unsigned int decimals = is_04(set) ? info->decimals_04 : info->decimals;

	trk__buf_fixed(b, trk__table_rounded(trk__table_value(set, row, column), divisor, decimals),
		       decimals);
}

void trk__table_head(struct trk_buf *b, enum trk_column_set set, const struct trk_line_format *f)
{
	bool first = true;

	if (!f->has_head)
		return;
	for (int i = 0; i < TRK_COLUMNS; i++) {
		const char *name = name_in(set, i);

		if (!name)
			continue;
		trk__line_begin_cell(b, f, name, first);
		(is_04(set) ? f->text : trk__buf_puts)(b, name);
		first = false;
	}
	trk__buf_putc(b, '\n');
}

void trk__table_row(struct trk_buf *b, enum trk_column_set set, const struct trk_sample *row,
		    const struct trk_line_format *f)
{
	bool first = true;

	trk__buf_puts(b, f->open);
	for (int i = 0; i < TRK_COLUMNS; i++) {
		const char *name = name_in(set, i);

		if (!name)
			continue;
		trk__line_begin_cell(b, f, name, first);
		first = false;
		if (trk__sample_knows(row, i))
			add_value(b, set, i, row);
		else if (is_04(set) && f->has_head)
			f->text(b, "");
		else
			trk__buf_puts(b, f->unknown);
	}
	trk__buf_puts(b, f->close);
	trk__buf_putc(b, '\n');
}

void trk__table_markdown(struct trk_buf *b)
{
	static const char *const kinds[] = {
		[TRK_KIND_STAMP] = "stamp",
		[TRK_KIND_GAUGE] = "gauge",
		[TRK_KIND_DELTA] = "amount",
		[TRK_KIND_RATE] = "rate",
	};

	trk__buf_puts(
		b,
		"# Columns\n\nGenerated from `src/model/columns.def` by `resource-tracker help "
		"columns`; do not edit.\n\nA *gauge* is the value at the end of the interval, an "
		"*amount* what happened within it, a *rate* the mean within it. An unknown value "
		"is "
		"an empty cell in CSV and null in JSON, never 0. The 0.4 set has two tables, for "
		"the "
		"process tree and for the system.\n\n"
		"| column | unit | kind | in 0.5 | in 0.4 | what it is "
		"|\n|---|---|---|---|---|---|\n");
	for (int i = 0; i < TRK_COLUMNS; i++) {
		const struct trk_column_info *info = &trk__columns[i];

		trk__buf_printf(b, "| `%s` | %s | %s | %s | %s | %s |\n", info->name, info->unit,
				kinds[info->kind], info->name_05[0] ? info->name_05 : "-",
				info->name_04[0] ? info->name_04 : "-", info->description);
	}
}

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
		{.number = (double) a->sure_bytes / TRK_MIB},
		{.number = (double) a->between_bytes / TRK_MIB},
		{.number = (double) a->released_bytes / TRK_MIB},
	};

	trk__line_row(b, f, line_columns, COUNT(line_columns), cell);
}

/* ---- names ---- */

void trk__other_table_head(struct trk_buf *b, enum trk_table table, const struct trk_line_format *f)
{
	struct gpu_columns gpu;
	const struct {
		const struct trk_line_column *column;
		size_t count;
	} tables[TRK_TABLES] = {
		[TRK_TABLE_GPUS] = {gpu.column, GPU_COLUMNS},
		[TRK_TABLE_PROGRAMS] = {use_columns, COUNT(use_columns)},
		[TRK_TABLE_PROCESSES] = {process_columns, COUNT(process_columns)},
		[TRK_TABLE_LINES] = {line_columns, COUNT(line_columns)},
	};

	make_columns(&gpu);
	trk__line_head(b, f, tables[table].column, tables[table].count);
}
