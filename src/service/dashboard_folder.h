/* The page over all jobs as a folder of files: dashboard --static DIR. */
#ifndef TRK_SERVICE_DASHBOARD_FOLDER_H
#define TRK_SERVICE_DASHBOARD_FOLDER_H

#include <stddef.h>

#include "base/error.h"
#include "fleet/dashboard.h"
#include "service/service.h"

/* Make the folder with index.html, and runs/ID.html for the newest `reports` runs whose recordings
 * are here; *ret_reports: how many were written. A run without a report is a note. 0, or a negative
 * error with "PATH: why" in *reterr. */
int trk__dashboard_folder(const struct trk_service *s, struct trk_dashboard *d, const char *path,
			  size_t reports, size_t *ret_reports, struct trk_error *reterr);

#endif
