#include "service/price_update.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "catalog/feed.h"
#include "catalog/keeper.h"
#include "catalog/text.h"
#include "service/keeper_client.h"

enum {
	DOCUMENT_MAX = 64 << 20,
	UPDATE_S = 120,
	PAGES_MAX = 1000,
};

/* An update of the prices in the cache. */
struct update {
	const struct trk_service *s;
	const struct trk_price_request *request;
	struct trk_prices base; /* without the cache */
	const char *source;     /* of the prices */
	bool whole;             /* they include all regions of the source */
	struct trk_price_change change;
	struct trk_error error;
};

/* The new text must be readable, and its prices plausible when compared with the known ones. */
static int check(struct update *u, const struct trk_buf *text)
{
	struct trk_prices *before = calloc(1, sizeof(*before));
	struct trk_catalog now;
	int r = trk__catalog_text_load(&u->base.c, "the answer", text->data, text->len, &now,
				       &u->error);

	if (r < 0 || !before) {
		free(before);
		return r < 0 ? r : -ENOMEM;
	}
	/* Unreadable known prices are replaced without a comparison. */
	if (!u->request->force && trk__prices_load(&u->s->layers, before, NULL) == 0) {
		r = trk__catalog_judge(&before->c, &now, u->source, u->whole, &u->error);
		trk__prices_release(before);
	} else if (!u->request->force) {
		r = trk__catalog_judge(&u->base.c, &now, u->source, u->whole, &u->error);
	}
	trk__catalog_release(&now);
	free(before);
	return r;
}

static int keep(struct update *u, const char *name, const struct trk_buf *text)
{
	int r = check(u, text);

	return r < 0 ? r
		     : trk__prices_keep(u->s->layers.cache, name, text, u->change.path, &u->error);
}

/* ---- regions that a person names ---- */

/* "aws/us-east-1", the first of a list. Index of the region, or -EINVAL. */
static int named_region(struct update *u, const char *text, size_t len)
{
	const struct trk_catalog *c = &u->base.c;
	char vendor[64], region[96];
	const char *slash = memchr(text, '/', len);
	int at, found;

	if (!slash)
		return trk__error_set(&u->error, -EINVAL, "",
				      "--region %.*s: not of the form VENDOR/REGION, such as "
				      "aws/us-east-1",
				      (int) len, text);
	(void) snprintf(vendor, sizeof(vendor), "%.*s", (int) (slash - text), text);
	(void) snprintf(region, sizeof(region), "%.*s", (int) (len - (size_t) (slash - text) - 1),
			slash + 1);
	at = trk__catalog_find_vendor(c, vendor);
	found = at < 0 ? -1 : trk__catalog_find_region(c, at, region);
	if (found >= 0)
		return found;
	return trk__error_set(&u->error, -EINVAL, "",
			      "unknown %s %s. Try: resource-tracker catalog info",
			      at < 0 ? "vendor" : "region", at < 0 ? vendor : region);
}

/* Call fn for each region of the request. */
static int each_region(struct update *u, int (*fn)(struct update *u, void *data, int region),
		       void *data)
{
	const char *list = u->request->regions;
	int r = 0;

	while (r == 0 && list && *list) {
		size_t len = strcspn(list, ",");
		int region = named_region(u, list, len);

		r = region < 0 ? region : fn(u, data, region);
		list += len + (list[len] == ',');
	}
	return r;
}

/* ---- the Keeper ---- */

static int ask_region(struct update *u, void *data, int region)
{
	struct trk_keeper_client *k = data;
	const struct trk_catalog *c = &u->base.c;
	char query[96];
	int r;

	(void) snprintf(query, sizeof(query), "&limit=-1&vendor=%s",
			trk__keeper_vendor(trk__catalog_vendor_id(
				c, trk__catalog_regions(c, NULL)[region].vendor)));
	r = trk__keeper_client_ask(k, c, region, query);
	u->error = k->error;
	return r;
}

