/* The POSIX functions that the shared code uses and mingw-w64 lacks or has for the ANSI code page
 * only. The build includes this header before every file; src/base/windows implements it. Names are
 * UTF-8 everywhere, separated by '/' or '\\'.
 *
 * A call that Windows cannot do fails with ENOSYS. */
#ifndef TRK_BASE_WINDOWS_POSIX_H
#define TRK_BASE_WINDOWS_POSIX_H
#ifndef __ASSEMBLER__

#define tell trk__io_tell /* the project has functions of that name */

#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>

/* pid_t and mode_t with 32 bits, as elsewhere: mingw-w64 has 64 and 16 bits. */
#define _PID_T_
#define _MODE_T_
#define _INO_T_DEFINED
typedef int _pid_t;
typedef int pid_t;
typedef unsigned int _mode_t;
typedef unsigned int mode_t;
typedef unsigned short _ino_t; /* in the structs of mingw-w64 */
typedef uint64_t ino_t;

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <io.h>
#include <limits.h>
#include <process.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#undef tell

/* printf is that of mingw-w64, which supports %zu and %lld; gcc checks formats accordingly. */
#define format(kind, text, first) format(gnu_##kind, text, first)

/* The macros of mingw-w64 convert to float, of which gcc warns. */
#undef isnan
#undef isinf
#undef isfinite
#define isnan(number)    __builtin_isnan(number)
#define isinf(number)    __builtin_isinf(number)
#define isfinite(number) __builtin_isfinite(number)

#define ELIBACC 79 /* a library cannot be loaded */

/* With the terminator, of UTF-8; mingw-w64 has 260. */
#undef PATH_MAX
#define PATH_MAX 4096

/* ---- users ---- */

/* Three user ids: this user, the system (SYSTEM, the administrators), and all others. */
enum { TRK_UID_SYSTEM = 0, TRK_UID_SELF = 1000, TRK_UID_OTHER = 1001 };

typedef unsigned int uid_t;
typedef unsigned int gid_t;

static inline uid_t geteuid(void)
{
	return TRK_UID_SELF;
}
#define getuid geteuid

/* ---- files ---- */

#define AT_FDCWD            (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_REMOVEDIR        0x200

#define O_CLOEXEC   0x80 /* _O_NOINHERIT */
#define O_DIRECTORY 0x200000
#define O_NOFOLLOW  0x400000
#define O_NONBLOCK  0
#define O_NOCTTY    0

#define S_IFLNK       0xA000
#define S_ISLNK(mode) (((mode) &S_IFMT) == S_IFLNK)
#define S_ISUID       04000
#define S_ISGID       02000
#define S_ISVTX       01000
#undef S_IWGRP
#define S_IWGRP 020
#undef S_IWOTH
#define S_IWOTH 02

/* Modes are constant: 0755 for directories and programs, 0644 for other files. Of access control
 * lists only the owner is read. */
struct trk__stat {
	uint64_t st_dev, st_ino;
	unsigned int st_mode;
	unsigned int st_nlink;
	uid_t st_uid;
	gid_t st_gid;
	int64_t st_size;
	time_t st_mtime;
	int64_t modified_ns;
};

int trk__stat(const char *path, struct trk__stat *ret);
int trk__fstat(int fd, struct trk__stat *ret);
int fstatat(int dirfd, const char *path, struct trk__stat *ret, int flags);
#undef stat
#define stat             trk__stat
#define lstat(path, ret) fstatat(AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW)
#undef fstat
#define fstat trk__fstat

int trk__open(const char *path, int flags, ...);
int openat(int dirfd, const char *path, int flags, ...);
int mkdirat(int dirfd, const char *path, unsigned int mode);
int unlinkat(int dirfd, const char *path, int flags);
int renameat(int from_fd, const char *from, int to_fd, const char *to);
int faccessat(int dirfd, const char *path, int mode, int flags);
char *realpath(const char *path, char *text);
char *trk__getcwd(char *text, size_t size);
char *mkdtemp(char *path);
ssize_t pread(int fd, void *data, size_t size, int64_t at);
int trk__ftruncate(int fd, int64_t size);
int trk__isatty(int fd);
int fsync(int fd);
#define open               trk__open
#define mkdir(path, mode)  mkdirat(AT_FDCWD, path, mode)
#define unlink(path)       unlinkat(AT_FDCWD, path, 0)
#define rename(from, to)   renameat(AT_FDCWD, from, AT_FDCWD, to)
#define access(path, mode) faccessat(AT_FDCWD, path, mode, 0)
#define getcwd             trk__getcwd
#undef close
#define close _close
static inline ssize_t trk__read(int fd, void *data, size_t size)
{
	return _read(fd, data, size > INT32_MAX ? INT32_MAX : (unsigned int) size);
}
#define read trk__read

static inline ssize_t trk__write(int fd, const void *data, size_t size)
{
	return _write(fd, data, size > INT32_MAX ? INT32_MAX : (unsigned int) size);
}
#define write trk__write

#undef ftruncate
#define ftruncate trk__ftruncate
#undef lseek
#define lseek  _lseeki64
#define isatty trk__isatty

/* Modes and owners are not changed; links cannot be created. */
static inline int trk__no_such_call(void)
{
	errno = ENOSYS;
	return -1;
}

#define symlinkat(target, dirfd, path) ((void) (target), (void) (path), trk__no_such_call())
#define readlinkat(dirfd, path, text, size)                                                        \
	((void) (dirfd), (void) (path), (void) (text), trk__no_such_call())
#define umask(mode)          ((void) (mode), (mode_t) 0)
#define fchmod(fd, mode)     ((void) (fd), (void) (mode), 0)
#define fchown(fd, uid, gid) ((void) (fd), (void) (uid), (void) (gid), 0)

#define F_DUPFD_CLOEXEC 1030
#define F_GETFD         1
#define F_SETFD         2
#define F_SETFL         4
#define FD_CLOEXEC      1
int fcntl(int fd, int command, ...);

/* Locks the whole file, as flock(2) does: other programs can still read and write it. */
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
int flock(int fd, int operation);

/* ---- directories ---- */

struct dirent {
	unsigned char d_type;
	char d_name[780]; /* 259 units of UTF-16 */
};
#define DT_UNKNOWN 0
#define DT_DIR     4
#define DT_REG     8

typedef struct trk__dir DIR;
DIR *opendir(const char *path);
DIR *fdopendir(int fd);
struct dirent *readdir(DIR *dir);
int closedir(DIR *dir);
int dirfd(const DIR *dir);

/* ---- the environment, in UTF-8 ---- */

char *trk__getenv(const char *name);
int trk__setenv(const char *name, const char *value, int replace);
/* All of it, as environ(7). */
char **trk__environment(void);
int trk__unsetenv(const char *name);
#define getenv   trk__getenv
#define setenv   trk__setenv
#define unsetenv trk__unsetenv

/* ---- texts ---- */

char *strndup(const char *text, size_t max);
char *strcasestr(const char *text, const char *part);
void *memmem(const void *data, size_t len, const void *part, size_t part_len);
char *trk__strerror_text(int code);
#define strerror trk__strerror_text
#define timegm   _mkgmtime64

#include "base/windows/posix_process.h"

#endif
#endif
