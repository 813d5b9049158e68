/* Preloaded into the tracker: one call of one function fails.
 *
 *     TRK_FAULT=FUNCTION:N:ERRNO   the N-th call (1 is the first) of FUNCTION fails with ERRNO;
 *                                  N+ instead of N: this call and all later ones
 *     TRK_FAULT_MARK=FILE          this file is created when a call fails
 *     TRK_FAULT_FORKS=1            forked children are affected as well, each with a separate count
 *                                  (for a sampler that goes into the background)
 *
 * The job must not be affected: the variables are removed from the environment before main() runs,
 * and a forked child is recognised by its pid. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[32], mark[512];
static long number;
static bool and_after;
static int error;
static pid_t owner;
static bool forks_too;
static long seen;

__attribute__((constructor)) static void take_orders(void)
{
	const char *order = getenv("TRK_FAULT"), *file = getenv("TRK_FAULT_MARK");
	char plus = 0;

	if (order && sscanf(order, "%31[^:]:%ld%c", name, &number, &plus) == 3) {
		and_after = plus == '+';
		error = atoi(strrchr(order, ':') + 1);
	}
	if (file)
		(void) snprintf(mark, sizeof(mark), "%s", file);
	forks_too = getenv("TRK_FAULT_FORKS") != NULL;
	(void) unsetenv("TRK_FAULT_FORKS");
	(void) unsetenv("TRK_FAULT");
	(void) unsetenv("TRK_FAULT_MARK");
	(void) unsetenv("LD_PRELOAD");
	seen = 0;
	owner = (pid_t) syscall(SYS_getpid);
}

/* Is this the call that fails? Sets errno then. */
static bool strikes(const char *function)
{
	long n;

	if (!owner || strcmp(function, name) != 0 ||
	    (!forks_too && (pid_t) syscall(SYS_getpid) != owner))
		return false;
	n = __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
	if (n != number && !(and_after && n > number))
		return false;
	if (mark[0]) {
		long fd = syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

		if (fd >= 0)
			(void) syscall(SYS_close, fd);
	}
	errno = error;
	return true;
}

#define REAL(function)                                                                             \
	static __typeof__(&function) real;                                                         \
	if (!real)                                                                                 \
	real = (__typeof__(real)) dlsym(RTLD_NEXT, #function)

static int open_at(int dir, const char *path, int flags, va_list args)
{
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;

	return strikes("open") ? -1 : (int) syscall(SYS_openat, dir, path, flags, mode);
}

/* `dir` is where the path starts from; the rest are the parameters before flags. */
#define OPEN(function, dir, ...)                                                                   \
	int function(__VA_ARGS__, int flags, ...)                                                  \
	{                                                                                          \
		va_list args;                                                                      \
		int fd;                                                                            \
		va_start(args, flags);                                                             \
		fd = open_at(dir, path, flags, args);                                              \
		va_end(args);                                                                      \
		return fd;                                                                         \
	}
OPEN(openat, dir_fd, int dir_fd, const char *path)
OPEN(openat64, dir_fd, int dir_fd, const char *path)
OPEN(open, AT_FDCWD, const char *path)
OPEN(open64, AT_FDCWD, const char *path)

ssize_t read(int fd, void *data, size_t size)
{
	return strikes("read") ? -1 : syscall(SYS_read, fd, data, size);
}

#define PREAD(function)                                                                            \
	ssize_t function(int fd, void *data, size_t size, off_t at)                                \
	{                                                                                          \
		return strikes("pread") ? -1 : syscall(SYS_pread64, fd, data, size, at);           \
	}
PREAD(pread)
PREAD(pread64)

ssize_t write(int fd, const void *data, size_t size)
{
	return strikes("write") ? -1 : syscall(SYS_write, fd, data, size);
}

pid_t fork(void)
{
	REAL(fork);

	return strikes("fork") ? -1 : real();
}

int waitid(idtype_t of, id_t id, siginfo_t *ret, int options)
{
	REAL(waitid);

	return strikes("waitid") ? -1 : real(of, id, ret, options);
}

pid_t wait4(pid_t pid, int *ret_status, int options, struct rusage *ret_usage)
{
	REAL(wait4);

	return strikes("wait4") ? -1 : real(pid, ret_status, options, ret_usage);
}

pid_t waitpid(pid_t pid, int *ret_status, int options)
{
	REAL(waitpid);

	if (!strikes("waitpid"))
		return real(pid, ret_status, options);
	if (error == ECHILD) /* somebody else has waited for it */
		(void) real(pid, NULL, options);
	errno = error;
	return -1;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	REAL(poll);

	return strikes("poll") ? -1 : real(fds, n, timeout);
}

int socket(int domain, int type, int protocol)
{
	REAL(socket);

	return strikes("socket") ? -1 : real(domain, type, protocol);
}

int pipe2(int fds[2], int flags)
{
	REAL(pipe2);

	return strikes("pipe") ? -1 : real(fds, flags);
}

int timerfd_create(int clock, int flags)
{
	REAL(timerfd_create);

	return strikes("timerfd_create") ? -1 : real(clock, flags);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *old)
{
	REAL(timerfd_settime);

	return strikes("timerfd_settime") ? -1 : real(fd, flags, to, old);
}

/* The library's own allocator answers the others; dlsym() may itself allocate, hence no dlsym(). */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *data, size_t size);

