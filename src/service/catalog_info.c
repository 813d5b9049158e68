#include "service/catalog_info.h"

#include <stdlib.h>

#include "base/json.h"

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
	trk__json_key_or_null(&j, "prices_file", k->built);
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
