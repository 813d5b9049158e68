#include "recording/death.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/human.h"

/* Shares of the limit that the last sample held: from the first on a kill by the kernel explains
 * the end; from the second on a kill is likely even if no count can be read. */
static const double MOST_OF_IT = 0.5, NEARLY_ALL = 0.9;

enum { OWN, ABOVE };

static void read_boot(const struct trk_env *env, char *text, size_t size)
{
	if (trk__read_at(env->proc_fd, "sys/kernel/random/boot_id", text, size) < 0)
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

/* A recording is untrusted: only paths below /sys/fs/cgroup are accepted. */
static bool is_below(const char *dir)
{
	return dir[0] == '.' && (dir[1] == '/' || !dir[1]) && !strstr(dir, "..");
}

/* v2's file, or v1's. */
static bool read_kills(const struct trk_env *env, const char *dir, uint64_t *ret_inode,
		       uint64_t *ret_kills)
{
	static const char *const files[] = {"memory.events", "memory.oom_control"};
	char path[TRK_RUN_GROUP_SIZE + 32], text[1024];
	struct stat st;

	if (!is_below(dir) || env->cgroup_fd < 0 || fstatat(env->cgroup_fd, dir, &st, 0) < 0)
		return false;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void) snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		if (trk__read_at(env->cgroup_fd, path, text, sizeof(text)) > 0 &&
		    trk__cgroup_keyed_parse(text, "oom_kill", ret_kills) == 0) {
			*ret_inode = (uint64_t) st.st_ino;
			return true;
		}
	}
	return false;
}

static void note(const struct trk_env *env, const char *dir, struct trk_run_group *ret)
{
	if (strlen(dir) < sizeof(ret->dir) && read_kills(env, dir, &ret->inode, &ret->kills))
		(void) snprintf(ret->dir, sizeof(ret->dir), "%s", dir);
}

void trk__death_note(const struct trk_env *env, const struct trk_cgroup *cg,
		     struct trk_run_kills *ret)
{
	const struct trk_cgroup_place *place = &cg->place[TRK_CGROUP_MEMORY];
	char dir[TRK_CGROUP_PATH_SIZE], *slash;

	*ret = (struct trk_run_kills){.machine = 0};
	read_boot(env, ret->boot, sizeof(ret->boot));
	if (trk__vmstat_oom_kills(env->proc_fd, &ret->machine) < 0)
		ret->machine = UINT64_MAX;
	if (place->version == 0 || place->fallback)
		return;
	memcpy(dir, place->dir, sizeof(dir));
	note(env, dir, &ret->group[OWN]);
	while (!ret->group[ABOVE].dir[0] && strlen(dir) > place->mount_len &&
	       (slash = strrchr(dir + place->mount_len, '/'))) {
		*slash = '\0';
		note(env, dir, &ret->group[ABOVE]);
	}
}

/* Kills since the start; -1: the group has gone, or is another one. */
static int64_t rise(const struct trk_env *env, const struct trk_run_group *group)
{
	uint64_t inode, kills;

	if (!group->dir[0] || !read_kills(env, group->dir, &inode, &kills) || inode != group->inode)
		return -1;
	return kills > group->kills ? (int64_t) (kills - group->kills) : 0;
}

static int64_t machine_rise(const struct trk_env *env, const struct trk_run_kills *k)
{
	uint64_t now;

	if (k->machine == UINT64_MAX || trk__vmstat_oom_kills(env->proc_fd, &now) < 0)
		return -1;
	return now > k->machine ? (int64_t) (now - k->machine) : 0;
}

__attribute__((format(printf, 2, 3))) static void set_evidence(struct trk_record *record,
							       const char *format, ...)
{
	struct trk_outcome *o = &record->outcome;
	char held[TRK_HUMAN_SIZE], limit[TRK_HUMAN_SIZE];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(o->evidence, sizeof(o->evidence), format, args);
	va_end(args);
	if (len > 0 && (size_t) len < sizeof(o->evidence) && !isnan(record->last_memory_mib))
		(void) snprintf(
			o->evidence + len, sizeof(o->evidence) - (size_t) len,
			"; the last sample held %s of %s",
			trk__human_memory(held, record->last_memory_mib),
			trk__human_memory(limit, record->run.limit[TRK_LIMIT_MEMORY_MIB].value));
}

/* Explain by the count nearest to the job that has risen. Returns false if none has. */
static bool explain_rise(const struct trk_env *env, struct trk_record *record, double share)
{
	const struct trk_run_kills *k = &record->run.kills;
	const char *likely = share >= MOST_OF_IT ? "likely" : "perhaps";
	int64_t own = rise(env, &k->group[OWN]), above = -1, machine = -1;

	if (own < 0)
		above = rise(env, &k->group[ABOVE]);
	if (own < 0 && above < 0)
		machine = machine_rise(env, k);
	if (own > 0)
		set_evidence(record,
			     "%s killed with the tracker: oom_kill of the job's control group has "
			     "risen by "
			     "%lld since the start",
			     likely, (long long) own);
	else if (above > 0)
		set_evidence(record,
			     "%s out of memory: oom_kill of %.80s, above the job's group, has "
			     "risen by %lld "
			     "since the start",
			     likely, k->group[ABOVE].dir + (k->group[ABOVE].dir[0] == '.'),
			     (long long) above);
	else if (machine > 0)
		set_evidence(record,
			     "%s out of memory: oom_kill of the machine has risen by %lld since "
			     "the start",
			     likely, (long long) machine);
	else if (own == 0)
		set_evidence(
			record,
			"the kernel has counted no out-of-memory kill in the job's control group");
	if (own > 0 && share >= MOST_OF_IT)
		record->outcome.end = TRK_END_OUT_OF_MEMORY;
	record->outcome.is_inferred = true;
	return own >= 0 || above > 0 || machine > 0;
}

void trk__death_explain(const struct trk_env *env, struct trk_record *record)
{
	double share = record->last_memory_mib / record->run.limit[TRK_LIMIT_MEMORY_MIB].value;
	char boot[sizeof(record->run.kills.boot)];

	read_boot(env, boot, sizeof(boot));
	if (boot[0] && !strcmp(boot, record->run.kills.boot) && explain_rise(env, record, share))
		return;
	if (share >= NEARLY_ALL)
		set_evidence(record, "likely out of memory");
}
