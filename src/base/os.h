/* The operating-system layer: functions that every system has, with different calls.
 * src/base/linux, src/base/darwin and src/base/windows implement them; the build takes one folder.
 * System-specific headers and flags are used in these folders only. Functions that only the tracker
 * uses exist on Linux alone.
 *
 * Figures of processes and machines come from src/probe. */
#ifndef TRK_BASE_OS_H
#define TRK_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* ---- descriptors ---- */

/* The folder that lists the descriptors of this process. */
extern const char trk__os_own_descriptors[];

/* socket(2), closed on exec, on POSIX systems: a descriptor, else a negative errno. */
int trk__os_socket(int family, int type, int protocol);
/* pipe(2), and socketpair(2) of two stream sockets, closed on exec, on Linux. 0, else a negative
 * errno. */
int trk__os_pipe(int ends[2]);
/* Write until nothing can be written for `ms` milliseconds (-1: all), as to a pipe whose reader is
 * slow or to a stopped terminal. Number of bytes, which may be less than len, or a negative errno.
 * A write that storage does not answer is abandoned (base/blocking.h) and goes on with its last
 * PIPE_BUF bytes; while it does, nothing else is written there. Windows: as trk__write_all(). */
ssize_t trk__os_write_in_time(int fd, const void *data, size_t len, int ms);
/* Whether such a write still goes on. */
bool trk__os_write_is_stuck(int fd);
int trk__os_socket_pair(int ends[2]);
/* An end of such a pair that the program which has started this one passed on under this number.
 * Returns a descriptor, closed on exec, or -EBADF. */
int trk__os_inherit_socket(uint64_t number);
/* recv(2) without waiting: the number of bytes, 0 at the end of the stream, -EAGAIN while there are
 * none, or another negative errno. */
ssize_t trk__os_receive(int fd, void *data, size_t size);
/* Send all of it without waiting. 0 or a negative errno; -EAGAIN: there is no room. */
int trk__os_send(int fd, const void *data, size_t len);
/* Has the other end been closed? */
bool trk__os_has_hung_up(int fd);

/* Open a directory in order to reach what lies below it. The last name must not be a link: then
 * -ENOTDIR or -ELOOP. Where the system allows, permission to search is enough. */
int trk__os_open_way(int dirfd, const char *path);

/* The path of an open file or directory. 0 or a negative errno. */
int trk__os_path_of(int fd, char *path, size_t size);

/* ---- events of a loop, on Linux: descriptors for poll(2), closed on exec ----
 *
 * Each returns a descriptor that the caller closes, or a negative errno. */

/* Readable at a time on the monotonic clock, once one is set; UINT64_MAX: never. */
int trk__os_timer(void);
int trk__os_timer_set(int timer_fd, uint64_t at_ns);
/* Clear the event: the descriptor is not readable until the next _set. */
void trk__os_timer_take(int timer_fd);

/* Readable once the process has ended. */
int trk__os_process_end(pid_t pid);
/* kill(2). With a descriptor of the above (-1: none) the signal reaches this process or none, also
 * if the pid was given to another one, where the kernel allows. 0 or a negative errno. */
int trk__os_process_signal(int end_fd, pid_t pid, int signo);

/* Readable when one of the descriptors in the group becomes readable or writable. A descriptor
 * leaves the group when it is closed. */
int trk__os_group(void);
int trk__os_group_add(int group_fd, int fd);
/* Clear the event: not readable until another descriptor becomes ready. */
void trk__os_group_take(int group_fd);

/* Whether /proc answers within a second. A dead file server may be mounted over it. */
bool trk__os_proc_answers(void);

/* ---- files ---- */

/* Reserve disk space for `len` bytes from `at` on; the size of the file stays. Returns
 * 0, -EOPNOTSUPP where the system or the file system cannot, or a negative errno of a full disk or
 * quota. */
int trk__os_reserve(int fd, uint64_t at, uint64_t len);

