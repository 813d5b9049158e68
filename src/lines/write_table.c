/* Rows of a profile, for people and for programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/human.h"
#include "base/utf8.h"
#include "lines/write.h"

enum { NO_SOURCE_MAX = 8 };

/* ---- text ---- */

/* ", from 12.4 s to 3 m 20 s" */
static void put_range(struct trk_buf *b, int64_t from_us, int64_t to_us)
{
	char from[TRK_HUMAN_SIZE], to[TRK_HUMAN_SIZE];

	trk__buf_printf(b, ", from %s to %s", trk__human_seconds(from, (double) from_us / 1e6),
			trk__human_seconds(to, (double) to_us / 1e6));
}

/* "train, from 12.4 s to 3 m 20 s" */
static void put_phase(struct trk_buf *b, const struct trk_lines_phase *p)
{
	trk__utf8_safe(b, *p->name ? p->name : "(no name)", 60, true);
	put_range(b, p->from_us, p->to_us);
}

/* 0 without windows. */
static int64_t run_end_us(const struct trk_lines *l)
{
	return l->windows ? l->window[l->windows - 1].to_us : 0;
}

static void put_name(struct trk_buf *b, const struct trk_lines *l, const struct trk_profile_row *r,
		     enum trk_lines_by by)
{
	const struct trk_lines_lane *lane = &l->lane[r->lane];
	const struct trk_lines_function *f = &l->function[l->node[r->node].function];
	char text[300];

	switch (by) {
	case TRK_LINES_BY_LINE:
		trk__buf_puts(b, trk__lines_name(l, r->node, text, sizeof(text)));
		break;
	case TRK_LINES_BY_FUNCTION:
		trk__utf8_safe(b, f->name, 120, true);
		if (*f->file) {
			(void) snprintf(text, sizeof(text), " (%.200s:%d)", f->file, f->first_line);
			trk__utf8_safe(b, text, sizeof(text), true);
		}
		break;
	case TRK_LINES_BY_FILE:
		trk__utf8_safe(b, *f->file ? f->file : f->name, 300, true);
		break;
	case TRK_LINES_BY_THREAD:
		trk__utf8_safe(b, lane->process, sizeof(lane->process), true);
		trk__buf_printf(b, " %d, thread %d", (int) lane->pid, (int) lane->tid);
		break;
	case TRK_LINES_BY_PHASE:
		if (r->phase)
			put_phase(b, r->phase);
		break;
	default:
		trk__utf8_safe(b, lane->process, sizeof(lane->process), true);
		trk__buf_printf(b, " %d", (int) lane->pid);
	}
}

static const char *growth_text(const struct trk_lines_amounts *a, char text[TRK_HUMAN_SIZE + 8])
{
	char number[TRK_HUMAN_SIZE];
	const char *sign;
	uint64_t bytes;

	if (a->sure_bytes < 1 << 20 && a->between_bytes < 1 << 20)
		return "";
	bytes = trk__profile_growth(a->sure_bytes, a->between_bytes, &sign);
	(void) snprintf(text, TRK_HUMAN_SIZE + 8, "%s%s", sign,
			trk__human_memory(number, (double) bytes / TRK_MIB));
	return text;
}

struct no_source {
	const char *file[NO_SOURCE_MAX], *why[NO_SOURCE_MAX];
	size_t count;
};

static void note_no_source(struct no_source *n, const char *file, const char *why)
{
	for (size_t i = 0; i < n->count; i++)
		if (!strcmp(n->file[i], file))
			return;
	if (n->count == NO_SOURCE_MAX)
		return;
	n->file[n->count] = file;
	n->why[n->count++] = why;
}

static void put_no_source(struct trk_buf *b, const struct no_source *n, bool utf8)
{
	for (size_t i = 0; i < n->count; i++) {
		trk__buf_puts(b, "no source: ");
		trk__utf8_safe(b, n->file[i], 300, utf8);
		trk__buf_printf(b, ": %s\n", n->why[i]);
	}
}

