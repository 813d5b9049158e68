#include "cli/catalog_update.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "catalog/feed.h"
#include "catalog/feed_rate.h"
#include "catalog/judge.h"
#include "catalog/text.h"
#include "cli/cli.h"
#include "cli/keeper_talk.h"
#include "cli/patient_fetch.h"

enum {
	DOCUMENT_MAX = 64 << 20,
	UPDATE_S = 120,
	PAGES_MAX = 1000,
};

/* New prices on their way into the cache. */
struct update {
	const struct cli_catalog_choice *choice;
	const struct trk_catalog *base; /* without any update */
	const char *source;             /* of the prices */
	bool whole;                     /* it tells of all its regions */
	bool force, json;
	char path[4096];
};

/* The new text must be readable, and make sense beside what is known. */
static int check(const struct update *u, const struct trk_buf *text, struct trk_error *error)
{
	struct cli_catalog_choice old = *u->choice;
	struct cli_catalog *before = calloc(1, sizeof(*before));
	struct trk_catalog now;
	int r = trk__catalog_text_load(u->base, "the answer", text->data, text->len, &now, error);

	if (r < 0 || !before) {
		free(before);
		return r < 0 ? r : -ENOMEM;
	}
	/* An earlier update that cannot be read is no reason to keep it. */
	old.update = NULL;
	old.quiet = true;
	if (!u->force && cli_catalog_load(&old, before) == 0) {
		r = trk__catalog_judge(&before->c, &now, u->source, u->whole, error);
		trk__catalog_release(&before->c);
	} else if (!u->force) {
		r = trk__catalog_judge(u->base, &now, u->source, u->whole, error);
	}
	trk__catalog_release(&now);
	free(before);
	return r;
}

/* Judge and keep. An exit status. */
static int take(struct update *u, const struct trk_buf *text)
{
	struct trk_error error = {.code = 0};

	if (check(u, text, &error) < 0) {
		cli_complain("catalog: %s; nothing was changed",
			     error.message[0] ? error.message : "out of memory");
		return EXIT_ERROR;
	}
	if (!u->path[0]) {
		cli_complain("catalog: no place for a cache. Try: set HOME");
		return EXIT_ERROR;
	}
	return cli_catalog_replace(u->path, text);
}

/* ---- the Keeper ---- */

static int ask_all(struct cli_keeper_talk *t)
{
	t->answer[t->n].region = -1;
	if (cli_keeper_get(t, &t->answer[t->n].doc, "/servers?limit=-1&only_active=true") < 0)
		return t->error.code;
	t->n++;
	return 0;
}

static int ask_region(struct cli_keeper_talk *t, const struct trk_catalog *c, int region)
{
	size_t n;
	const char *vendor = trk__catalog_vendor_id(c, trk__catalog_regions(c, &n)[region].vendor);
	char name[96];

	if (cli_keeper_region(t, vendor, trk__catalog_region_id(c, (size_t) region), name,
			      sizeof(name)) < 0)
		return t->error.code;
	t->answer[t->n].region = region;
	if (cli_keeper_get(t, &t->answer[t->n].doc,
			   "/servers?limit=-1&only_active=true&vendor=%s&vendor_regions=%s~%s",
			   trk__keeper_vendor(vendor), trk__keeper_vendor(vendor), name) < 0)
		return t->error.code;
	t->n++;
	return 0;
}

/* "aws/us-east-1", the first of a list. Index of the region, or an exit status, negative. */
static int named_region(const struct trk_catalog *c, const char *text, size_t len)
{
	char vendor[64], region[96];
	const char *slash = memchr(text, '/', len);
	int at, found;

	if (!slash) {
		cli_complain("catalog: --region %.*s: not of the form VENDOR/REGION, such as "
			     "aws/us-east-1",
			     (int) len, text);
		return -EXIT_USAGE;
	}
	(void) snprintf(vendor, sizeof(vendor), "%.*s", (int) (slash - text), text);
	(void) snprintf(region, sizeof(region), "%.*s", (int) (len - (size_t) (slash - text) - 1),
			slash + 1);
	at = trk__catalog_find_vendor(c, vendor);
	found = at < 0 ? -1 : trk__catalog_find_region(c, at, region);
	if (found >= 0)
		return found;
	cli_complain("catalog: unknown %s %s. Try: resource-tracker catalog info",
		     at < 0 ? "vendor" : "region", at < 0 ? vendor : region);
	return -EXIT_USAGE;
}

