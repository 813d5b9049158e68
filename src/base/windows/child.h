/* Child processes: base/windows/posix_process.h waits for them and ends them. */
#ifndef TRK_BASE_WINDOWS_CHILD_H
#define TRK_BASE_WINDOWS_CHILD_H

#include "base/windows/wide.h"

/* Start a program, with the standard streams of this one and one more environment variable
 * ("NAME=value", or NULL). It is a member of the job object `job` (borrowed; NULL: none) before
 * its first instruction. src/base/windows/program.h says where the name is looked for.
 *
 * Returns 0 or a negative errno: -ENOENT, there is no such program; -EINVAL: it is a batch file,
 * and an argument has a character that cmd.exe would not pass on; -E2BIG: the command line is too
 * long. *ret_in_job: false when it could
 * not be made a member of the job object. The handle of the process is borrowed, until it is waited
 * for. */
int trk__child_start(char *const argv[], const char *assignment, HANDLE job, pid_t *ret_pid,
		     HANDLE *ret_process, bool *ret_in_job);

/* Start a program that inherits `handle` (borrowed) under its number, and the standard streams of
 * this program or, without has_streams, no console. Without ret_pid it is not waited for. 0, or an
 * error of trk__child_start(). */
int trk__child_pass(char *const argv[], HANDLE handle, bool has_streams, pid_t *ret_pid);

/* A program that is no part of the job: of the tracker itself, or of an alert. It inherits no
 * handle but those of its streams. */
struct trk_beside {
	/* The file of a program and its arguments, or NULL: a line for cmd.exe. */
	const char *file;
	char *const *argv;
	const char *command;
	/* Its environment: that of this program, with the variables of this list that belong to the
	 * project (RT_, TRACKER_, RESOURCE_TRACKER_) instead of those. */
	char *const *environment;
	HANDLE output, error; /* its streams; NULL: none. It has no input */
	HANDLE job;           /* job object of which it is a member; NULL: none */
	bool has_console;     /* this program's, so that Ctrl-C ends it as well */
	bool is_quiet;        /* at low priority */
};

/* Start it. 0 with its handle, which the caller closes, or a negative errno. */
int trk__child_beside(const struct trk_beside *b, HANDLE *ret_process);

/* A job object that ends its members when its last handle is closed; NULL: failed. */
HANDLE trk__child_job(void);

/* Run a program to its end, with these descriptors as its standard streams (-1: none). Returns 0
 * with its exit code, or a negative errno. */
int trk__child_run(char *const argv[], const int streams[3], int *ret_code);

/* End a process at once, a child in a job object with all its descendants. 0 or -1 with errno. */
int trk__child_end(pid_t pid, unsigned int code);

/* The exit code of this program when it passes on that of a child: if `code` is the part that
 * remained of the last child's 32-bit code, that whole code; else `code`. */
int trk__child_whole_code(int code);

#endif
