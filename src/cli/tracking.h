/* The tracking that run, attach and system share. */
#ifndef TRK_CLI_TRACKING_H
#define TRK_CLI_TRACKING_H

#include "cli/track_options.h"

/* Track with these settings and report. argv: the command of run (NULL-terminated), or
 * NULL; pid: of attach, or 0. Returns the exit status; for a job that died of a signal, minus the
 * signal's number. */
int track_with(struct track_settings *s, char **argv, int pid);

/* In the folder of each operating system: print which of the given options have no effect there, and
 * drop them. On Windows a command with limits goes on in another process here. */
void track_adapt(struct track_settings *s, char **argv);

/* Print why exec(3) of a command failed (an errno); returns the exit status for it. */
int track_exec_failure(const char *command, int error);

#endif
