/* resource-tracker catalog: the contents of the catalogue, and a site's own prices. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/feed.h"
#include "catalog/keeper.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/server_options.h"
#include "service/price_update.h"

struct settings {
	struct trk_named_prices files;
	const char *date;
	struct trk_price_request request;
	bool json;
};

static const struct cli_option options[] = {
	CLI_PRICE_OPTIONS(AT(files)),
	{"date", 0, "DATE", "import: day of the prices (today)", cli_set_text, AT(date)},
	{"from", 0, "SOURCE",
	 "update: keeper, azure, aws, aws-spot, gcp, vultr, ovh, scaleway, skypilot, karpenter",
	 cli_set_text, AT(request.from)},
	{"region", 0, "VENDOR/NAME,..", "update: also the prices of these regions", cli_set_text,
	 AT(request.regions)},
	{"url", 0, "URL", "update: address of the Keeper, instead of " TRK_KEEPER_URL, cli_set_text,
	 AT(request.url)},
	{"eur-usd", 0, "RATE",
	 "update: price of a euro in USD, for lists in EUR (default: rate of the European Central "
	 "Bank)",
	 cli_set_text, AT(request.eur_usd)},
	{"force", 0, NULL, "update: accept such a change", cli_set_flag, AT(request.force)},
	{"json", 0, NULL, "info: print one JSON document", cli_set_flag, AT(json)},
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
	trk__buf_printf(b, "\nscores: %s\nupdate: %s\nfeeds:", k->scores[0] ? k->scores : "none",
			k->fetched[0] ? k->fetched : "none");
	for (size_t i = 0; i < trk__feed_count; i++)
		if (k->feeds & 1u << i)
			trk__buf_printf(b, " %s", trk__feeds[i].id);
	trk__buf_printf(b, "%s\nown prices: %s\n", k->feeds ? "" : " none",
			k->imported[0] ? k->imported : "none");
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

static void change_text(struct trk_buf *b, const struct trk_price_change *x)
{
	trk__buf_printf(b, "%zu %s are now in %s", x->savings ? x->savings : x->prices,
			x->savings ? "savings" : "prices", x->path);
	if (x->new_types)
		trk__buf_printf(b, "; %zu new types", x->new_types);
	if (x->left_out)
		trk__buf_printf(b, "; %zu rows left out", x->left_out);
	if (!isnan(x->eur_usd))
		trk__buf_printf(b, "; a euro at %.4f USD", x->eur_usd);
	trk__buf_putc(b, '\n');
}

/* Report a change: a line on stderr. */
static int tell(const struct trk_price_change *x)
{
	TRK_BUF_LOCAL(b, 1 << 16);

	change_text(&b, x);
	return cli_print_to(STDERR_FILENO, &b);
}

static int update(const struct settings *s)
{
	struct trk_service service = cli_service("");
	struct trk_price_change *x = calloc(1, sizeof(*x));
	struct trk_error error = {.code = 0};
	int r;

	if (!x)
		return EXIT_ERROR;
	service.layers = cli_price_layers(&s->files);
	r = trk__price_update(&service, &s->request, x, &error);
	if (r == 0)
		r = tell(x);
	else if (r == -EINVAL)
		r = cli_fail("catalog", r, &error);
	else {
		cli_complain("catalog: %s; nothing was changed", error.message);
		r = EXIT_ERROR;
	}
	free(x);
	return r;
}

static int import(const struct settings *s, const char *file)
{
	struct trk_named_prices files = s->files;
	struct trk_service service = cli_service("");
	struct trk_price_change x;
	struct trk_error error = {.code = 0};
	int r;

	files.prices = "none";
	service.layers = cli_price_layers(&files);
	r = trk__price_import(&service, file, s->date, &x, &error);
	return r < 0 ? cli_fail("catalog", r, &error) : tell(&x);
}

static int run(int argc, char **argv)
{
	struct settings s = {.date = NULL};
	int at = cli_options(&cli_catalog_command, argc, argv, &s);

	if (at + 1 == argc && !strcmp(argv[at], "info"))
		return info(&s);
	if (s.json && at < argc)
		return cli_gone("catalog --json of a change", "the line on stderr");
	if (at + 2 == argc && !strcmp(argv[at], "import"))
		return import(&s, argv[at + 1]);
	if (at + 1 == argc && !strcmp(argv[at], "update"))
		return update(&s);
	return cli_reject(EXIT_USAGE, "catalog: needs one of: info, update, import FILE. Try: "
				      "resource-tracker catalog --help");
}

const struct cli_command cli_catalog_command = {
	.name = "catalog",
	.usage = "catalog info | catalog update | catalog import FILE.csv",
	.summary = "Describe the catalogue of servers, fetch new prices, or import a site's own "
		   "catalogue.",
	.details = "info counts servers, prices and scores, and names their sources.\nupdate "
		   "fetches the lowest price of each type, and the prices of the named regions, "
		   "from the\nKeeper API of Spare Cores; with --from it reads a public price list. "
		   "If an answer lacks half of\na vendor's prices, or moves its median price by 30 "
		   "%, update stops; --force accepts the answer.\nimport reads CSV whose first "
		   "line names the columns: vendor, region, type, price (USD per hour),\nand "
		   "optionally saving (spot, percent). These prices replace the list prices.",
	.options = options,
	.operands = 2,
	.run = run,
};
