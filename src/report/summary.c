#include "report/advice.h"
#include "report/place.h"
#include "report/gpus.h"
#include "report/summary.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/libc.h"
#include "report/course.h"
#include "report/text.h"

#define GIB_OF_MIB 1024.0

enum { WIDTH = 80, BAR = 15, JOB_MAX = 18 };

void trk__duration_text(char *text, size_t size, double seconds)
{
	uint64_t whole = seconds > 0 && seconds < 1e15 ? (uint64_t) (seconds + 0.5) : 0;

	if (seconds < 0.9995)
		(void) snprintf(text, size, "%.0f ms", seconds * 1e3);
	else if (seconds < 59.95)
		(void) snprintf(text, size, "%.1f s", seconds);
	else if (whole < 3600)
		(void) snprintf(text, size, "%u m %u s", (unsigned int) (whole / 60),
				(unsigned int) (whole % 60));
	else
		(void) snprintf(text, size, "%llu h %u m %u s", (unsigned long long) (whole / 3600),
				(unsigned int) (whole / 60 % 60), (unsigned int) (whole % 60));
}

static void bytes_text(char *text, size_t size, double bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
	size_t unit = 0;

	while (bytes >= 999.5 && unit < 5) {
		bytes /= 1000;
		unit++;
	}
	(void) snprintf(text, size, unit && bytes < 9.95 ? "%.1f %s" : "%.0f %s", bytes,
			units[unit]);
}

static void exit_text(char *text, size_t size, const struct trk_outcome *o)
{
	switch (o->verdict) {
	case TRK_VERDICT_EXITED:
		if (o->code >= 0)
			(void) snprintf(text, size, "exit %d", o->code);
		else
			(void) snprintf(text, size, "ended");
		break;
	case TRK_VERDICT_SIGNALLED:
		(void) snprintf(text, size, "signal %d (%s)", o->signal,
				trk__signal_name(o->signal) ? trk__signal_name(o->signal) : "?");
		break;
	case TRK_VERDICT_OUT_OF_MEMORY:
		(void) snprintf(text, size, "out of memory");
		break;
	case TRK_VERDICT_TIMEOUT:
		(void) snprintf(text, size, "timeout");
		break;
	case TRK_VERDICT_MEMORY_LIMIT:
		(void) snprintf(text, size, "memory limit");
		break;
	case TRK_VERDICT_VANISHED:
		(void) snprintf(text, size, "ended without a word");
		break;
	case TRK_VERDICT_RUNNING:
		(void) snprintf(text, size, "still running");
		break;
	case TRK_VERDICT_TRACKER_DIED:
		(void) snprintf(text, size, "no end recorded");
		break;
	default:
		(void) snprintf(text, size, "%s", trk__verdict_name(o->verdict));
		break;
	}
}

static void head_line(struct trk_buf *b, const struct trk_record *r,
		      const struct trk_summary_style *style)
{
	const char *dash = style->utf8 ? "\xe2\x94\x80" : "-";
	char ended[64], duration[32];
	size_t start = b->len, used;

	exit_text(ended, sizeof(ended), &r->outcome);
	trk__duration_text(duration, sizeof(duration), (double) r->outcome.duration_ns / 1e9);
	trk__buf_printf(b, "%s%s resource-tracker %s ", dash, dash, dash);
	if (r->run.job[0]) {
		trk__text_safe(b, r->run.job, JOB_MAX, style->utf8);
		trk__buf_printf(b, " %s ", dash);
	}
	trk__text_safe(b, r->run.id, TRK_RUN_ID_SIZE, false);
	trk__buf_printf(b, " %s %s %s %s ", dash, ended, dash, duration);
	if (b->error)
		return;
	used = trk__text_columns(b->data + start);
	for (; used < WIDTH; used++)
		trk__buf_puts(b, dash);
	trk__buf_putc(b, '\n');
}

/* A bar of eighths. */
static void bar(struct trk_buf *b, double share, bool utf8)
{
	static const char *const eighths[] = {
		"",
		"\xe2\x96\x8f",
		"\xe2\x96\x8e",
		"\xe2\x96\x8d",
		"\xe2\x96\x8c",
		"\xe2\x96\x8b",
		"\xe2\x96\x8a",
		"\xe2\x96\x89",
	};
	int filled, cells = 0;

	if (!(share > 0))
		share = 0;
	if (share > 1)
		share = 1;
	filled = (int) (share * BAR * 8 + 0.5);
	for (; cells < filled / 8; cells++)
		trk__buf_puts(b, utf8 ? "\xe2\x96\x88" : "#");
	if (utf8 && filled % 8) {
		trk__buf_puts(b, eighths[filled % 8]);
		cells++;
	}
	for (; cells < BAR; cells++)
		trk__buf_puts(b, utf8 ? "\xe2\x96\x91" : ".");
}

