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
	free(log->course.cpu_s);
	free(log->course.memory);
	free(log->course.seconds);
	free(log->course.memory_seconds);
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
	c->cpu_s = calloc(TRK_PROGRAM_BLOCKS_MAX, sizeof(*c->cpu_s));
	c->memory = calloc(TRK_PROGRAM_BLOCKS_MAX, sizeof(*c->memory));
	c->seconds = calloc(TRK_PROGRAM_BLOCKS_MAX, sizeof(*c->seconds));
	c->memory_seconds = calloc(TRK_PROGRAM_BLOCKS_MAX, sizeof(*c->memory_seconds));
	if (!c->cpu_s || !c->memory || !c->seconds || !c->memory_seconds) {
		free(c->cpu_s);
		free(c->memory);
		free(c->seconds);
		free(c->memory_seconds);
		*c = (struct trk_program_course){.width_s = 0};
		return false;
	}
	c->width_s = BLOCK_MIN_S;
	return true;
}

/* Merge blocks in pairs. */
static void halve(struct trk_program_course *c, size_t programs)
{
	for (size_t b = 0; b < TRK_PROGRAM_BLOCKS_MAX; b++) {
		size_t from = 2 * b;
		bool is_there = from + 1 < TRK_PROGRAM_BLOCKS_MAX;

		c->seconds[b] = is_there ? c->seconds[from] + c->seconds[from + 1] : 0;
		c->memory_seconds[b] =
			is_there ? c->memory_seconds[from] + c->memory_seconds[from + 1] : 0;
		for (size_t i = 0; i < programs; i++) {
			c->cpu_s[b][i] = is_there ? c->cpu_s[from][i] + c->cpu_s[from + 1][i] : 0;
			c->memory[b][i] =
				is_there ? c->memory[from][i] + c->memory[from + 1][i] : 0;
		}
	}
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
	struct trk_program_course *c = &log->course;

	c->seconds[b] += (float) seconds;
	if (is_any_alive(log))
		c->memory_seconds[b] += (float) seconds;
	for (size_t i = 0; i < log->count; i++) {
		if (is_new)
			c->cpu_s[b][i] += (float) ((double) log->cpu_ms[i] / 1e3 * share);
		c->memory[b][i] +=
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
		double start = (double) b * c->width_s, end = start + c->width_s;
		double part = ((to_s < end ? to_s : end) - (from_s > start ? from_s : start)) /
			      c->width_s;

		cpu_s += (double) c->cpu_s[b][program] * part;
		memory += (double) c->memory[b][program] * part;
		known += (double) c->memory_seconds[b] * part;
		seconds += (double) c->seconds[b] * part;
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
