/* What the next run of a job should request, and the servers on which it costs least: one answer
 * for the verb `recommend`, the C API and the Python package. */
#ifndef TRK_SERVICE_RECOMMEND_H
#define TRK_SERVICE_RECOMMEND_H

#include "answer/run_servers.h"
#include "answer/time_breakdown.h"
#include "report/write/terminal.h"
#include "service/runs.h"

enum { TRK_RECOMMEND_SERVERS = 5 /* that are shown by default */ };

/* Pointers are borrowed. */
struct trk_recommend_request {
	int dirfd; /* the recording of the newest run, as of trk__record_read */
	const char *path;
	bool failed;         /* see trk__record_fail */
	const char *earlier; /* JSON of the job's earlier runs; NULL: those of the history */
	/* Tags of the next run, each ended by a NUL; none: those of the newest run. */
	char tags[TRK_RUN_TAGS_SIZE];
	size_t tags_len;
	double input_bytes; /* of the next run; NaN: not known */
	bool original;      /* the rule of the original Python package */
	enum trk_risk risk;
	const struct trk_cloud *stated; /* the server that it ran on; NULL: as recorded */
	/* Servers. Needs that `words` and `wishes` leave open are those of the run. */
	bool servers, online;
	bool short_too;  /* also for very short runs */
	const char *url; /* of the Keeper; NULL: its own */
	size_t limit;
	enum trk_offers_order order;
	struct trk_need_words words;
	struct trk_catalog_query wishes;
};

/* The defaults: servers by the cost of a run. */
void trk__recommend_request_init(struct trk_recommend_request *q);
/* Set one of "method" (default, original), "risk" (default, cheap, safe), "order-by" and "for" (a
 * kind of lines to paste, which is checked only) by its word; NULL: the default. 0, or -EINVAL with
 * "NAME WORD: not one of: …" in *reterr. */
int trk__recommend_request_set(struct trk_recommend_request *q, const char *name, const char *word,
			       struct trk_error *reterr);
/* Add "KEY=VALUE" or "KEY". 0; -EINVAL: of another form; -E2BIG: no room. */
int trk__recommend_request_tag(struct trk_recommend_request *q, const char *tag);

/* Owned; it points into itself and is not copied. */
struct trk_recommendation {
	struct trk_record record;
	struct trk_job_runs runs;
	char tags[TRK_HISTORY_TAGS_SIZE];
	struct trk_advice advice;
	struct trk_time_breakdown times;
	bool has_times, has_servers;
	struct trk_prices prices; /* of the servers */
	struct trk_run_servers servers;
};

/* Make a recommendation from a recording and the earlier runs of its job. h: the history; NULL: no
 * earlier runs but request->earlier. The cost in the record is updated, for the stated server and
 * with the best server. 0; the errors of trk__record_read (-EIO for -EINVAL); -TRK_ERR_NODATA: no run
 * has samples; -EINVAL: a name of the words is unknown; the error of a catalogue; or -ENOMEM. The
 * caller frees *ret. */
int trk__recommend(const struct trk_service *s, struct trk_history *h,
		   const struct trk_recommend_request *request, struct trk_recommendation **ret,
		   struct trk_error *reterr);
void trk__recommendation_free(struct trk_recommendation *r);

/* One document of schema "resource-tracker.advice/1". */
void trk__recommendation_json(struct trk_buf *b, const struct trk_recommendation *r);
/* The same as text for a terminal. */
void trk__recommendation_text(struct trk_buf *b, const struct trk_recommendation *r,
			      const struct trk_terminal_style *style);
/* Append lines to paste, of a kind of TRK_SNIPPET_LIST. `note`: what the request does not cover,
 * for kinds that have no comments. False: there is no such kind. */
bool trk__recommendation_lines(struct trk_buf *b, const struct trk_recommendation *r,
			       const char *kind, struct trk_buf *note);

#endif