static int update_from_keeper(struct update *u)
{
	struct trk_keeper_client *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	u->source = TRK_KEEPER_SOURCE;
	u->whole = true;
	trk__keeper_client_init(k, u->s, u->request->url, UPDATE_S);
	k->patient = true;
	r = trk__keeper_client_ask(k, &u->base.c, -1, "&limit=-1");
	if (r < 0)
		u->error = k->error;
	r = r ? r : each_region(u, ask_region, k);
	r = r ? r
	      : trk__keeper_convert(&u->base.c, k->answer, k->n, k->date, &k->text, &k->tally,
				    &u->error);
	r = r ? r : keep(u, "update", &k->text);
	u->change.prices = k->tally.prices;
	u->change.new_types = k->tally.new_types;
	u->change.left_out = k->tally.dropped;
	trk__keeper_client_release(k);
	free(k);
	return r;
}

/* ---- feeds ---- */

struct reading {
	const struct trk_feed *feed;
	struct trk_feed_rows rows;
	char rate_of[40];
};

/* Length of "https://host/". */
static size_t origin_of(const char *url)
{
	const char *slash = strstr(url, "://");

	slash = slash ? strchr(slash + 3, '/') : NULL;
	return slash ? (size_t) (slash - url) + 1 : strlen(url);
}

/* A document with the pages that follow it, all from the same host. */
static int read_pages(struct update *u, struct reading *r, const char *vendor,
		      char url[TRK_FEED_URL_MAX])
{
	char first[TRK_FEED_URL_MAX];
	int e = 0;

	memcpy(first, url, sizeof(first));
	for (int page = 0; e == 0 && url[0]; page++) {
		TRK_BUF_LOCAL(body, DOCUMENT_MAX);

		if (page == PAGES_MAX || strncmp(url, first, origin_of(first)) != 0)
			return trk__error_set(&u->error, -EBADMSG, "",
					      "%.100s: its next page is not read: %s", first,
					      page == PAGES_MAX ? "too many pages" : url);
		e = trk__patient_fetch(u->s, url, UPDATE_S, &body, &u->error);
		r->rows.next[0] = '\0';
		if (e == 0)
			e = trk__feed_parse(r->feed, &r->rows, vendor, body.data ? body.data : "",
					    body.len, &u->error);
		memcpy(url, r->rows.next, TRK_FEED_URL_MAX);
	}
	return e;
}

/* Read the first available document of each vendor. */
static int read_all(struct update *u, struct reading *r)
{
	const struct trk_feed_part *part = r->feed->part;
	char url[TRK_FEED_URL_MAX];
	int e = 0;

	for (size_t i = 0; part[i].url && e == 0; i++) {
		bool is_last = !part[i + 1].url || strcmp(part[i + 1].vendor, part[i].vendor) != 0;

		(void) trk__feed_url(r->feed, i, "", url, sizeof(url));
		e = read_pages(u, r, part[i].vendor, url);
		if (e < 0 && !is_last)
			e = 0;
		else
			while (part[i + 1].url && !strcmp(part[i + 1].vendor, part[i].vendor))
				i++;
	}
	return e;
}

static int read_region(struct update *u, void *data, int region)
{
	struct reading *r = data;
	const struct trk_catalog *c = &u->base.c;
	const char *id = trk__catalog_region_id(c, (size_t) region), *vendor;
	char url[TRK_FEED_URL_MAX];

	vendor = trk__catalog_vendor_id(c, trk__catalog_regions(c, NULL)[region].vendor);
	if (strcmp(vendor, r->feed->part[0].vendor) != 0)
		return trk__error_set(&u->error, -EINVAL, "", "--from %s has no prices of %s",
				      r->feed->id, vendor);
	if (trk__feed_url(r->feed, 0, id, url, sizeof(url)) < 0)
		return trk__error_set(&u->error, -ENOENT, "", "the list has no region %s", id);
	return read_pages(u, r, vendor, url);
}

