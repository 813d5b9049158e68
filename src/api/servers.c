/* The public functions about servers and prices: those of the verbs servers and catalog. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/server_needs.h"
#include "api/sources.h"
#include "resource_tracker.h"
#include "service/servers.h"

enum { JSON_MAX = 64 << 20 };

/* ---- the catalogue ---- */

int trk_catalog_open(const struct trk_catalog_options *options, struct trk_catalog **ret, char *why,
		     size_t why_size)
{
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_error error = {.code = 0};
	struct trk_price_layers layers;
	struct trk_catalog *c;
	struct trk_prices *prices;
	struct trk_named_prices named;
	struct trk_layer_paths paths;
	int r;

	r = trk__options_copy("options", options, offsetof(struct trk_catalog_options, scores), &o,
			      sizeof(o), why, why_size);
	if (r < 0)
		return r;
	named = (struct trk_named_prices){.cache = o.cache || o.of_user ? o.cache : "none",
					  .catalog = o.catalog,
					  .scores = o.scores,
					  .prices = o.prices};
	prices = malloc(sizeof(*prices));
	c = malloc(sizeof(*c));
	layers = trk__named_layers(&named, &paths);
	r = prices && c ? trk__prices_load(&layers, prices, &error) : -ENOMEM;
	if (r == 0)
		*c = prices->c;
	(void) trk__why(why, why_size, r, "%s",
			r == 0 ? prices->ignored.message : trk__error_text(&error, r));
	free(prices);
	if (r < 0)
		free(c);
	else
		*ret = c;
	return r;
}

void trk_catalog_free(struct trk_catalog *catalog)
{
	if (!catalog)
		return;
	trk__catalog_release(catalog);
	free(catalog);
}

/* ---- search ---- */

struct trk_servers {
	struct trk_run_servers of; /* only its needs and offers are used */
};

static int find_offers(const struct trk_catalog *c, struct trk_servers *s,
		       const struct trk_server_needs *n, struct trk_error *error)
{
	static const struct trk_service offline;
	const struct trk_servers_request request = {
		.words = trk__server_words(n),
		.query = trk__server_wishes(n),
		.order = (enum trk_offers_order) trk__offers_order(n->order_by),
	};

	return trk__servers_find(&offline, c, &request, &s->of, error);
}

int trk_servers_find(const struct trk_catalog *catalog, const struct trk_server_needs *needs,
		     struct trk_servers **ret, char *why, size_t why_size)
{
	struct trk_error error = {.code = 0};
	struct trk_server_needs n;
	struct trk_servers *s;
	int r = trk__server_needs_read(needs, &n, why, why_size);

	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return trk__why(why, why_size, -ENOMEM, "out of memory");
	r = find_offers(catalog, s, &n, &error);
	if (r < 0) {
		free(s);
		return trk__why(why, why_size, r, "%s", trk__error_text(&error, r));
	}
	*ret = s;
	return 0;
}

void trk_servers_free(struct trk_servers *servers)
{
	if (!servers)
		return;
	trk__run_servers_release(&servers->of);
	free(servers);
}

char *trk_servers_json(const struct trk_servers *servers, size_t limit)
{
	struct trk_offers view = servers->of.offers;
	size_t size = view.n * sizeof(*view.list);
	TRK_BUF_LOCAL(b, JSON_MAX);

	/* Selecting the rows reorders the list, so a copy is used. */
	view.list = malloc(size ? size : 1);
	if (!view.list)
		return NULL;
	if (size)
		memcpy(view.list, servers->of.offers.list, size);
	view.advice.list = view.list;
	trk__offers_limit(&view, limit ? limit : SIZE_MAX);
	trk__offers_json(&b, &view);
	free(view.list);
	return trk__buf_take(&b);
}