static int ask_regions(struct cli_keeper_talk *t, const struct trk_catalog *c, const char *list)
{
	while (list && *list) {
		size_t len = strcspn(list, ",");
		int region = named_region(c, list, len);

		if (region < 0)
			return -region;
		if (t->n == CLI_KEEPER_ANSWERS_MAX) {
			cli_complain("catalog: at most %d regions at a time",
				     CLI_KEEPER_ANSWERS_MAX - 1);
			return EXIT_USAGE;
		}
		if (ask_region(t, c, region) < 0) {
			cli_complain("catalog: %s", t->error.message);
			return EXIT_ERROR;
		}
		list += len + (list[len] == ',');
	}
	return 0;
}

static int update_from_keeper(struct update *u, const char *url, const char *regions)
{
	struct cli_keeper_talk *t = calloc(1, sizeof(*t));
	int r = 0;

	if (!t)
		return EXIT_ERROR;
	u->source = TRK_KEEPER_SOURCE;
	u->whole = true;
	(void) cli_catalog_update_path(u->path, sizeof(u->path));
	cli_keeper_talk_init(t, url, UPDATE_S);
	t->patient = true;
	if (ask_all(t) < 0) {
		cli_complain("catalog: %s; nothing was changed", t->error.message);
		r = EXIT_ERROR;
	}
	r = r ? r : ask_regions(t, u->base, regions);
	if (r == 0 && trk__keeper_convert(u->base, t->answer, t->n, t->date, &t->text, &t->tally,
					  &t->error) < 0) {
		cli_complain("catalog: %s; nothing was changed",
			     t->error.message[0] ? t->error.message : "out of memory");
		r = EXIT_ERROR;
	}
	r = r ? r : take(u, &t->text);
	if (r == 0)
		r = cli_catalog_tell(&(struct cli_catalog_change){.from = "keeper",
								  .path = u->path,
								  .prices = t->tally.prices,
								  .new_types = t->tally.new_types,
								  .left_out = t->tally.dropped,
								  .eur_usd = NAN},
				     u->json);
	cli_keeper_talk_release(t);
	free(t);
	return r;
}

/* ---- feeds ---- */

struct reading {
	const struct trk_feed *feed;
	struct trk_feed_rows rows;
	char rate_of[40];
	struct trk_error error;
};

/* Length of "https://host/". */
static size_t origin_of(const char *url)
{
	const char *slash = strstr(url, "://");

	slash = slash ? strchr(slash + 3, '/') : NULL;
	return slash ? (size_t) (slash - url) + 1 : strlen(url);
}

/* A document with the pages that follow it, all from the same host. */
static int read_pages(struct reading *r, const char *vendor, char url[TRK_FEED_URL_MAX])
{
	char first[TRK_FEED_URL_MAX];
	struct trk_buf body;
	int e = 0;

	memcpy(first, url, sizeof(first));
	for (int page = 0; e == 0 && url[0]; page++) {
		if (page == PAGES_MAX || strncmp(url, first, origin_of(first)) != 0)
			return trk__error_set(&r->error, -EBADMSG, "", "%.100s: goes on at %s",
					      first, page == PAGES_MAX ? "too many pages" : url);
		trk__buf_init(&body, DOCUMENT_MAX);
		e = cli_patient_fetch(url, UPDATE_S, &body, &r->error);
		r->rows.next[0] = '\0';
		if (e == 0)
			e = r->feed->parse(&r->rows, vendor, body.data ? body.data : "", body.len,
					   &r->error);
		trk__buf_release(&body);
		memcpy(url, r->rows.next, TRK_FEED_URL_MAX);
	}
	return e;
}

