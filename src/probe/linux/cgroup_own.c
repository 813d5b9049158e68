#include "probe/linux/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/cgroup_private.h"

#define PREFIX "resource-tracker-"

enum {
	REMOVE_TRIES = 20,  /* attempts to remove a group whose last processes are ending */
	REMOVE_NAP_MS = 1,  /* between two attempts */
	PROCS_MAX = 1 << 16 /* bytes of a list of processes to move */
};

/* Contents of the files of a v2 group without limits. A missing file means no limit. */
static const struct {
	const char *file, *value;
} neutral[] = {
	{"memory.max", "max"},        {"memory.high", "max"},
	{"memory.low", "0"},          {"memory.min", "0"},
	{"memory.swap.max", "max"},   {"cpu.max", "max"},
	{"cpu.weight", "100"},        {"cpu.idle", "0"},
	{"pids.max", "max"},          {"io.max", ""},
	{"io.weight", "default 100"}, {"cpuset.cpus", ""},
	{"cpuset.mems", ""},
};

__attribute__((format(printf, 3, 4))) static int refuse(char *why, int error, const char *format,
							...)
{
	va_list args;

	va_start(args, format);
	(void) vsnprintf(why, TRK_CGROUP_TEXT_SIZE, format, args);
	va_end(args);
	return error;
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ' ') && (!at[len] || strchr(" \n", at[len])))
			return true;
	return false;
}

static bool gives_memory_to_children(int cgroup_fd, const char *dir)
{
	char text[512];

	return trk__read_at(cgroup_fd, TRK_PATH("%s/cgroup.subtree_control", dir), text,
			    sizeof(text)) > 0 &&
	       has_word(text, "memory");
}

/* The first file by which the group limits its processes, or NULL. */
static const char *limit_of(int cgroup_fd, const char *dir)
{
	char text[512];

	for (size_t i = 0; i < sizeof(neutral) / sizeof(neutral[0]); i++) {
		size_t len = strlen(neutral[i].value);
		ssize_t got = trk__read_at(cgroup_fd, TRK_PATH("%s/%s", dir, neutral[i].file), text,
					   sizeof(text));

		if (got == -ENOENT)
			continue;
		if (got < 0 || strncmp(text, neutral[i].value, len) != 0 ||
		    (text[len] && !strchr(" \n", text[len])))
			return neutral[i].file;
	}
	return NULL;
}

/* ---- systemd ---- */

static bool is_unit(const char *name)
{
	static const char *const endings[] = {".service", ".scope", ".slice"};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t end = strlen(endings[i]);

		if (len > end && !strcmp(name + len - end, endings[i]))
			return true;
	}
	return false;
}

static bool is_delegated(int cgroup_fd, const char *dir)
{
	TRK_FD_CLEANUP int fd = trk__open_dir_at(cgroup_fd, dir);
	char value[2];

	return fd >= 0 && ((fgetxattr(fd, "user.delegate", value, 1) == 1 && value[0] == '1') ||
			   (fgetxattr(fd, "trusted.delegate", value, 1) == 1 && value[0] == '1'));
}

/* True if groups may be made in `dir`: where systemd manages them, only in a delegated unit. */
static bool is_free(const struct trk_env *env, const struct trk_cgroup_place *place,
		    const char *dir)
{
	char unit[TRK_CGROUP_PATH_SIZE];

	if (env->sys_fd < 0 || faccessat(env->sys_fd, "../run/systemd/system", F_OK, 0) < 0)
		return true;
	(void) snprintf(unit, sizeof(unit), "%s", dir);
	do
		if (is_unit(unit))
			return is_delegated(env->cgroup_fd, unit);
	while (trk__cgroup_dir_up(place, unit));
	return false;
}

/* ---- the parent of the group ---- */

static int place_v1(const struct trk_cgroup *cg, char dir[TRK_CGROUP_PATH_SIZE], char *why)
{
	const struct trk_cgroup_place *place = &cg->place[TRK_CGROUP_MEMORY];
	char text[8];

	if (!place->machine_root &&
	    trk__read_at(cg->cgroup_fd, TRK_PATH("%s/memory.use_hierarchy", place->dir), text,
			 sizeof(text)) > 0 &&
	    text[0] == '0')
		return refuse(why, -EOPNOTSUPP,
			      "limits would not apply below the group (memory.use_hierarchy is 0)");
	memcpy(dir, place->dir, TRK_CGROUP_PATH_SIZE);
	return 0;
}

