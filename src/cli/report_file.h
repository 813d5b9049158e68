/* The page about a run, put into a file. */
#ifndef TRK_CLI_REPORT_FILE_H
#define TRK_CLI_REPORT_FILE_H

#include "cli/cli.h"
#include "service/page.h"

/* Make the page of the run that is named (path, id, "@", job). to: the file; NULL or "": named
 * after the run; "-": stdout. via: as of trk__page_save. 0 and the path of the page in `path`, or
 * an exit status after having complained. */
int cli_report_file(const char *dir, const char *reference, const struct trk_page_request *request,
		    const char *to, const char *via, char *path, size_t size);

#endif