/* Whether the request fits the list. */
static int check_request(struct update *u, const struct trk_feed *feed)
{
	const struct trk_price_request *q = u->request;
	struct trk_error *e = &u->error;

	if (q->url)
		return trk__error_set(e, -EINVAL, "", "--url needs the Keeper");
	if (feed->by_region && (!q->regions || !*q->regions))
		return trk__error_set(e, -EINVAL, "",
				      "--from %s needs regions. Try: --region %s/NAME,…", feed->id,
				      feed->part[0].vendor);
	if (!feed->by_region && q->regions)
		return trk__error_set(e, -EINVAL, "",
				      "--from %s has all its regions in one list. Try: without "
				      "--region",
				      feed->id);
	if (!feed->in_euro && q->eur_usd)
		return trk__error_set(e, -EINVAL, "",
				      "--eur-usd is for lists in EUR; that of %s is in USD",
				      feed->id);
	return 0;
}

/* The price of a euro, for a list in EUR: of the request, else of the European Central Bank. */
static int find_rate(struct update *u, struct reading *r)
{
	const char *given = u->request->eur_usd;
	struct trk_feed_rate rate = {.usd = NAN};
	struct trk_error error = {.code = 0};
	TRK_BUF_LOCAL(body, 1 << 20);
	int e;

	r->rows.eur_of = r->rate_of;
	if (given && trk__feed_rate_take(given, &r->rows.eur_usd) < 0)
		return trk__error_set(&u->error, -EINVAL, "",
				      "--eur-usd %s: not the price of a euro in USD, such as 1.16",
				      given);
	if (given || !r->feed->in_euro) {
		(void) snprintf(r->rate_of, sizeof(r->rate_of), "given");
		return 0;
	}
	e = trk__patient_fetch(u->s, TRK_FEED_RATE_URL, UPDATE_S, &body, &error);
	if (e == 0)
		e = trk__feed_rate_parse(body.data ? body.data : "", body.len, &rate, &error);
	if (e < 0)
		return trk__error_set(
			&u->error, -EIO, "",
			"the price of a euro is not known: %.150s. Try: --eur-usd RATE",
			error.message);
	r->rows.eur_usd = rate.usd;
	(void) snprintf(r->rate_of, sizeof(r->rate_of), "ECB, %s", rate.date);
	return 0;
}

static int convert_and_keep(struct update *u, struct reading *r)
{
	struct trk_feed_tally tally;
	TRK_BUF_LOCAL(text, DOCUMENT_MAX);
	char date[32], name[64];
	int e;

	trk__clock_iso8601(trk__clock_wall_ns(), date);
	date[10] = '\0';
	(void) snprintf(name, sizeof(name), "update-%s", r->feed->id);
	e = trk__feed_convert(&r->rows, r->feed, date, u->request->force, &text, &tally, &u->error);
	e = e ? e : keep(u, name, &text);
	if (e == 0) {
		*(r->feed->spots ? &u->change.savings : &u->change.prices) = tally.prices;
		u->change.left_out = tally.dropped;
		u->change.eur_usd = r->rows.eur_usd;
	}
	return e;
}

static int update_from_feed(struct update *u, const struct trk_feed *feed)
{
	struct reading *r = calloc(1, sizeof(*r));
	int e;

	if (!r || trk__feed_rows_init(&r->rows, &u->base.c) < 0) {
		free(r);
		return -ENOMEM;
	}
	r->feed = feed;
	u->source = feed->source;
	u->whole = !feed->by_region;
	e = check_request(u, feed);
	e = e ? e : find_rate(u, r);
	e = e ? e : feed->by_region ? each_region(u, read_region, r) : read_all(u, r);
	e = e ? e : convert_and_keep(u, r);
	trk__feed_rows_release(&r->rows);
	free(r);
	return e;
}

/* ---- all ---- */

static int unknown_source(struct update *u)
{
	char names[200] = "keeper";
	size_t n = strlen(names);

	for (size_t i = 0; i < trk__feed_count; i++)
		n += (size_t) snprintf(names + n, sizeof(names) - n, " %s", trk__feeds[i].id);
	return trk__error_set(&u->error, -EINVAL, "", "--from %.60s: not one of: %s",
			      u->change.from, names);
}

