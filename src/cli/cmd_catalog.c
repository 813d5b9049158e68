/* resource-tracker catalog: what the catalogue holds, and a site's own prices. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "catalog/csv.h"
#include "catalog/text.h"
#include "catalog/feed.h"
#include "catalog/keeper.h"
#include "cli/catalog_files.h"
#include "cli/catalog_update.h"
#include "cli/cli.h"

enum { CSV_MAX = 64 << 20 };

struct settings {
	struct cli_catalog_choice choice;
	const char *date;
	struct cli_catalog_wanted wanted;
};

#define AT(field) offsetof(struct settings, field)

static const struct cli_option options[] = {
	{"catalog", 0, "FILE", "this catalogue instead of the built-in one", cli_set_text,
	 AT(choice.catalog)},
	{"scores", 0, "FILE|none", "scores and further types", cli_set_text, AT(choice.scores)},
	{"prices", 0, "FILE|none", "own prices (those of catalog import)", cli_set_text,
	 AT(choice.prices)},
	{"date", 0, "DATE", "import: the day of the prices (today)", cli_set_text, AT(date)},
	{"from", 0, "SOURCE",
	 "update: keeper, azure, aws, aws-spot, gcp, vultr, ovh, scaleway, skypilot, karpenter, "
	 "gpuhunt",
	 cli_set_text, AT(wanted.from)},
	{"region", 0, "VENDOR/NAME,..", "update: the prices of these regions, too", cli_set_text,
	 AT(wanted.regions)},
	{"url", 0, "URL", "update: another Keeper than " TRK_KEEPER_URL, cli_set_text,
	 AT(wanted.url)},
	{"eur-usd", 0, "RATE",
	 "update: what a euro costs in USD, for lists in EUR (asked of the European Central Bank)",
	 cli_set_text, AT(wanted.eur_usd)},
	{"force", 0, NULL, "update: whatever changed", cli_set_flag, AT(wanted.force)},
	{"json", 0, NULL, "what there is, or what was done, as one JSON document", cli_set_flag,
	 AT(wanted.json)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

struct tally {
	size_t servers, priced, prices, scores, regions, gpus;
};

static void count(const struct trk_catalog *c, uint8_t vendor, uint8_t *priced, struct tally *t)
{
	size_t n, n_prices;
	const struct trk_catalog_block *b = trk__catalog_blocks(c, &n);
	const struct trk_catalog_price *p = trk__catalog_prices(c, &n_prices);
	const struct trk_catalog_region *g;
	const struct trk_catalog_server *s;
	struct trk_catalog_speed speed;

	*t = (struct tally){0};
	for (size_t i = 0; i < n; i++)
		for (uint32_t at = b[i].first;
		     b[i].vendor == vendor && at < b[i].first + b[i].count; at++) {
			t->prices += p[at].price != 0;
			priced[p[at].server] = 1;
		}
	s = trk__catalog_servers(c, &n);
	for (size_t i = 0; i < n; i++) {
		if (s[i].vendor != vendor)
			continue;
		t->servers++;
		t->priced += priced[i];
		t->gpus += s[i].gpu_count > 0;
		t->scores += trk__catalog_speed_of(&s[i], &speed);
	}
	g = trk__catalog_regions(c, &n);
	for (size_t i = 0; i < n; i++)
		t->regions += g[i].vendor == vendor;
}

static void json_count(struct trk_json *j, const char *key, size_t value)
{
	trk__json_key(j, key);
	trk__json_u64(j, value);
}

static void json_text(struct trk_json *j, const char *key, const char *text)
{
	trk__json_key(j, key);
	trk__json_text(j, *text ? text : NULL);
}

static void json_sources(struct trk_json *j, const struct trk_catalog *c)
{
	size_t n;
	const struct trk_catalog_source *s = trk__catalog_sources(c, &n);
	char text[16];

	trk__json_key(j, "sources");
	trk__json_open(j, '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(j, '{');
		json_text(j, "id", trk__catalog_text(c, s[i].id));
		json_text(j, "date", trk__catalog_date(s[i].date, text));
		json_text(j, "licence", trk__catalog_text(c, s[i].licence));
		json_text(j, "title", trk__catalog_text(c, s[i].title));
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void info_json(struct trk_buf *b, const struct cli_catalog *k, uint8_t *priced)
{
	const struct trk_catalog *c = &k->c;
	size_t n;
	const struct trk_catalog_vendor *v = trk__catalog_vendors(c, &n);
	struct trk_json j;
	struct tally t;
	char text[16];

	trk__json_init(&j, b, 2);
	trk__json_open(&j, '{');
	json_text(&j, "schema", "resource-tracker.catalog/1");
	json_text(&j, "date", trk__catalog_date(c->image->date, text));
	json_count(&j, "bytes", c->image->size);
	json_text(&j, "scores_file", k->scores_path);
	json_text(&j, "update_file", k->update_path);
	trk__json_key(&j, "feeds");
	trk__json_open(&j, '[');
	for (size_t i = 0; i < trk__feed_count; i++)
		if (k->feeds & 1u << i)
			trk__json_text(&j, trk__feeds[i].id);
	trk__json_close(&j, ']');
	json_text(&j, "prices_file", k->prices_path);
	trk__json_key(&j, "vendors");
	trk__json_open(&j, '[');
	for (size_t i = 0; i < n; i++) {
		count(c, (uint8_t) i, priced, &t);
		trk__json_open(&j, '{');
		json_text(&j, "vendor_id", trk__catalog_text(c, v[i].id));
		json_count(&j, "servers", t.servers);
		json_count(&j, "priced_servers", t.priced);
		json_count(&j, "gpu_servers", t.gpus);
		json_count(&j, "scored_servers", t.scores);
		json_count(&j, "regions", t.regions);
		json_count(&j, "prices", t.prices);
		json_count(&j, "billing_step_s", v[i].step_s);
		json_count(&j, "billing_minimum_s", v[i].minimum_s);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	json_sources(&j, c);
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

static void info_text(struct trk_buf *b, const struct cli_catalog *k, uint8_t *priced)
{
	const struct trk_catalog *c = &k->c;
	size_t n;
	const struct trk_catalog_vendor *v = trk__catalog_vendors(c, &n);
	const struct trk_catalog_source *s;
	struct tally t, all = {0};
	char text[16];

	trk__buf_printf(b, "%-10s %7s %7s %6s %7s %7s %8s  %s\n", "vendor", "types", "priced",
			"GPU", "scored", "regions", "prices", "billing");
	for (size_t i = 0; i < n; i++) {
		count(c, (uint8_t) i, priced, &t);
		trk__buf_printf(b, "%-10s %7zu %7zu %6zu %7zu %7zu %8zu  %u s, at least %u s\n",
				trk__catalog_text(c, v[i].id), t.servers, t.priced, t.gpus,
				t.scores, t.regions, t.prices, v[i].step_s, v[i].minimum_s);
		all.servers += t.servers;
		all.priced += t.priced;
		all.gpus += t.gpus;
		all.scores += t.scores;
		all.regions += t.regions;
		all.prices += t.prices;
	}
	trk__buf_printf(b, "%-10s %7zu %7zu %6zu %7zu %7zu %8zu\n\n", "all", all.servers,
			all.priced, all.gpus, all.scores, all.regions, all.prices);
	s = trk__catalog_sources(c, &n);
	for (size_t i = 0; i < n; i++)
		trk__buf_printf(b, "%-21s %s  %-27s %s\n", trk__catalog_text(c, s[i].id),
				trk__catalog_date(s[i].date, text),
				trk__catalog_text(c, s[i].licence),
				trk__catalog_text(c, s[i].title));
	trk__buf_printf(
		b, "\nscores: %s\nupdate: %s\nfeeds:", k->scores_path[0] ? k->scores_path : "none",
		k->update_path[0] ? k->update_path : "none");
	for (size_t i = 0; i < trk__feed_count; i++)
		if (k->feeds & 1u << i)
			trk__buf_printf(b, " %s", trk__feeds[i].id);
	trk__buf_printf(b, "%s\nown prices: %s\n", k->feeds ? "" : " none",
			k->prices_path[0] ? k->prices_path : "none");
}

static int info(const struct settings *s)
{
	struct cli_catalog k;
	struct trk_buf b;
	uint8_t *priced;
	size_t n;
	int r = cli_catalog_load(&s->choice, &k);

	if (r != 0)
		return r;
	(void) trk__catalog_servers(&k.c, &n);
	priced = calloc(n ? n : 1, 1);
	trk__buf_init(&b, 1 << 20);
	if (!priced)
		r = EXIT_ERROR;
	else if (s->wanted.json)
		info_json(&b, &k, priced);
	else
		info_text(&b, &k, priced);
	r = r ? r : cli_write(STDOUT_FILENO, &b, "stdout");
	free(priced);
	trk__buf_release(&b);
	trk__catalog_release(&k.c);
	return r;
}

/* "2026-01-31" */
static bool is_date(const char *text)
{
	unsigned int y, m, d;
	int end = 0;

	return strlen(text) == 10 && strspn(text, "0123456789-") == 10 &&
	       sscanf(text, "%4u-%2u-%2u%n", &y, &m, &d, &end) == 3 && end == 10 && m >= 1 &&
	       m <= 12 && d >= 1 && d <= 31;
}

