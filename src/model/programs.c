#include "model/programs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define BLOCK_MIN_S 0.02

void trk__program_log_release(struct trk_program_log *log)
{
	free(log->program);
	free(log->first);
	free(log->span);
	free(log->course.block);
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

static bool make_course(struct trk_program_course *c)
{
	if (c->width_s > 0)
		return true;
	c->block = calloc(TRK_PROGRAM_BLOCKS_MAX, sizeof(*c->block));
	if (c->block)
		c->width_s = BLOCK_MIN_S;
	return c->block != NULL;
}

/* Merge blocks in pairs. */
static void halve(struct trk_program_course *c, size_t programs)
{
	for (size_t b = 0; b < TRK_PROGRAM_BLOCKS_MAX / 2; b++) {
		struct trk_program_block *to = &c->block[b];
		const struct trk_program_block *from = &c->block[2 * b];

		to->seconds = from[0].seconds + from[1].seconds;
		to->memory_seconds = from[0].memory_seconds + from[1].memory_seconds;
		for (size_t i = 0; i < programs; i++) {
			to->cpu_s[i] = from[0].cpu_s[i] + from[1].cpu_s[i];
			to->memory[i] = from[0].memory[i] + from[1].memory[i];
		}
	}
	memset(&c->block[TRK_PROGRAM_BLOCKS_MAX / 2], 0,
	       sizeof(*c->block) * (TRK_PROGRAM_BLOCKS_MAX / 2));
	c->width_s *= 2;
	c->blocks = (c->blocks + 1) / 2;
}

/* After the last process has ended, the memory of no program can be read. */
static bool is_any_alive(const struct trk_program_log *log)
{
	for (size_t i = 0; i < log->count; i++)
		if (log->program[i].alive)
			return true;
	return false;
}

static void add_to_block(struct trk_program_log *log, size_t b, double seconds, double share,
			 bool is_new)
{
	struct trk_program_block *block = &log->course.block[b];

	block->seconds += (float) seconds;
	if (is_any_alive(log))
		block->memory_seconds += (float) seconds;
	for (size_t i = 0; i < log->count; i++) {
		if (is_new)
			block->cpu_s[i] += (float) ((double) log->cpu_ms[i] / 1e3 * share);
		block->memory[i] +=
			(float) ((double) log->program[i].memory_bytes / 1048576 * seconds);
	}
}

void trk__program_log_row(struct trk_program_log *log, double from_s, double to_s, bool is_new)
{
	struct trk_program_course *c = &log->course;
	size_t last;

	if (!(from_s >= 0) || !(to_s > from_s) || to_s > 1e9 || !make_course(c))
		return;
	while (to_s >= c->width_s * TRK_PROGRAM_BLOCKS_MAX)
		halve(c, log->count);
	last = (size_t) (to_s / c->width_s);
	for (size_t b = (size_t) (from_s / c->width_s); b <= last; b++) {
		double start = (double) b * c->width_s, end = start + c->width_s;
		double seconds = (to_s < end ? to_s : end) - (from_s > start ? from_s : start);

		if (seconds > 0)
			add_to_block(log, b, seconds, seconds / (to_s - from_s), is_new);
	}
	if (c->blocks < last + 1)
		c->blocks = last + 1;
}

void trk__program_log_use(const struct trk_program_log *log, size_t program, double from_s,
			  double to_s, double *ret_cpu_s, double *ret_memory, double *ret_seconds)
{
	const struct trk_program_course *c = &log->course;
	double cpu_s = 0, memory = 0, known = 0, seconds = 0;

	for (size_t b = c->width_s > 0 && from_s > 0 ? (size_t) (from_s / c->width_s) : 0;
	     b < c->blocks && (double) b * c->width_s < to_s; b++) {
		const struct trk_program_block *block = &c->block[b];
		double start = (double) b * c->width_s, end = start + c->width_s;
		double part = ((to_s < end ? to_s : end) - (from_s > start ? from_s : start)) /
			      c->width_s;

		cpu_s += (double) block->cpu_s[program] * part;
		memory += (double) block->memory[program] * part;
		known += (double) block->memory_seconds * part;
		seconds += (double) block->seconds * part;
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
