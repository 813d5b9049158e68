/* The effect on the next request of a run that did not end well, or is not over: it raises it and
 * never lowers it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/advice.h"

bool trk__advice_ended_well(const struct trk_outcome *o)
{
	return (o->verdict == TRK_VERDICT_EXITED && o->code <= 0) ||
	       o->verdict == TRK_VERDICT_STOPPED;
}

static bool hold(double *next, const struct trk_capacity *had)
{
	if (!trk__capacity_is_stated(had) || !(*next < had->value))
		return false;
	*next = had->value;
	return true;
}

static const char *how_it_ended(const struct trk_outcome *o)
{
	return o->verdict == TRK_VERDICT_RUNNING ? "the run is not over"
						 : "the run did not end well";
}

void trk__advice_hold(struct trk_advice *a, const struct trk_outcome *o)
{
	struct trk_memory_advice *m = &a->memory;
	struct trk_cpu_advice *c = &a->cpu;

	if (trk__advice_ended_well(o))
		return;
	a->held_cpu = hold(&a->cores, &a->cpu_had);
	a->held_memory = hold(&a->memory_mib, &a->memory_had);
	if (a->held_cpu) {
		a->run_time_s = NAN;
		c->cores = a->cores;
		c->run_time_s = NAN;
		c->reason_count = 1;
		(void) snprintf(c->reason[0], sizeof(c->reason[0]),
				"%s: what it was given is not lowered", how_it_ended(o));
	}
	if (a->held_memory && a->has_memory) {
		/* The reasons and the chance are those of a smaller request. */
		m->request_bytes = a->memory_mib * 1048576;
		m->chance_exceed = NAN;
		if (m->next_rung_bytes < 2 * m->request_bytes)
			m->next_rung_bytes = 2 * m->request_bytes;
		m->reason_count = 1;
		(void) snprintf(m->reason[0], sizeof(m->reason[0]),
				"%s: what it was given is not lowered", how_it_ended(o));
	}
}
