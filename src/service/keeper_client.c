#include "service/keeper_client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "catalog/fetch.h"
#include "catalog/image.h"
#include "catalog/text.h"

enum {
	TRIES = 4,
	WAIT_S = 60, /* the minute of the Keeper's credits */
	ANSWER_MAX = 64 << 20,
	ONLINE_S = 10,
	ONLINE_REGIONS = 3, /* largest number in one request to the Keeper */
};

/* ---- fetching ---- */

struct download {
	const struct trk_service *s;
	const char *url;
};

static void show(void *data, uint64_t done, uint64_t total)
{
	const struct download *d = data;

	d->s->progress(d->s->data, d->url, done, total);
}

static int fetch(const struct trk_service *s, const char *url, unsigned int timeout_s,
		 struct trk_buf *out, struct trk_error *reterr)
{
	struct download d = {s, url};
	const struct trk_fetch_progress progress = {show, &d};
	int r;

	if (s->progress)
		show(&d, 0, 0);
	r = trk__fetch(url, timeout_s, s->progress ? &progress : NULL, out, reterr);
	if (s->progress)
		s->progress(s->data, NULL, 0, 0);
	return r == -EINVAL ? -EIO : r; /* an address, which may be of a list */
}

int trk__patient_fetch(const struct trk_service *s, const char *url, unsigned int timeout_s,
		       struct trk_buf *out, struct trk_error *reterr)
{
	/* Plain HTTP reaches this machine only, whose servers need no minute. */
	bool is_local = !strncmp(url, "http://", 7);
	const struct timespec wait = {.tv_sec = is_local ? 0 : WAIT_S, .tv_nsec = 1000000};
	int r = fetch(s, url, timeout_s, out, reterr);

	for (int i = 1; r == -EBUSY && i < TRIES; i++) {
		trk__service_note(s, "%.150s: busy, next try in a minute", url);
		(void) nanosleep(&wait, NULL);
		trk__buf_clear(out);
		r = fetch(s, url, timeout_s, out, reterr);
	}
	return r;
}

/* ---- questions to the Keeper ---- */

void trk__keeper_client_init(struct trk_keeper_client *k, const struct trk_service *s,
			     const char *url, unsigned int timeout_s)
{
	*k = (struct trk_keeper_client){
		.s = s, .url = url ? url : TRK_KEEPER_URL, .timeout_s = timeout_s};
	trk__buf_init(&k->text, ANSWER_MAX);
	trk__clock_iso8601(trk__clock_wall_ns(), k->date);
	k->date[10] = '\0';
}

void trk__keeper_client_release(struct trk_keeper_client *k)
{
	for (size_t i = 0; i < k->n; i++)
		trk__json_doc_release(&k->answer[i].doc);
	trk__json_doc_release(&k->table);
	trk__buf_release(&k->text);
}

/* GET a path of the API, as JSON. */
__attribute__((format(printf, 3, 4))) static int get(struct trk_keeper_client *k,
						     struct trk_json_doc *ret, const char *format,
						     ...)
{
	const struct trk_json_limits limits = {.max_bytes = ANSWER_MAX, .nan_is_null = true};
	char url[2048];
	TRK_BUF_LOCAL(body, ANSWER_MAX);
	va_list args;
	int r, n;

	n = snprintf(url, sizeof(url), "%.1000s", k->url);
	va_start(args, format);
	(void) vsnprintf(url + n, sizeof(url) - (size_t) n, format, args);
	va_end(args);
	r = k->patient ? trk__patient_fetch(k->s, url, k->timeout_s, &body, &k->error)
		       : trk__fetch(url, k->timeout_s, NULL, &body, &k->error);
	if (r == 0)
		r = trk__json_read(body.data ? body.data : "", body.len, &limits, "the answer", ret,
				   &k->error);
	return r;
}

/* "&vendor_regions=VENDOR~REGION" by the Keeper's names; its regions are numbers for some
 * vendors. */
static int region_query(struct trk_keeper_client *k, const struct trk_catalog *c, int region,
			char *text, size_t size)
{
	const char *vendor =
		trk__catalog_vendor_id(c, trk__catalog_regions(c, NULL)[region].vendor);
	const char *id = trk__catalog_region_id(c, (size_t) region);
	char name[96];
	int r = k->table.count ? 0 : get(k, &k->table, "/table/region");

	if (r < 0)
		return r;
	if (trk__keeper_region(&k->table, vendor, id, name, sizeof(name)) < 0)
		return trk__error_set(&k->error, -ENOENT, "", "the Keeper has no region %s of %s",
				      id, vendor);
	(void) snprintf(text, size, "&vendor_regions=%s~%s", trk__keeper_vendor(vendor), name);
	return 0;
}

