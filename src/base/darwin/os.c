/* macOS 11 and later. */
#ifdef __APPLE__ /* else a checker of code reads this file with the headers of another system */

#include "base/os.h"

#include <crt_externs.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* ---- descriptors ---- */

const char trk__os_own_descriptors[] = "/dev/fd";

/* Takes the descriptor. Returns it, or a negative errno; -errno of the call that made it if it is
 * negative. */
static int close_on_exec(int fd)
{
	int r = fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : fd;

	if (fd >= 0 && r < 0)
		(void) close(fd);
	return r;
}

int trk__os_socket(int family, int type, int protocol)
{
	return close_on_exec(socket(family, type, protocol));
}

/* There is no O_PATH: the directory must be readable, too. */
int trk__os_open_way(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int trk__os_path_of(int fd, char *path, size_t size)
{
	char whole[PATH_MAX]; /* the size that F_GETPATH requires */

	if (fcntl(fd, F_GETPATH, whole) < 0)
		return -errno;
	return snprintf(path, size, "%s", whole) < (int) size ? 0 : -ENAMETOOLONG;
}

/* ---- files ---- */

int64_t trk__os_modified_ns(const struct stat *st)
{
	return (int64_t) st->st_mtimespec.tv_sec * 1000000000 + st->st_mtimespec.tv_nsec;
}

bool trk__os_is_remote(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) < 0 || !(fs.f_flags & MNT_LOCAL) || strstr(fs.f_fstypename, "fuse");
}

/* ---- this program ---- */

int trk__os_program(char *path, size_t size)
{
	char as_started[PATH_MAX], real[PATH_MAX];
	uint32_t room = sizeof(as_started);

	if (_NSGetExecutablePath(as_started, &room) < 0)
		return -ENAMETOOLONG;
	if (!realpath(as_started, real))
		return -errno;
	return snprintf(path, size, "%s", real) < (int) size ? 0 : -ENAMETOOLONG;
}

char **trk__os_environment(void)
{
	return *_NSGetEnviron();
}

/* "libz.so.1" -> "libz.1.dylib". */
static void name_library(const char *soname, char *name, size_t size)
{
	const char *so = strstr(soname, ".so");
	int stem = so ? (int) (so - soname) : (int) strlen(soname);

	(void) snprintf(name, size, "%.*s%s.dylib", stem, soname, so ? so + strlen(".so") : "");
}

/* Never without a folder: dyld would search the working directory first. */
void *trk__os_library(const char *soname)
{
	static const char *const folders[] = {
		"/usr/lib",       "/opt/homebrew/lib",        "/opt/homebrew/opt/libpq/lib",
		"/usr/local/lib", "/usr/local/opt/libpq/lib",
	};
	char name[64], path[PATH_MAX];
	void *handle = NULL;

	if (soname[0] == '/') /* a framework */
		return dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	name_library(soname, name, sizeof(name));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !handle; i++) {
		(void) snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return handle;
}

const char *trk__os_library_advice(const char *install)
{
	return "The library is searched for in /usr/lib, /opt/homebrew and /usr/local. Try: brew "
	       "install, "
	       "with the "
	       "name of the library";
}

const char trk__os_opener[] = "/usr/bin/open";

/* ---- the machine ---- */

const bool trk__os_has_proc = false;

/* ---- the rest ---- */

/* On macOS CLOCK_MONOTONIC goes on while the machine is suspended, and follows the wall clock. */
uint64_t trk__clock_monotonic_ns(void)
{
	return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
}

uint64_t trk__clock_boot_ns(void)
{
	return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW);
}

struct ordering {
	trk__os_order *order;
	void *data;
};

static int compare(void *data, const void *a, const void *b)
{
	const struct ordering *o = data;

	return o->order(a, b, o->data);
}

void trk__os_sort(void *list, size_t n, size_t size, trk__os_order *order, void *data)
{
	struct ordering o = {.order = order, .data = data};

	qsort_r(list, n, size, &o, compare);
}

#endif
