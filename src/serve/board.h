/* What the local dashboard answers with: the rows of the history, kept for a few seconds, and the
 * page, views and reports that are made of them. */
#ifndef TRK_SERVE_BOARD_H
#define TRK_SERVE_BOARD_H

#include "fleet/answer.h"
#include "fleet/dashboard.h"
#include "service/service.h"

struct trk_board {
	const struct trk_service *service; /* borrowed */
	double as_of_s;                    /* NaN: now */
	double utc_offset_s;
	/* Of the moment in which the rows were read. */
	bool made, has_page;
	uint64_t made_ns;
	int64_t stamp; /* of the recordings and of the database then */
	struct trk_fleet_rows rows;
	struct trk_dashboard dashboard;
	struct trk_buf page, alerts;
};

void trk__board_init(struct trk_board *b, const struct trk_service *service, double as_of_s,
		     double utc_offset_s);
void trk__board_release(struct trk_board *b);

/* Read the history again if that is 5 s ago and it may have changed since. Where that fails, what
 * was read before stays. 0; a negative error with *reterr where there is nothing at all. */
int trk__board_refresh(struct trk_board *b, struct trk_error *reterr);

/* The page; a view until the next refresh. NULL: out of memory. */
const struct trk_buf *trk__board_page(struct trk_board *b);

/* As of the address; NULL: not given. */
struct trk_board_query {
	const char *view, *days, *job, *scope, *id, *end, *before, *before_id, *max;
};
/* Append a view as JSON. 0; -EINVAL (a word that is no view, or no number); -ENOENT (no such job or
 * run). */
int trk__board_answer(const struct trk_board *b, const struct trk_board_query *q,
		      struct trk_buf *ret);

/* Append the report of a run that the history has. -TRK_ERR_NORUN: it has not, or its recording is
 * not on this machine. */
int trk__board_report(const struct trk_board *b, const char *id, struct trk_buf *ret,
		      struct trk_error *reterr);

#endif
