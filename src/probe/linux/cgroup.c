#include "probe/linux/cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "probe/linux/cgroup_private.h"

/* Limits beyond any useful list of groups or mounts. */
enum { MEMBERS_MAX = 1 << 16, MOUNTS_MAX = 1 << 24 };

static const char *const controllers[TRK_CGROUP_PARTS] = {
	[TRK_CGROUP_CPU] = "cpu",       [TRK_CGROUP_CPUACCT] = "cpuacct",
	[TRK_CGROUP_CPUSET] = "cpuset", [TRK_CGROUP_MEMORY] = "memory",
	[TRK_CGROUP_PIDS] = "pids",     [TRK_CGROUP_DEVICES] = "devices",
	[TRK_CGROUP_UNIFIED] = NULL,
};

static bool exists(int cgroup_fd, const char *dir, const char *file)
{
	return faccessat(cgroup_fd, TRK_PATH("%s/%s", dir, file), F_OK, 0) == 0;
}

/* Initialise a place with a directory below cgroup_fd, if it exists. */
static bool try_mount(int cgroup_fd, const char *dir, struct trk_cgroup_place *ret)
{
	size_t len = strlen(dir);

	if (len >= sizeof(ret->dir) || !exists(cgroup_fd, dir, "cgroup.procs"))
		return false;
	memcpy(ret->dir, dir, len + 1);
	ret->mount_len = len;
	return true;
}

/* As above, for a mount point. cgroup_fd represents /sys/fs/cgroup. */
static bool try_mount_point(int cgroup_fd, const struct trk_mount *m, struct trk_cgroup_place *ret)
{
	static const char usual[] = "/sys/fs/cgroup";
	const size_t len = sizeof(usual) - 1;
	char dir[sizeof(m->point) + 16];
	bool below = !strncmp(m->point, usual, len) && (m->point[len] == '/' || !m->point[len]);

	(void) snprintf(dir, sizeof(dir), "%s%s", below ? "." : "../../..",
			below ? m->point + len : m->point);
	return try_mount(cgroup_fd, dir, ret);
}

/* Without an entry in mountinfo, try where distributions mount the hierarchies. */
static bool guess_mount(int cgroup_fd, const char *controller,
			const struct trk_cgroup_member *member, struct trk_cgroup_place *ret)
{
	char dir[sizeof(member->controllers) + 8];

	if (!controller)
		return (exists(cgroup_fd, ".", "cgroup.controllers") &&
			try_mount(cgroup_fd, ".", ret)) ||
		       try_mount(cgroup_fd, "./unified", ret);
	(void) snprintf(dir, sizeof(dir), "./%s", member->controllers);
	if (try_mount(cgroup_fd, dir, ret))
		return true;
	(void) snprintf(dir, sizeof(dir), "./%s", controller);
	return try_mount(cgroup_fd, dir, ret);
}

/* Only the root groups of v1 have a release agent; only those of v2 lack cgroup.events. */
static bool is_machine_root(int cgroup_fd, const struct trk_cgroup_place *place)
{
	if (place->version == 1)
		return exists(cgroup_fd, place->dir, "release_agent") ||
		       exists(cgroup_fd, place->dir, "cgroup.sane_behavior");
	return !exists(cgroup_fd, place->dir, "cgroup.events");
}

