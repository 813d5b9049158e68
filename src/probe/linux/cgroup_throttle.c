#include "probe/linux/cgroup_throttle.h"

#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "probe/linux/cgroup_private.h"

#define NS_PER_US 1000u

/* Read one file. Returns false without such figures: no CPU controller, or the group is gone. */
static bool read_one(const struct trk_throttle_group *g, uint64_t *ret_periods, uint64_t *ret_ns)
{
	char text[1024];
	ssize_t len = trk__read_once_fd(g->fd, text, sizeof(text));
	uint64_t periods, ns;

	if (len < 0 || trk__cgroup_keyed_parse(text, "nr_periods", &periods) < 0)
		return false;
	if (trk__cgroup_keyed_parse(text, "throttled_time", &ns) < 0 &&
	    (trk__cgroup_keyed_parse(text, "throttled_usec", &ns) < 0 ||
	     __builtin_mul_overflow(ns, NS_PER_US, &ns)))
		return false;
	*ret_periods = periods;
	*ret_ns = ns;
	return true;
}

static void add_group(struct trk_throttle *t, const struct trk_cgroup *cg, const char *dir)
{
	struct trk_throttle_group *g = &t->group[t->groups];
	uint64_t periods;

	*g = (struct trk_throttle_group){
		.fd = openat(cg->cgroup_fd, TRK_PATH("%s/cpu.stat", dir), O_RDONLY | O_CLOEXEC)};
	if (g->fd < 0)
		return;
	if (read_one(g, &periods, &g->throttled_ns)) {
		g->has_quota = periods > 0;
		t->known = true;
	}
	t->groups++;
}

void trk__throttle_follow(struct trk_throttle *t, const struct trk_cgroup *cg)
{
	const struct trk_cgroup_place *place = &cg->place[TRK_CGROUP_CPU];
	char dir[TRK_CGROUP_PATH_SIZE];

	(void) trk__throttle_read(t);
	trk__throttle_release(t);
	memcpy(dir, place->dir, sizeof(dir));
	if (cg->open && place->version != 0 && !place->machine_root)
		do
			add_group(t, cg, dir);
		while (t->groups < TRK_THROTTLE_GROUPS_MAX && trk__cgroup_dir_up(place, dir));
}

bool trk__throttle_read(struct trk_throttle *t)
{
	bool any = false;

	for (int i = 0; i < t->groups; i++) {
		struct trk_throttle_group *g = &t->group[i];
		uint64_t periods, ns;

		if (read_one(g, &periods, &ns)) {
			g->has_quota |= periods > 0;
			t->total_ns += ns > g->throttled_ns ? ns - g->throttled_ns : 0;
			g->throttled_ns = ns;
			t->known = true;
		}
		any |= g->has_quota;
	}
	return any;
}

void trk__throttle_release(struct trk_throttle *t)
{
	for (int i = 0; i < t->groups; i++)
		trk__close(t->group[i].fd);
	*t = (struct trk_throttle){.total_ns = t->total_ns, .known = t->known};
}
