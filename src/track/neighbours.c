#include "track/neighbours.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/pid_stat.h"

enum {
	/* processes of the job; in a larger tree other members of the group are not searched */
	TREE_MAX = 4096,
	LIST_MAX = 1 << 17, /* bytes of cgroup.procs */
	ANCESTORS_MAX = 32,
};

struct look {
	const struct trk_env *env;
	pid_t self;
	size_t count;
	pid_t pid[TREE_MAX];
};

static bool is_of_job(const struct look *l, pid_t pid)
{
	if (pid == l->self)
		return true;
	for (size_t i = 0; i < l->count; i++)
		if (l->pid[i] == pid)
			return true;
	return false;
}

/* The job's, or one that has ended meanwhile. */
static bool descends_from_job(const struct look *l, pid_t pid)
{
	struct trk_pid_stat stat;

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (is_of_job(l, pid) || trk__pid_stat_read(l->env->proc_fd, pid, &stat) < 0)
			return true;
		pid = stat.ppid;
	}
	return false;
}

static bool lists_neighbour(const struct look *l, const char *list)
{
	uint64_t pid;

	for (const char *at = list; trk__scan_u64(&at, &pid); at = trk__skip_line(at))
		if (pid > 0 && pid <= INT32_MAX && !descends_from_job(l, (pid_t) pid))
			return true;
	return false;
}

/* Are there as many tasks as the job and the tracker have? */
static bool tasks_agree(const struct trk_cgroup *cg, const struct trk_tree *tree,
			uint64_t tracker_tasks)
{
	struct trk_cgroup_usage usage;

	return trk__cgroup_usage_some(cg, TRK_CGROUP_KNOWS_PIDS, &usage) == 0 &&
	       usage.known & TRK_CGROUP_KNOWS_PIDS &&
	       usage.pids <= trk__tree_state(tree)->threads + tracker_tasks;
}

int trk__neighbours_look(const struct trk_env *env, const struct trk_cgroup *cg,
			 const struct trk_tree *tree, uint64_t tracker_tasks)
{
	const char *dir = cg->place[TRK_CGROUP_MEMORY].dir;
	char *list;
	struct look *l;
	ssize_t r;

	if (tasks_agree(cg, tree, tracker_tasks))
		return 0;
	l = malloc(sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->env = env;
	l->self = getpid();
	l->count = trk__tree_pids(tree, l->pid, TREE_MAX);
	r = l->count < TREE_MAX ? trk__read_all_at(cg->cgroup_fd, TRK_PATH("%s/cgroup.procs", dir),
						   LIST_MAX, &list)
				: -E2BIG;
	if (r >= 0) {
		r = lists_neighbour(l, list);
		free(list);
	}
	free(l);
	return (int) r;
}
