#include "sample/cpu_clocks.h"

#include "base/clock.h"

/* Two clocks are read one after the other, and times of children are cut to ticks. */
#define SLACK_NS   (20 * TRK_NS_PER_MS)
#define SLACK_PART 33 /* 3 % */
/* The perf clock was never seen to lose more than half of a process's time. */
#define LOST_PART 4

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t trk__cpu_clocks_stolen(const struct trk_cpu_clocks *c)
{
	if (c->machine_ns <= c->perf_ns)
		return c->stolen_ns;
	return (uint64_t) ((double) c->stolen_ns * (double) c->perf_ns / (double) c->machine_ns);
}

uint64_t trk__cpu_clocks_estimate(const struct trk_cpu_clocks *c)
{
	if (!c->knows_stolen)
		return c->ledger_ns;
	return larger(c->ledger_ns, minus(c->perf_ns, trk__cpu_clocks_stolen(c)));
}

/* By how much the perf clock is ahead of the ledger. The first process waits for no parent inside
 * the job. */
static int64_t ahead_ns(const struct trk_cpu_clocks *c)
{
	int64_t ahead = (int64_t) (c->perf_ns - c->ledger_ns);

	return c->knows_root ? ahead - (int64_t) (c->root_perf_ns - c->root_ns) : ahead;
}

/* A surplus may belong to children that are reaped later: then the ledger catches up, and the
 * surplus ends. */
void trk__cpu_clocks_step(struct trk_cpu_clocks *c, bool unseen)
{
	int64_t now = ahead_ns(c), gained = now - c->ahead_ns;

	if (gained > 0 && unseen)
		c->surplus_ns += (uint64_t) gained;
	else if (gained < 0)
		c->surplus_ns = minus(c->surplus_ns, (uint64_t) -gained);
	c->ahead_ns = now;
}

/* perf_ns is read before root_perf_ns. A clock that stopped long before the process did proves
 * nothing. */
bool trk__cpu_clocks_childless(const struct trk_cpu_clocks *c)
{
	return c->knows_root && c->perf_ns <= c->root_perf_ns &&
	       c->root_perf_ns + SLACK_NS >= c->root_ns / LOST_PART;
}

bool trk__cpu_clocks_disagree(const struct trk_cpu_clocks *c)
{
	uint64_t others_ns = c->knows_root ? minus(c->ledger_ns, c->root_ns) : c->ledger_ns;

	return !trk__cpu_clocks_childless(c) && c->surplus_ns > others_ns / SLACK_PART + SLACK_NS;
}
