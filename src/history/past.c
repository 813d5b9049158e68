#include <math.h>
#include <stdio.h>
#include <string.h>

#include "history/history.h"

static struct trk_column_stats stats_of(const struct trk_record *record, int column)
{
	struct trk_column_stats s;

	trk__stats_get(record->stats, column, &s);
	return s;
}

static void join_command(const struct trk_run *run, char *text, size_t size)
{
	size_t len = run->command_len < size - 1 ? run->command_len : size - 1;

	memcpy(text, run->command, len);
	text[len] = '\0';
	for (size_t i = 0; i + 1 < len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
}

void trk__past_from(const struct trk_record *record, const char *file, struct trk_past *ret)
{
	const struct trk_outcome *o = &record->outcome;
	const struct trk_run *run = &record->run;
	struct trk_column_stats cpu = stats_of(record, TRK_PROCESS_CPU_USAGE);
	struct trk_column_stats memory = stats_of(record, TRK_PROCESS_MEMORY);
	struct trk_column_stats gpu = stats_of(record, TRK_PROCESS_GPU_USAGE);

	*ret = (struct trk_past){
		.code = o->code,
		.signal = o->signal,
		.start_s = (double) run->start_ns / 1e9,
		.duration_s = (double) o->duration_ns / 1e9,
		.cpu_s = o->total[TRK_TOTAL_CPU_S].value,
		.cpu_mean = cpu.mean,
		.cpu_max = cpu.max,
		.peak_memory_mib = o->total[TRK_TOTAL_PEAK_MEMORY_MIB].value,
		.memory_mean_mib = memory.mean,
		.disk_read_bytes = o->total[TRK_TOTAL_DISK_READ_BYTES].value,
		.disk_write_bytes = o->total[TRK_TOTAL_DISK_WRITE_BYTES].value,
		.gpu_mean = gpu.mean,
		.gpu_max = gpu.max,
		.vram_max_mib = stats_of(record, TRK_PROCESS_GPU_VRAM).max,
		.limit_cpu = run->limit[TRK_LIMIT_CPU].value,
		.limit_memory_mib = run->limit[TRK_LIMIT_MEMORY_MIB].value,
		.request_cpu = run->request[TRK_REQUEST_CPU].value,
		.request_memory_mib = run->request[TRK_REQUEST_MEMORY_MIB].value,
		.input_bytes = run->input_bytes ? (double) run->input_bytes : (double) NAN,
		.cost_usd = record->place.cost.usd,
		.samples = record->samples,
		.ended = record->ended,
	};
	(void) snprintf(ret->id, sizeof(ret->id), "%s", run->id);
	(void) snprintf(ret->job, sizeof(ret->job), "%s", run->job);
	(void) snprintf(ret->scope, sizeof(ret->scope), "%s", run->scope);
	ret->has_scope = run->has_scope;
	(void) snprintf(ret->kind, sizeof(ret->kind), "%s",
			run->unlisted ? TRK_KIND_UNLISTED : run->kind);
	(void) snprintf(ret->file, sizeof(ret->file), "%s", file);
	(void) snprintf(ret->verdict, sizeof(ret->verdict), "%s", trk__verdict_name(o->verdict));
	join_command(run, ret->command, sizeof(ret->command));
}