static int place_v2(const struct trk_env *env, const struct trk_cgroup *cg, bool below,
		    char dir[TRK_CGROUP_PATH_SIZE], char *why)
{
	const struct trk_cgroup_place *place = &cg->place[TRK_CGROUP_MEMORY];
	const char *name = strrchr(place->dir + place->mount_len, '/');
	const char *limit;

	memcpy(dir, place->dir, TRK_CGROUP_PATH_SIZE);
	if (!gives_memory_to_children(cg->cgroup_fd, dir)) {
		if (!name)
			return refuse(
				why, -EOPNOTSUPP,
				"cgroup v2 allows no child of a group that contains processes");
		if (below)
			return refuse(why, -EOPNOTSUPP,
				      "only beside the tracker's group, whose manager would not "
				      "see it");
		if (trk__skip_prefix(name, "/" PREFIX))
			return refuse(why, -EOPNOTSUPP,
				      "the group of the outer run would not count its sibling");
		limit = limit_of(cg->cgroup_fd, dir);
		if (limit)
			return refuse(why, -EOPNOTSUPP,
				      "%s of the group would not apply to its sibling", limit);
		*strrchr(dir + place->mount_len, '/') = '\0';
		if (!gives_memory_to_children(cg->cgroup_fd, dir))
			return refuse(
				why, -EOPNOTSUPP,
				"the memory controller is not enabled for siblings of this group");
	}
	if (!is_free(env, place, dir))
		return refuse(
			why, -EPERM,
			"systemd manages this group. Try: systemd-run --scope -p Delegate=yes");
	return 0;
}

static int find_place_for(const struct trk_env *env, const struct trk_cgroup *cg, bool below,
			  char dir[TRK_CGROUP_PATH_SIZE], char *why)
{
	const struct trk_cgroup_place *place = &cg->place[TRK_CGROUP_MEMORY];
	struct trk_cgroup_limits limits;
	int r;

	if (place->version == 0)
		return refuse(why, -EOPNOTSUPP, "no memory controller is found");
	if (place->fallback)
		return refuse(why, -EOPNOTSUPP, "the tracker's group is not visible here");
	r = place->version == 1 ? place_v1(cg, dir, why) : place_v2(env, cg, below, dir, why);
	if (r < 0)
		return r;
	(void) trk__cgroup_limits(cg, &limits);
	if (below && (limits.memory_bytes != TRK_NO_LIMIT || limits.refused))
		return refuse(why, -EOPNOTSUPP,
			      "its copy of the memory limit would not follow changes");
	if (faccessat(cg->cgroup_fd, dir, W_OK, AT_EACCESS) < 0)
		return refuse(why, -errno, "%s cannot be written: %s", dir, trk__strerror(-errno));
	return 0;
}

/* ---- making it ---- */

/* Remove groups of trackers that were killed; rmdir fails for those with a process. */
static void sweep(int parent_fd)
{
	TRK_DIR_CLEANUP DIR *list = trk__list_dir_at(parent_fd, ".");
	const struct dirent *entry;

	while ((entry = trk__next_entry(list))) {
		const char *at = trk__skip_prefix(entry->d_name, PREFIX);
		uint64_t pid;

		if (at && trk__scan_u64(&at, &pid) && pid > 0 && pid <= INT32_MAX && *at == '-' &&
		    kill((pid_t) pid, 0) < 0 && errno == ESRCH)
			(void) unlinkat(parent_fd, entry->d_name, AT_REMOVEDIR);
	}
}

/* Programs that read the limit of their own group then find the effective one. */
static void copy_limit(const struct trk_cgroup *cg, int group_fd)
{
	const char *file =
		cg->place[TRK_CGROUP_MEMORY].version == 1 ? "memory.limit_in_bytes" : "memory.max";
	struct trk_cgroup_limits limits;
	char text[32];

	(void) trk__cgroup_limits(cg, &limits);
	if (limits.memory_bytes == TRK_NO_LIMIT)
		return;
	TRK_FD_CLEANUP int fd = openat(group_fd, file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void) snprintf(text, sizeof(text), "%llu", (unsigned long long) limits.memory_bytes);
	(void) !write(fd, text, strlen(text));
}

static int make_in(struct trk_cgroup_own *own, const struct trk_cgroup *cg, const char *id,
		   char *why)
{
	int error;

	sweep(own->parent_fd);
	(void) snprintf(own->name, sizeof(own->name), PREFIX "%d-%s", (int) getpid(), id);
	if (mkdirat(own->parent_fd, own->name, 0755) < 0)
		return refuse(why, -errno, "%s cannot be created: %s", own->name,
			      trk__strerror(-errno));
	TRK_FD_CLEANUP int group_fd = trk__open_dir_at(own->parent_fd, own->name);
	if (group_fd >= 0)
		own->procs_fd =
			openat(group_fd,
			       cg->place[TRK_CGROUP_MEMORY].version == 1 ? "tasks" : "cgroup.procs",
			       O_WRONLY | O_CLOEXEC);
	if (own->procs_fd >= 0) {
		copy_limit(cg, group_fd);
		return 0;
	}
	error = errno;
	(void) unlinkat(own->parent_fd, own->name, AT_REMOVEDIR);
	return refuse(why, -error, "cgroup.procs cannot be written: %s", trk__strerror(-error));
}

