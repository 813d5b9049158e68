/* Progress of a long command: one line on a terminal, which is cleared at the end.
 *
 * Nothing is written within the first second, to a pipe or file, or with TERM=dumb. */
#ifndef TRK_CLI_PROGRESS_H
#define TRK_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_progress {
	const char *what; /* borrowed: a file, an address */
	uint64_t start_ns, shown_ns;
	bool wanted, shown;
};

void cli_progress_begin(struct cli_progress *p, const char *what);

/* `done` of `total` bytes; total 0: unknown. May be called for each row. */
void cli_progress_show(void *progress, uint64_t done, uint64_t total);

/* Clear the line. Call before anything else is written. */
void cli_progress_end(struct cli_progress *p);

#endif
