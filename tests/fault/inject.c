/* Preloaded into the tracker: one call of one function fails.
 *
 *     TRK_FAULT=FUNCTION:N:ERRNO   the N-th call (1 is the first) of FUNCTION fails with ERRNO;
 *                                  N+ instead of N: that one and all after it
 *     TRK_FAULT_MARK=FILE          is created when it does
 *
 * The job must not be hit: the variables are taken out of the environment before main() runs, and a
 * forked child is recognised by its pid. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

static char name[32], mark[512];
static long number;
static bool and_after;
static int error;
static pid_t owner;
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

	if (!owner || strcmp(function, name) != 0 || (pid_t) syscall(SYS_getpid) != owner)
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
