#include "probe/linux/process_count.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define RECOUNT_INTERVAL_NS (60 * TRK_NS_PER_S)

/* PROC_PID_INIT_INO of the kernel: the same on every machine. */
static const char first_namespace[] = "pid:[4026531836]";

static bool is_first_namespace(const struct trk_env *env)
{
	char name[sizeof(first_namespace)];
	ssize_t len = readlinkat(env->proc_fd, "self/ns/pid", name, sizeof(name));

	return len == (ssize_t) strlen(first_namespace) &&
	       !memcmp(name, first_namespace, (size_t) len);
}

static int64_t walk(const struct trk_env *env)
{
	struct dirent *entry;
	int64_t n = 0;
	DIR *dir;
	int r = trk__list_dir_at(env->proc_fd, ".", &dir);

	if (r < 0)
		return r;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	(void) closedir(dir);
	return n;
}

int trk__process_count_read(struct trk_process_count *c, const struct trk_env *env, uint64_t *ret)
{
	uint64_t now_ns = env->monotonic_ns();
	struct stat st;
	int64_t n;

	if (!c->asked) {
		c->shows_all = is_first_namespace(env);
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