static void put_row(struct trk_buf *b, const struct trk_lines *l, const struct trk_profile *p,
		    const struct trk_profile_row *r, const struct trk_profile_options *o,
		    const struct trk_lines_table_style *style, struct no_source *no_source)
{
	double all = (double) p->all.cpu_us;
	char share[TRK_HUMAN_SIZE], callees[TRK_HUMAN_SIZE], cpu[TRK_HUMAN_SIZE],
		wall[TRK_HUMAN_SIZE], growth[TRK_HUMAN_SIZE + 8], source[120], below[300];
	const struct trk_lines_node *n = &l->node[r->node];
	const char *file = l->function[n->function].file, *text = NULL, *why = NULL;

	trk__buf_printf(b, "%7s %9s %8s %9s %11s  ",
			all > 0 ? trk__human_percent(share, (double) r->self.cpu_us / all) : "-",
			trk__human_seconds(cpu, (double) r->self.cpu_us / 1e6),
			all > 0 ? trk__human_percent(callees, (double) r->with_callees.cpu_us / all)
				: "-",
			trk__human_seconds(wall, (double) r->self.wall_us / 1e6),
			growth_text(&r->self, growth));
	put_name(b, l, r, o->by);
	trk__buf_putc(b, '\n');
	if (o->by != TRK_LINES_BY_LINE && (o->by != TRK_LINES_BY_PHASE || !r->node))
		return;
	if (o->by == TRK_LINES_BY_PHASE)
		trk__buf_printf(b, "%50s%s\n", "",
				trk__lines_name(l, r->node, below, sizeof(below)));
	if (style->source && n->line > 0)
		text = trk__lines_source(style->source, &l->function[n->function], n->line, source,
					 sizeof(source), &why);
	if (why)
		note_no_source(no_source, file, why);
	if (text) {
		trk__buf_printf(b, "%50s", "");
		trk__utf8_safe(b, text, sizeof(source), style->utf8);
		trk__buf_putc(b, '\n');
	}
	if (r->below && r->below_us * 10 > r->self.cpu_us)
		trk__buf_printf(b, "%50s%s %s\n", "", style->utf8 ? "→" : "->",
				trk__lines_name(l, r->below, below, sizeof(below)));
}

static void put_head(struct trk_buf *b, const struct trk_lines *l, const struct trk_profile *p,
		     const struct trk_lines_table_style *style)
{
	char cpu[TRK_HUMAN_SIZE], share[TRK_HUMAN_SIZE];
	double seconds = (double) p->all.cpu_us / 1e6;

	trk__buf_printf(b, "%s", style->run);
	if (*style->job) {
		trk__buf_puts(b, style->utf8 ? " · " : " - ");
		trk__utf8_safe(b, style->job, 60, style->utf8);
	}
	trk__buf_puts(b, ": ");
	if (l->samples || !l->native.samples)
		trk__buf_printf(b, "%llu stacks at %g Hz, ", (unsigned long long) l->samples,
				l->rate_hz);
	if (l->native.samples)
		trk__buf_printf(b, "%llu stacks of native code, ",
				(unsigned long long) l->native.samples);
	trk__buf_printf(b, "%s of CPU time on lines", trk__human_seconds(cpu, seconds));
	if (style->cpu_s > 0)
		trk__buf_printf(b, " (%s of the run's)",
				trk__human_percent(share, seconds < style->cpu_s
								  ? seconds / style->cpu_s
								  : 1));
	if (p->from_us > 0 || p->to_us < run_end_us(l))
		put_range(b, p->from_us, p->to_us);
	trk__buf_puts(b, "\n\n");
	trk__buf_printf(b, "%7s %9s %8s %9s %11s\n", "CPU", "", "callees", "wall", "memory");
}

/* Processes that could not be read, grouped by reason. */
static void put_unread(struct trk_buf *b, const struct trk_lines *l)
{
	for (unsigned int why = TRK_STACK_STARTING; why < TRK_STACK_WHYS; why++) {
		size_t n = 0, first = 0;

		if (why == TRK_STACK_NOT_PYTHON || why == TRK_STACK_STARTING)
			continue;
		for (size_t i = l->processes; i-- > 0;)
			if (l->process[i].why == why) {
				n++;
				first = i;
			}
		if (n == 0)
			continue;
		trk__buf_puts(b, "not read: ");
		trk__utf8_safe(b, trk__lines_process_name(&l->process[first]), TRK_LINES_NAME_SIZE,
			       true);
		trk__buf_printf(b, " (%d", (int) l->process[first].pid);
		if (n > 1)
			trk__buf_printf(b, " and %zu more", n - 1);
		trk__buf_printf(b, "): %s\n", trk__stack_why_text(why));
	}
}

