#include "sink/line_table.h"

#include <math.h>

#define MIB 1048576.0

static const struct trk_line_column columns[] = {
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

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

void trk__line_table_head(struct trk_buf *b, const struct trk_line_format *f)
{
	trk__line_head(b, f, columns, COLUMNS);
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
	const struct trk_line_cell cell[COLUMNS] = {
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

	trk__line_row(b, f, columns, COLUMNS, cell);
}
