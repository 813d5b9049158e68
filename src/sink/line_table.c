#include "sink/line_table.h"

#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

#define MIB 1048576.0

void trk__line_table_head(struct trk_buf *b)
{
	trk__buf_puts(
		b, "from_s,to_s,process,pid,tid,file,line,function,caller_file,caller_line,samples,"
		   "cpu_s,wall_s,growth_mib,growth_between_mib,released_mib\n");
}

static void csv_text(struct trk_buf *b, const char *text)
{
	struct trk_buf safe;

	trk__buf_init(&safe, 64 * 1024);
	trk__utf8_safe(&safe, text, strlen(text), true);
	trk__buf_putc(b, '"');
	for (size_t i = 0; i < safe.len; i++) {
		if (safe.data[i] == '"')
			trk__buf_putc(b, '"');
		trk__buf_putc(b, safe.data[i]);
	}
	trk__buf_putc(b, '"');
	trk__buf_release(&safe);
}

/* An unknown line is an empty cell, or null. */
static void csv_place(struct trk_buf *b, const struct trk_lines *l, uint32_t node, bool function)
{
	const struct trk_lines_node *n = &l->node[node];

	trk__buf_putc(b, ',');
	if (node != TRK_LINES_ROOT)
		csv_text(b, l->function[n->function].file);
	trk__buf_putc(b, ',');
	if (n->line > 0)
		trk__buf_printf(b, "%d", n->line);
	if (!function)
		return;
	trk__buf_putc(b, ',');
	csv_text(b, l->function[n->function].name);
}

static void csv_row(struct trk_buf *b, const struct trk_lines *l,
		    const struct trk_lines_window *window, const struct trk_lines_count *c)
{
	const struct trk_lines_lane *lane = &l->lane[c->lane];
	const struct trk_lines_amounts *a = &c->amounts;

	trk__buf_printf(b, "%.3f,%.3f,", (double) window->from_us / 1e6,
			(double) window->to_us / 1e6);
	csv_text(b, lane->process);
	trk__buf_printf(b, ",%d,%d", (int) lane->pid, (int) lane->tid);
	csv_place(b, l, c->node, true);
	csv_place(b, l, trk__lines_user(l, c->node), false);
	trk__buf_printf(b, ",%llu,%.6f,%.6f,%.3f,%.3f,%.3f\n", (unsigned long long) a->samples,
			(double) a->cpu_us / 1e6, (double) a->wall_us / 1e6,
			(double) a->sure_bytes / MIB, (double) a->between_bytes / MIB,
			(double) a->released_bytes / MIB);
}

static void json_place(struct trk_json *j, const struct trk_lines *l, uint32_t node,
		       const char *file, const char *line)
{
	const struct trk_lines_node *n = &l->node[node];

	trk__json_key_text(j, file, node == TRK_LINES_ROOT ? NULL : l->function[n->function].file);
	trk__json_key(j, line);
	if (n->line > 0)
		trk__json_i64(j, n->line);
	else
		trk__json_null(j);
}

static void json_row(struct trk_buf *b, const struct trk_lines *l,
		     const struct trk_lines_window *window, const struct trk_lines_count *c)
{
	const struct trk_lines_lane *lane = &l->lane[c->lane];
	const struct trk_lines_amounts *a = &c->amounts;
	struct trk_json j;

	trk__json_init(&j, b, 0);
	trk__json_open(&j, '{');
	trk__json_key_double(&j, "from_s", (double) window->from_us / 1e6);
	trk__json_key_double(&j, "to_s", (double) window->to_us / 1e6);
	trk__json_key_text(&j, "process", lane->process);
	trk__json_key_double(&j, "pid", lane->pid);
	trk__json_key_double(&j, "tid", lane->tid);
	json_place(&j, l, c->node, "file", "line");
	trk__json_key_text(&j, "function", l->function[l->node[c->node].function].name);
	json_place(&j, l, trk__lines_user(l, c->node), "caller_file", "caller_line");
	trk__json_key(&j, "samples");
	trk__json_u64(&j, a->samples);
	trk__json_key_double(&j, "cpu_s", (double) a->cpu_us / 1e6);
	trk__json_key_double(&j, "wall_s", (double) a->wall_us / 1e6);
	trk__json_key_double(&j, "growth_mib", (double) a->sure_bytes / MIB);
	trk__json_key_double(&j, "growth_between_mib", (double) a->between_bytes / MIB);
	trk__json_key_double(&j, "released_mib", (double) a->released_bytes / MIB);
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

void trk__line_table_row(struct trk_buf *b, const struct trk_lines *l,
			 const struct trk_lines_window *window, const struct trk_lines_count *c,
			 bool json)
{
	if (json)
		json_row(b, l, window, c);
	else
		csv_row(b, l, window, c);
}
