/* Statistics of every column as a table of a given width. */
#include <math.h>

#include "report/summary.h"

enum { COLUMN, UNIT, MEAN, MAX, P95, MIN, P50, SUM, COLUMNS };

static const struct trk_doc_column columns[COLUMNS] = {
	[COLUMN] = {"column", "column", TRK_CELL_TEXT, NULL},
	[UNIT] = {"unit", "unit", TRK_CELL_TEXT, NULL},
	[MEAN] = {"mean", "mean", TRK_CELL_NUMBER, NULL},
	[MAX] = {"max", "max", TRK_CELL_NUMBER, NULL},
	[P95] = {"p95", "p95", TRK_CELL_NUMBER, NULL},
	[MIN] = {"min", "min", TRK_CELL_NUMBER, NULL},
	[P50] = {"p50", "p50", TRK_CELL_NUMBER, NULL},
	[SUM] = {"sum", "sum", TRK_CELL_NUMBER, NULL},
};

static struct trk_doc_cell cell(struct trk_doc *d, double value)
{
	const char *text;

	if (isnan(value))
		text = NULL;
	else if (value != 0 && (value >= 1e11 || value < 1e-3))
		text = trk__doc_print(d, "%.4g", value);
	else
		text = trk__doc_print(d, "%.*f",
				      value >= 1e6 || value == (double) (int64_t) value ? 0 : 3,
				      value);
	return trk__doc_cell(text, value);
}

static void add_column(struct trk_doc *d, struct trk_doc_table *t, int column,
		       const struct trk_column_stats *s)
{
	struct trk_doc_cell *row = trk__doc_row(d, t);

	row[COLUMN].text = trk__columns[column].name;
	row[UNIT].text = trk__columns[column].unit;
	row[MEAN] = cell(d, s->mean);
	row[MAX] = cell(d, s->max);
	row[P95] = cell(d, s->p95);
	row[MIN] = cell(d, s->min);
	row[P50] = cell(d, s->p50);
	row[SUM] = cell(d, s->sum);
}

void trk__stats_text(struct trk_buf *b, const struct trk_stats *stats,
		     const struct trk_terminal_style *style)
{
	struct trk_doc d = {.error = 0};
	struct trk_doc_table t = {.key = "stats",
				  .column = columns,
				  .columns = COLUMNS,
				  .essential = P95,
				  .keeps_names = true};

	for (int i = 0; i < TRK_COLUMNS; i++) {
		struct trk_column_stats s = trk__stats_get(stats, i);

		if (trk__columns[i].kind != TRK_KIND_STAMP && s.rows)
			add_column(&d, &t, i, &s);
	}
	trk__write_terminal_table(b, &d, &t, style);
}