/* An extended attribute of the entry `name` of a directory, without following a link, or (name NULL)
 * of the open file or directory dirfd. Its length; 0 where there is none, or the file system has
 * none; else a negative errno. */
ssize_t trk__os_attribute(int dirfd, const char *name, const char *attribute, void *data,
			  size_t size);

/* The process that holds a lock on a file, other than this one; 0: none, or not known. */
pid_t trk__os_lock_holder(const struct stat *st);

/* When the content was last changed, ns since 1970. */
int64_t trk__os_modified_ns(const struct stat *st);

/* Does the path begin at a root: "/x", on Windows also "C:/x"? */
bool trk__os_is_absolute(const char *path);

/* Is the directory on a file system of another machine, or is that unknown? */
bool trk__os_is_remote(const char *dir);

/* On POSIX systems: the usual folder for temporary files, without a slash at its end. 0 or a negative errno. */
int trk__os_temporary_dir(char *path, size_t size);

/* On Linux: is the directory on a file system in memory? */
bool trk__os_is_in_memory(const char *dir);

/* Whether ids that are not mapped into this container or user namespace are shown as the overflow
 * id (65534). */
bool trk__os_has_unmapped_ids(void);

/* ---- this program ---- */

/* The path of the program file. 0 or a negative errno. */
int trk__os_program(char *path, size_t size);
/* What the names of programs end in: ".exe", or nothing. */
extern const char trk__os_program_ending[];
/* Can symbolic links be made? */
extern const bool trk__os_has_links;
/* A path that opens or executes the program file, on Linux also after the file was replaced or
 * removed. Static text; "": unknown. */
const char *trk__os_own_file(void);

/* On Linux: the name that a list of processes shows for this one. */
void trk__os_name_self(const char *name);
/* On Linux: map stack for what the caller will call. Where the limit of addresses (RLIMIT_AS) is lowered
 * later, a stack that has to grow would end the process. */
void trk__os_map_stack(void);
/* False: the limit of the stack (ulimit -s) is lower. */
bool trk__os_has_stack(uint64_t bytes);
/* Can it load libraries? A static program cannot. */
bool trk__os_is_dynamic(void);
/* On Linux: peak memory of this process; 0: not known. */
uint64_t trk__os_own_peak_bytes(void);
/* The environment of this program, as environ(7). */
char **trk__os_environment(void);

/* getenv(3). On Windows the variables that name a user's folders (HOME, XDG_STATE_HOME, …) have the
 * usual places there where they are not set. */
char *trk__os_variable(const char *name);

/* dlopen(3) of a library under its name on Linux, as libz.so.1, or its path. NULL: not
 * installed. */
void *trk__os_library(const char *soname);
/* Does this system's program do without it, as it has something else? */
bool trk__os_replaces_library(const char *soname);
/* Advice when no library could be loaded: `install` (static text), or a text of this system. */
const char *trk__os_library_advice(const char *install);

/* Is there a program of this name, which has no folder, in PATH? */
bool trk__os_has_program(const char *name);

/* On Linux: is there a desktop that can show a page? On POSIX systems: the program that opens a file on
 * it. */
bool trk__os_has_desktop(void);
extern const char trk__os_opener[];

/* ---- the machine ---- */

/* Do files have modes? Else access control lists, which are read for the owner only. */
extern const bool trk__os_has_modes;

/* Does the system show processes in /proc? */
extern const bool trk__os_has_proc;

/* Its name, cut to fit; "": not known. */
void trk__os_host_name(char *name, size_t size);

/* On Linux: physical memory of the machine; 0: not known. */
uint64_t trk__os_memory_bytes(void);

/* ---- the rest ---- */

/* Local time minus UTC. */
long trk__os_utc_offset_s(time_t at);

/* qsort_r(3) as glibc has it. */
typedef int trk__os_order(const void *a, const void *b, void *data);
void trk__os_sort(void *list, size_t n, size_t size, trk__os_order *order, void *data);

#endif
