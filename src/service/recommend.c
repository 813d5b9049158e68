#include "answer/snippets.h"
#include "service/recommend.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "recording/reader.h"
#include "report/offers_text.h"
#include "service/keeper_client.h"

/* ---- the request ---- */

void trk__recommend_request_init(struct trk_recommend_request *q)
{
	*q = (struct trk_recommend_request){
		.dirfd = AT_FDCWD,
		.input_bytes = NAN,
		.servers = true,
		.limit = TRK_RECOMMEND_SERVERS,
		.order = TRK_ORDER_RUN_COST,
	};
}

/* Index of a word in a list that ends with NULL; NULL is the first word. -EINVAL: none of them. */
static int index_of(const char *const *words, const char *name, const char *word,
		    struct trk_error *reterr)
{
	char list[200] = "";
	size_t len = 0;

	if (!word)
		return 0;
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	for (size_t i = 0; words[i] && len < sizeof(list); i++)
		len += (size_t) snprintf(list + len, sizeof(list) - len, " %s", words[i]);
	return trk__error_set(reterr, -EINVAL, "", "%s %s: not one of:%s", name, word, list);
}

int trk__recommend_request_set(struct trk_recommend_request *q, const char *name, const char *word,
			       struct trk_error *reterr)
{
	static const char *const methods[] = {"default", "original", NULL};
	static const char *const risks[] = {"default", "cheap", "safe", NULL};
	static const char *const orders[] = {"run-cost", "price", "score-per-price", NULL};
	static const char *const kinds[] = {
#define X(print, kind, ...) kind,
		TRK_SNIPPET_LIST(X)
#undef X
			NULL};
	const char *const *words = !strcmp(name, "method") ? methods
				   : !strcmp(name, "risk") ? risks
				   : !strcmp(name, "for")  ? kinds
							   : orders;
	int r = index_of(words, name, word, reterr);

	if (r < 0 || words == kinds)
		return r < 0 ? r : 0;
	if (words == methods)
		q->original = r == 1;
	else if (words == risks)
		q->risk = (enum trk_risk) r;
	else
		q->order = (enum trk_offers_order) trk__offers_order(orders[r]);
	return 0;
}

/* A tag without a value is kept as KEY=. */
int trk__recommend_request_tag(struct trk_recommend_request *q, const char *tag)
{
	size_t room = sizeof(q->tags) - q->tags_len;
	int len;

	if (!*tag || *tag == '=')
		return -EINVAL;
	len = snprintf(q->tags + q->tags_len, room, "%s%s", tag, strchr(tag, '=') ? "" : "=");
	if (len < 0 || (size_t) len >= room)
		return -E2BIG;
	q->tags_len += (size_t) len + 1;
	return 0;
}

/* ---- the answer ---- */

/* The newest run and the earlier ones. */
static int read_runs(const struct trk_service *s, struct trk_history *h,
		     const struct trk_recommend_request *q, struct trk_recommendation *a,
		     struct trk_error *reterr)
{
	int r = trk__record_read(q->dirfd, q->path, &a->record, NULL, NULL, reterr);

	if (r < 0)
		return r == -EINVAL ? -EIO : r;
	if (q->failed)
		trk__record_fail(&a->record);
	r = trk__job_runs_read(s, h, q->earlier, &a->record, &a->runs);
	if (r < 0 || !q->tags_len)
		return r;
	trk__history_tags(q->tags, q->tags_len, a->tags);
	return trk__job_runs_for(&a->runs, s, &a->record, a->tags);
}

static int find_servers(const struct trk_service *s, const struct trk_recommend_request *request,
			struct trk_recommendation *a, struct trk_error *reterr)
{
	const struct trk_run_question question = {.record = &a->record,
						  .advice = &a->advice,
						  .busy = &a->runs.use->busy,
						  .words = &request->words,
						  .wishes = &request->wishes};
	struct trk_offers *offers = &a->servers.offers;
	struct trk_needs *needs = &a->servers.needs;
	int e = trk__prices_load(&s->layers, &a->prices, reterr);

	if (e < 0)
		return e;
	if (a->prices.ignored.code)
		trk__service_note(s, "%s", a->prices.ignored.message);
	e = trk__run_servers_read(&a->servers, &a->prices.c, &question, reterr);
	if (e < 0)
		return e == -ENOMEM ? e : -EINVAL;
	a->servers.short_too = request->short_too;
	if (request->online)
		trk__keeper_online(s, &a->prices.c, &needs->query, request->url, needs->regions);
	e = trk__run_servers_find(&a->servers, &a->prices.c, request->order, request->limit);
	if (e < 0)
		return e;
	a->has_servers = true;
	if (offers->n > request->limit) /* their number is not part of the answer */
		offers->n = request->limit;
	return 0;
}