static int update(struct update *u)
{
	const struct trk_feed *feed = trk__feed_find(u->change.from);
	struct trk_price_layers bare = u->s->layers;
	int r;

	if (!feed && strcmp(u->change.from, "keeper") != 0)
		return unknown_source(u);
	if (!feed && u->request->eur_usd)
		return trk__error_set(&u->error, -EINVAL, "",
				      "--eur-usd is for lists in EUR; the Keeper's is in USD");
	bare.cache = bare.prices = NULL;
	r = trk__prices_load(&bare, &u->base, &u->error);
	if (r < 0)
		return r;
	r = feed ? update_from_feed(u, feed) : update_from_keeper(u);
	trk__prices_release(&u->base);
	return r;
}

int trk__price_update(const struct trk_service *s, const struct trk_price_request *request,
		      struct trk_price_change *ret, struct trk_error *reterr)
{
	struct update *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return trk__error_set(reterr, -ENOMEM, "", "%s", trk__strerror(-ENOMEM));
	u->s = s;
	u->request = request;
	u->change.from = request->from ? request->from : "keeper";
	u->change.eur_usd = NAN;
	r = update(u);
	if (r == 0)
		*ret = u->change;
	else if (u->error.message[0])
		*reterr = u->error;
	else
		(void) trk__error_set(reterr, r, "", "%s", trk__strerror(r));
	free(u);
	return r;
}

/* ---- a file of the site's own ---- */

/* "2026-01-31" */
static bool is_date(const char *text)
{
	unsigned int y, m, d;
	int end = 0;

	return strlen(text) == 10 && strspn(text, "0123456789-") == 10 &&
	       sscanf(text, "%4u-%2u-%2u%n", &y, &m, &d, &end) == 3 && end == 10 && m >= 1 &&
	       m <= 12 && d >= 1 && d <= 31;
}

/* Convert the CSV to catalogue text that is added to `c`. Returns the number of prices, or an
 * error. */
static int convert_file(const struct trk_catalog *c, const char *file, const char *date,
			struct trk_buf *out, struct trk_error *error)
{
	struct trk_catalog check;
	char today[32], *csv = NULL;
	ssize_t len = trk__read_all_at(AT_FDCWD, file, DOCUMENT_MAX, &csv);
	int n, r;

	if (len < 0)
		return trk__error_set(error, (int) len, file, "catalog: %s: cannot read: %s", file,
				      trk__strerror((int) len));
	trk__clock_iso8601(trk__clock_wall_ns(), today);
	today[10] = '\0';
	n = trk__catalog_csv_convert(c, file, csv, (size_t) len, date ? date : today, out, error);
	free(csv);
	/* Check that the written text can be read again, including the given date. */
	r = n < 0 ? n : trk__catalog_text_load(c, "import", out->data, out->len, &check, error);
	if (r < 0)
		return r;
	trk__catalog_release(&check);
	return n;
}

int trk__price_import(const struct trk_service *s, const char *file, const char *date,
		      struct trk_price_change *ret, struct trk_error *reterr)
{
	struct trk_price_change x = {.from = file, .eur_usd = NAN};
	struct trk_prices *k;
	TRK_BUF_LOCAL(out, DOCUMENT_MAX);
	int r;

	if (date && !is_date(date))
		return trk__error_set(reterr, -EINVAL, "",
				      "--date %s: not a date such as 2026-01-31", date);
	k = malloc(sizeof(*k));
	r = k ? trk__prices_load(&s->layers, k, reterr) : -ENOMEM;
	if (r < 0) {
		free(k);
		return r;
	}
	if (k->ignored.code)
		trk__service_note(s, "%s", k->ignored.message);
	r = convert_file(&k->c, file, date, &out, reterr);
	if (r >= 0) {
		x.prices = (size_t) r;
		r = trk__prices_keep(s->layers.cache, "prices", &out, x.path, reterr);
		r = r == -ENOENT ? -EIO : r; /* the file of prices is there */
	}
	if (r == 0)
		*ret = x;
	trk__prices_release(k);
	free(k);
	return r;
}

/* ---- what the catalogue holds ---- */

/* priced: room for a byte a server of the catalogue. */
static void count(const struct trk_catalog *c, uint8_t vendor, uint8_t *priced,
		  struct trk_catalog_tally *t)
{
	size_t n;
	const struct trk_catalog_block *b = trk__catalog_blocks(c, &n);
	struct trk_catalog_prices p = trk__catalog_prices(c, NULL);
	const struct trk_catalog_region *g;
	const struct trk_catalog_server *s;
	struct trk_catalog_speed speed;

