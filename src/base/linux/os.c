/* Linux, with glibc or musl. */
#include "base/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"

enum { LOCKS_MAX = 4 << 20 };

/* ---- descriptors ---- */

static int or_errno(long result)
{
	return result < 0 ? -errno : (int) result;
}

const char trk__os_own_descriptors[] = "/proc/self/fd";

int trk__os_pipe(int ends[2])
{
	return or_errno(pipe2(ends, O_CLOEXEC));
}

int trk__os_socket(int family, int type, int protocol)
{
	return or_errno(socket(family, type | SOCK_CLOEXEC, protocol));
}

int trk__os_socket_pair(int ends[2])
{
	return or_errno(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
}

int trk__os_open_way(int dirfd, const char *path)
{
	return or_errno(openat(dirfd, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

static int read_link(const char *link, char *path, size_t size)
{
	ssize_t len = readlink(link, path, size - 1);

	if (len < 0)
		return -errno;
	path[len] = '\0';
	return 0;
}

int trk__os_path_of(int fd, char *path, size_t size)
{
	char link[64];

	(void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return read_link(link, path, size);
}

/* ---- what wakes a loop ---- */

int trk__os_timer(void)
{
	return or_errno(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
}

int trk__os_timer_set(int timer_fd, uint64_t at_ns)
{
	struct itimerspec spec = {.it_value = {0, 0}}; /* never */

	if (at_ns != UINT64_MAX)
		spec.it_value = (struct timespec){(time_t) (at_ns / TRK_NS_PER_S),
						  (long) (at_ns % TRK_NS_PER_S)};
	return or_errno(timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &spec, NULL));
}

void trk__os_timer_take(int timer_fd)
{
	uint64_t expirations;

	(void) !read(timer_fd, &expirations, sizeof(expirations));
}

int trk__os_process_end(pid_t pid)
{
	return or_errno(syscall(SYS_pidfd_open, pid, 0)); /* Linux 5.3 */
}

/* Filters of containers refuse unknown calls with various errors. */
int trk__os_process_signal(int end_fd, pid_t pid, int signo)
{
	enum { PIDFD_SEND_SIGNAL = 424 }; /* Linux 5.1; on every architecture */

	if (end_fd >= 0) {
		if (syscall(PIDFD_SEND_SIGNAL, end_fd, signo, NULL, 0) == 0)
			return 0;
		if (errno == ESRCH)
			return -ESRCH;
	}
	return or_errno(kill(pid, signo));
}

int trk__os_group(void)
{
	return or_errno(epoll_create1(EPOLL_CLOEXEC));
}

int trk__os_group_add(int group_fd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};

	return or_errno(epoll_ctl(group_fd, EPOLL_CTL_ADD, fd, &event));
}

void trk__os_group_take(int group_fd)
{
	enum { EVENTS = 32 };
	struct epoll_event events[EVENTS];

	while (epoll_wait(group_fd, events, EVENTS, 0) == EVENTS)
		;
}

/* ---- files ---- */

int trk__os_reserve(int fd, uint64_t at, uint64_t len)
{
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t) at, (off_t) len) == 0)
		return 0;
	return errno == ENOSPC || errno == EDQUOT ? -errno : -EOPNOTSUPP;
}

/* The kernel's own /proc. Does not ask a file server. */
static bool is_kernels_proc(void)
{
	enum { ROOT_INODE = 1, BLOCK_BYTES = 1024 };
	struct statx st;

	return syscall(SYS_statx, AT_FDCWD, "/proc", AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		       STATX_BASIC_STATS, &st) < 0 ||
	       (st.stx_ino == ROOT_INODE && st.stx_blksize == BLOCK_BYTES);
}

bool trk__os_proc_answers(void)
{
	enum { WAIT_MS = 1000 };
	struct pollfd end = {.events = POLLIN};
	int ends[2];
	bool answers;
	pid_t pid;

	if (is_kernels_proc() || trk__os_pipe(ends) < 0)
		return true;
	pid = fork();
	if (pid == 0) {
		/* A child of this process could remain one of the job. */
		if (fork() == 0)
			(void) access("/proc/self", F_OK);
		_exit(0);
	}
	(void) close(ends[1]);
	if (pid > 0)
		(void) waitpid(pid, NULL, 0);
	end.fd = ends[0];
	answers = pid < 0 || poll(&end, 1, WAIT_MS) > 0; /* at the end of the stream */
	(void) close(ends[0]);
	return answers;
}

ssize_t trk__os_attribute(int dirfd, const char *name, const char *attribute, void *data,
			  size_t size)
{
	/* By path, as fgetxattr() refuses a descriptor of O_PATH. */
	const struct trk_path path =
		trk__path("/proc/self/fd/%d%s%s", dirfd, name ? "/" : "", name ? name : "");
	ssize_t len = name ? lgetxattr(path.text, attribute, data, size)
			   : getxattr(path.text, attribute, data, size);

	if (len >= 0)
		return len;
	return errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
}

/* "1: FLOCK  ADVISORY  WRITE 4242 fe:01:1234 0 EOF"; "1: -> FLOCK …" for one who waits for it. The
 * process is 0 if it is in another PID namespace. */
pid_t trk__os_lock_holder(const struct stat *st)
{
	const struct trk_path key = trk__path(" %02x:%02x:%llu ", major(st->st_dev),
					      minor(st->st_dev), (unsigned long long) st->st_ino);
	char *text = NULL;
	uint64_t pid = 0;

	if (trk__read_all_at(AT_FDCWD, "/proc/locks", LOCKS_MAX, &text) < 0)
		return 0;
	for (const char *at = text; pid == 0 && (at = strstr(at, key.text)); at++) {
		const char *line = at, *number = at;

		while (line > text && line[-1] != '\n')
			line--;
		while (number > line && number[-1] != ' ')
			number--;
		if (!strncmp(line + strcspn(line, " "), " ->", 3) ||
		    !trk__scan_u64(&number, &pid) || pid == (uint64_t) getpid())
			pid = 0;
	}
	free(text);
	return (pid_t) pid;
}

int64_t trk__os_modified_ns(const struct stat *st)
{
	return (int64_t) st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

bool trk__os_is_remote(const char *dir)
{
	static const unsigned long types[] = {
		0x6969 /* NFS */,      0x517b /* SMB */,      0xff534d42 /* CIFS */,
		0xfe534d42 /* SMB2 */, 0x00c36400 /* Ceph */, 0x0bd00bd0 /* Lustre */,
		0x47504653 /* GPFS */, 0x01021997 /* 9p */,   0x65735546 /* FUSE */,
	};
	struct statfs fs;

	if (statfs(dir, &fs) < 0)
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((unsigned long) fs.f_type == types[i])
			return true;
	return false;
}

bool trk__os_is_in_memory(const char *dir)
{
	static const unsigned int tmpfs = 0x01021994, ramfs = 0x858458f6;
	struct statfs fs;

	return statfs(dir, &fs) == 0 &&
	       ((unsigned int) fs.f_type == tmpfs || (unsigned int) fs.f_type == ramfs);
}

bool trk__os_has_unmapped_ids(void)
{
	char text[256];
	ssize_t len = trk__read_at(AT_FDCWD, "/proc/self/uid_map", text, sizeof(text));
	uint64_t inside, outside, count;
	const char *at = text;

	return len > 0 && !(trk__scan_u64(&at, &inside) && trk__scan_u64(&at, &outside) &&
			    trk__scan_u64(&at, &count) && inside == 0 && count == UINT32_MAX);
}

/* ---- this program ---- */

int trk__os_program(char *path, size_t size)
{
	return read_link("/proc/self/exe", path, size);
}

const char *trk__os_own_file(void)
{
	return "/proc/self/exe";
}

void trk__os_name_self(const char *name)
{
	(void) prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* The kernel gives the address of the dynamic loader; a static program has none. */
enum { STACK_BYTES = 256 * 1024, ADDRESSES_MIN = 64 << 20 };

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wframe-larger-than="
/* The kernel maps the stack down to a page that is touched; memory is taken for that page alone. */
__attribute__((noinline)) static void touch_stack(void)
{
	volatile char deep[STACK_BYTES];

	deep[0] = 0;
	(void) deep[0];
}
#pragma GCC diagnostic pop

void trk__os_map_stack(void)
{
	struct rlimit stack, addresses;

	if (getrlimit(RLIMIT_STACK, &stack) == 0 && getrlimit(RLIMIT_AS, &addresses) == 0 &&
	    stack.rlim_cur >= 4 * (rlim_t) STACK_BYTES && addresses.rlim_cur >= ADDRESSES_MIN)
		touch_stack();
}

bool trk__os_has_stack(uint64_t bytes)
{
	struct rlimit stack;

	return getrlimit(RLIMIT_STACK, &stack) < 0 || stack.rlim_cur >= bytes;
}

bool trk__os_is_dynamic(void)
{
	return getauxval(AT_BASE) != 0;
}

uint64_t trk__os_own_peak_bytes(void)
{
	struct rusage u;

	return getrusage(RUSAGE_SELF, &u) < 0 ? 0 : (uint64_t) u.ru_maxrss * 1024;
}

char **trk__os_environment(void)
{
	return environ;
}

void *trk__os_library(const char *soname)
{
	return dlopen(soname, RTLD_NOW | RTLD_LOCAL);
}

bool trk__os_replaces_library(const char *soname)
{
	return false;
}

const char *trk__os_library_advice(const char *install)
{
	if (trk__os_is_dynamic())
		return install;
	return "This program is static and loads no library. Try: the build for glibc, or the "
	       "package of this system";
}

const char trk__os_opener[] = "xdg-open";

bool trk__os_has_desktop(void)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x11 && *x11) || (wayland && *wayland);
}

/* ---- the machine ---- */

const bool trk__os_has_proc = true;

uint64_t trk__os_memory_bytes(void)
{
	struct sysinfo info;

	return sysinfo(&info) < 0 ? 0 : (uint64_t) info.totalram * info.mem_unit;
}

/* ---- clocks and order ---- */

uint64_t trk__clock_monotonic_ns(void)
{
	return trk__clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t trk__clock_boot_ns(void)
{
	return trk__clock_read_ns(CLOCK_BOOTTIME);
}

int trk__clock_pid_cpu_ns(pid_t pid, uint64_t *ret_ns)
{
	/* The kernel's encoding of "scheduler clock of the process PID", as built by
	 * clock_getcpuclockid(3), without its system call. */
	clockid_t id = (clockid_t) ((~(unsigned int) pid << 3) | 2u);
	struct timespec ts;

	if (clock_gettime(id, &ts) < 0)
		return -ESRCH; /* the kernel returns EINVAL for a pid that has ended */
	*ret_ns = (uint64_t) ts.tv_sec * TRK_NS_PER_S + (uint64_t) ts.tv_nsec;
	return 0;
}

void trk__os_sort(void *list, size_t n, size_t size, trk__os_order *order, void *data)
{
	qsort_r(list, n, size, order, data);
}
