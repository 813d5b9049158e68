#include "sink/table.h"

#include <string.h>

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

/* value / divisor, rounded half up to `decimals` digits, as an integer of 10^-decimals. */
static int64_t rounded(int64_t value, int64_t divisor, unsigned int decimals)
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

	trk__buf_fixed(b, rounded(trk__table_value(set, row, column), divisor, decimals), decimals);
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
