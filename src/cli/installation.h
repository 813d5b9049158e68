/* The check of this installation. */
#ifndef TRK_CLI_INSTALLATION_H
#define TRK_CLI_INSTALLATION_H

/* Print a line for each part of this installation. dir: of the recordings; NULL: the usual one.
 * Returns the exit status: 1 if a part is broken. */
int cli_check_installation(const char *dir);

#endif
