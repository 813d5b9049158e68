/* What the entry point shares with the verbs. */
#ifndef TRK_CLI_WINDOWS_ENTRY_H
#define TRK_CLI_WINDOWS_ENTRY_H

#include <stdbool.h>

/* Print nothing to stderr until this is called with false: a program that goes on in a process group of
 * its own has already printed what there is to say about options and configuration. */
void cli_windows_mute(bool mute);

#endif
