/* Preloaded into the tracker: makes one call of one libc function fail.
 *
 *   TRK_FAULT=FUNCTION:N:ERRNO   the N-th call of FUNCTION (from 1) fails with that number
 *   TRK_FAULT_HIT=FILE           written when it strikes: "before" or "after" the job was forked
 *
 * Only the process that loaded it is struck: a forked child has another pid, and what it executes no
 * longer has LD_PRELOAD. Real calls go straight to the kernel, so that nothing here allocates. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* What the program calls in place of the plain functions when it is fortified, and libc's own. */
EXPORT void *__libc_malloc(size_t size);
EXPORT void *__libc_calloc(size_t n, size_t size);
EXPORT void *__libc_realloc(void *p, size_t size);
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __openat_2(int dirfd, const char *path, int flags);
EXPORT int __openat64_2(int dirfd, const char *path, int flags);
EXPORT ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
EXPORT ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room);
EXPORT ssize_t __pread64_chk(int fd, void *to, size_t n, off_t at, size_t room);
EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);

static char function[32], hit[512];
static long countdown;
static int error_number;
static pid_t owner;
static int forked;
static pid_t (*real_fork)(void), (*real_vfork)(void);

__attribute__((constructor)) static void set_up(void)
{
	const char *spec = getenv("TRK_FAULT"), *file = getenv("TRK_FAULT_HIT");

	*(void **) &real_fork = dlsym(RTLD_NEXT, "fork");
	real_vfork = real_fork;
	if (spec && file &&
	    sscanf(spec, "%31[^:]:%ld:%d", function, &countdown, &error_number) == 3) {
		(void) snprintf(hit, sizeof(hit), "%s", file);
		owner = getpid();
	}
	(void) unsetenv("LD_PRELOAD");
	(void) unsetenv("TRK_FAULT");
	(void) unsetenv("TRK_FAULT_HIT");
}

static int strikes(const char *name)
{
	const char *when = forked ? "after" : "before";
	long fd;

	if (owner == 0 || countdown <= 0 || strcmp(name, function) != 0 ||
	    syscall(SYS_getpid) != owner || --countdown > 0)
		return 0;
	fd = syscall(SYS_openat, AT_FDCWD, hit, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	(void) syscall(SYS_write, fd, when, strlen(when));
	(void) syscall(SYS_close, fd);
	errno = error_number;
	return 1;
}

/* ---- memory ---- */

EXPORT void *malloc(size_t size)
{
	return strikes("malloc") ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return strikes("calloc") ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t size)
{
	return strikes("realloc") ? NULL : __libc_realloc(p, size);
}

EXPORT void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	return strikes("mmap") ? MAP_FAILED
			       : (void *) syscall(SYS_mmap, at, len, prot, flags, fd, offset);
}

/* ---- files ---- */

static int open_at(int dirfd, const char *path, int flags, int mode)
{
	return strikes("open") ? -1 : (int) syscall(SYS_openat, dirfd, path, flags, mode);
}

#define MODE(flags)                                                                                \
	__extension__({                                                                            \
		int mode = 0;                                                                      \
		va_list args;                                                                      \
		va_start(args, flags);                                                             \
		if ((flags) & (O_CREAT | __O_TMPFILE))                                             \
			mode = va_arg(args, int);                                                  \
		va_end(args);                                                                      \
		mode;                                                                              \
	})

EXPORT int open(const char *path, int flags, ...)
{
	return open_at(AT_FDCWD, path, flags, MODE(flags));
}

EXPORT int open64(const char *path, int flags, ...)
{
	return open_at(AT_FDCWD, path, flags, MODE(flags));
}

EXPORT int openat(int dirfd, const char *path, int flags, ...)
{
	return open_at(dirfd, path, flags, MODE(flags));
}

EXPORT int openat64(int dirfd, const char *path, int flags, ...)
{
	return open_at(dirfd, path, flags, MODE(flags));
}

EXPORT int __open_2(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags, 0);
}

EXPORT int __open64_2(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags, 0);
}

EXPORT int __openat_2(int dirfd, const char *path, int flags)
{
	return open_at(dirfd, path, flags, 0);
}

EXPORT int __openat64_2(int dirfd, const char *path, int flags)
{
	return open_at(dirfd, path, flags, 0);
}

EXPORT ssize_t read(int fd, void *to, size_t n)
{
	return strikes("read") ? -1 : syscall(SYS_read, fd, to, n);
}

EXPORT ssize_t __read_chk(int fd, void *to, size_t n, size_t room)
{
	if (n > room)
		abort();
	return read(fd, to, n);
}

EXPORT ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	return strikes("pread") ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

EXPORT ssize_t pread64(int fd, void *to, size_t n, off_t at)
{
	return pread(fd, to, n, at);
}

EXPORT ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room)
{
	if (n > room)
		abort();
	return pread(fd, to, n, at);
}

EXPORT ssize_t __pread64_chk(int fd, void *to, size_t n, off_t at, size_t room)
{
	return __pread_chk(fd, to, n, at, room);
}

EXPORT ssize_t write(int fd, const void *from, size_t n)
{
	return strikes("write") ? -1 : syscall(SYS_write, fd, from, n);
}

/* ---- processes, timers, sockets ---- */

EXPORT pid_t fork(void)
{
	pid_t pid = strikes("fork") ? -1 : real_fork();

	forked |= pid > 0;
	return pid;
}

EXPORT pid_t vfork(void)
{
	return fork();
}

EXPORT int timerfd_create(int clock, int flags)
{
	return strikes("timerfd_create") ? -1 : (int) syscall(SYS_timerfd_create, clock, flags);
}

EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *old)
{
	return strikes("timerfd_settime") ? -1
					  : (int) syscall(SYS_timerfd_settime, fd, flags, to, old);
}

EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	struct timespec t = {timeout / 1000, timeout % 1000 * 1000000L};

	return strikes("poll") ? -1
			       : (int) syscall(SYS_ppoll, fds, n, timeout < 0 ? NULL : &t, NULL, 8);
}

EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	if (n > room / sizeof(*fds))
		abort();
	return poll(fds, n, timeout);
}

EXPORT int socket(int family, int type, int protocol)
{
	return strikes("socket") ? -1 : (int) syscall(SYS_socket, family, type, protocol);
}
