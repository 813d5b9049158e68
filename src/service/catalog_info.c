#include "service/catalog_info.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json.h"

/* What is counted. */
enum counted {
	TALLY_SERVERS,
	TALLY_PRICED, /* servers with a price in some region */
	TALLY_GPUS,
	TALLY_SCORES,
	TALLY_REGIONS,
	TALLY_PRICES,
	TALLIES
};

/* Of one vendor. */
struct tally {
	size_t of[TALLIES];
};

/* priced: room for a byte a server of the catalogue. */
static void count(const struct trk_catalog *c, uint8_t vendor, uint8_t *priced, struct tally *t)
{
	size_t n;
	const struct trk_catalog_block *b = trk__catalog_blocks(c, &n);
	struct trk_catalog_prices p = trk__catalog_prices(c, NULL);
	const struct trk_catalog_region *g;
	const struct trk_catalog_server *s;
	struct trk_catalog_speed speed;

	*t = (struct tally){0};
	for (size_t i = 0; i < n; i++)
		for (uint32_t at = b[i].first;
		     b[i].vendor == vendor && at < b[i].first + b[i].count; at++) {
			t->of[TALLY_PRICES] += p.price[at] != 0;
			priced[p.server[at]] = 1;
		}
	s = trk__catalog_servers(c, &n);
	for (size_t i = 0; i < n; i++) {
		if (s[i].vendor != vendor)
			continue;
		t->of[TALLY_SERVERS]++;
		t->of[TALLY_PRICED] += priced[i];
		t->of[TALLY_GPUS] += s[i].gpu_count > 0;
		t->of[TALLY_SCORES] += trk__catalog_speed_of(&s[i], &speed);
	}
	g = trk__catalog_regions(c, &n);
	for (size_t i = 0; i < n; i++)
		t->of[TALLY_REGIONS] += g[i].vendor == vendor;
}

/* One for each vendor, in the order of the catalogue; the caller frees. NULL: no memory. */
static struct tally *tally_of(const struct trk_catalog *c)
{
	struct tally *tally;
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

static void write_json(struct trk_buf *b, const struct trk_prices *k, const struct tally *tally)
{
	static const char *const keys[TALLIES] = {
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
	trk__json_key_or_null(&j, "prices_file", k->built);
	trk__json_key_open(&j, "vendors", '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(&j, '{');
		trk__json_key_or_null(&j, "vendor_id", trk__catalog_text(c, v[i].id));
		for (int t = 0; t < TALLIES; t++)
			trk__json_key_u64(&j, keys[t], tally[i].of[t]);
		trk__json_key_u64(&j, "billing_step_s", v[i].step_s);
		trk__json_key_u64(&j, "billing_minimum_s", v[i].minimum_s);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	json_sources(&j, c);
	trk__json_end(&j);
}

static void put_counts(struct trk_buf *b, const char *name, const struct tally *t)
{
	static const int widths[TALLIES] = {7, 7, 6, 7, 7, 8};

	trk__buf_printf(b, "%-10s", name);
	for (int k = 0; k < TALLIES; k++)
		trk__buf_printf(b, " %*zu", widths[k], t->of[k]);
}

static void write_text(struct trk_buf *b, const struct trk_prices *k, const struct tally *tally)
{
	const struct trk_catalog *c = &k->c;
	size_t n;
	const struct trk_catalog_vendor *v = trk__catalog_vendors(c, &n);
	const struct trk_catalog_source *s;
	struct tally all = {0};
	char text[16];

	trk__buf_printf(b, "%-10s %7s %7s %6s %7s %7s %8s  %s\n", "vendor", "types", "priced",
			"GPU", "scored", "regions", "prices", "billing");
	for (size_t i = 0; i < n; i++) {
		put_counts(b, trk__catalog_text(c, v[i].id), &tally[i]);
		trk__buf_printf(b, "  %u s, at least %u s\n", v[i].step_s, v[i].minimum_s);
		for (int t = 0; t < TALLIES; t++)
			all.of[t] += tally[i].of[t];
	}
	put_counts(b, "all", &all);
	trk__buf_puts(b, "\n\n");
	s = trk__catalog_sources(c, &n);
	for (size_t i = 0; i < n; i++)
		trk__buf_printf(b, "%-21s %s  %-27s %s\n", trk__catalog_text(c, s[i].id),
				trk__catalog_date(s[i].date, text),
				trk__catalog_text(c, s[i].licence),
				trk__catalog_text(c, s[i].title));
	trk__buf_printf(b, "\nscores: %s\nupdate: %s\nbuilt prices: %s\n",
			k->scores[0] ? k->scores : "none", k->fetched[0] ? k->fetched : "none",
			k->built[0] ? k->built : "none");
}

int trk__catalog_info(struct trk_buf *b, const struct trk_prices *k, bool is_json)
{
	struct tally *tally = tally_of(&k->c);

	if (!tally)
		return -ENOMEM;
	(is_json ? write_json : write_text)(b, k, tally);
	free(tally);
	return 0;
}
