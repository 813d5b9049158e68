#include "track/group_log.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

/* 0: the process has gone. */
static uint64_t membership_of(const struct trk_env *env, pid_t pid)
{
	char text[8192];
	ssize_t len =
		trk__read_at(env->proc_fd, TRK_PATH("%d/cgroup", (int) pid), text, sizeof(text));

	return len > 0 ? trk__text_hash(text) : 0;
}

static bool knows(const struct trk_group_log *log, uint64_t membership)
{
	if (membership == 0 || membership == log->own)
		return true;
	for (size_t i = 0; i < log->count; i++)
		if (log->group[i].membership == membership)
			return true;
	return false;
}

/* The fields that the functions which walk up from a group use. */
static void as_group(const struct trk_job_group *g, const struct trk_env *env,
		     struct trk_cgroup *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->cgroup_fd = env->cgroup_fd;
	ret->place[TRK_CGROUP_MEMORY] = g->place;
}

void trk__group_log_begin(struct trk_group_log *log, const struct trk_env *env, pid_t pid)
{
	*log = (struct trk_group_log){.own = membership_of(env, pid)};
}

void trk__group_log_note(struct trk_group_log *log, const struct trk_env *env, pid_t pid,
			 bool has_ended)
{
	uint64_t membership = membership_of(env, pid);
	char path[TRK_CGROUP_TEXT_SIZE];
	struct trk_job_group *g;
	struct trk_cgroup cg;

	if (knows(log, membership) || log->count == TRK_GROUP_LOG_MAX)
		return;
	g = &log->group[log->count];
	*g = (struct trk_job_group){.membership = membership, .is_late = has_ended};
	if (trk__cgroup_find(&cg, env, pid) == 0)
		g->place = cg.place[TRK_CGROUP_MEMORY];
	/* On v1 a process that has ended is in the root groups. */
	if (g->place.version == 0 || g->place.fallback || (has_ended && g->place.version == 1))
		return;
	as_group(g, env, &cg);
	g->knows_kills = trk__cgroup_oom_kills_at(&cg, &g->kills) == 0;
	g->knows_kills_above = trk__cgroup_oom_kills_above(&cg, &g->kills_above, path) == 0;
	log->count++;
}

static uint64_t since(uint64_t now, uint64_t before, bool is_late, bool machine_has_killed)
{
	if (is_late)
		return machine_has_killed ? now : 0;
	return now > before ? now - before : 0;
}

static uint64_t kills_of(const struct trk_job_group *g, const struct trk_env *env,
			 bool machine_has_killed, char path[TRK_CGROUP_TEXT_SIZE])
{
	struct trk_cgroup cg;
	uint64_t now, kills;

	as_group(g, env, &cg);
	if (g->knows_kills && trk__cgroup_oom_kills_at(&cg, &now) == 0) {
		kills = since(now, g->kills, g->is_late, machine_has_killed);
		trk__cgroup_path(&cg, TRK_CGROUP_MEMORY, path, TRK_CGROUP_TEXT_SIZE);
		return kills;
	}
	if (g->knows_kills_above && trk__cgroup_oom_kills_above(&cg, &now, path) == 0)
		return since(now, g->kills_above, g->is_late, machine_has_killed);
	return 0;
}

static void set_limit(const struct trk_job_group *g, const struct trk_env *env,
		      struct trk_quantity *ret)
{
	struct trk_cgroup_limits limits;
	struct trk_cgroup cg;

	as_group(g, env, &cg);
	(void) trk__cgroup_limits(&cg, &limits);
	if (limits.memory_bytes != TRK_NO_LIMIT)
		trk__quantity_set(ret, (double) limits.memory_bytes / 1048576.0, TRK_QUALITY_EXACT,
				  limits.memory_from, NULL);
}

uint64_t trk__group_log_kills(const struct trk_group_log *log, const struct trk_env *env,
			      bool machine_has_killed, struct trk_quantity *ret_limit, char *where,
			      size_t size)
{
	for (size_t i = 0; i < log->count; i++) {
		const struct trk_job_group *g = &log->group[i];
		char path[TRK_CGROUP_TEXT_SIZE];
		uint64_t kills = kills_of(g, env, machine_has_killed, path);

		if (kills == 0)
			continue;
		(void) snprintf(where, size,
				"oom_kill of control group %.100s, which the job entered, %s %llu",
				path, g->is_late ? "is" : "rose by", (unsigned long long) kills);
		set_limit(g, env, ret_limit);
		return kills;
	}
	return 0;
}
