/* The page over all jobs as a file, or as a folder with the reports of runs. */
#ifndef TRK_CLI_DASHBOARD_STATIC_H
#define TRK_CLI_DASHBOARD_STATIC_H

#include "fleet/dashboard.h"
#include "service/service.h"

enum { CLI_DASHBOARD_REPORTS = 50 };

/* path: "-" (stdout) or a name that ends in .html or .htm is the page; anything else is a folder,
 * which is made: index.html, and runs/ID.html for the newest `reports` runs whose recordings are
 * here. 0, or an exit status after having complained. */
int cli_dashboard_write(struct trk_dashboard *d, const struct trk_service *service,
			const char *path, size_t reports);

#endif