static void find_place(int cgroup_fd, const char *controller, const char *members,
		       const char *mounts, struct trk_cgroup_place *ret)
{
	struct trk_cgroup_place place = {0};
	struct trk_cgroup_member member;
	struct trk_mount mount;
	const char *below;
	size_t len;

	if (trk__cgroup_member_parse(members, controller, &member) < 0)
		return;
	if (trk__cgroup_mount_parse(mounts, controller, member.path, &mount) < 0 ||
	    !try_mount_point(cgroup_fd, &mount, &place)) {
		if (!guess_mount(cgroup_fd, controller, &member, &place))
			return;
		memcpy(mount.root, "/", 2);
	}
	place.version = controller ? 1 : 2;
	if (strcmp(mount.root, "/") != 0)
		memcpy(place.root, mount.root, strlen(mount.root) + 1);
	below = trk__cgroup_path_below(member.path, mount.root);
	len = below ? strlen(below) : 0;
	if (below && place.mount_len + len < sizeof(place.dir))
		memcpy(place.dir + place.mount_len, below, len + 1);
	else
		place.fallback = true;
	if (!place.fallback && !exists(cgroup_fd, place.dir, "cgroup.procs")) {
		place.dir[place.mount_len] = '\0';
		place.fallback = true;
	}
	place.machine_root = is_machine_root(cgroup_fd, &place);
	*ret = place;
}

/* Returns whether any part was found. */
static bool find_places(struct trk_cgroup *cg, const char *members, const char *mounts)
{
	const struct trk_cgroup_place *unified = &cg->place[TRK_CGROUP_UNIFIED];
	bool found;

	find_place(cg->cgroup_fd, NULL, members, mounts, &cg->place[TRK_CGROUP_UNIFIED]);
	found = unified->version != 0;
	for (int part = 0; part < TRK_CGROUP_UNIFIED; part++) {
		struct trk_cgroup_member member;
		bool on_v1 = trk__cgroup_member_parse(members, controllers[part], &member) == 0;

		if (on_v1)
			find_place(cg->cgroup_fd, controllers[part], members, mounts,
				   &cg->place[part]);
		/* Controllers that are not on v1 are on v2, where CPU time is always counted. */
		if (cg->place[part].version == 0 && (!on_v1 || part == TRK_CGROUP_CPUACCT))
			cg->place[part] = *unified;
		found |= cg->place[part].version != 0;
	}
	return found;
}

static int read_members(const struct trk_env *env, pid_t pid, char **ret)
{
	ssize_t len =
		trk__read_all_at(env->proc_fd, TRK_PATH("%d/cgroup", (int) pid), MEMBERS_MAX, ret);

	if (len == -ENOENT) /* either the process or the kernel's support is missing */
		return faccessat(env->proc_fd, TRK_PATH("%d", (int) pid), F_OK, 0) < 0
			       ? -ESRCH
			       : -EOPNOTSUPP;
	return len < 0 ? (int) len : 0;
}

int trk__cgroup_find(struct trk_cgroup *cg, const struct trk_env *env, pid_t pid)
{
	char *members, *mounts = NULL;
	bool found = false;
	int r;

	*cg = (struct trk_cgroup){.cgroup_fd = env->cgroup_fd};
	r = read_members(env, pid, &members);
	if (r < 0)
		return r;
	if (env->cgroup_fd >= 0) {
		if (trk__read_all_at(env->proc_fd, "self/mountinfo", MOUNTS_MAX, &mounts) < 0)
			mounts = NULL;
		found = find_places(cg, members, mounts ? mounts : "");
	}
	free(members);
	free(mounts);
	return found ? 0 : -EOPNOTSUPP;
}

int trk__cgroup_open(struct trk_cgroup *cg, const struct trk_env *env, pid_t pid)
{
	int r = trk__cgroup_find(cg, env, pid);

	if (r == 0)
		trk__cgroup_usage_open(cg);
	return r;
}

void trk__cgroup_release(struct trk_cgroup *cg)
{
	for (int i = 0; cg->open && i < TRK_CGROUP_FILES; i++)
		trk__close(cg->fd[i]);
	*cg = (struct trk_cgroup){.cgroup_fd = -1};
}

void trk__cgroup_path(const struct trk_cgroup *cg, enum trk_cgroup_part part, char *text,
		      size_t size)
{
	const struct trk_cgroup_place *place = &cg->place[part];

	if (place->version == 0)
		text[0] = '\0';
	else
		trk__cgroup_dir_path(place, place->dir, text, size);
}
