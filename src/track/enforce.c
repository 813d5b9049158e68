#include "track/enforce.h"

#include <stdio.h>

#include "base/bytes.h"

static uint64_t warn_at(uint64_t limit)
{
	return limit - limit / 10;
}

static enum trk_enforce_step end(struct trk_enforce *e, uint64_t elapsed_ns, enum trk_end limit)
{
	e->limit = limit;
	e->kill_ns = elapsed_ns + e->grace_ns;
	return TRK_ENFORCE_TERM;
}

static enum trk_enforce_step check_time(struct trk_enforce *e, uint64_t elapsed_ns, char *text)
{
	if (!e->time_ns || elapsed_ns < warn_at(e->time_ns))
		return TRK_ENFORCE_NOTHING;
	if (elapsed_ns >= e->time_ns) {
		(void) snprintf(text, TRK_ENFORCE_TEXT_SIZE,
				"time limit of %.3g s reached: sending TERM",
				(double) e->time_ns / 1e9);
		return end(e, elapsed_ns, TRK_END_TIMEOUT);
	}
	if (e->time_warned)
		return TRK_ENFORCE_NOTHING;
	e->time_warned = true;
	(void) snprintf(text, TRK_ENFORCE_TEXT_SIZE, "%.3g s of the time limit of %.3g s are used",
			(double) elapsed_ns / 1e9, (double) e->time_ns / 1e9);
	return TRK_ENFORCE_WARN;
}

static enum trk_enforce_step check_memory(struct trk_enforce *e, uint64_t elapsed_ns,
					  uint64_t memory_bytes, char *text)
{
	bool over = memory_bytes > e->memory_bytes;

	if (!e->memory_bytes || memory_bytes < warn_at(e->memory_bytes) ||
	    (!over && e->memory_warned))
		return TRK_ENFORCE_NOTHING;
	(void) snprintf(text, TRK_ENFORCE_TEXT_SIZE, "%.1f MiB of the memory limit of %.1f MiB%s",
			(double) memory_bytes / TRK_MIB, (double) e->memory_bytes / TRK_MIB,
			over ? " are used: sending TERM" : " are used");
	e->memory_warned = true;
	return over ? end(e, elapsed_ns, TRK_END_MEMORY_LIMIT) : TRK_ENFORCE_WARN;
}

enum trk_enforce_step trk__enforce(struct trk_enforce *e, uint64_t elapsed_ns,
				   uint64_t memory_bytes, char text[TRK_ENFORCE_TEXT_SIZE])
{
	enum trk_enforce_step step;

	if (e->killed)
		return TRK_ENFORCE_NOTHING;
	if (e->kill_ns) {
		if (elapsed_ns < e->kill_ns)
			return TRK_ENFORCE_NOTHING;
		e->killed = true;
		(void) snprintf(text, TRK_ENFORCE_TEXT_SIZE,
				"still running %.3g s after TERM: sending KILL",
				(double) e->grace_ns / 1e9);
		return TRK_ENFORCE_KILL;
	}
	step = check_time(e, elapsed_ns, text);
	return step != TRK_ENFORCE_NOTHING ? step : check_memory(e, elapsed_ns, memory_bytes, text);
}

void trk__enforce_hurry(struct trk_enforce *e, uint64_t elapsed_ns)
{
	if (e->killed || e->kill_ns <= elapsed_ns)
		return;
	e->grace_ns -= e->kill_ns - elapsed_ns;
	e->kill_ns = elapsed_ns;
}

uint64_t trk__enforce_next_ns(const struct trk_enforce *e)
{
	if (e->killed)
		return UINT64_MAX;
	if (e->kill_ns)
		return e->kill_ns;
	if (!e->time_ns)
		return UINT64_MAX;
	return e->time_warned ? e->time_ns : warn_at(e->time_ns);
}