static int read_region(struct reading *r, const char *region)
{
	char url[TRK_FEED_URL_MAX];

	if (trk__feed_url(r->feed, 0, region, url, sizeof(url)) < 0)
		return trk__error_set(&r->error, -ENOENT, "", "the list has no region %s", region);
	return read_pages(r, r->feed->part[0].vendor, url);
}

/* Of each vendor the first document that can be had. */
static int read_all(struct reading *r)
{
	const struct trk_feed_part *part = r->feed->part;
	char url[TRK_FEED_URL_MAX];
	int e = 0;

	for (size_t i = 0; part[i].url && e == 0; i++) {
		bool is_last = !part[i + 1].url || strcmp(part[i + 1].vendor, part[i].vendor) != 0;

		(void) trk__feed_url(r->feed, i, "", url, sizeof(url));
		e = read_pages(r, part[i].vendor, url);
		if (e < 0 && !is_last)
			e = 0;
		else
			while (part[i + 1].url && !strcmp(part[i + 1].vendor, part[i].vendor))
				i++;
	}
	return e;
}

static int read_regions(struct reading *r, const struct trk_catalog *c, const char *list)
{
	while (list && *list) {
		size_t len = strcspn(list, ","), n;
		int region = named_region(c, list, len);
		const char *vendor;

		if (region < 0)
			return -region;
		vendor = trk__catalog_vendor_id(c, trk__catalog_regions(c, &n)[region].vendor);
		if (strcmp(vendor, r->feed->part[0].vendor) != 0) {
			cli_complain("catalog: --from %s has no prices of %s", r->feed->id, vendor);
			return EXIT_USAGE;
		}
		if (read_region(r, trk__catalog_region_id(c, (size_t) region)) < 0) {
			cli_complain("catalog: %s; nothing was changed", r->error.message);
			return EXIT_ERROR;
		}
		list += len + (list[len] == ',');
	}
	return 0;
}

/* Whether the flags fit the list: 0 or an exit status. */
static int check_flags(const struct trk_feed *feed, const struct cli_catalog_wanted *wanted)
{
	if (feed->by_region && (!wanted->regions || !*wanted->regions))
		cli_complain("catalog: --from %s wants regions. Try: --region %s/NAME,…", feed->id,
			     feed->part[0].vendor);
	else if (!feed->by_region && wanted->regions)
		cli_complain("catalog: --from %s has all its regions in one list. Try: without "
			     "--region",
			     feed->id);
	else if (!feed->in_euro && wanted->eur_usd)
		cli_complain("catalog: --eur-usd is for lists in EUR; that of %s is in USD",
			     feed->id);
	else
		return 0;
	return EXIT_USAGE;
}

static int read_feed(struct reading *r, const struct trk_catalog *c, const char *regions)
{
	if (r->feed->by_region)
		return read_regions(r, c, regions);
	if (read_all(r) < 0) {
		cli_complain("catalog: %s; nothing was changed", r->error.message);
		return EXIT_ERROR;
	}
	return 0;
}

/* What a euro costs, for a list in EUR: as it was given, else as the European Central Bank says. */
static int learn_rate(struct reading *r, const char *given)
{
	struct trk_feed_rate rate = {.usd = NAN};
	struct trk_buf body;
	int e;

	r->rows.eur_of = r->rate_of;
	if (given && trk__feed_rate_take(given, &r->rows.eur_usd) < 0) {
		cli_complain("catalog: --eur-usd %s: not what a euro costs in USD, such as 1.16",
			     given);
		return EXIT_USAGE;
	}
	if (given || !r->feed->in_euro) {
		(void) snprintf(r->rate_of, sizeof(r->rate_of), "given");
		return 0;
	}
	trk__buf_init(&body, 1 << 20);
	e = cli_patient_fetch(TRK_FEED_RATE_URL, UPDATE_S, &body, &r->error);
	if (e == 0)
		e = trk__feed_rate_parse(body.data ? body.data : "", body.len, &rate, &r->error);
	trk__buf_release(&body);
	if (e < 0) {
		cli_complain("catalog: what a euro costs is not known: %s; nothing was changed. "
			     "Try: --eur-usd RATE",
			     r->error.message);
		return EXIT_ERROR;
	}
	r->rows.eur_usd = rate.usd;
	(void) snprintf(r->rate_of, sizeof(r->rate_of), "ECB, %s", rate.date);
	return 0;
}