	*t = (struct trk_catalog_tally){0};
	for (size_t i = 0; i < n; i++)
		for (uint32_t at = b[i].first;
		     b[i].vendor == vendor && at < b[i].first + b[i].count; at++) {
			t->of[TRK_TALLY_PRICES] += p.price[at] != 0;
			priced[p.server[at]] = 1;
		}
	s = trk__catalog_servers(c, &n);
	for (size_t i = 0; i < n; i++) {
		if (s[i].vendor != vendor)
			continue;
		t->of[TRK_TALLY_SERVERS]++;
		t->of[TRK_TALLY_PRICED] += priced[i];
		t->of[TRK_TALLY_GPUS] += s[i].gpu_count > 0;
		t->of[TRK_TALLY_SCORES] += trk__catalog_speed_of(&s[i], &speed);
	}
	g = trk__catalog_regions(c, &n);
	for (size_t i = 0; i < n; i++)
		t->of[TRK_TALLY_REGIONS] += g[i].vendor == vendor;
}

struct trk_catalog_tally *trk__catalog_tally(const struct trk_catalog *c)
{
	struct trk_catalog_tally *tally;
	uint8_t *priced;
	size_t vendors, servers;

	(void) trk__catalog_vendors(c, &vendors);
	(void) trk__catalog_servers(c, &servers);
	tally = calloc(vendors + 1, sizeof(*tally));
	priced = calloc(servers + 1, 1);
	for (size_t i = 0; tally && priced && i < vendors; i++)
		count(c, (uint8_t) i, priced, &tally[i]);
	if (!priced) {
		free(tally);
		tally = NULL;
	}
	free(priced);
	return tally;
}

static void json_sources(struct trk_json *j, const struct trk_catalog *c)
{
	size_t n;
	const struct trk_catalog_source *s = trk__catalog_sources(c, &n);
	char text[16];

	trk__json_key_open(j, "sources", '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(j, '{');
		trk__json_key_or_null(j, "id", trk__catalog_text(c, s[i].id));
		trk__json_key_or_null(j, "date", trk__catalog_date(s[i].date, text));
		trk__json_key_or_null(j, "licence", trk__catalog_text(c, s[i].licence));
		trk__json_key_or_null(j, "title", trk__catalog_text(c, s[i].title));
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

void trk__catalog_info_json(struct trk_buf *b, const struct trk_prices *k,
			    const struct trk_catalog_tally *tally)
{
	static const char *const keys[TRK_TALLIES] = {
		"servers", "priced_servers", "gpu_servers", "scored_servers", "regions", "prices",
	};
	const struct trk_catalog *c = &k->c;
	size_t n;
	const struct trk_catalog_vendor *v = trk__catalog_vendors(c, &n);
	struct trk_json j;
	char text[16];

	trk__json_begin(&j, b, 2, "resource-tracker.catalog/1");
	trk__json_key_or_null(&j, "date", trk__catalog_date(c->image->date, text));
	trk__json_key_u64(&j, "bytes", c->image->size);
	trk__json_key_or_null(&j, "scores_file", k->scores);
	trk__json_key_or_null(&j, "update_file", k->fetched);
	trk__json_key_open(&j, "feeds", '[');
	for (size_t i = 0; i < trk__feed_count; i++)
		if (k->feeds & 1u << i)
			trk__json_text(&j, trk__feeds[i].id);
	trk__json_close(&j, ']');
	trk__json_key_or_null(&j, "prices_file", k->imported);
	trk__json_key_open(&j, "vendors", '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(&j, '{');
		trk__json_key_or_null(&j, "vendor_id", trk__catalog_text(c, v[i].id));
		for (int t = 0; t < TRK_TALLIES; t++)
			trk__json_key_u64(&j, keys[t], tally[i].of[t]);
		trk__json_key_u64(&j, "billing_step_s", v[i].step_s);
		trk__json_key_u64(&j, "billing_minimum_s", v[i].minimum_s);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	json_sources(&j, c);
	trk__json_end(&j);
}