/* Where the time went, the phases, and where to split. */
static void course_lines(struct trk_buf *b, const struct trk_record *r,
			 const struct trk_summary_style *style)
{
	struct trk_course *c = r->run.pid ? malloc(sizeof(*c)) : NULL;

	if (c && trk__course_of(r, c) == 0) {
		if (c->has_wall) {
			trk__buf_puts(b, "   Waited ");
			trk__course_wall_text(b, c, style->utf8);
			trk__buf_putc(b, '\n');
		}
		if (c->phase_count > 1) {
			trk__buf_puts(b, "   Phases ");
			trk__course_phases_text(b, c, WIDTH - 10, style->utf8);
			trk__buf_putc(b, '\n');
		}
		if (c->has_split && c->split.pays) {
			trk__buf_puts(b, "   Split  ");
			trk__course_split_text(b, c, style->utf8);
			trk__buf_putc(b, '\n');
		}
	}
	free(c);
}

static void change_line(struct trk_buf *b, const struct trk_summary_style *style)
{
	if (!style->change || style->change->runs == 0 ||
	    isnan(style->change->figure[TRK_CHANGE_DURATION].share))
		return;
	trk__buf_puts(b, "   Change ");
	trk__change_text(b, style->change, style->utf8);
	trk__buf_putc(b, '\n');
}

static void usage_line(struct trk_buf *b, const char *name, const struct trk_column_stats *s,
		       double peak, const struct trk_quantity *limit, double unit,
		       const char *unit_name, const struct trk_summary_style *style)
{
	const char *format = s->max / unit < 9.95 ? "   %-6s%6.2f mean%7.2f p95%7.2f peak"
						  : "   %-6s%6.1f mean%7.1f p95%7.1f peak";

	if (isnan(s->mean)) /* a peak that is known all the same stands in the total */
		return;
	if (!(peak >= s->max))
		peak = s->max;
		/* The form is one of the two literals above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	trk__buf_printf(b, format, name, s->mean / unit, s->p95 / unit, peak / unit);
#pragma GCC diagnostic pop
	if (!isnan(limit->value)) {
		double most = limit->value / unit;

		char text[32];

		(void) snprintf(text, sizeof(text),
				most >= 99.5 || most == (double) (uint64_t) most ? "%.0f" : "%.1f",
				most);
		trk__buf_printf(b, " of %-5s ", text);
		bar(b, peak / limit->value, style->utf8);
		trk__buf_printf(b, " %3.0f %%", peak / limit->value * 100);
	}
	trk__buf_printf(b, " %s\n", unit_name);
}

static void memory_line(struct trk_buf *b, const struct trk_record *r,
			const struct trk_summary_style *style)
{
	struct trk_column_stats s;
	double peak = r->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB].value;
	const struct trk_quantity *limit = &r->run.limit[TRK_LIMIT_MEMORY_MIB];
	bool small = !(peak >= GIB_OF_MIB) && !(limit->value >= 100 * GIB_OF_MIB);

	trk__stats_get(r->stats, TRK_PROCESS_MEMORY, &s);
	if (r->run.pid == 0)
		trk__stats_get(r->stats, TRK_SYSTEM_MEMORY_USED, &s);
	usage_line(b, "Memory", &s, peak, limit, small ? 1 : GIB_OF_MIB, small ? "MiB" : "GiB",
		   style);
}

static void cpu_line(struct trk_buf *b, const struct trk_record *r,
		     const struct trk_summary_style *style)
{
	struct trk_column_stats s;

	trk__stats_get(r->stats, r->run.pid ? TRK_PROCESS_CPU_USAGE : TRK_SYSTEM_CPU_USAGE, &s);
	usage_line(b, "CPU", &s, NAN, &r->run.limit[TRK_LIMIT_CPU], 1, "cores", style);
}

/* Of the job where its part is known. Without a GPU, or where the driver tells nothing, no line. */
static void gpu_lines(struct trk_buf *b, const struct trk_record *r,
		      const struct trk_summary_style *style)
{
	struct trk_quantity gpus = {.value = (double) trk__gpus_count(&r->gpus)};
	struct trk_quantity vram = {.value = trk__gpus_memory_mib(&r->gpus)};
	bool job = r->run.pid != 0;
	struct trk_column_stats s;

	if (r->gpus.count == 0)
		return;
	trk__stats_get(r->stats, job ? TRK_PROCESS_GPU_USAGE : TRK_SYSTEM_GPU_USAGE, &s);
	usage_line(b, "GPU", &s, NAN, &gpus, 1, "GPUs", style);
	trk__stats_get(r->stats, job ? TRK_PROCESS_GPU_VRAM : TRK_SYSTEM_GPU_VRAM, &s);
	usage_line(b, "VRAM", &s, NAN, &vram, GIB_OF_MIB, "GiB", style);
}

static void io_line(struct trk_buf *b, const struct trk_record *r,
		    const struct trk_summary_style *style)
{
	const char *dot = style->utf8 ? "\xc2\xb7" : "|";
	double read = r->outcome.total[TRK_TOTAL_DISK_READ_BYTES].value;
	double written = r->outcome.total[TRK_TOTAL_DISK_WRITE_BYTES].value;
	struct trk_column_stats in, out;
	char text[2][32];

	if (r->run.pid == 0) {
		trk__stats_get(r->stats, TRK_SYSTEM_DISK_READ, &in);
		trk__stats_get(r->stats, TRK_SYSTEM_DISK_WRITE, &out);
		read = in.sum;
		written = out.sum;
	}
	if (isnan(read))
		return;
	bytes_text(text[0], sizeof(text[0]), read);
	bytes_text(text[1], sizeof(text[1]), written);
	trk__buf_printf(b, "   Disk  %s read  %s written", text[0], text[1]);
	trk__stats_get(r->stats, TRK_SYSTEM_NET_RECV, &in);
	trk__stats_get(r->stats, TRK_SYSTEM_NET_SENT, &out);
	if (!isnan(in.sum)) {
		bytes_text(text[0], sizeof(text[0]), in.sum);
		bytes_text(text[1], sizeof(text[1]), out.sum);
		trk__buf_printf(b, " %s machine's net %s in  %s out", dot, text[0], text[1]);
	}
	trk__buf_putc(b, '\n');
}

static const char *sign_of(const struct trk_quantity *q)
{
	switch (q->quality) {
	case TRK_QUALITY_AT_LEAST:
		return "at least ";
	case TRK_QUALITY_AT_MOST:
		return "at most ";
	case TRK_QUALITY_ESTIMATED:
		return "about ";
	default:
		return "";
	}
}

static void total_line(struct trk_buf *b, const struct trk_record *r,
		       const struct trk_summary_style *style)
{
	const struct trk_quantity *cpu = &r->outcome.total[TRK_TOTAL_CPU_S];
	const struct trk_quantity *memory = &r->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB];
	const struct trk_quantity *joules = &r->outcome.total[TRK_TOTAL_GPU_ENERGY_J];
	const char *dot = style->utf8 ? "\xc2\xb7" : "|";
	char text[32];

	if (isnan(cpu->value))
		return;
	trk__duration_text(text, sizeof(text), cpu->value);
	trk__buf_printf(b, "   Total %s%s of CPU", sign_of(cpu), text);
	if (memory->value < 1e12)
		trk__buf_printf(b, " %s peak memory %s%.1f MiB", dot, sign_of(memory),
				memory->value);
	if (r->gpus.count && joules->value >= 0)
		trk__buf_printf(b, " %s GPUs %s%.*f %s", dot, sign_of(joules),
				joules->value < 3600 ? 0 : 2,
				joules->value < 3600    ? joules->value
				: joules->value < 3.6e6 ? joules->value / 3600
							: joules->value / 3.6e6,
				joules->value < 3600    ? "J"
				: joules->value < 3.6e6 ? "Wh"
							: "kWh");
	trk__buf_putc(b, '\n');
}