static int advise(const struct trk_recommend_request *request, struct trk_recommendation *a,
		  struct trk_error *reterr)
{
	struct trk_advice_input question = trk__job_runs_question(&a->runs, &a->record);
	int r;

	question.risk = request->risk;
	question.original = request->original;
	question.input_bytes = request->input_bytes;
	r = trk__advice_make(&question, &a->advice);
	if (r < 0)
		return trk__error_set(reterr, r, "",
				      strcmp(a->record.run.kind, "system") != 0
					      ? "%s: no advice: no run has samples"
					      : "%s: the run tracked the whole machine, not a job",
				      a->record.run.id);
	return 0;
}

int trk__recommend(const struct trk_service *s, struct trk_history *h,
		   const struct trk_recommend_request *request, struct trk_recommendation **ret,
		   struct trk_error *reterr)
{
	struct trk_recommendation *a = calloc(1, sizeof(*a));
	int r = a ? read_runs(s, h, request, a, reterr) : -ENOMEM;

	r = r ? r : advise(request, a, reterr);
	if (r == 0 && request->stated)
		trk__prices_cost_at(&s->layers, &a->record, request->stated, &a->advice,
				    &a->runs.use->busy);
	if (r == 0 && request->servers)
		r = find_servers(s, request, a, reterr);
	if (r < 0) {
		trk__recommendation_free(a);
		return r;
	}
	if (a->has_servers)
		trk__cost_take_best(&a->record.place.cost, &a->servers.offers);
	a->has_times = trk__time_breakdown_of(&a->record, &a->times) == 0;
	*ret = a;
	return 0;
}

void trk__recommendation_free(struct trk_recommendation *r)
{
	if (!r)
		return;
	trk__run_servers_release(&r->servers);
	trk__prices_release(&r->prices);
	trk__job_runs_release(&r->runs);
	trk__record_release(&r->record);
	free(r);
}

/* ---- its forms ---- */

void trk__recommendation_json(struct trk_buf *b, const struct trk_recommendation *r)
{
	const struct trk_run *run = &r->record.run;
	const struct trk_offers *offers = &r->servers.offers;
	struct trk_json j;

	trk__json_begin(&j, b, 1, "resource-tracker.advice/1");
	trk__json_key_text(&j, "job", run->job);
	trk__json_key_or_null(&j, "scope", run->scope);
	trk__json_key_text(&j, "run", run->id);
	trk__advice_json(&j, &r->advice);
	if (r->has_times)
		trk__time_breakdown_json(&j, &r->times);
	if (r->has_servers) {
		trk__offers_members_json(&j, offers);
		trk__json_key_or_null(&j, "no_server_reason", offers->nothing);
	}
	trk__json_end(&j);
}

static void servers_text(struct trk_buf *b, const struct trk_run_servers *s,
			 const struct trk_terminal_style *style)
{
	trk__buf_putc(b, '\n');
	if (s->offers.nothing[0]) {
		trk__write_terminal_lines(b, s->offers.nothing, style);
		return;
	}
	trk__offers_text(b, &s->offers, style);
	trk__offers_notes(b, &s->offers, style);
	if (!s->place_known && !s->needs.query.regions_ok && !s->needs.query.vendors_ok)
		trk__write_terminal_lines(
			b,
			"The cloud of the job is not known, so servers of all vendors are "
			"listed.\nTry: --instance VENDOR/REGION/TYPE (here, or with run), or "
			"--vendor and --region\n",
			style);
}

void trk__recommendation_text(struct trk_buf *b, const struct trk_recommendation *r,
			      const struct trk_terminal_style *style)
{
	trk__recommend_text(b, &r->record, &r->advice, r->has_times ? &r->times : NULL, style);
	if (r->has_servers)
		servers_text(b, &r->servers, style);
}

bool trk__recommendation_lines(struct trk_buf *b, const struct trk_recommendation *r,
			       const char *kind, struct trk_buf *note)
{
	if (!trk__advice_snippet(b, &r->advice, kind))
		return false;
	if (!trk__advice_memory_note(note, &r->advice) || note->error ||
	    (b->data && strstr(b->data, note->data)))
		note->len = 0;
	return true;
}
