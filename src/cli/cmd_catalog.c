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

static const struct cli_option options[] = {
	{"catalog", 0, "FILE", "this catalogue instead of the built-in one", cli_set_text,
	 AT(files.catalog)},
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
	CLI_MORE_OPTIONS,
	CLI_PRICE_OPTIONS(AT(files)),
	{NULL, 0, NULL, NULL, NULL, 0},
};

static int info(const struct settings *s)
{
	const struct trk_price_layers layers = cli_price_layers(&s->files);
	struct trk_prices k;
	TRK_BUF_LOCAL(b, 1 << 20);
	int r = cli_prices_load("catalog", &layers, &k);

	if (r != 0)
		return r;
	r = trk__catalog_info(&b, &k, s->json) < 0 ? EXIT_ERROR : cli_print(&b);
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
		return cli_reject(EXIT_USAGE, "catalog: --json is for info");
	if (at < argc && cli_is_gone("catalog", argv[at]))
		return EXIT_USAGE;
	if (at + 1 == argc && !strcmp(argv[at], "update"))
		return update(&s);
	return cli_reject(EXIT_USAGE, "catalog: needs one of: info, search, update. Try: "
				      "resource-tracker catalog --help");
}

const struct cli_command cli_catalog_command = {
	.name = "catalog",
	.usage = "catalog info | catalog search | catalog update",
	.summary = "Find servers and their prices, without a network; fetch new prices.",
	.details = "search lists servers (help catalog search). info counts servers, prices and "
		   "scores, and names their sources.\nupdate "
		   "fetches the lowest price of each type, and the prices of the named regions, "
		   "from the\nKeeper API of Spare Cores. If an answer lacks half of a vendor's "
		   "prices, or moves its median\nprice by 30 %, update stops; --force accepts the "
		   "answer. With --from it takes a file that\ntools/catalog_build has made from "
		   "public price lists or from a site's own prices, if its hash is\nright.",
	.example = "resource-tracker catalog search --cpu 4 --mem 16GiB --country EU",
	.options = options,
	.operands = 2,
	.run = run,
};
