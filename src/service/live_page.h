/* The page of a running job. A child process makes it from the recording so far, so that no sample
 * waits for it, and uses at most 1/200 of a core. The child is a helper process and not counted as
 * part of the job. */
#ifndef TRK_SERVICE_LIVE_PAGE_H
#define TRK_SERVICE_LIVE_PAGE_H

#include "probe/helper_process.h"
#include "service/page.h"

struct trk_live_page {
	struct trk_service service;
	struct trk_page_request request; /* its texts are borrowed */
	const char *path, *via;          /* as of trk__page_save */
	uint64_t every_ns;               /* 0: no page while the job runs */
	uint64_t next_ns;
	struct trk_helper_process child;
	int done_fd;    /* pipe from the child; -1: there is none */
	int control_fd; /* that the child must not hold open; -1: none */
};

/* `page` needs service, request, path, via, every_ns and control_fd. */
void trk__live_page_init(struct trk_live_page *l, const struct trk_live_page *page);
/* After each row. */
void trk__live_page_row(struct trk_live_page *l, const struct trk_run *run);
/* Stop writing the page of the running job. */
void trk__live_page_end(struct trk_live_page *l);

#endif
