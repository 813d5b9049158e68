/* The simulated kernel, which kernel.h describes. */
#include "kernel.h"

#include <math.h>
#include <string.h>

struct sim_process sim[SIM_MAX];
size_t sim_count;
uint64_t sim_now_ns, sim_call_ns;

static uint64_t seed_state;

void sim_reset(uint64_t seed)
{
	memset(sim, 0, sizeof(sim));
	sim_count = 0;
	sim_now_ns = 1000000000;
	sim_call_ns = 0;
	seed_state = seed * 2654435761u + 1;
}

double sim_chance(void)
{
	seed_state = seed_state * 6364136223846793005u + 1442695040888963407u;
	return (double) (seed_state >> 11) / 9007199254740992.0;
}

int sim_start(int parent, uint64_t born_ns, uint64_t end_ns, double rate)
{
	sim[sim_count] = (struct sim_process){
		.pid = (pid_t) sim_count + SIM_FIRST_PID,
		.parent = parent,
		.born_ns = born_ns,
		.end_ns = end_ns,
		.rate = rate,
		.bytes = 10 << 20,
	};
	return (int) sim_count++;
}

void sim_advance(uint64_t until_ns)
{
	if (until_ns > sim_now_ns)
		sim_now_ns = until_ns;
}

void sim_call(void)
{
	sim_now_ns += sim_call_ns;
}

/* NULL: the tracker, which never ends. */
static const struct sim_process *parent_of(const struct sim_process *p)
{
	return p->parent < 0 ? NULL : &sim[p->parent];
}

/* When it disappears: its parent, or the tracker as that of orphans, waits for it at once. */
static uint64_t reaped_ns(const struct sim_process *p)
{
	const struct sim_process *parent = parent_of(p);

	return parent ? p->end_ns : UINT64_MAX; /* the tracker waits when the test ends */
}

static bool is_there(size_t i)
{
	return sim[i].born_ns <= sim_now_ns && sim_now_ns < reaped_ns(&sim[i]);
}

const struct sim_process *sim_find(pid_t pid)
{
	size_t i = (size_t) (pid - SIM_FIRST_PID);

	if (pid < SIM_FIRST_PID || i >= sim_count)
		return NULL;
	return is_there(i) ? &sim[i] : NULL;
}

bool sim_is_zombie(const struct sim_process *p)
{
	return sim_now_ns >= p->end_ns;
}

pid_t sim_parent_of(const struct sim_process *p)
{
	const struct sim_process *parent = parent_of(p);

	return parent && sim_now_ns < parent->end_ns ? parent->pid : SIM_TRACKER;
}

uint64_t sim_own_ns(const struct sim_process *p, uint64_t at_ns)
{
	uint64_t until = at_ns < p->end_ns ? at_ns : p->end_ns;

	return until > p->born_ns ? (uint64_t) ((double) (until - p->born_ns) * p->rate) : 0;
}

static bool is_received(const struct sim_process *child, uint64_t at_ns)
{
	const struct sim_process *parent = parent_of(child);

	return parent && reaped_ns(child) <= at_ns && reaped_ns(child) < parent->end_ns;
}

uint64_t sim_inherited_ns(const struct sim_process *p, uint64_t at_ns)
{
	uint64_t sum = 0;
	int self = (int) (p - sim);

	for (size_t i = 0; i < sim_count; i++) {
		const struct sim_process *child = &sim[i];

		if (child->parent == self && is_received(child, at_ns))
			sum += sim_own_ns(child, at_ns) + sim_inherited_ns(child, child->end_ns);
	}
	return sum;
}

uint64_t sim_bytes(const struct sim_process *p, uint64_t at_ns)
{
	return at_ns < p->born_ns || at_ns >= p->end_ns ? 0 : p->bytes;
}

uint64_t sim_truth_ns(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sim_count; i++)
		sum += sim_own_ns(&sim[i], sim_now_ns);
	return sum;
}

/* A length of a log-normal distribution, which those of tasks of a build are near. */
static uint64_t length_of(uint64_t median_ns)
{
	static const double sigma = 1.2, two_pi = 6.283185307179586;
	double u = 1 - sim_chance(), v = sim_chance();
	double normal = sqrt(-2 * log(u)) * cos(two_pi * v);

	return (uint64_t) ((double) median_ns * exp(sigma * normal));
}

uint64_t sim_build(uint64_t median_ns, uint64_t length_ns, double orphan_share)
{
	enum { WORKERS = 4, FORK_NS = 2000000, ORPHAN_NS = 400000000 };
	uint64_t start = sim_now_ns, end = start + length_ns;
	int root = sim_start(-1, start, end, 0.02);

	for (int w = 0; w < WORKERS; w++) {
		int worker = sim_start(root, start, end - FORK_NS / 2, 0.01);

		for (uint64_t at = start + FORK_NS;
		     at + FORK_NS < end && sim_count + 2 < SIM_MAX;) {
			uint64_t length = length_of(median_ns);
			int task;

			if (at + length + FORK_NS > end)
				length = end - FORK_NS - at;
			task = sim_start(worker, at, at + length, 0.9);
			if (sim_chance() < orphan_share)
				(void) sim_start(
					task, at + length / 2,
					at + length +
						(uint64_t) (-log(1 - sim_chance()) * ORPHAN_NS),
					1);
			at += length + FORK_NS;
		}
	}
	return end;
}