static int import(const struct settings *s, const char *file)
{
	struct cli_catalog_choice choice = s->choice;
	struct trk_error error = {.code = 0};
	struct cli_catalog k;
	struct trk_catalog check;
	struct trk_buf out;
	char path[4096], today[32], *csv = NULL;
	ssize_t len;
	int r, n;

	if (s->date && !is_date(s->date)) {
		cli_complain("catalog: --date %s: not a date such as 2026-01-31", s->date);
		return EXIT_USAGE;
	}
	choice.prices = "none";
	r = cli_catalog_load(&choice, &k);
	if (r != 0)
		return r;
	trk__clock_iso8601(trk__clock_wall_ns(), today);
	today[10] = '\0';
	trk__buf_init(&out, CSV_MAX);
	len = trk__read_all_at(AT_FDCWD, file, CSV_MAX, &csv);
	if (len < 0) {
		n = (int) len;
		(void) trk__error_set(&error, n, file, "catalog: %s: cannot read: %s", file,
				      trk__strerror(n));
	} else {
		n = trk__catalog_csv_convert(&k.c, file, csv, (size_t) len,
					     s->date ? s->date : today, &out, &error);
	}
	/* What is written must be readable again, the date that was given included. */
	if (n >= 0) {
		r = trk__catalog_text_load(&k.c, "import", out.data, out.len, &check, &error);
		if (r < 0)
			n = r;
		else
			trk__catalog_release(&check);
	}
	if (n < 0) {
		cli_complain("%s", error.message[0] ? error.message : trk__strerror(n));
		r = n == -ENOENT ? EXIT_NODATA : EXIT_ERROR;
	} else if (!cli_catalog_prices_path(path, sizeof(path))[0]) {
		cli_complain("catalog: no place for a cache. Try: set HOME");
		r = EXIT_ERROR;
	} else {
		r = cli_catalog_replace(path, &out);
		if (r == 0)
			r = cli_catalog_tell(&(struct cli_catalog_change){.from = file,
									  .path = path,
									  .prices = (size_t) n,
									  .eur_usd = NAN},
					     s->wanted.json);
	}
	free(csv);
	trk__buf_release(&out);
	trk__catalog_release(&k.c);
	return r;
}

