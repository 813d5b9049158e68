/* Reading and writing whole small files by directory descriptor. */
#ifndef TRK_BASE_FILE_H
#define TRK_BASE_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A path, for the call that it is passed to: TRK_PATH("%d/stat", pid). One that does not fit becomes
 * empty, so that nothing is found. */
#define TRK_PATH(...) (trk__path(__VA_ARGS__).text)
struct trk_path {
	char text[1152]; /* for the path of a control group, and a file in it */
};
__attribute__((format(printf, 1, 2))) struct trk_path trk__path(const char *format, ...);

/* Read at most size-1 bytes of the file `path` below dirfd (borrowed) and NUL-terminate.
 * Returns the length; -EFBIG when the file is longer (the buffer then holds its start); else a
 * negative errno of open or read. */
ssize_t trk__read_at(int dirfd, const char *path, char *text, size_t size);
/* The same from offset 0 of an open descriptor, such as a /proc file that is kept open. */
ssize_t trk__read_fd(int fd, char *text, size_t size);
/* The same in one system call, for files that the kernel writes as one record (all of /proc/PID,
 * stat, meminfo, loadavg, pressure), where a short read is the whole file. Not for tables of many
 * lines. */
ssize_t trk__read_once_fd(int fd, char *text, size_t size);
ssize_t trk__read_once_at(int dirfd, const char *path, char *text, size_t size);
/* The same for tables of short lines (diskstats, net/dev): one system call for a table that is
 * clearly shorter than a page, several for a longer one. */
ssize_t trk__read_lines_fd(int fd, char *text, size_t size);
/* A file of any length up to `max` bytes, on the heap: the caller frees *ret. */
ssize_t trk__read_all_at(int dirfd, const char *path, size_t max, char **ret);
/* The same of an open descriptor: a file from offset 0, a pipe or terminal to its end. */
ssize_t trk__read_all_fd(int fd, size_t max, char **ret);
/* True for a regular file of more than `max` bytes, of which a sparse one occupies few. */
bool trk__file_exceeds(int fd, size_t max);
/* Write all bytes; 0 or a negative errno. Interrupted and short writes are continued. */
int trk__write_all(int fd, const void *data, size_t len);

/* The name of a new file that will replace `name` in the same folder: ".NAME.1a2b3c4d". Another user
 * of the folder cannot know it. */
enum { TRK_TEMPORARY_SIZE = 256 };
void trk__temporary_name(char ret[TRK_TEMPORARY_SIZE], const char *name);
/* Create it for writing. A descriptor or a negative errno. */
int trk__create_temporary_at(int dirfd, const char *name, mode_t mode,
			     char ret[TRK_TEMPORARY_SIZE]);
/* Give the file `name` below dirfd these bytes and this mode, atomically: they are on disk in a
 * temporary file before it is renamed. 0 or a negative errno. */
int trk__replace_at(int dirfd, const char *name, mode_t mode, const void *data, size_t len);

/* Open a file that the user has named for reading: links are followed, owners do not matter.
 * -TRK_ERR_NOTFILE where it is no regular file. */
int trk__open_regular_at(int dirfd, const char *path);

/* Directory descriptor of `path` below dirfd, or a negative errno. */
int trk__open_dir_at(int dirfd, const char *path);
/* Open that directory for readdir() and closedir(); NULL with errno set. */
DIR *trk__list_dir_at(int dirfd, const char *path);
/* The next entry whose name does not begin with a dot; NULL at the end, and for a NULL directory. */
struct dirent *trk__next_entry(DIR *dir);
void trk__close_dir_ptr(DIR **dir);
#define TRK_DIR_CLEANUP __attribute__((cleanup(trk__close_dir_ptr)))
/* The target of a link, cut to fit, and NUL-terminated. Its length or a negative errno. */
ssize_t trk__read_link_at(int dirfd, const char *path, char *text, size_t size);
/* Close a descriptor that may be -1. */
void trk__close(int fd);
/* `__attribute__((cleanup))` helper. */
void trk__close_ptr(int *fd);
#define TRK_FD_CLEANUP __attribute__((cleanup(trk__close_ptr)))

/* The file behind a descriptor. A host program may close all descriptors, as daemons do at their
 * start, and open files of its own under the same numbers. */
struct trk_fd_identity {
	uint64_t device, inode;
	bool is_known;
};

struct trk_fd_identity trk__fd_identity(int fd);
/* Does the descriptor still refer to that file? Also true if the identity is not known. */
bool trk__fd_is(int fd, struct trk_fd_identity identity);

/* Remove a folder and its content, without following links. Errors are ignored. */
void trk__remove_tree(const char *path);

/* The file in a temporary folder that shows other processes who made it, and that they may remove
 * it: it holds the folder's name. A copy under another name is not temporary. The Python package
 * reads it, too. */
#define TRK_TEMPORARY_MARK ".temporary"
/* mkdtemp(3), with that file. 0 or a negative errno. */
int trk__make_temporary(char *path);
/* trk__remove_tree() of a folder that trk__make_temporary() has made; others are left as they are. */
void trk__remove_temporary(const char *path);

#endif
