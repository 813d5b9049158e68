/* macOS 11 and later. */
#ifdef __APPLE__ /* else a checker of code reads this file with the headers of another system */

#include "base/os.h"

#include <crt_externs.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/event.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

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

static int close_both_on_exec(const int ends[2])
{
	int first = close_on_exec(ends[0]), second = close_on_exec(ends[1]);

	if (first >= 0 && second >= 0)
		return 0;
	trk__close(first);
	trk__close(second);
	return first < 0 ? first : second;
}

int trk__os_pipe(int ends[2])
{
	return pipe(ends) < 0 ? -errno : close_both_on_exec(ends);
}

int trk__os_socket(int family, int type, int protocol)
{
	return close_on_exec(socket(family, type, protocol));
}

int trk__os_socket_pair(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return -errno;
	return close_both_on_exec(ends);
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

/* ---- what wakes a loop: kernel queues, which poll(2) takes ---- */

enum { TIMER_IDENT = 1 };

static int new_queue(void)
{
	return close_on_exec(kqueue());
}

static int change(int queue_fd, const struct kevent *list, int n)
{
	return kevent(queue_fd, list, n, NULL, 0, NULL) < 0 ? -errno : 0;
}

/* Take all that is reported. */
static void take_events(int queue_fd)
{
	enum { EVENTS = 32 };
	static const struct timespec at_once = {0, 0};
	struct kevent events[EVENTS];

	while (kevent(queue_fd, NULL, 0, events, EVENTS, &at_once) == EVENTS)
		;
}

int trk__os_timer(void)
{
	return new_queue();
}

/* Set by the remaining time, as timers of the kernel use another clock. */
int trk__os_timer_set(int timer_fd, uint64_t at_ns)
{
	uint64_t now_ns = trk__clock_monotonic_ns();
	int64_t left_ns = at_ns > now_ns ? (int64_t) (at_ns - now_ns) : 0;
	struct kevent timer;

	EV_SET(&timer, TIMER_IDENT, EVFILT_TIMER, EV_DELETE, 0, 0, NULL);
	(void) change(timer_fd, &timer, 1); /* it may not be there */
	if (at_ns == UINT64_MAX)
		return 0;
	EV_SET(&timer, TIMER_IDENT, EVFILT_TIMER, EV_ADD | EV_ONESHOT, NOTE_NSECONDS, left_ns,
	       NULL);
	return change(timer_fd, &timer, 1);
}

void trk__os_timer_take(int timer_fd)
{
	take_events(timer_fd);
}

int trk__os_process_end(pid_t pid)
{
	int fd = new_queue(), r;
	struct kevent end;

	if (fd < 0)
		return fd;
	EV_SET(&end, pid, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
	r = change(fd, &end, 1);
	if (r == 0)
		return fd;
	(void) close(fd);
	return r;
}

int trk__os_process_signal(int end_fd, pid_t pid, int signo)
{
	return kill(pid, signo) < 0 ? -errno : 0;
}

int trk__os_group(void)
{
	return new_queue();
}

int trk__os_group_add(int group_fd, int fd)
{
	struct kevent both[2];

	EV_SET(&both[0], fd, EVFILT_READ, EV_ADD | EV_CLEAR, 0, 0, NULL);
	EV_SET(&both[1], fd, EVFILT_WRITE, EV_ADD | EV_CLEAR, 0, 0, NULL);
	return change(group_fd, both, 2);
}

void trk__os_group_take(int group_fd)
{
	take_events(group_fd);
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

/* None is mounted by default. */
bool trk__os_is_in_memory(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) == 0 && !strcmp(fs.f_fstypename, "tmpfs");
}

/* ---- processes ---- */

static int read_usage(pid_t pid, struct rusage_info_v4 *ret)
{
	return proc_pid_rusage(pid, RUSAGE_INFO_V4, (rusage_info_t *) (void *) ret) != 0 ? -ESRCH
											 : 0;
}

int trk__clock_pid_cpu_ns(pid_t pid, uint64_t *ret_ns)
{
	struct rusage_info_v4 u;
	uint64_t hz = 0, ticks;
	size_t size = sizeof(hz);

	if (read_usage(pid, &u) < 0 || sysctlbyname("hw.tbfrequency", &hz, &size, NULL, 0) < 0 ||
	    hz == 0)
		return -ESRCH;
	ticks = u.ri_user_time + u.ri_system_time;
	*ret_ns = ticks / hz * TRK_NS_PER_S + ticks % hz * TRK_NS_PER_S / hz;
	return 0;
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

int trk__os_signal_number(int signo)
{
	/* Signals with other numbers; 0: Linux has none. */
	static const int numbers[NSIG] = {
		[SIGBUS] = 7,   [SIGUSR1] = 10, [SIGUSR2] = 12, [SIGCHLD] = 17, [SIGCONT] = 18,
		[SIGSTOP] = 19, [SIGTSTP] = 20, [SIGURG] = 23,  [SIGIO] = 29,   [SIGSYS] = 31,
	};

	return signo > 0 && signo < NSIG && numbers[signo] ? numbers[signo] : signo;
}

uint64_t trk__os_own_peak_bytes(void)
{
	struct rusage_info_v4 u;

	return read_usage(getpid(), &u) < 0 ? 0 : u.ri_lifetime_max_phys_footprint;
}

void trk__os_given_arguments(char **argv)
{
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

bool trk__os_has_desktop(void)
{
	return !getenv("SSH_CONNECTION");
}

/* ---- the machine ---- */

const bool trk__os_has_proc = false;

uint64_t trk__os_memory_bytes(void)
{
	uint64_t bytes = 0;
	size_t size = sizeof(bytes);

	return sysctlbyname("hw.memsize", &bytes, &size, NULL, 0) < 0 ? 0 : bytes;
}

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
