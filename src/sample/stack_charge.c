#include "sample/stack_charge.h"

enum { PAIR_FAULTS = 16 }; /* page faults between two probes */

/* Divide ns among the threads with this score at this sample, or at the previous one. */
static void charge(struct trk_sampled_process *w, uint64_t ns, enum trk_sampled_score score,
		   bool before)
{
	uint64_t threads = 0;

	for (size_t i = 0; i < w->threads; i++)
		threads += (before ? w->thread[i].score_before : w->thread[i].score) == score;
	for (size_t i = 0; i < w->threads; i++) {
		const struct trk_sampled_thread *t = &w->thread[i];
		struct trk_lines_amounts *sum;

		if ((before ? t->score_before : t->score) != score)
			continue;
		sum = trk__lines_sum(&w->second, t->lane, before ? t->node_before : t->node);
		if (sum)
			sum->cpu_us += ns / threads;
	}
}

void trk__charge_oldest(struct trk_sampled_process *w, uint64_t ns)
{
	for (size_t i = 0; i < w->threads; i++) {
		struct trk_lines_amounts *sum;

		if (w->thread[i].lane != w->oldest_lane)
			continue;
		sum = trk__lines_sum(&w->second, w->thread[i].lane, w->thread[i].node);
		if (sum)
			sum->cpu_us += ns;
		return;
	}
}

/* CPU time between two samples is charged to the end of the interval at which a thread more likely
 * used it: half to each if both are equally likely, and to the next interval if neither is. If no
 * thread ran at either end, CPU time of more than half of the interval is that of library threads
 * and goes to the oldest thread. */
void trk__charge_interval(struct trk_sampled_process *w, uint64_t ns, uint64_t wall_ns)
{
	enum trk_sampled_score now = TRK_SCORE_WAITS, before = TRK_SCORE_WAITS;

	for (size_t i = 0; i < w->threads; i++) {
		now = w->thread[i].score > now ? w->thread[i].score : now;
		before = w->thread[i].score_before > before ? w->thread[i].score_before : before;
	}
	if (now == TRK_SCORE_WAITS && before == TRK_SCORE_WAITS) {
		if (ns > wall_ns / 2)
			trk__charge_oldest(w, ns);
		else
			w->owed_ns += ns;
		return;
	}
	ns += w->owed_ns;
	w->owed_ns = 0;
	if (now == before) {
		charge(w, ns / 2, now, false);
		charge(w, ns - ns / 2, before, true);
	} else {
		charge(w, ns, now > before ? now : before, before > now);
	}
}

bool trk__charge_line_at(const struct trk_sampled_process *w, pid_t tid, uint64_t time_ns,
			 uint32_t *ret_lane, uint32_t *ret_node)
{
	const struct trk_sampled_thread *t = NULL;

	for (size_t i = 0; w->python && i < w->threads; i++)
		if (w->thread[i].tid == tid || (!t && w->thread[i].lane == w->oldest_lane))
			t = &w->thread[i];
	if (!t)
		return false;
	*ret_lane = t->lane;
	*ret_node = time_ns < w->sampled_before_ns / 2 + w->sampled_ns / 2 && t->node_before
			    ? t->node_before
			    : t->node;
	return true;
}

/* ---- memory ---- */

unsigned int trk__charge_sign(const struct trk_sampled_thread *t)
{
	if (!t->ran || !t->is_instant || t->faults[3] <= t->faults[0])
		return 0;
	return t->faults[1] > t->faults[0] && t->faults[3] > t->faults[2] ? TRK_GROWTH_CLEAR : 1;
}

const struct trk_sampled_thread *trk__charge_memory_thread(const struct trk_sampled_process *w,
							   bool *ret_alone)
{
	const struct trk_sampled_thread *found = NULL;
	unsigned int running = 0;

	for (size_t i = 0; i < w->threads; i++) {
		const struct trk_sampled_thread *t = &w->thread[i];
		bool runs = t->score != TRK_SCORE_WAITS;

		running += runs;
		if (!found || trk__charge_sign(t) > trk__charge_sign(found) ||
		    (trk__charge_sign(t) == trk__charge_sign(found) &&
		     (runs > (found->score != TRK_SCORE_WAITS) ||
		      (runs == (found->score != TRK_SCORE_WAITS) && t->lane == w->oldest_lane))))
			found = t;
	}
	*ret_alone = running <= 1;
	return found;
}

unsigned int trk__sign_of_pair(const struct trk_lines *lines, const struct trk_sampled_thread *t)
{
	bool stayed = t->ran && t->looked_node != TRK_LINES_ROOT &&
		      trk__lines_same(lines, t->looked_node, t->probed_node);

	return stayed && t->faults[0] >= t->looked_faults + PAIR_FAULTS ? TRK_GROWTH_CLEAR : 0;
}
