/* What the next run of a job asks of a server, and where it is looked for: from the advice, from
 * how busy the cores were, and from where the run ran. */
#ifndef TRK_REPORT_RUN_NEEDS_H
#define TRK_REPORT_RUN_NEEDS_H

#include "catalog/needs.h"
#include "report/advice.h"
#include "report/offers.h"

/* The same, with the words laid over it: what they leave open is as it was for the run. Its
 * architecture (`arch`, else that of the type of server at `cloud`), and its vendor and region
 * (data, quotas and habits are there), unless a vendor, region or country is named. Errors of
 * trk__needs_read. */
int trk__run_needs_read(struct trk_needs *needs, const struct trk_catalog *c,
			const struct trk_need_words *words, const struct trk_advice *a,
			const char *arch, const struct trk_cloud *cloud, struct trk_error *reterr);

enum { TRK_RUN_SLICES_MAX = TRK_BUSY_BINS };

/* A run as work for another server; its slices lie here, so it is not copied. */
struct trk_run_work {
	struct trk_server_work work;
	struct trk_busy_slice slice[TRK_RUN_SLICES_MAX];
};

/* How long so many cores were busy: by `busy`, else (NULL, or empty) by the run itself
 * (cpu_use.h), else one core all the time; and the speed of the server at `cloud`, where the
 * catalogue has it. Without boot time and deadline. */
void trk__run_work_read(struct trk_run_work *w, const struct trk_catalog *c,
			const struct trk_busy *busy, const struct trk_record *record,
			const struct trk_cloud *cloud);

/* Index of the region in which a machine stands, or negative. A vendor with one price for all
 * places has one region, whatever its machines call theirs. */
int trk__run_region(const struct trk_catalog *c, int vendor, const struct trk_cloud *cloud);

#endif
