/* The page about a run, with all data of its job, in one of the formats of report/report.h. Used by
 * the command, by --report of a running job, and by the C API. */
#ifndef TRK_SERVICE_PAGE_H
#define TRK_SERVICE_PAGE_H

#include "report/report.h"
#include "service/runs.h"
#include "service/service.h"

/* All borrowed. */
struct trk_page_request {
	int dirfd; /* the recording, as of trk__record_read */
	const char *path;
	const char *format;      /* html, md */
	const char *earlier;     /* JSON of the job's earlier runs; NULL: those of the history */
	const char *integration; /* what tracked the run, "Metaflow 2.19"; NULL: nothing else */
	const struct trk_cloud *stated; /* the server that it ran on; NULL: as recorded */
	const char *vendors, *regions;  /* where to search servers; NULL: those of the run */
	double live_s;  /* not 0: the job runs, and the page is updated at this interval */
	bool failed;    /* see trk__record_fail */
	bool embed_raw; /* html only */
};

enum { TRK_PAGE_MAX = 256 << 20 /* bytes */ };

/* Append the page to `b`, and the id of the run to ret_id, which may be NULL. h: the history; NULL:
 * no earlier runs. If the catalogue cannot be read, a note says so, and the page lists no servers.
 * 0; the errors of trk__record_read; -EINVAL for another format, embed_raw with another than html,
 * or an unknown vendor or region; -ENOMEM. */
int trk__page_make(const struct trk_service *s, struct trk_history *h,
		   const struct trk_page_request *request, struct trk_buf *b, char *ret_id,
		   struct trk_error *reterr);

/* Write it to a file atomically (base/output.h). is_named: the user chose the path. via: name of
 * the temporary file, on the same file system; NULL: one in the same folder. */
int trk__page_save(const struct trk_buf *b, const char *path, bool is_named, const char *via);

#endif
