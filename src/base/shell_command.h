/* A command of the user, by the system's shell: /bin/sh, or cmd.exe. */
#ifndef TRK_BASE_SHELL_COMMAND_H
#define TRK_BASE_SHELL_COMMAND_H

/* Run it in the environment of trk__os_environment(), with the streams of this program (on Windows
 * without its input), and wait for its end. After limit_s seconds it is ended. 0 with *ret_status as
 * of waitpid(2), or a negative errno; -ETIMEDOUT on Windows, where a status cannot show that the
 * command was ended. */
int trk__shell_command(const char *command, unsigned int limit_s, int *ret_status);

#endif