int trk__keeper_client_ask(struct trk_keeper_client *k, const struct trk_catalog *c, int region,
			   const char *query)
{
	struct trk_keeper_answer *answer = &k->answer[k->n];
	char where[256] = "";
	int r;

	if (k->n == TRK_KEEPER_ANSWERS_MAX)
		return trk__error_set(&k->error, -EINVAL, "", "at most %d regions at a time",
				      TRK_KEEPER_ANSWERS_MAX - 1);
	r = region < 0 ? 0 : region_query(k, c, region, where, sizeof(where));
	if (r == 0)
		r = get(k, &answer->doc, "/servers?only_active=true%s%s", query, where);
	if (r < 0)
		return r;
	answer->region = region;
	k->n++;
	return 0;
}

/* ---- --online ---- */

/* The needs as parameters of the Keeper: memory in GiB, a minimum of at most 256 vCPUs. */
static void add_needs(struct trk_buf *b, const struct trk_catalog *c,
		      const struct trk_catalog_query *q)
{
	const double gib = 1024.0 * 1024 * 1024;
	size_t vendors;

	trk__buf_printf(b, "&limit=250&order_by=min_price_ondemand&order_dir=asc&vcpus_min=%u",
			q->vcpus < 1     ? 1
			: q->vcpus > 256 ? 256
					 : q->vcpus);
	if (q->memory_bytes)
		trk__buf_printf(b, "&memory_min=%.3f", (double) q->memory_bytes / gib);
	if (q->gpus)
		trk__buf_printf(b, "&gpu_min=%u", q->gpus);
	if (q->vram_bytes)
		trk__buf_printf(b, "&gpu_memory_min=%.3f", (double) q->vram_bytes / gib);
	if (q->storage_gb)
		trk__buf_printf(b, "&storage_size=%llu", (unsigned long long) q->storage_gb);
	for (int i = 0; i < TRK_ARCHES; i++)
		if (q->archs & 1u << i)
			trk__buf_printf(b, "&architecture=%s", trk__catalog_arch_names[i]);
	(void) trk__catalog_vendors(c, &vendors);
	for (size_t i = 0; q->vendors_ok && i < vendors; i++)
		if (q->vendors_ok[i])
			trk__buf_printf(b, "&vendor=%s",
					trk__keeper_vendor(trk__catalog_vendor_id(c, i)));
}

/* One request for each named region, else one for all. */
static int ask_needs(struct trk_keeper_client *k, const struct trk_catalog *c,
		     const struct trk_catalog_query *q, const char *needs)
{
	size_t regions;
	const struct trk_catalog_region *g = trk__catalog_regions(c, &regions);

	if (!q->regions_ok)
		return trk__keeper_client_ask(k, c, -1, needs);
	for (size_t i = 0; i < regions; i++) {
		if (!q->regions_ok[i] || (q->vendors_ok && !q->vendors_ok[g[i].vendor]))
			continue;
		if (k->n == ONLINE_REGIONS)
			return trk__error_set(&k->error, -EINVAL, "",
					      "the Keeper takes at most %d regions",
					      ONLINE_REGIONS);
		if (trk__keeper_client_ask(k, c, (int) i, needs) < 0)
			return k->error.code;
	}
	return k->n ? 0 : trk__error_set(&k->error, -ENOENT, "", "no region to query");
}

static int lay_over(struct trk_keeper_client *k, struct trk_catalog *c)
{
	struct trk_catalog now;

	if (trk__keeper_convert(c, k->answer, k->n, k->date, &k->text, &k->tally, &k->error) < 0 ||
	    trk__catalog_text_load(c, "the answer", k->text.data, k->text.len, &now, &k->error) < 0)
		return -EBADMSG;
	trk__catalog_release(c);
	*c = now;
	return 0;
}

void trk__keeper_online(const struct trk_service *s, struct trk_catalog *c,
			struct trk_catalog_query *q, const char *url, uint8_t *room)
{
	struct trk_keeper_client *k = calloc(1, sizeof(*k));
	const struct trk_catalog_region *g;
	TRK_BUF_LOCAL(needs, 4096);
	size_t n;
	int r = -ENOMEM;

	if (k) {
		trk__keeper_client_init(k, s, url, ONLINE_S);
		add_needs(&needs, c, q);
		r = needs.error ? needs.error : ask_needs(k, c, q, needs.data);
		r = r ? r : lay_over(k, c);
		if (r < 0)
			trk__service_note(s, "%s; these are the prices of the catalogue",
					  trk__error_text(&k->error, r));
		trk__keeper_client_release(k);
	}
	free(k);
	if (r < 0 || q->regions_ok)
		return;
	g = trk__catalog_regions(c, &n);
	memset(room, 0, TRK_CATALOG_REGIONS_MAX);
	for (size_t i = 0; i < n; i++)
		room[i] = !strcmp(trk__catalog_text(c, g[i].id), TRK_KEEPER_ANYWHERE);
	q->regions_ok = room;
}