void *malloc(size_t size)
{
	return strikes("malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return strikes("malloc") ? NULL : __libc_calloc(n, size);
}

void *realloc(void *data, size_t size)
{
	return strikes("malloc") ? NULL : __libc_realloc(data, size);
}

int connect(int fd, const struct sockaddr *to, socklen_t len)
{
	REAL(connect);
	return strikes("connect") ? -1 : real(fd, to, len);
}

int epoll_create1(int flags)
{
	REAL(epoll_create1);
	return strikes("epoll_create1") ? -1 : real(flags);
}

int epoll_ctl(int fd, int operation, int of, struct epoll_event *event)
{
	REAL(epoll_ctl);
	return strikes("epoll_ctl") ? -1 : real(fd, operation, of, event);
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	REAL(send);
	return strikes("send") ? -1 : real(fd, data, len, flags);
}

ssize_t recv(int fd, void *data, size_t len, int flags)
{
	REAL(recv);
	return strikes("recv") ? -1 : real(fd, data, len, flags);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
	REAL(signalfd);
	return strikes("signalfd") ? -1 : real(fd, mask, flags);
}

int socketpair(int domain, int type, int protocol, int pair[2])
{
	REAL(socketpair);
	return strikes("socket") ? -1 : real(domain, type, protocol, pair);
}

int bind(int fd, const struct sockaddr *to, socklen_t len)
{
	REAL(bind);
	return strikes("bind") ? -1 : real(fd, to, len);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	REAL(mkdirat);
	return strikes("mkdir") ? -1 : real(dir, path, mode);
}

int flock(int fd, int operation)
{
	REAL(flock);
	return strikes("flock") ? -1 : real(fd, operation);
}

int fsync(int fd)
{
	REAL(fsync);
	return strikes("fsync") ? -1 : real(fd);
}

int fstat64(int fd, struct stat64 *ret)
{
	REAL(fstat64);
	return strikes("stat") ? -1 : real(fd, ret);
}

int fstatat64(int dir, const char *path, struct stat64 *ret, int flags)
{
	REAL(fstatat64);
	return strikes("stat") ? -1 : real(dir, path, ret, flags);
}

ssize_t readlinkat(int dir, const char *path, char *text, size_t size)
{
	REAL(readlinkat);
	return strikes("readlink") ? -1 : real(dir, path, text, size);
}

DIR *fdopendir(int fd)
{
	REAL(fdopendir);
	return strikes("fdopendir") ? NULL : real(fd);
}

int fcntl64(int fd, int command, ...)
{
	va_list args;
	void *third;

	REAL(fcntl64);
	va_start(args, command);
	third = va_arg(args, void *);
	va_end(args);
	return strikes("fcntl") ? -1 : real(fd, command, third);
}

/* pidfd_open, perf_event_open and the like. */
long syscall(long which, ...)
{
	long a[6];
	va_list args;

	REAL(syscall);
	va_start(args, which);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	/* Those of this file are not meant. */
	if ((which == SYS_pidfd_open || which == SYS_perf_event_open) && strikes("syscall"))
		return -1;
	return real(which, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int pthread_create(pthread_t *ret, const pthread_attr_t *attributes, void *(*body)(void *),
		   void *data)
{
	REAL(pthread_create);
	return strikes("pthread_create") ? error : real(ret, attributes, body, data);
}

int posix_spawnp(pid_t *ret, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	REAL(posix_spawnp);
	return strikes("posix_spawn") ? error : real(ret, file, actions, attributes, argv, env);
}

void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
	REAL(mmap);
	return strikes("mmap") ? MAP_FAILED : real(at, len, protection, flags, fd, offset);
}

/* Of the library's pieces that grow beside malloc(). */
char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}
