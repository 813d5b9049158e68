/* doctor --selftest: track jobs that know what they use, and compare. */
#ifndef TRK_CLI_SELFTEST_H
#define TRK_CLI_SELFTEST_H

#include <stdbool.h>

/* Takes about 15 s. Prints a line a figure, or JSON. Returns EXIT_OK, or EXIT_ERROR where a figure
 * lies outside of what its label promises or a job could not be tracked. */
int cli_selftest(bool json);

/* doctor --work NAME: do the work and print what it used, as a line of JSON. Returns an exit
 * status. */
int cli_selftest_work(const char *name);

#endif