static int update_from_feed(struct update *u, const struct trk_feed *feed,
			    const struct cli_catalog_wanted *wanted)
{
	struct reading *r = calloc(1, sizeof(*r));
	struct trk_feed_tally tally;
	struct trk_buf text;
	char date[32];
	int status;

	if (!r || trk__feed_rows_init(&r->rows, u->base) < 0) {
		free(r);
		return EXIT_ERROR;
	}
	r->feed = feed;
	u->source = feed->source;
	u->whole = !feed->by_region;
	(void) cli_catalog_feed_path(feed->id, u->path, sizeof(u->path));
	trk__clock_iso8601(trk__clock_wall_ns(), date);
	date[10] = '\0';
	trk__buf_init(&text, DOCUMENT_MAX);
	status = check_flags(feed, wanted);
	status = status ? status : learn_rate(r, wanted->eur_usd);
	status = status ? status : read_feed(r, u->base, wanted->regions);
	if (status == 0 &&
	    trk__feed_convert(&r->rows, feed, date, u->force, &text, &tally, &r->error) < 0) {
		cli_complain("catalog: %s; nothing was changed", r->error.message);
		status = EXIT_ERROR;
	}
	status = status ? status : take(u, &text);
	if (status == 0)
		status = cli_catalog_tell(
			&(struct cli_catalog_change){.from = feed->id,
						     .path = u->path,
						     .prices = feed->spots ? 0 : tally.prices,
						     .savings = feed->spots ? tally.prices : 0,
						     .left_out = tally.dropped,
						     .eur_usd = r->rows.eur_usd},
			u->json);
	trk__buf_release(&text);
	trk__feed_rows_release(&r->rows);
	free(r);
	return status;
}

/* ---- all ---- */

static int complain_of(const char *from)
{
	char names[200] = "keeper";
	size_t n = strlen(names);

	for (size_t i = 0; i < trk__feed_count; i++)
		n += (size_t) snprintf(names + n, sizeof(names) - n, " %s", trk__feeds[i].id);
	cli_complain("catalog: --from %s: not one of: %s", from, names);
	return EXIT_USAGE;
}

int cli_catalog_update(const struct cli_catalog_choice *choice,
		       const struct cli_catalog_wanted *wanted)
{
	const char *from = wanted->from ? wanted->from : "keeper";
	const struct trk_feed *feed = trk__feed_find(from);
	struct update u = {.choice = choice, .force = wanted->force, .json = wanted->json};
	struct cli_catalog_choice bare = *choice;
	struct cli_catalog *base;
	int r;

	if (!feed && strcmp(from, "keeper") != 0)
		return complain_of(from);
	if (!feed && wanted->eur_usd) {
		cli_complain("catalog: --eur-usd is for lists in EUR; the Keeper's is in USD");
		return EXIT_USAGE;
	}
	if (feed && wanted->url) {
		cli_complain("catalog: --url is for the Keeper alone");
		return EXIT_USAGE;
	}
	base = calloc(1, sizeof(*base));
	if (!base)
		return EXIT_ERROR;
	bare.update = bare.prices = "none";
	r = cli_catalog_load(&bare, base);
	if (r == 0) {
		u.base = &base->c;
		r = feed ? update_from_feed(&u, feed, wanted)
			 : update_from_keeper(&u, wanted->url, wanted->regions);
		trk__catalog_release(&base->c);
	}
	free(base);
	return r;
}
