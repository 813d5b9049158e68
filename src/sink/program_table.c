#include "sink/program_table.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"

static void csv_text(struct trk_buf *b, const char *text)
{
	trk__buf_putc(b, '"');
	for (; *text; text++) {
		if (*text == '"')
			trk__buf_putc(b, '"');
		trk__buf_putc(b, *text);
	}
	trk__buf_putc(b, '"');
}

/* An unknown number is an empty cell. */
static void csv_number(struct trk_buf *b, double value, int digits)
{
	trk__buf_putc(b, ',');
	if (!isnan(value))
		trk__buf_printf(b, "%.*f", digits, value);
}

void trk__program_table_head(struct trk_buf *b)
{
	trk__buf_puts(b, "timestamp,elapsed_s,interval_s,program,cpu_s,memory_mib,processes\n");
}

static void put_use(struct trk_buf *b, const struct trk_sample *row, const char *program,
		    const struct trk_program_row *u, bool json)
{
	double stamp = trk__sample_get(row, TRK_TIMESTAMP);
	double elapsed_s = trk__sample_get(row, TRK_ELAPSED);
	double interval_s = trk__sample_get(row, TRK_INTERVAL);
	struct trk_json j;

	if (!json) {
		trk__buf_printf(b, "%.3f,%.3f,%.3f,", stamp, elapsed_s, interval_s);
		csv_text(b, program);
		csv_number(b, u->cpu_s, 3);
		csv_number(b, u->memory_mib, 3);
		trk__buf_printf(b, ",%llu\n", (unsigned long long) u->processes);
		return;
	}
	trk__json_init(&j, b, 0);
	trk__json_open(&j, '{');
	trk__json_key_double(&j, "timestamp", stamp);
	trk__json_key_double(&j, "elapsed_s", elapsed_s);
	trk__json_key_double(&j, "interval_s", interval_s);
	trk__json_key_text(&j, "program", program);
	trk__json_key_double(&j, "cpu_s", u->cpu_s);
	trk__json_key_double(&j, "memory_mib", u->memory_mib);
	trk__json_key_double(&j, "processes", (double) u->processes);
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

void trk__program_table_rows(struct trk_buf *b, const struct trk_program_log *log,
			     const struct trk_sample *row, bool is_new, bool json)
{
	struct trk_program_row list[TRK_PROGRAMS_MAX + 1];
	size_t n = trk__program_rows(log, row, is_new, list);

	for (size_t i = 0; i < n; i++) {
		char label[96];
		const char *name = list[i].program == TRK_PROGRAM_REST
					   ? "the rest"
					   : trk__program_label(&log->program[list[i].program],
								label, sizeof(label));

		put_use(b, row, name, &list[i], json);
	}
}

void trk__process_table_head(struct trk_buf *b)
{
	trk__buf_puts(b, "program,pid,start_s,end_s,ended,cpu_s,peak_rss_mib,command\n");
}

void trk__process_table_row(struct trk_buf *b, const struct trk_program_log *log, size_t index,
			    bool json)
{
	const struct trk_process_span *s = &log->span[index];
	char label[96];
	const char *program = trk__program_label(&log->program[s->program], label, sizeof(label));
	double start_s = (double) s->start_ms / 1e3, end_s = (double) s->end_ms / 1e3;
	double cpu_s = (double) s->cpu_ms / 1e3, peak_mib = (double) s->peak_bytes / 1048576;
	struct trk_json j;

	if (!json) {
		csv_text(b, program);
		trk__buf_printf(b, ",%d,%.3f,", (int) s->pid, start_s);
		if (s->ended)
			trk__buf_printf(b, "%.3f", end_s);
		trk__buf_puts(b, s->ended ? ",1" : ",0");
		csv_number(b, cpu_s, 3);
		csv_number(b, peak_mib, 3);
		trk__buf_putc(b, ',');
		if (s->command[0])
			csv_text(b, s->command);
		trk__buf_putc(b, '\n');
		return;
	}
	trk__json_init(&j, b, 0);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "program", program);
	trk__json_key_double(&j, "pid", s->pid);
	trk__json_key_double(&j, "start_s", start_s);
	trk__json_key_double(&j, "end_s", s->ended ? end_s : (double) NAN);
	trk__json_key(&j, "ended");
	trk__json_bool(&j, s->ended);
	trk__json_key_double(&j, "cpu_s", cpu_s);
	trk__json_key_double(&j, "peak_rss_mib", peak_mib);
	trk__json_key_text(&j, "command", s->command[0] ? s->command : NULL);
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}
