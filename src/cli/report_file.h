/* Writes the report of a run into a file. */
#ifndef TRK_CLI_REPORT_FILE_H
#define TRK_CLI_REPORT_FILE_H

#include "cli/cli.h"
#include "service/page.h"

/* Write the report of the run `reference` (path, id, "@", job). to: the file; NULL or "": named
 * after the run; "-": stdout. via: as for trk__page_save(). Returns 0 with the path of the report
 * in `path`, or an exit status after a complaint. */
int cli_report_file(const char *dir, const char *reference, const struct trk_page_request *request,
		    const char *to, const char *via, char *path, size_t size);

#endif
