/* The page about a run: everything that is known of its job, read and written in one of the formats
 * of report/report.h. The command, --report of a run that goes on, and the C API make it here. */
#ifndef TRK_SERVICE_PAGE_H
#define TRK_SERVICE_PAGE_H

#include "report/report.h"
#include "service/runs.h"

/* All borrowed. */
struct trk_page_request {
	int dirfd; /* the recording, as of trk__record_read */
	const char *path;
	const struct trk_record *record; /* what is known of it; NULL: that is read as well */
	const char *format;              /* html, md, json */
	const char *earlier;     /* JSON of the job's earlier runs; NULL: those of the history */
	const char *integration; /* what tracked the run, "Metaflow 2.19"; NULL: nothing else */
	const struct trk_cloud *stated; /* the server that it ran on; NULL: as recorded */
	const char *vendors, *regions;  /* where servers are looked for; NULL: there */
	double live_s;  /* not 0: the run goes on, and the page is made again so often */
	bool failed;    /* see trk__record_fail */
	bool embed_raw; /* html alone */
};

enum { TRK_PAGE_MAX = 256 << 20 /* bytes */ };

/* Append the page to `b`, and the id of the run to ret_id, which may be NULL. h: the history, NULL:
 * the run stands alone. A catalogue that cannot be read is a note, and the page then names no
 * servers. 0; the errors of trk__record_read; -EINVAL for another format, embed_raw with another
 * than html, or an unknown vendor or region; -ENOMEM. */
int trk__page_make(const struct trk_service *s, struct trk_history *h,
		   const struct trk_page_request *request, struct trk_buf *b, char *ret_id,
		   struct trk_error *reterr);

/* Put it into a file, whole or not at all (base/output.h). is_named: by the user. via: a name for
 * the page until it is whole, on the same file system; NULL: one in the same folder. */
int trk__page_save(const struct trk_buf *b, const char *path, bool is_named, const char *via);

#endif