static void memory_kill_lines(struct trk_buf *b, const struct trk_record *r)
{
	const struct trk_process_info *biggest = NULL;

	trk__buf_printf(b,
			" ! killed by the kernel, out of memory (limit %.0f MiB, peak %.0f MiB)\n",
			r->run.limit[TRK_LIMIT_MEMORY_MIB].value,
			r->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB].value);
	for (size_t i = 0; i < r->outcome.top_count; i++)
		if (!biggest || r->outcome.top[i].peak_bytes > biggest->peak_bytes)
			biggest = &r->outcome.top[i];
	if (!biggest || !biggest->peak_bytes)
		return;
	trk__buf_puts(b, "   biggest: ");
	trk__text_safe(b, biggest->command[0] ? biggest->command : biggest->name, 40, false);
	trk__buf_printf(b, " (pid %d) %.0f MiB\n", (int) biggest->pid,
			(double) biggest->peak_bytes / 1048576.0);
}

/* What went wrong, in lines; nothing when nothing did. */
static void trouble(struct trk_buf *b, const struct trk_record *r)
{
	const struct trk_outcome *o = &r->outcome;
	char text[48];

	if (o->verdict == TRK_VERDICT_OUT_OF_MEMORY)
		memory_kill_lines(b, r);
	else if ((o->verdict == TRK_VERDICT_TIMEOUT || o->verdict == TRK_VERDICT_MEMORY_LIMIT ||
		  o->verdict == TRK_VERDICT_SIGNALLED || o->verdict == TRK_VERDICT_VANISHED) &&
		 o->evidence[0]) {
		trk__buf_puts(b, " ! ");
		trk__text_safe(b, o->evidence, 74, false);
		trk__buf_putc(b, '\n');
	}
	if (o->verdict == TRK_VERDICT_TRACKER_DIED) {
		trk__duration_text(text, sizeof(text), (double) r->last_elapsed_us / 1e6);
		trk__buf_printf(b, " ! did not end cleanly; last sample at %s\n", text);
	}
	if (o->suspended_ns) {
		trk__duration_text(text, sizeof(text), (double) o->suspended_ns / 1e9);
		trk__buf_printf(b, " ! the machine was suspended for %s, which do not count here\n",
				text);
	}
	if (r->damaged)
		trk__buf_printf(b, " ! %llu damaged record%s skipped\n",
				(unsigned long long) r->damaged, r->damaged == 1 ? "" : "s");
}

