/* The local dashboard: the page over all jobs, the reports of runs and the views as JSON, on
 * 127.0.0.1, for the user who started it and nobody else (serve/gate.h, serve/http.h).
 *
 *   /TOKEN/               the page (fleet/dashboard.h), at most 5 s old
 *   /TOKEN/json/VIEW      a view as JSON (fleet/answer.h): ?days=N, ?job=NAME&scope=S, ?id=RUN,
 *                         ?end=, ?before=
 *   /TOKEN/run/ID         the report of a run, which a frame of the page shows; ?download
 *
 * One request at a time; one for a report takes as long as the report (tenths of a second). */
#ifndef TRK_SERVE_DASHBOARD_SERVER_H
#define TRK_SERVE_DASHBOARD_SERVER_H

#include "serve/gate.h"
#include "service/service.h"

struct trk_dashboard_server {
	struct trk_service service; /* its texts are borrowed */
	double as_of_s;             /* the moment of all views; NaN: now */
	double utc_offset_s;
	uint16_t port; /* 0: one that is free */
	int stop_fd;   /* borrowed; it ends when this can be read */
	/* Called once, when the page is made and the address answers. */
	void (*on_ready)(void *data, const char *address);
	void *data;
};

/* Serve until stop_fd. 0; -TRK_ERR_UNSUPPORTED without libmicrohttpd, -EADDRINUSE, -EACCES, or
 * another negative error, with *reterr. */
int trk__dashboard_serve(const struct trk_dashboard_server *o, struct trk_error *reterr);

#endif
