#include "model/programs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void trk__program_log_release(struct trk_program_log *log)
{
	free(log->program);
	free(log->first);
	free(log->span);
	free(log->block);
	memset(log, 0, sizeof(*log));
}

int trk__program_log_init(struct trk_program_log *log)
{
	if (log->program)
		return 0;
	log->program = calloc(TRK_PROGRAMS_MAX, sizeof(*log->program));
	log->first = calloc(1, sizeof(*log->first));
	if (!log->program || !log->first) {
		trk__program_log_release(log);
		return -ENOMEM;
	}
	log->count = 1;
	(void) snprintf(log->program[TRK_PROGRAM_REST].name, TRK_PROGRAM_NAME_SIZE, "the rest");
	return 0;
}

int trk__program_log_take(struct trk_program_log *log, const struct trk_programs_now *now)
{
	size_t count = now->count < TRK_PROGRAMS_MAX ? now->count : TRK_PROGRAMS_MAX;

	if (trk__program_log_init(log) < 0)
		return -ENOMEM;
	memcpy(log->program, now->program, count * sizeof(*log->program));
	for (size_t i = 0; i < count; i++)
		if (log->peak_bytes[i] < now->program[i].memory_bytes)
			log->peak_bytes[i] = now->program[i].memory_bytes;
	log->count = count;
	log->unlisted = now->unlisted;
	log->unseen = now->unseen_pids == UINT64_MAX ? 0 : now->unseen_pids;
	return 0;
}

/* A long-lived process is listed when it is found, and again at its end. A writer lists the ends of
 * those only; a forged recording may hold any number of others, for each of which the whole list is
 * searched. */
static struct trk_process_span *find_open(struct trk_program_log *log,
					  const struct trk_process_span *span)
{
	if (log->misses >= TRK_SPANS_MAX)
		return NULL;
	for (size_t i = log->spans; i-- > 0;)
		if (log->span[i].pid == span->pid && log->span[i].start_ms == span->start_ms)
			return log->span[i].ended ? NULL : &log->span[i];
	log->misses += log->spans == TRK_SPANS_MAX;
	return NULL;
}

void trk__program_log_span(struct trk_program_log *log, const struct trk_process_span *span)
{
	struct trk_process_span *known = span->listed ? find_open(log, span) : NULL;

	if (known) {
		char command[TRK_SPAN_COMMAND_SIZE];

		memcpy(command, known->command, sizeof(command));
		*known = *span;
		memcpy(known->command, command, sizeof(command));
		return;
	}
	if (log->spans < TRK_SPANS_MAX &&
	    trk__array_reserve(&log->span, &log->spans_cap, log->spans + 1, sizeof(*log->span)) ==
		    0)
		log->span[log->spans++] = *span;
	else
		log->unlisted++;
}

/* ---- the course ---- */

static void merge(void *to, const void *from)
{
	struct trk_program_block *into = to;
	const struct trk_program_block *next = from;

	into->end_s = next->end_s;
	into->seconds += next->seconds;
	into->memory_seconds += next->memory_seconds;
	for (size_t i = 0; i < TRK_PROGRAMS_MAX; i++) {
		into->cpu_s[i] += next->cpu_s[i];
		into->memory[i] += next->memory[i];
	}
}

/* After the last process has ended, the memory of no program can be read. */
static bool is_any_alive(const struct trk_program_log *log)
{
	for (size_t i = 0; i < log->count; i++)
		if (log->program[i].alive)
			return true;
	return false;
}

void trk__program_log_row(struct trk_program_log *log, double from_s, double to_s, bool is_new)
{
	struct trk_program_block block = {.end_s = to_s, .start_s = from_s};

	if (!(from_s >= 0) || !(to_s > from_s) || to_s > 1e9)
		return;
	block.seconds = to_s - from_s;
	block.memory_seconds = is_any_alive(log) ? block.seconds : 0;
	for (size_t i = 0; i < log->count; i++) {
		block.cpu_s[i] = is_new ? (float) ((double) log->cpu_ms[i] / 1e3) : 0;
		block.memory[i] =
			(float) ((double) log->program[i].memory_bytes / 1048576 * block.seconds);
	}
	trk__course_add(&log->course, &log->block, sizeof(block), TRK_PROGRAM_BLOCKS_MAX, &block,
			merge);
}

void trk__program_log_use(const struct trk_program_log *log, size_t program, double from_s,
			  double to_s, double *ret_cpu_s, double *ret_memory, double *ret_seconds)
{
	double cpu_s = 0, memory = 0, known = 0, seconds = 0;

	for (size_t i = trk__course_until(&log->course, log->block, sizeof(*log->block), from_s);
	     i < log->course.count && log->block[i].start_s < to_s; i++) {
		const struct trk_program_block *b = &log->block[i];
		double part = ((to_s < b->end_s ? to_s : b->end_s) -
			       (from_s > b->start_s ? from_s : b->start_s)) /
			      (b->end_s - b->start_s);

		if (!(part > 0)) /* damaged: not in order */
			continue;
		cpu_s += (double) b->cpu_s[program] * part;
		memory += (double) b->memory[program] * part;
		known += b->memory_seconds * part;
		seconds += b->seconds * part;
	}
	*ret_cpu_s = cpu_s;
	*ret_memory = known > 0 ? memory / known * seconds : 0;
	*ret_seconds = seconds;
}

uint64_t trk__program_processes(const struct trk_program *program)
{
	return program->ended + program->alive;
}

const char *trk__program_label(const struct trk_program *program, char *text, size_t size)
{
	(void) snprintf(text, size, "%s%s",
			program->kind == TRK_PROGRAM_UNSEEN ? "short processes of " : "",
			program->name);
	return text;
}

/* ---- one row ---- */

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
