/* Programs beside the job: background processes that outlive this program, commands of the user. */
#ifndef TRK_BASE_DETACH_H
#define TRK_BASE_DETACH_H

#include <stdbool.h>

/* Fork a detached process: in its own session, adopted by init, with /dev/null as its three
 * standard descriptors, no other descriptor, no blocked signal, and the default action of SIGPIPE.
 * Returns true in that process, which calls exec or _exit; false in the caller, also if fork
 * failed. */
bool trk__detach(void);

/* Start a program so: its file, or a name that is looked for in PATH. is_quiet: at low priority. The
 * environment is that of trk__os_environment(). If it cannot be started nothing happens. */
void trk__detach_program(const char *file, char *const argv[], bool is_quiet);

/* Run a command of the user by /bin/sh and wait for its end, in the environment of
 * trk__os_environment(), with the streams of this program. After limit_s seconds it is ended. 0 with
 * *ret_status as of waitpid(2), or a negative errno; -EOPNOTSUPP on Windows. */
int trk__shell_command(const char *command, unsigned int limit_s, int *ret_status);

#endif
