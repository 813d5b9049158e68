/* resource-tracker catalog search: which servers fit, and what they cost, from the offline catalogue. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/environment.h"
#include "cli/cli.h"
#include "cli/server_options.h"
#include "report/offers_text.h"
#include "service/servers.h"

enum { OUTPUT_MAX = 64 << 20 };

struct settings {
	struct trk_servers_request request;
	uint64_t limit;
	struct trk_named_prices files;
	const char *online; /* address of the Keeper; "": the usual one; NULL: not asked for */
	bool json;
};

static int set_order(void *settings, const struct cli_option *o, const char *value)
{
	struct settings *s = settings;
	int order = trk__offers_order(value);

	s->request.order = (enum trk_offers_order) order;
	return order < 0 ? cli_wrong(o, value, "not one of: price run-cost score-per-price") : 0;
}

#define WORD(field)  AT(request.words.field)
#define QUERY(field) AT(request.query.field)

static const struct cli_option options[] = {
	CLI_SERVER_OPTIONS(WORD, QUERY),
	{"arch", 0, "x86_64|arm64|any", "architecture of the servers (this machine's)",
	 cli_set_text, WORD(arch)},
	{"allocation", 0, "KIND", "dedicated, shared, burstable or any (any)", cli_set_text,
	 WORD(allocation)},
	{"order-by", 0, "KEY",
	 "price, run-cost (of an hour's work of --cpu) or score-per-price (price)", set_order, 0},
	{"number", 'n', "N", "number of servers to show; 0: all (10)", cli_set_count, AT(limit)},
	{"catalog", 0, "FILE", "this catalogue instead of the built-in one", cli_set_text,
	 AT(files.catalog)},
	{"online", 0, "[=URL]",
	 "fetch prices from the Keeper API of Spare Cores, or of this address", cli_set_optional,
	 AT(online)},
	{"json", 0, NULL, "print one JSON document", cli_set_flag, AT(json)},
	CLI_MORE_OPTIONS,
	CLI_SERVER_MORE_OPTIONS(QUERY),
	CLI_PRICE_OPTIONS(AT(files)),
	{"limit", 0, "N", "same as --number", cli_set_same, 0},
	{"url", 0, "URL", "address of the Keeper of --online", cli_set_text, AT(request.url)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* ---- results ---- */

static int show(const struct settings *s, const struct trk_offers *result)
{
	const struct trk_terminal_style out = cli_style(STDOUT_FILENO, TRK_TERMINAL_MAX),
					err = cli_style(STDERR_FILENO, TRK_TERMINAL_MAX);
	TRK_BUF_LOCAL(b, OUTPUT_MAX);
	TRK_BUF_LOCAL(notes, 8192);
	int r;

	if (s->json)
		trk__offers_json(&b, result);
	else
		trk__offers_text(&b, result, &out);
	r = cli_print(&b);
	if (!s->json && r == 0) {
		trk__offers_notes(&notes, result, &err);
		r = cli_print_to(STDERR_FILENO, &notes);
	}
	return r;
}

static int find(struct settings *s, const struct trk_service *service, struct trk_catalog *c)
{
	struct trk_servers_request *q = &s->request;
	struct trk_run_servers *found;
	struct trk_error error = {.code = 0};
	int r;

	q->online = s->online ? c : NULL;
	q->url = s->online && *s->online ? s->online : q->url;
	if (q->query.vram_bytes && !q->query.gpus)
		q->query.gpus = 1;
	found = calloc(1, sizeof(*found));
	r = found ? trk__servers_find(service, c, q, found, &error) : -ENOMEM;
	if (r < 0) { /* an unknown name is a wrong option, too */
		free(found);
		return cli_fail("catalog search", r == -ENOMEM ? r : -EINVAL, &error);
	}
	trk__offers_limit(&found->offers, s->limit ? (size_t) s->limit : SIZE_MAX);
	r = found->offers.nothing[0]
		    ? cli_reject(EXIT_NODATA, "catalog search: %s", found->offers.nothing)
		    : show(s, &found->offers);
	trk__run_servers_release(found);
	free(found);
	return r;
}

static int run(int argc, char **argv)
{
	static struct settings s = {
		.request.order = TRK_ORDER_PRICE,
		.limit = 10,
	};
	static struct trk_prices prices;
	struct trk_service service;
	int r;

	(void) cli_options(&cli_catalog_search, argc, argv, &s);
	service = cli_service("");
	service.layers = cli_price_layers(&s.files);
	r = cli_prices_load("catalog search", &service.layers, &prices);
	if (r != 0)
		return r;
	r = find(&s, &service, &prices.c);
	trk__prices_release(&prices);
	return r;
}

const struct cli_command cli_catalog_search = {
	.name = "catalog search",
	.usage = "catalog search [OPTIONS]",
	.summary = "List servers that meet the needs, from the offline catalogue.",
	.details = "Each type is listed in the cheapest of the allowed regions. --mem is compared "
		   "with the memory that\na job can use, and --vram with the memory of each GPU. "
		   "The options have the names of run --request;\n--vcpus, --memory and --gpus "
		   "are accepted too. Prices are list prices; prices older than a\nyear come "
		   "last. Spot prices are computed from typical savings, not from quotes.",
	.example = "resource-tracker catalog search --gpu 1 --vram 24GiB --vendor aws",
	.options = options,
	.is_hidden = true,
	.run = run,
};
