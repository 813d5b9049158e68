#include "probe/linux/process_count.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"

#define RECOUNT_INTERVAL_NS (60 * TRK_NS_PER_S)

static int64_t walk(const struct trk_env *env)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(env->proc_fd, ".");
	struct dirent *entry;
	int64_t n = 0;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	return n;
}

int trk__process_count_read(struct trk_process_count *c, const struct trk_env *env, uint64_t *ret)
{
	uint64_t now_ns = env->monotonic_ns();
	struct stat st;
	int64_t n;

	if (!c->asked) {
		c->shows_all = trk__env_pid_namespace(env) == 0;
		c->asked = true;
	}
	if (c->shows_all && fstat(env->proc_fd, &st) < 0)
		return -errno;
	if (!c->shows_all || now_ns >= c->recount_ns) {
		n = walk(env);
		if (n < 0)
			return (int) n;
		if (c->shows_all)
			c->links = (int64_t) st.st_nlink - n;
		c->recount_ns = now_ns + RECOUNT_INTERVAL_NS;
	} else {
		n = (int64_t) st.st_nlink - c->links;
	}
	if (n <= 0)
		return -ENODATA;
	*ret = (uint64_t) n;
	return 0;
}