/* Native code: why it was not sampled, and files whose symbols were not found. */
static void put_native(struct trk_buf *b, const struct trk_lines *l)
{
	if (l->native.why > TRK_NATIVE_READ)
		trk__buf_printf(b, "native code not read: %s\n",
				trk__native_why_text(l->native.why));
	for (size_t i = 0; i < l->symbol_files; i++) {
		if (!l->symbols[i].why || l->symbols[i].is_usual)
			continue;
		trk__buf_puts(b, "no names: ");
		trk__utf8_safe(b, l->symbols[i].file, 300, true);
		trk__buf_printf(b, ": %s\n", l->symbols[i].why);
	}
}

void trk__lines_text(struct trk_buf *b, const struct trk_lines *l, const struct trk_profile *p,
		     const struct trk_profile_options *o, const struct trk_lines_table_style *style)
{
	struct no_source no_source = {.count = 0};
	size_t shown = 0;

	put_head(b, l, p, style);
	for (size_t i = 0; i < p->rows && shown < style->top; i++) {
		const struct trk_profile_row *r = &p->row[i];

		if (!r->phase && trk__profile_value(&r->self, o->order) == 0)
			continue;
		put_row(b, l, p, r, o, style, &no_source);
		shown++;
	}
	if (shown == 0)
		trk__buf_puts(b, "  nothing was counted in this part of the run\n");
	put_no_source(b, &no_source, style->utf8);
	put_unread(b, l);
	put_native(b, l);
}

/* ---- JSON ---- */

static void put_amounts(struct trk_json *j, const struct trk_lines_amounts *a)
{
	trk__json_key_u64(j, "samples", a->samples);
	trk__json_key_double(j, "cpu_s", (double) a->cpu_us / 1e6);
	trk__json_key_double(j, "wall_s", (double) a->wall_us / 1e6);
	trk__json_key_double(j, "growth_mib", (double) a->sure_bytes / TRK_MIB);
	trk__json_key_double(j, "growth_between_mib", (double) a->between_bytes / TRK_MIB);
	trk__json_key_double(j, "released_mib", (double) a->released_bytes / TRK_MIB);
}

void trk__lines_place_json(struct trk_json *j, const struct trk_lines *l, uint32_t node,
			   enum trk_lines_by by)
{
	const struct trk_lines_node *n = &l->node[node];
	const struct trk_lines_function *f = &l->function[n->function];
	int line = by == TRK_LINES_BY_FUNCTION ? f->first_line : n->line;
	bool is_known = by == TRK_LINES_BY_FUNCTION || line > 0;

	trk__json_key_or_null(j, "file", f->file);
	if (by == TRK_LINES_BY_FILE)
		return;
	trk__json_key_double(j, "line", is_known ? line : (double) NAN);
	trk__json_key_text(j, "function", f->name);
}

static void put_json_phase(struct trk_json *j, const struct trk_lines_phase *p)
{
	trk__json_key_or_null(j, "phase", p->name);
	trk__json_key_double(j, "start_s", (double) p->from_us / 1e6);
	trk__json_key_double(j, "end_s", (double) p->to_us / 1e6);
}

static void put_json_row(struct trk_json *j, const struct trk_lines *l,
			 const struct trk_profile_row *r, const struct trk_profile_options *o)
{
	const struct trk_lines_lane *lane = &l->lane[r->lane];

	trk__json_open(j, '{');
	if (r->phase)
		put_json_phase(j, r->phase);
	if (o->by <= TRK_LINES_BY_FILE || (r->phase && r->node)) {
		trk__lines_place_json(j, l, r->node, o->by);
	} else if (!r->phase) {
		trk__json_key_i64(j, "pid", lane->pid);
		trk__json_key_text(j, "process", lane->process);
		if (o->by == TRK_LINES_BY_THREAD)
			trk__json_key_i64(j, "tid", lane->tid);
	}
	put_amounts(j, &r->self);
	trk__json_key_open(j, "with_callees", '{');
	put_amounts(j, &r->with_callees);
	trk__json_close(j, '}');
	if (r->below) {
		trk__json_key_open(j, "below", '{');
		trk__lines_place_json(j, l, r->below, TRK_LINES_BY_LINE);
		trk__json_close(j, '}');
	}
	trk__json_close(j, '}');
}

