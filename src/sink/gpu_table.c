#include "sink/gpu_table.h"

#include <stdio.h>
#include <string.h>

static const struct trk_line_column first_columns[] = {
	{"timestamp", 3},        {"elapsed_s", 6},          {"gpu", 0},
	{"parent", 0},           {"vendor", TRK_LINE_TEXT}, {"name", TRK_LINE_TEXT},
	{"uuid", TRK_LINE_TEXT},
};

enum {
	FIRST = sizeof(first_columns) / sizeof(first_columns[0]),
	COLUMNS = FIRST + TRK_GPU_METRICS,
};

struct columns {
	struct trk_line_column column[COLUMNS];
	char name[TRK_GPU_METRICS][64];
};

/* "utilization_share": the name ends with the unit, as in all tables; counts and numbers have
 * none. */
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

static void make_columns(struct columns *c)
{
	memcpy(c->column, first_columns, sizeof(first_columns));
	for (int i = 0; i < TRK_GPU_METRICS; i++) {
		name_column(i, c->name[i]);
		c->column[FIRST + i] = (struct trk_line_column){c->name[i], TRK_LINE_ANY};
	}
}

void trk__gpu_table_head(struct trk_buf *b, const struct trk_line_format *f)
{
	struct columns c;

	make_columns(&c);
	trk__line_head(b, f, c.column, COLUMNS);
}

void trk__gpu_table_rows(struct trk_buf *b, const struct trk_gpu_log *log,
			 const struct trk_sample *row, const struct trk_line_format *f)
{
	struct columns c;

	make_columns(&c);
	for (size_t i = 0; i < log->count; i++) {
		const struct trk_gpu_device *d = &log->total[i].device;
		struct trk_line_cell cell[COLUMNS] = {
			{.number = trk__sample_get(row, TRK_TIMESTAMP)},
			{.number = (double) log->elapsed_us / 1e6},
			{.number = (double) i},
			{.number = d->parent >= 0 ? d->parent : (double) NAN},
			{.text = d->vendor},
			{.text = d->name[0] ? d->name : NULL},
			{.text = d->uuid[0] ? d->uuid : NULL},
		};

		for (int k = 0; k < TRK_GPU_METRICS; k++)
			cell[FIRST + k].number = d->metric[k].value;
		trk__line_row(b, f, c.column, COLUMNS, cell);
	}
}
