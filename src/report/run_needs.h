/* What the next run of a job needs of a server, and where to search: from the advice, from how busy
 * the cores were, and from where the run ran. */
#ifndef TRK_REPORT_RUN_NEEDS_H
#define TRK_REPORT_RUN_NEEDS_H

#include "catalog/needs.h"
#include "report/advice.h"
#include "report/offers.h"

/* Read the needs of the run, with `words` overriding them. Defaults are the architecture of the run
 * (`arch`, else that of the server type at `cloud`), and its vendor and region, unless a vendor,
 * region or country is named. Errors of trk__needs_read. */
int trk__run_needs_read(struct trk_needs *needs, const struct trk_catalog *c,
			const struct trk_need_words *words, const struct trk_advice *a,
			const char *arch, const struct trk_cloud *cloud, struct trk_error *reterr);

enum { TRK_RUN_SLICES_MAX = TRK_BUSY_BINS };

/* A run as work for another server. Do not copy: `work` points to `slice`. */
struct trk_run_work {
	struct trk_server_work work;
	struct trk_busy_slice slice[TRK_RUN_SLICES_MAX];
};

/* Fill in how long how many cores were busy: from `busy`, else (NULL, or empty) from the run
 * (cpu_use.h), else one core all the time; and the speed of the server at `cloud`, if it is in the
 * catalogue. Sets no boot time and no deadline. */
void trk__run_work_read(struct trk_run_work *w, const struct trk_catalog *c,
			const struct trk_busy *busy, const struct trk_record *record,
			const struct trk_cloud *cloud);

/* Index of the region of a machine, or negative. A vendor with one price for all places has one
 * region in the catalogue, whatever region its machines report. */
int trk__run_region(const struct trk_catalog *c, int vendor, const struct trk_cloud *cloud);

#endif
