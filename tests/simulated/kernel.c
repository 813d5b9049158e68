/* The simulated kernel, which kernel.h describes. */
#include "kernel.h"

#include <math.h>
#include <string.h>

struct sim_process sim[SIM_MAX];
size_t sim_count;
uint64_t sim_now_ns, sim_call_ns;
bool sim_adopts;

static uint64_t seed_state;
static bool reuses_pids;

void sim_reset(uint64_t seed)
{
	memset(sim, 0, sizeof(sim));
	sim_count = 0;
	reuses_pids = false;
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

void sim_reuse_pid(int process, int of)
{
	sim[process].pid = sim[of].pid;
	reuses_pids = true;
}

void sim_rise(int process, uint64_t bytes, uint64_t from_ns, uint64_t length_ns)
{
	sim[process].rise_bytes = bytes;
	sim[process].rise_ns = from_ns;
	sim[process].rise_end_ns = from_ns + length_ns;
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

/* When it disappears: at its parent's wait, at its parent's end, or at once. */
static uint64_t reaped_ns(const struct sim_process *p)
{
	const struct sim_process *parent = parent_of(p);
	uint64_t at = p->end_ns + p->zombie_ns;

	if (!parent)
		return UINT64_MAX; /* the tracker waits when the test ends */
	if (parent->ignores || parent->end_ns <= p->end_ns)
		return p->end_ns;
	return at < parent->end_ns ? at : parent->end_ns;
}

static bool is_there(size_t i)
{
	return sim[i].born_ns <= sim_now_ns && sim_now_ns < reaped_ns(&sim[i]);
}

const struct sim_process *sim_find(pid_t pid)
{
	size_t i = (size_t) (pid - SIM_FIRST_PID);

	for (size_t k = 0; reuses_pids && k < sim_count; k++)
		if (sim[k].pid == pid && is_there(k))
			return &sim[k];
	if (pid < SIM_FIRST_PID || i >= sim_count || reuses_pids)
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

	if (!parent)
		return p->is_stranger ? 1 : SIM_TRACKER;
	if (sim_now_ns < parent->end_ns)
		return parent->pid;
	return sim_adopts ? SIM_TRACKER : 1;
}

uint64_t sim_own_ns(const struct sim_process *p, uint64_t at_ns)
{
	uint64_t until = at_ns < p->end_ns ? at_ns : p->end_ns;

	return until > p->born_ns ? (uint64_t) ((double) (until - p->born_ns) * p->rate) : 0;
}

static bool is_received(const struct sim_process *child, uint64_t at_ns)
{
	const struct sim_process *parent = parent_of(child);

	return parent && !parent->ignores && reaped_ns(child) <= at_ns &&
	       reaped_ns(child) < parent->end_ns;
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
	bool has_risen = p->rise_ns <= at_ns && at_ns < p->rise_end_ns;

	if (at_ns < p->born_ns || at_ns >= p->end_ns)
		return 0;
	return p->bytes + (has_risen ? p->rise_bytes : 0);
}

uint64_t sim_peak_bytes(const struct sim_process *p, uint64_t at_ns)
{
	return p->bytes + (at_ns >= p->rise_ns ? p->rise_bytes : 0);
}

bool sim_is_of_job(const struct sim_process *p)
{
	for (; p; p = parent_of(p))
		if (p->is_stranger)
			return false;
	return true;
}

bool sim_is_in_job_object(const struct sim_process *p)
{
	for (; p; p = parent_of(p))
		if (p->is_stranger || p->is_outside)
			return false;
	return true;
}

uint64_t sim_truth_ns(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sim_count; i++)
		if (sim_is_of_job(&sim[i]))
			sum += sim_own_ns(&sim[i], sim_now_ns);
	return sum;
}

static uint64_t sum_of_bytes(uint64_t at_ns)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sim_count; i++)
		if (sim_is_of_job(&sim[i]))
			sum += sim_bytes(&sim[i], at_ns);
	return sum;
}

/* It is reached at some birth, or when some process rises. */
uint64_t sim_truth_peak_bytes(uint64_t from_ns)
{
	uint64_t most = sum_of_bytes(from_ns);

	for (size_t i = 0; i < 2 * sim_count; i++) {
		const struct sim_process *p = &sim[i / 2];
		uint64_t at = i % 2 ? p->rise_ns : p->born_ns;
		uint64_t sum = at > from_ns && at <= sim_now_ns ? sum_of_bytes(at) : 0;

		most = sum > most ? sum : most;
	}
	return most;
}

uint64_t sim_orphaned_ns(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sim_count; i++) {
		const struct sim_process *parent = parent_of(&sim[i]);

		if (parent && parent->end_ns < sim[i].end_ns)
			sum += sim_own_ns(&sim[i], sim_now_ns) -
			       sim_own_ns(&sim[i], parent->end_ns);
	}
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
