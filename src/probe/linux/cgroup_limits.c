#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "probe/linux/cgroup.h"
#include "probe/linux/cgroup_private.h"

bool trk__cgroup_dir_up(const struct trk_cgroup_place *place, char *dir)
{
	char *slash;

	if (strlen(dir) <= place->mount_len)
		return false;
	slash = strrchr(dir + place->mount_len, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

void trk__cgroup_dir_path(const struct trk_cgroup_place *place, const char *dir, char *text,
			  size_t size)
{
	char path[2 * TRK_CGROUP_PATH_SIZE];
	size_t len;

	(void) snprintf(path, sizeof(path), "%s%s", place->root, dir + place->mount_len);
	len = strlen(path);
	if (len == 0)
		(void) snprintf(text, size, "/");
	else if (len < size)
		memcpy(text, path, len + 1);
	else
		(void) snprintf(text, size, "...%s", path + len - (size - 4));
}

/* The current group of a walk from a part's own group to the root of the mount. */
struct walk {
	const struct trk_cgroup *cg;
	const struct trk_cgroup_place *place;
	char dir[TRK_CGROUP_PATH_SIZE];
};

static bool walk_begin(struct walk *w, const struct trk_cgroup *cg, enum trk_cgroup_part part)
{
	w->cg = cg;
	w->place = &cg->place[part];
	memcpy(w->dir, w->place->dir, sizeof(w->dir));
	return w->place->version != 0;
}

static bool walk_up(struct walk *w)
{
	return trk__cgroup_dir_up(w->place, w->dir);
}

static int walk_read(const struct walk *w, const char *file, char *text, size_t size)
{
	ssize_t len = trk__read_at(w->cg->cgroup_fd, TRK_PATH("%s/%s", w->dir, file), text, size);

	return len < 0 && len != -EFBIG ? (int) len : 0;
}

static int walk_read_limit(const struct walk *w, const char *file, uint64_t *ret)
{
	char text[64];
	int r = walk_read(w, file, text, sizeof(text));

	return r < 0 ? r : trk__cgroup_limit_parse(text, ret);
}

static void note_refusal(struct trk_cgroup_limits *l, int error)
{
	l->refused |= error == -EACCES || error == -EPERM;
}

static void set_source(char source[TRK_CGROUP_TEXT_SIZE], const struct walk *w, const char *file)
{
	int len = snprintf(source, TRK_CGROUP_TEXT_SIZE, "cgroup v%d %s of ", w->place->version,
			   file);

	trk__cgroup_dir_path(w->place, w->dir, source + len, TRK_CGROUP_TEXT_SIZE - (size_t) len);
}

void trk__cgroup_limits_clear(struct trk_cgroup_limits *limits)
{
	*limits = (struct trk_cgroup_limits){
		.cpu_cores = (double) NAN,
		.memory_bytes = TRK_NO_LIMIT,
		.memory_high_bytes = TRK_NO_LIMIT,
		.swap_bytes = TRK_NO_LIMIT,
		.pids = TRK_NO_LIMIT,
	};
}

/* Lower *best to a value read from `file`. Among equals the group nearest to the process counts. */
static void tighten(const struct walk *w, const char *file, uint64_t value, uint64_t *best,
		    char source[TRK_CGROUP_TEXT_SIZE])
{
	if (value >= *best)
		return;
	*best = value;
	set_source(source, w, file);
}

static void limit_of_file(struct walk w, const char *file, uint64_t *best,
			  char source[TRK_CGROUP_TEXT_SIZE], struct trk_cgroup_limits *l)
{
	do {
		uint64_t value;
		int r = walk_read_limit(&w, file, &value);

		if (r == 0)
			tighten(&w, file, value, best, source);
		note_refusal(l, r);
	} while (walk_up(&w));
}

/* v1 has a limit of memory plus swap, from which the limit of swap is derived. */
static void memory_limits_v1(struct walk w, struct trk_cgroup_limits *l)
{
	const struct walk leaf = w;
	char text[8192];
	uint64_t value;

	for (;;) {
		uint64_t memory = TRK_NO_LIMIT, both;
		int r = walk_read_limit(&w, "memory.limit_in_bytes", &memory);

		note_refusal(l, r);
		if (r == 0)
			tighten(&w, "memory.limit_in_bytes", memory, &l->memory_bytes,
				l->memory_from);
		if (walk_read_limit(&w, "memory.memsw.limit_in_bytes", &both) == 0 &&
		    both != TRK_NO_LIMIT && memory <= both)
			tighten(&w, "memory.memsw.limit_in_bytes", both - memory, &l->swap_bytes,
				l->swap_from);
		if (!walk_up(&w))
			break;
		/* Before Linux 5.11 a group's limit need not apply to its children. */
		if (walk_read(&w, "memory.use_hierarchy", text, sizeof(text)) == 0 &&
		    text[0] == '0')
			break;
	}
	/* The effective limit, including ancestors that the mount does not show. */
	if (walk_read(&leaf, "memory.stat", text, sizeof(text)) == 0 &&
	    trk__cgroup_keyed_parse(text, "hierarchical_memory_limit", &value) == 0 &&
	    value >> 62 == 0)
		tighten(&leaf, "hierarchical_memory_limit", value, &l->memory_bytes,
			l->memory_from);
}

static void memory_limits(const struct trk_cgroup *cg, struct trk_cgroup_limits *l)
{
	struct walk w;

	if (!walk_begin(&w, cg, TRK_CGROUP_MEMORY))
		return;
	if (w.place->version == 1) {
		memory_limits_v1(w, l);
		return;
	}
	limit_of_file(w, "memory.max", &l->memory_bytes, l->memory_from, l);
	limit_of_file(w, "memory.high", &l->memory_high_bytes, l->memory_high_from, l);
	limit_of_file(w, "memory.swap.max", &l->swap_bytes, l->swap_from, l);
}

static int read_quota(const struct walk *w, double *ret)
{
	char quota[64], period[64];
	int r;

	if (w->place->version == 2) {
		r = walk_read(w, "cpu.max", quota, sizeof(quota));
		return r < 0 ? r : trk__cgroup_cpu_max_parse(quota, ret);
	}
	r = walk_read(w, "cpu.cfs_quota_us", quota, sizeof(quota));
	if (r == 0)
		r = walk_read(w, "cpu.cfs_period_us", period, sizeof(period));
	return r < 0 ? r : trk__cgroup_cfs_parse(quota, period, ret);
}

static void cpu_limit(const struct trk_cgroup *cg, struct trk_cgroup_limits *l)
{
	struct walk w;

	if (!walk_begin(&w, cg, TRK_CGROUP_CPU))
		return;
	do {
		double cores;
		int r = read_quota(&w, &cores);

		note_refusal(l, r);
		if (r < 0 || isnan(cores) || cores >= l->cpu_cores)
			continue;
		l->cpu_cores = cores;
		set_source(l->cpu_from, &w, w.place->version == 2 ? "cpu.max" : "cpu.cfs_quota_us");
	} while (walk_up(&w));
}

static void cpuset_limit(const struct trk_cgroup *cg, struct trk_cgroup_limits *l)
{
	static const char *const files[] = {
		"cpuset.cpus.effective", /* v2 */
		"cpuset.effective_cpus", /* v1, Linux 3.17+ */
		"cpuset.cpus",
	};
	struct walk w;

	if (!walk_begin(&w, cg, TRK_CGROUP_CPUSET))
		return;
	do {
		for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
			char text[4096];
			unsigned int count;

			if (walk_read(&w, files[i], text, sizeof(text)) < 0 ||
			    trk__cgroup_cpu_list_parse(text, &count) < 0 || count == 0)
				continue;
			if (l->cpuset_cpus == 0 || count < l->cpuset_cpus) {
				l->cpuset_cpus = count;
				set_source(l->cpuset_from, &w, files[i]);
			}
			break;
		}
	} while (walk_up(&w));
}

int trk__cgroup_limits(const struct trk_cgroup *cg, struct trk_cgroup_limits *ret)
{
	struct walk w;

	trk__cgroup_limits_clear(ret);
	cpu_limit(cg, ret);
	cpuset_limit(cg, ret);
	memory_limits(cg, ret);
	if (walk_begin(&w, cg, TRK_CGROUP_PIDS))
		limit_of_file(w, "pids.max", &ret->pids, ret->pids_from, ret);
	return 0;
}

const char *trk__cgroup_limits_doubt(const struct trk_cgroup *cg, enum trk_cgroup_part part,
				     const struct trk_cgroup_limits *limits)
{
	if (cg->place[part].version != 0 && cg->place[part].fallback)
		return "the control group is not visible here (namespaces, or what is mounted): "
		       "its "
		       "limits are unknown";
	if (limits->refused)
		return "no permission to read files of the control group: its limits are unknown";
	return NULL;
}

/* The value of a key in a file of the group. 0 or a negative errno. */
static int walk_read_keyed(const struct walk *w, const char *file, const char *key, uint64_t *ret)
{
	char text[1024];
	int r = walk_read(w, file, text, sizeof(text));

	return r < 0 ? r : trk__cgroup_keyed_parse(text, key, ret);
}

static int walk_read_kills(const struct walk *w, uint64_t *ret)
{
	return walk_read_keyed(w, w->place->version == 2 ? "memory.events" : "memory.oom_control",
			       "oom_kill", ret);
}

int trk__cgroup_oom_kills_at(const struct trk_cgroup *cg, uint64_t *ret)
{
	struct walk w;

	return walk_begin(&w, cg, TRK_CGROUP_MEMORY) && walk_read_kills(&w, ret) == 0 ? 0
										      : -EOPNOTSUPP;
}

int trk__cgroup_charged_oom_kills(const struct trk_cgroup *cg, uint64_t *ret)
{
	char text[1024];
	struct walk w;

	if (!walk_begin(&w, cg, TRK_CGROUP_MEMORY) || w.place->version != 2)
		return -EOPNOTSUPP;
	while (walk_up(&w))
		if (walk_read(&w, "memory.events", text, sizeof(text)) == 0)
			return trk__cgroup_keyed_parse(text, "oom_kill", ret) == 0 ? 1
										   : -EOPNOTSUPP;
	return -EOPNOTSUPP;
}

int trk__cgroup_oom_kills_above(const struct trk_cgroup *cg, uint64_t *ret,
				char path[TRK_CGROUP_TEXT_SIZE])
{
	struct walk w;
	bool v2, found = false;
	uint64_t most = 0;

	if (!walk_begin(&w, cg, TRK_CGROUP_MEMORY))
		return -ENOENT;
	v2 = w.place->version == 2;
	while (walk_up(&w)) {
		uint64_t limit, kills;

		if (walk_read_limit(&w, v2 ? "memory.max" : "memory.limit_in_bytes", &limit) < 0 ||
		    limit == TRK_NO_LIMIT || walk_read_kills(&w, &kills) < 0 ||
		    (found && kills <= most))
			continue;
		most = kills;
		found = true;
		trk__cgroup_dir_path(w.place, w.dir, path, TRK_CGROUP_TEXT_SIZE);
	}
	if (!found)
		return -ENOENT;
	*ret = most;
	return 0;
}

int trk__cgroup_limit_hits(const struct trk_cgroup *cg, uint64_t *ret)
{
	uint64_t lowest = TRK_NO_LIMIT;
	struct walk w, at;
	char text[64];
	bool v2;

	if (!walk_begin(&w, cg, TRK_CGROUP_MEMORY))
		return -ENOENT;
	v2 = w.place->version == 2;
	do {
		uint64_t limit;

		if (walk_read_limit(&w, v2 ? "memory.max" : "memory.limit_in_bytes", &limit) < 0 ||
		    limit >= lowest)
			continue;
		lowest = limit;
		at = w;
	} while (walk_up(&w));
	if (lowest == TRK_NO_LIMIT)
		return -ENOENT;
	if (v2)
		return walk_read_keyed(&at, "memory.events", "max", ret) == 0 ? 0 : -ENOENT;
	return walk_read(&at, "memory.failcnt", text, sizeof(text)) == 0 &&
			       trk__cgroup_number_parse(text, ret) == 0
		       ? 0
		       : -ENOENT;
}

void trk__cgroup_forks(const struct trk_cgroup *cg, struct trk_cgroup_forks *ret)
{
	size_t level = 0;
	struct walk w;

	*ret = (struct trk_cgroup_forks){.known = false};
	if (!walk_begin(&w, cg, TRK_CGROUP_PIDS))
		return;
	do
		if (walk_read_keyed(&w, "pids.events", "max", &ret->refused[level]) == 0)
			ret->known = true;
	while (++level < TRK_CGROUP_LEVELS_MAX && walk_up(&w));
}

uint64_t trk__cgroup_forks_since(const struct trk_cgroup_forks *now,
				 const struct trk_cgroup_forks *before)
{
	uint64_t most = 0;

	for (size_t i = 0; i < TRK_CGROUP_LEVELS_MAX; i++) {
		uint64_t grown = now->refused[i] > before->refused[i]
					 ? now->refused[i] - before->refused[i]
					 : 0;

		if (grown > most)
			most = grown;
	}
	return most;
}
