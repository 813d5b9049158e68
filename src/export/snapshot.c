#include "export/snapshot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/maths.h"
#include "export/table.h"

/* A recording lacks the server: write the limits of the run instead. */
static void server_info(struct trk_json *j, const struct trk_snapshot *s,
			const struct trk_record *r)
{
	trk__json_key_open(j, "server_info", '{');
	trk__json_key_text(j, "os", "Linux");
	trk__json_key_double(j, "vcpus", r->run.limit[TRK_LIMIT_CPU].value);
	trk__json_key_double(j, s->is_04 ? "memory_mb" : "memory_mib",
			     trk__round_even(r->run.limit[TRK_LIMIT_MEMORY_MIB].value * 100) / 100);
	trk__json_key_u64(j, "gpu_count", 0);
	trk__json_key_open(j, "gpu_names", '[');
	trk__json_close(j, ']');
	trk__json_key_text(j, "gpu_name", "");
	trk__json_key_u64(j, s->is_04 ? "gpu_memory_mb" : "gpu_memory_mib", 0);
	trk__json_key_text(j, "allocation", "unknown");
	trk__json_close(j, '}');
}

void trk__snapshot_head(struct trk_buf *b, struct trk_snapshot *s, const struct trk_record *record)
{
	const struct trk_run *run = &record->run;
	double start_s = trk__floor((double) run->start_ns / 1e6) / 1e3;
	double duration_s = (double) record->outcome.duration_ns / 1e9;
	struct trk_json j;

	trk__json_begin(&j, b, 0, NULL);
	trk__json_key_open(&j, "metadata", '{');
	trk__json_key_u64(&j, "version", 1);
	trk__json_key_open(&j, "resource_tracker", '{');
	trk__json_key_text(&j, "version", run->version);
	trk__json_key_text(&j, "implementation", "procfs");
	trk__json_close(&j, '}');
	trk__json_key_i64(&j, "pid", run->pid);
	trk__json_key_bool(&j, "children", true);
	trk__json_key_double(&j, "interval", (double) run->interval_ns / 1e9);
	trk__json_key_text(&j, "method", NULL);
	trk__json_key_bool(&j, "autostart", s->is_04);
	trk__json_key_bool(&j, "track_processes", true);
	trk__json_key_bool(&j, "track_system", true);
	trk__json_key_bool(&j, "discover_server", true);
	trk__json_key_bool(&j, "discover_cloud", false);
	trk__json_key_double(&j, "start_time", start_s);
	trk__json_key_double(&j, "stop_time", start_s + duration_s);
	trk__json_key_double(&j, "duration", trk__floor(duration_s * 100 + 0.5) / 100);
	trk__json_key_double(&j, "exit_code",
			     record->outcome.code < 0 ? (double) NAN : record->outcome.code);
	trk__json_close(&j, '}');
	server_info(&j, s, record);
	trk__json_key_text(&j, "cloud_info", NULL);
	trk__json_key(&j, "process_metrics");
	trk__buf_puts(b, "[\n");
	s->any = false;
}

static void zero_gpu(struct trk_sample *row)
{
	static const int columns[] = {
		TRK_SYSTEM_GPU_USAGE,  TRK_SYSTEM_GPU_VRAM,  TRK_SYSTEM_GPU_UTILIZED,
		TRK_PROCESS_GPU_USAGE, TRK_PROCESS_GPU_VRAM, TRK_PROCESS_GPU_UTILIZED,
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (!trk__sample_knows(row, columns[i]))
			trk__sample_set(row, columns[i], 0);
}

void trk__snapshot_row(struct trk_buf *b, struct trk_snapshot *s, bool processes,
		       const struct trk_sample *row)
{
	enum trk_column_set set = processes  ? s->is_04 ? TRK_SET_04_PROCESS : TRK_SET_05_PROCESS
				  : s->is_04 ? TRK_SET_04_SYSTEM
					     : TRK_SET_05_SYSTEM;
	struct trk_sample copy = *row;

	/* A null in a column makes the package drop the statistics of the whole column. */
	if (!trk__table_has_row(set, row) ||
	    (processes && !trk__sample_knows(row, TRK_PROCESS_MEMORY)))
		return;
	zero_gpu(&copy);
	if (s->any)
		trk__buf_putc(b, ',');
	s->any = true;
	trk__table_row(b, set, &copy, &trk__line_formats[TRK_LINE_JSONL]);
}

void trk__snapshot_middle(struct trk_buf *b, struct trk_snapshot *s)
{
	trk__buf_puts(b, "], \"system_metrics\": [\n");
	s->any = false;
}

void trk__snapshot_end(struct trk_buf *b)
{
	trk__buf_puts(b, "]}\n");
}
