/* The public functions for the verb recommend. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/server_needs.h"
#include "api/sources.h"
#include "resource_tracker.h"
#include "service/recommend.h"

enum { DOCUMENT_MAX = 4 << 20, NOTE_MAX = 512 };

/* Read the request from the options and needs, which must live as long as the request. */
static int read_words(struct trk_recommend_request *q, const struct trk_recommend_options *o,
		      struct trk_cloud *stated, struct trk_error *error)
{
	int r = trk__recommend_request_set(q, "method", o->method, error);

	r = r ? r : trk__recommend_request_set(q, "risk", o->risk, error);
	for (size_t i = 0; r == 0 && o->tags && o->tags[i]; i++)
		if (trk__recommend_request_tag(q, o->tags[i]) < 0)
			r = trk__error_set(
				error, -EINVAL, "",
				"tags: %s: not of the form KEY or KEY=VALUE, or too long",
				o->tags[i]);
	if (r == 0 && !(o->input_bytes >= 0 && o->input_bytes <= 1e18))
		r = trk__error_set(error, -TRK_ERR_RANGE, "", "input_bytes: out of range");
	if (r == 0 && o->instance) {
		r = trk__cloud_state(o->instance, stated);
		if (r < 0)
			return trk__error_set(error, r, "",
					      "instance %s: not of the form VENDOR/REGION/TYPE",
					      o->instance);
		q->stated = stated;
	}
	return r;
}

static int make_request(struct trk_recommend_request *q, const struct trk_recommend_options *o,
			const struct trk_server_needs *n, struct trk_cloud *stated,
			struct trk_error *error)
{
	int r;

	trk__recommend_request_init(q);
	r = read_words(q, o, stated, error);
	if (r < 0)
		return r;
	q->failed = o->failed != 0;
	q->earlier = o->earlier;
	q->input_bytes = o->input_bytes > 0 ? o->input_bytes : (double) NAN;
	q->servers = !o->no_servers;
	q->short_too = o->short_runs != 0;
	q->limit = o->limit ? o->limit : TRK_RECOMMEND_SERVERS;
	q->words = trk__server_words(n);
	q->wishes = trk__server_wishes(n);
	return trk__recommend_request_set(q, "order-by", n->order_by, error);
}

static int ask(const char *recording, const struct trk_recommend_options *o,
	       const struct trk_server_needs *n, struct trk_recommendation **ret,
	       char note[NOTE_MAX], struct trk_error *error)
{
	const struct trk_sources_named named = {
		.history = o->history,
		.history_url = o->history_url,
		.prices = {o->catalog, o->scores, o->prices, o->cache},
		.of_user = o->of_user,
	};
	struct trk_recommend_request request;
	struct trk_sources *sources = calloc(1, sizeof(*sources));
	struct trk_cloud stated;
	int r = sources ? make_request(&request, o, n, &stated, error) : -ENOMEM;

	request.path = recording;
	r = r ? r : trk__sources_open(sources, &named, !o->earlier, error);
	r = r ? r : trk__recommend(&sources->service, sources->history, &request, ret, error);
	if (r == 0)
		(void) snprintf(note, NOTE_MAX, "%s", sources->note);
	if (sources)
		trk__sources_release(sources);
	free(sources);
	return r;
}

int trk_recommend(const char *recording, const struct trk_recommend_options *options,
		  struct trk_recommendation **ret, char *why, size_t why_size)
{
	struct trk_recommend_options o = TRK_RECOMMEND_OPTIONS_INIT;
	struct trk_error error = {.code = 0};
	struct trk_server_needs n;
	char note[NOTE_MAX] = "";
	int r;

	if (!recording)
		return trk__why(why, why_size, -EINVAL, "recording: no path is given");
	r = trk__options_copy("options", options, offsetof(struct trk_recommend_options, earlier),
			      &o, sizeof(o), why, why_size);
	if (r < 0)
		return r;
	r = trk__server_needs_read(o.needs, &n, why, why_size);
	if (r < 0)
		return r;
	r = ask(recording, &o, &n, ret, note, &error);
	return trk__why(why, why_size, r, "%s", r == 0 ? note : trk__error_text(&error, r));
}

void trk_recommendation_free(struct trk_recommendation *recommendation)
{
	trk__recommendation_free(recommendation);
}

/* The caller owns the returned text. */
char *trk_recommendation_json(const struct trk_recommendation *r)
{
	TRK_BUF_LOCAL(b, DOCUMENT_MAX);

	trk__recommendation_json(&b, r);
	return trk__buf_take(&b);
}