static void trouble_lines(struct trk_buf *b, const struct trk_record *r,
			  const struct trk_summary_style *style)
{
	const struct trk_outcome *o = &r->outcome;
	size_t start = b->len;

	if (style->color)
		trk__buf_puts(b, "\033[31m");
	trouble(b, r);
	if (style->color && b->len == start + 5 && !b->error) {
		b->len = start; /* nothing to colour */
		b->data[start] = '\0';
	} else if (style->color) {
		trk__buf_puts(b, "\033[0m");
	}
	if (o->left_behind)
		trk__buf_printf(b, "   Left behind: %llu process%s still running\n",
				(unsigned long long) o->left_behind,
				o->left_behind == 1 ? "" : "es");
}

/* What this run says about its size; nothing where it is too short to tell, or no job. */
static void verdict_line(struct trk_buf *b, const struct trk_record *r,
			 const struct trk_summary_style *style)
{
	struct trk_advice *a;

	if (!strcmp(r->run.kind, "system") || r->outcome.verdict == TRK_VERDICT_RUNNING)
		return;
	a = malloc(sizeof(*a));
	if (a && trk__advice_of_run(r, a) == 0 && a->sizing.sizing != TRK_SIZING_NOT_ENOUGH_DATA) {
		trk__buf_puts(b, style->utf8 ? " \u25b2 " : " * ");
		if (a->sizing.sizing == TRK_SIZING_RIGHT)
			trk__buf_puts(b, trk__sizing_name(a->sizing.sizing));
		else
			trk__advice_line(b, a, &r->run);
		trk__buf_putc(b, '\n');
	}
	free(a);
}

void trk__summary_text(struct trk_buf *b, const struct trk_record *r,
		       const struct trk_summary_style *style)
{
	if (style->color)
		trk__buf_puts(b, "\033[1m");
	head_line(b, r, style);
	if (style->color)
		trk__buf_puts(b, "\033[0m");
	trouble_lines(b, r, style);
	verdict_line(b, r, style);
	if (!style->brief && r->samples >= 3) {
		cpu_line(b, r, style);
		memory_line(b, r, style);
		gpu_lines(b, r, style);
		io_line(b, r, style);
		course_lines(b, r, style);
		change_line(b, style);
	}
	total_line(b, r, style);
	trk__cost_line(b, &r->place, style->utf8);
	if (!style->brief && r->samples >= 3)
		trk__buf_printf(
			b, " again: resource-tracker show %s   (or report, recommend, export)\n",
			r->run.id);
}

static void cell(struct trk_buf *b, double value)
{
	if (isnan(value))
		trk__buf_printf(b, " %13s", "-");
	else if (value != 0 && (value >= 1e11 || value < 1e-3))
		trk__buf_printf(b, " %13.4g", value);
	else
		trk__buf_printf(b, " %13.*f", value == (double) (int64_t) value ? 0 : 3, value);
}

void trk__stats_text(struct trk_buf *b, const struct trk_record *r)
{
	trk__buf_printf(b, "%-30s %-6s %13s %13s %13s %13s %13s %13s\n", "column", "unit", "mean",
			"min", "p50", "p95", "max", "sum");
	for (int i = 0; i < TRK_COLUMNS; i++) {
		struct trk_column_stats s;

		trk__stats_get(r->stats, i, &s);
		if (trk__columns[i].kind == TRK_KIND_STAMP || s.rows == 0)
			continue;
		trk__buf_printf(b, "%-30s %-6s", trk__columns[i].name, trk__columns[i].unit);
		cell(b, s.mean);
		cell(b, s.min);
		cell(b, s.p50);
		cell(b, s.p95);
		cell(b, s.max);
		cell(b, s.sum);
		trk__buf_putc(b, '\n');
	}
}
