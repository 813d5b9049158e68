/* Making the report of a run, with all that is known of its job, and putting it into a file. */
#ifndef TRK_CLI_REPORT_FILES_H
#define TRK_CLI_REPORT_FILES_H

#include "cli/cli.h"

struct cli_report_choice {
	const char *dir;       /* --recording */
	const char *reference; /* of the run */
	const struct trk_record
		*record;    /* what is known of it, borrowed; NULL: that is read as well */
	const char *format; /* html, md, json */
	const char *path;   /* of the output; NULL: the run's name; "-": stdout */
	const char
		*via; /* name of the page until it is whole, on the same file system; NULL: beside
	                        it */
	const char *earlier; /* JSON of the job's earlier runs; NULL: those of the history */
	double live_s;       /* not 0: the run goes on, and the page is made again so often */
	bool embed_raw;
};

/* 0 and the path of the report in `path`, or an exit status after having complained. */
int cli_report_make(const struct cli_report_choice *choice, char *path, size_t size);

#endif
