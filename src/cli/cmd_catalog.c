/* resource-tracker catalog: the contents of the catalogue, and new prices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/keeper.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/server_options.h"
#include "service/catalog_info.h"
#include "service/price_update.h"

struct settings {
	struct trk_named_prices files;
	struct trk_price_request request;
	bool json;
};

static int reject_date(void *settings, const struct cli_option *o, const char *value)
{
	return cli_gone("catalog --date",
			"python3 tools/catalog_build prices OUT --csv FILE --date DATE");
}

static int reject_rate(void *settings, const struct cli_option *o, const char *value)
{
	return cli_gone("catalog --eur-usd",
			"python3 tools/catalog_build prices OUT --eur-usd RATE");
}

static const struct cli_option options[] = {
	CLI_PRICE_OPTIONS(AT(files)),
	{"from", 0, "keeper|FILE|URL",
	 "update: a file of tools/catalog_build (default: the Keeper)", cli_set_text,
	 AT(request.from)},
	{"sha256", 0, "HASH", "update: hash of that file (default: as FILE.sha256 says)",
	 cli_set_text, AT(request.sha256)},
	{"region", 0, "VENDOR/NAME,..", "update: also the Keeper's prices of these regions",
	 cli_set_text, AT(request.regions)},
	{"url", 0, "URL", "update: address of the Keeper, instead of " TRK_KEEPER_URL, cli_set_text,
	 AT(request.url)},
	{"force", 0, NULL, "update: accept such a change of the Keeper's prices", cli_set_flag,
	 AT(request.force)},
	{"json", 0, NULL, "info: print one JSON document", cli_set_flag, AT(json)},
	{"date", 0, "DATE", NULL, reject_date, 0},
	{"eur-usd", 0, "RATE", NULL, reject_rate, 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static void put_counts(struct trk_buf *b, const char *name, const struct trk_catalog_tally *t)
{
	static const int widths[TRK_TALLIES] = {7, 7, 6, 7, 7, 8};

	trk__buf_printf(b, "%-10s", name);
	for (int k = 0; k < TRK_TALLIES; k++)
		trk__buf_printf(b, " %*zu", widths[k], t->of[k]);
}

static void info_text(struct trk_buf *b, const struct trk_prices *k,
		      const struct trk_catalog_tally *tally)
{
	const struct trk_catalog *c = &k->c;
	size_t n;
	const struct trk_catalog_vendor *v = trk__catalog_vendors(c, &n);
	const struct trk_catalog_source *s;
	struct trk_catalog_tally all = {0};
	char text[16];

	trk__buf_printf(b, "%-10s %7s %7s %6s %7s %7s %8s  %s\n", "vendor", "types", "priced",
			"GPU", "scored", "regions", "prices", "billing");
	for (size_t i = 0; i < n; i++) {
		put_counts(b, trk__catalog_text(c, v[i].id), &tally[i]);
		trk__buf_printf(b, "  %u s, at least %u s\n", v[i].step_s, v[i].minimum_s);
		for (int t = 0; t < TRK_TALLIES; t++)
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

static int info(const struct settings *s)
{
	const struct trk_price_layers layers = cli_price_layers(&s->files);
	struct trk_prices k;
	TRK_BUF_LOCAL(b, 1 << 20);
	struct trk_catalog_tally *tally;
	int r = cli_prices_load("catalog", &layers, &k);

	if (r != 0)
		return r;
	tally = trk__catalog_tally(&k.c);
	if (!tally)
		r = EXIT_ERROR;
	else
		(s->json ? trk__catalog_info_json : info_text)(&b, &k, tally);
	r = r ? r : cli_print(&b);
	free(tally);
	trk__prices_release(&k);
	return r;
}

/* ---- new prices ---- */

static int update(const struct settings *s)
{
	struct trk_service service = cli_service("");
	struct trk_price_change x;
	struct trk_error error = {.code = 0};
	TRK_BUF_LOCAL(b, 1 << 16);
	int r;

	service.layers = cli_price_layers(&s->files);
	r = trk__price_update(&service, &s->request, &x, &error);
	if (r == -EINVAL)
		return cli_fail("catalog", r, &error);
	if (r < 0)
		return cli_reject(EXIT_ERROR, "catalog: %s; nothing was changed", error.message);
	trk__buf_printf(&b, "%zu price%s now in %s", x.prices, x.prices == 1 ? " is" : "s are",
			x.path);
	if (x.new_types)
		trk__buf_printf(&b, "; %zu new types", x.new_types);
	if (x.left_out)
		trk__buf_printf(&b, "; %zu rows left out", x.left_out);
	trk__buf_putc(&b, '\n');
	return cli_print_to(STDERR_FILENO, &b);
}

static int run(int argc, char **argv)
{
	struct settings s = {.json = false};
	int at = cli_options(&cli_catalog_command, argc, argv, &s);

	if (at + 1 == argc && !strcmp(argv[at], "info"))
		return info(&s);
	if (s.json && at < argc)
		return cli_gone("catalog --json of a change", "the line on stderr");
	if (at + 2 == argc && !strcmp(argv[at], "import"))
		return cli_gone("catalog import",
				"python3 tools/catalog_build prices OUT --csv FILE, then "
				"resource-tracker catalog update --from OUT");
	if (at + 1 == argc && !strcmp(argv[at], "update"))
		return update(&s);
	return cli_reject(EXIT_USAGE, "catalog: needs one of: info, update. Try: "
				      "resource-tracker catalog --help");
}

const struct cli_command cli_catalog_command = {
	.name = "catalog",
	.usage = "catalog info | catalog update",
	.summary = "Describe the catalogue of servers, or fetch new prices.",
	.details = "info counts servers, prices and scores, and names their sources.\nupdate "
		   "fetches the lowest price of each type, and the prices of the named regions, "
		   "from the\nKeeper API of Spare Cores. If an answer lacks half of a vendor's "
		   "prices, or moves its median\nprice by 30 %, update stops; --force accepts the "
		   "answer. With --from it takes a file that\ntools/catalog_build has made from "
		   "public price lists or from a site's own prices, if its hash is\nright.",
	.options = options,
	.operands = 2,
	.run = run,
};