static void put_processes(struct trk_json *j, const struct trk_lines *l)
{
	char version[24];

	trk__json_key_open(j, "processes", '[');
	for (size_t i = 0; i < l->processes; i++) {
		const struct trk_lines_process *p = &l->process[i];

		trk__json_open(j, '{');
		trk__json_key_i64(j, "pid", p->pid);
		trk__json_key_or_null(j, "name", p->name);
		(void) snprintf(version, sizeof(version), "%u.%u", p->version >> 16,
				p->version >> 8 & 255);
		trk__json_key_text(j, "python", p->version ? version : NULL);
		trk__json_key_bool(j, "read", p->why == TRK_STACK_READ);
		trk__json_key_text(j, "reason",
				   p->why == TRK_STACK_READ ? NULL : trk__stack_why_text(p->why));
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

/* What the threads did at their last sample. */
static void put_last(struct trk_json *j, const struct trk_lines *l)
{
	trk__json_key_open(j, "last", '[');
	for (size_t i = 0; i < l->lanes; i++) {
		const struct trk_lines_last *last = &l->last[i];

		if (last->node == TRK_LINES_ROOT)
			continue;
		trk__json_open(j, '{');
		trk__json_key_i64(j, "pid", l->lane[i].pid);
		trk__json_key_i64(j, "tid", l->lane[i].tid);
		trk__json_key_double(j, "at_s", (double) last->at_us / 1e6);
		trk__json_key_bool(j, "running", last->running);
		trk__lines_place_json(j, l, trk__lines_user(l, last->node), TRK_LINES_BY_LINE);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void put_json_native(struct trk_json *j, const struct trk_lines *l)
{
	bool is_read = l->native.why == TRK_NATIVE_READ;

	trk__json_key_open(j, "native", '{');
	trk__json_key_bool(j, "read", is_read);
	trk__json_key_text(j, "reason", is_read ? NULL : trk__native_why_text(l->native.why));
	trk__json_key_u64(j, "stacks", l->native.samples);
	trk__json_key_u64(j, "lost", l->native.lost);
	trk__json_key_open(j, "files", '[');
	for (size_t i = 0; i < l->symbol_files; i++) {
		trk__json_open(j, '{');
		trk__json_key_text(j, "file", l->symbols[i].file);
		trk__json_key_text(j, "reason", l->symbols[i].why);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

void trk__lines_json(struct trk_buf *b, const struct trk_lines *l, const struct trk_profile *p,
		     const struct trk_profile_options *o, const struct trk_lines_table_style *style)
{
	static const char *const orders[] = {"cpu", "wall", "memory"};
	struct trk_json j;

	trk__json_begin(&j, b, 2, "resource-tracker.lines/1");
	trk__json_key_text(&j, "run", style->run);
	trk__json_key_or_null(&j, "job", style->job);
	trk__json_key_text(&j, "by", trk__lines_by_names[o->by]);
	trk__json_key_text(&j, "order", orders[o->order]);
	trk__json_key_double(&j, "from_s", (double) p->from_us / 1e6);
	trk__json_key_double(&j, "to_s", (double) p->to_us / 1e6);
	trk__json_key_double(&j, "rate_hz", l->rate_hz);
	trk__json_key_u64(&j, "stacks", l->samples);
	trk__json_key_u64(&j, "torn", l->torn);
	trk__json_key_u64(&j, "looks", l->rounds);
	trk__json_key_double(&j, "sampling_cpu_s", (double) l->cost_us / 1e6);
	trk__json_key_double(&j, "run_cpu_s", style->cpu_s);
	trk__json_key_open(&j, "all", '{');
	put_amounts(&j, &p->all);
	trk__json_close(&j, '}');
	trk__json_key_open(&j, "rows", '[');
	for (size_t i = 0; i < p->rows && i < style->top; i++)
		put_json_row(&j, l, &p->row[i], o);
	trk__json_close(&j, ']');
	put_last(&j, l);
	put_processes(&j, l);
	put_json_native(&j, l);
	trk__json_end(&j);
}
