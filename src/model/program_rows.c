#include "model/program_rows.h"

static double cpu_of_row(const struct trk_sample *row)
{
	return trk__sample_get(row, TRK_PROCESS_UTIME) + trk__sample_get(row, TRK_PROCESS_STIME);
}

size_t trk__program_rows(const struct trk_program_log *log, const struct trk_sample *row,
			 bool is_new, struct trk_program_row *list)
{
	struct trk_program_row rest = {.program = TRK_PROGRAM_REST, .cpu_s = cpu_of_row(row)};
	size_t n = 0;

	rest.memory_mib = trk__sample_get(row, TRK_PROCESS_MEMORY);
	for (size_t i = 1; i < log->count; i++) {
		const struct trk_program *p = &log->program[i];
		struct trk_program_row u = {
			.program = i,
			.cpu_s = is_new ? (double) log->cpu_ms[i] / 1e3 : 0,
			.memory_mib = (double) p->memory_bytes / 1048576,
			.processes = p->alive,
		};

		if (u.cpu_s <= 0 && u.memory_mib <= 0 && u.processes == 0)
			continue;
		list[n++] = u;
		rest.cpu_s -= u.cpu_s;
		rest.memory_mib -= u.memory_mib;
	}
	/* Each time is rounded to ms, so the rest may be below 0. */
	if (rest.cpu_s < 0)
		rest.cpu_s = 0;
	if (rest.memory_mib < 0)
		rest.memory_mib = 0;
	rest.processes = log->count ? log->program[TRK_PROGRAM_REST].alive : 0;
	if (rest.cpu_s >= 0.001 || rest.memory_mib >= 0.01 || rest.processes)
		list[n++] = rest;
	return n;
}