int trk__cgroup_own_make(struct trk_cgroup_own *ret, const struct trk_env *env,
			 const struct trk_cgroup *cg, const char *id, bool below,
			 char why[TRK_CGROUP_TEXT_SIZE])
{
	struct trk_cgroup_own own = TRK_CGROUP_OWN_NONE;
	char dir[TRK_CGROUP_PATH_SIZE];
	int r = cg->open ? find_place_for(env, cg, below, dir, why)
			 : refuse(why, -EOPNOTSUPP, "no control group is found");

	if (r < 0 || !ret)
		return r;
	own.parent_fd = trk__open_dir_at(env->cgroup_fd, dir);
	own.home_fd = trk__open_dir_at(env->cgroup_fd, cg->place[TRK_CGROUP_MEMORY].dir);
	r = own.parent_fd < 0 ? refuse(why, own.parent_fd, "%s cannot be opened", dir)
			      : make_in(&own, cg, id, why);
	if (r < 0) {
		trk__close(own.parent_fd);
		trk__close(own.home_fd);
		return r;
	}
	(void) snprintf(own.dir, sizeof(own.dir), "%.*s/%s",
			(int) (sizeof(own.dir) - sizeof(own.name) - 2), dir, own.name);
	*ret = own;
	return 0;
}

void trk__cgroup_own_open(const struct trk_cgroup_own *own, struct trk_cgroup *cg)
{
	const int version = cg->place[TRK_CGROUP_MEMORY].version;

	for (int i = 0; cg->open && i < TRK_CGROUP_FILES; i++)
		trk__close(cg->fd[i]);
	for (int part = 0; part < TRK_CGROUP_PARTS; part++) {
		struct trk_cgroup_place *place = &cg->place[part];

		/* v2 has one group for all parts; on v1 only the memory part changes. */
		if (part != TRK_CGROUP_MEMORY && (version != 2 || place->version != 2))
			continue;
		memcpy(place->dir, own->dir, sizeof(place->dir));
		place->machine_root = false;
	}
	trk__cgroup_usage_open(cg);
}

bool trk__cgroup_own_holds(const struct trk_cgroup_own *own, const struct trk_cgroup_place *place)
{
	const char *rest = trk__skip_prefix(place->dir, own->dir);

	return rest && (*rest == '/' || *rest == '\0');
}

void trk__cgroup_own_kill(const struct trk_cgroup_own *own)
{
	TRK_FD_CLEANUP int fd =
		own->parent_fd < 0 ? -1
				   : openat(own->parent_fd, TRK_PATH("%s/cgroup.kill", own->name),
					    O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void) !write(fd, "1", 1);
}

/* ---- removing it ---- */

static void send_home(const struct trk_cgroup_own *own)
{
	TRK_FD_CLEANUP int home = openat(own->home_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	char *text = NULL;
	const char *at;
	uint64_t pid;

	if (home < 0 || trk__read_all_at(own->parent_fd, TRK_PATH("%s/cgroup.procs", own->name),
					 PROCS_MAX, &text) < 0)
		return;
	for (at = text; trk__scan_u64(&at, &pid); at = trk__skip_line(at)) {
		char number[24];
		int len = snprintf(number, sizeof(number), "%llu", (unsigned long long) pid);

		(void) !write(home, number, (size_t) len);
	}
	free(text);
}

void trk__cgroup_own_remove(struct trk_cgroup_own *own)
{
	const struct timespec nap = {.tv_nsec = REMOVE_NAP_MS * 1000000L};
	bool busy = own->parent_fd >= 0;

	for (int i = 0; busy && i < REMOVE_TRIES; i++) {
		busy = unlinkat(own->parent_fd, own->name, AT_REMOVEDIR) < 0 && errno == EBUSY;
		if (!busy)
			break;
		send_home(own);
		(void) nanosleep(&nap, NULL);
	}
	trk__close(own->procs_fd);
	trk__close(own->parent_fd);
	trk__close(own->home_fd);
	*own = (struct trk_cgroup_own) TRK_CGROUP_OWN_NONE;
}
