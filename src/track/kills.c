#include "track/kills.h"

#include "base/clock.h"

/* A killed process may take this long to release its memory before it ends. */
#define DYING_NS (2 * TRK_NS_PER_S)

void trk__kills_follow(struct trk_kills *k, const struct trk_cgroup *cg)
{
	char path[TRK_CGROUP_TEXT_SIZE];
	int r = trk__cgroup_oom_kills(cg, &k->group_start);

	k->knows_group = r >= 0;
	k->is_shared = r > 0;
	k->knows_above = trk__cgroup_oom_kills_above(cg, &k->above_start, path) == 0;
	k->group_last = k->group_start;
}

void trk__kills_begin(struct trk_kills *k, const struct trk_env *env, const struct trk_cgroup *cg)
{
	*k = (struct trk_kills){.begin_ns = env->monotonic_ns()};
	k->knows_machine = trk__vmstat_oom_kills(env->proc_fd, &k->machine_start) == 0;
	trk__kills_follow(k, cg);
}

void trk__kills_look(struct trk_kills *k, const struct trk_cgroup *cg, uint64_t now_ns,
		     uint64_t ended, bool is_over)
{
	uint64_t now;

	if (is_over && !k->over_ns)
		k->over_ns = now_ns;
	if (k->knows_group && trk__cgroup_oom_kills(cg, &now) >= 0 && now > k->group_last) {
		k->in_group += now - k->group_last;
		k->group_last = now;
		k->rose_ns = now_ns;
		if (!k->first_ns)
			k->first_ns = now_ns;
		k->ended_before = k->ended_last;
	}
	k->ended_last = ended;
	if (!k->rose_ns || now_ns > k->rose_ns + DYING_NS)
		return;
	k->member_ended |= is_over || ended > k->ended_before;
	k->at_end |= is_over;
}

void trk__kills_end(struct trk_kills *k, const struct trk_env *env, const struct trk_cgroup *cg)
{
	uint64_t now;

	if (k->knows_above && trk__cgroup_oom_kills_above(cg, &now, k->above_path) == 0 &&
	    now > k->above_start)
		k->above = now - k->above_start;
	if (k->knows_machine && trk__vmstat_oom_kills(env->proc_fd, &now) == 0 &&
	    now > k->machine_start)
		k->on_machine = now - k->machine_start;
}
