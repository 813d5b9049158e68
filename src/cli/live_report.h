/* The page of --report while the run goes on: made by a child, from what the tracker knows and the rows of
 * the recording, so that no sample waits for it, and no more often than it may cost. */
#ifndef TRK_CLI_LIVE_REPORT_H
#define TRK_CLI_LIVE_REPORT_H

#include "cli/report_files.h"

struct cli_live {
	struct cli_report_choice choice; /* its texts are borrowed */
	uint64_t every_ns;               /* 0: at the end alone */
	uint64_t next_ns;
	pid_t pid;      /* of the child; 0: none */
	int done_fd;    /* it says here what it has used; its end: it is over */
	int control_fd; /* that the child must not hold open; -1: none */
};

void cli_live_init(struct cli_live *l, const struct cli_report_choice *choice, uint64_t every_ns,
		   int control_fd);
/* After each row. */
void cli_live_row(struct cli_live *l, const struct trk_record *record);
/* No page of a run that goes on is written from here on. */
void cli_live_end(struct cli_live *l);

#endif
