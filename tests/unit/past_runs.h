/* Runs of the past, for tests. */
#ifndef TEST_PAST_RUNS_H
#define TEST_PAST_RUNS_H

#include <math.h>

#include "model/past_run.h"

/* A run of which nothing is known: texts are empty, figures NaN. */
static inline void past_run_init(struct trk_past_run *run)
{
	static const struct trk_past_peak no_peak = {.bytes = NAN, .at_most_bytes = NAN};
	static const struct trk_capacity none = {.value = NAN, .source = ""};

	*run = (struct trk_past_run){
		.job = "",
		.scope = "",
		.kind = "",
		.command = "",
		.tags = "",
		.file = "",
		.end_name = "",
		.code = -1,
		.start_s = NAN,
		.duration_s = NAN,
		.cpu_s = NAN,
		.cpu_mean = NAN,
		.cpu_max = NAN,
		.memory = no_peak,
		.swap = no_peak,
		.huge_bytes = NAN,
		.needed_bytes = NAN,
		.vram = no_peak,
		.memory_mean_bytes = NAN,
		.disk_read_bytes = NAN,
		.disk_write_bytes = NAN,
		.gpu_mean = NAN,
		.gpu_max = NAN,
		.limit_cpu = NAN,
		.limit_memory_bytes = NAN,
		.request_cpu = NAN,
		.request_memory_bytes = NAN,
		.input_bytes = NAN,
		.cost_usd = NAN,
	};
	for (int i = 0; i < TRK_RESOURCES; i++)
		run->capacity[i] = none;
}

static inline struct trk_past_run past_run_of(double peak_bytes, double duration_s,
					      double input_bytes, double limit_bytes,
					      enum trk_past_end end)
{
	struct trk_past_run run;

	past_run_init(&run);
	run.memory.bytes = peak_bytes;
	run.duration_s = duration_s;
	run.input_bytes = input_bytes;
	run.limit_memory_bytes = limit_bytes;
	run.end = end;
	return run;
}

#endif
