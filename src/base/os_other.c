/* What base/os.h has in one form on all systems but Linux. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/os.h"

int trk__os_reserve(int fd, uint64_t at, uint64_t len)
{
	return -EOPNOTSUPP;
}

ssize_t trk__os_attribute(int dirfd, const char *name, const char *attribute, void *data,
			  size_t size)
{
	return 0;
}

pid_t trk__os_lock_holder(const struct stat *st)
{
	return 0;
}

bool trk__os_has_unmapped_ids(void)
{
	return false;
}

const char *trk__os_own_file(void)
{
	static char path[PATH_MAX];

	return trk__os_program(path, sizeof(path)) == 0 ? path : "";
}

bool trk__os_has_stack(uint64_t bytes)
{
	return true;
}

bool trk__os_is_dynamic(void)
{
	return true;
}

/* There is no server of the dashboard. */
bool trk__os_replaces_library(const char *soname)
{
	return !strcmp(soname, "libmicrohttpd.so.12");
}