static int run(int argc, char **argv)
{
	struct settings s = {.date = NULL};
	int at = cli_options(&cli_catalog_command, argc, argv, &s);

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at + 1 == argc && !strcmp(argv[at], "info"))
		return info(&s);
	if (at + 2 == argc && !strcmp(argv[at], "import"))
		return import(&s, argv[at + 1]);
	if (at + 1 == argc && !strcmp(argv[at], "update"))
		return cli_catalog_update(&s.choice, &s.wanted);
	cli_complain("catalog: info, update, or import FILE. Try: resource-tracker catalog --help");
	return EXIT_USAGE;
}

const struct cli_command cli_catalog_command = {
	.name = "catalog",
	.usage = "catalog info | catalog update | catalog import FILE.csv",
	.summary = "What the catalogue holds; fetch new prices; take a site's own.",
	.details =
		"info counts servers, prices and scores and names their sources.\n"
		"update asks the Keeper API of Spare Cores for the lowest price of each type, and "
		"of the regions that\nare named; or (--from) a public price list. An answer that "
		"lost half of a vendor or moved its\nmedian price by 30 % needs --force.\n"
		"import reads CSV whose first line names the columns: vendor, region, type, price "
		"(USD an hour), and\nsaving (spot, percent) if wanted. These prices then take the "
		"place of the list prices.",
	.options = options,
	.run = run,
};
