/* resource-tracker servers: which servers fit, offline, and what they cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "catalog/needs.h"
#include "catalog/suggest.h"
#include "cli/catalog_files.h"
#include "cli/catalog_online.h"
#include "cli/cli.h"
#include "cli/servers_output.h"

enum { LIST_MAX = 4096, OUTPUT_MAX = 64 << 20 };

/* Names with commas between them. */
struct list {
	char text[LIST_MAX];
	size_t len;
};

struct settings {
	const char *vcpus, *memory, *gpu, *vram, *storage, *arch, *allocation, *order, *limit;
	const char *busy, *from;
	struct list vendors, regions, countries, exclude;
	uint64_t run_ns, boot_ns;
	struct cli_catalog_choice choice;
	const char *url;
	bool spot, json, gpu_shares, online;
};

/* Unlike other times it may be nothing. */
static int take_boot(void *settings, const struct cli_option *o, const char *value)
{
	struct settings *s = settings;
	uint64_t ns;

	if (trk__parse_duration(value, &ns) < 0 || ns > 0)
		return cli_set_duration(settings, o, value);
	s->boot_ns = 0;
	return 0;
}

#define AT(field) offsetof(struct settings, field)

/* A value, or several with commas between them; the option may be repeated. */
static int take_list(void *settings, const struct cli_option *o, const char *value)
{
	struct list *list = (struct list *) (void *) ((char *) settings + o->offset);

	if (strlen(value) + 2 > LIST_MAX - list->len) {
		cli_complain("servers: --%s: too many", o->name);
		return EXIT_USAGE;
	}
	list->len += (size_t) snprintf(list->text + list->len, LIST_MAX - list->len, "%s%s",
				       list->len ? "," : "", value);
	return 0;
}

static const struct cli_option options[] = {
	{"vcpus", 0, "N", "at least so many vCPUs", cli_set_text, AT(vcpus)},
	{"memory", 0, "SIZE", "at least so much memory for the job", cli_set_text, AT(memory)},
	{"gpu", 0, "N", "at least so many GPUs", cli_set_text, AT(gpu)},
	{"vram", 0, "SIZE", "memory of each GPU", cli_set_text, AT(vram)},
	{"gpu-shares", 0, NULL, "a share of one GPU is enough", cli_set_flag, AT(gpu_shares)},
	{"storage", 0, "GB", "at least so much local disk", cli_set_text, AT(storage)},
	{"arch", 0, "x86_64|arm64|any", "(this machine's)", cli_set_text, AT(arch)},
	{"vendor", 0, "NAME,..", "only these vendors", take_list, AT(vendors)},
	{"region", 0, "NAME,..", "only these regions", take_list, AT(regions)},
	{"country", 0, "CC,..", "only in these countries (DE, US, EU)", take_list, AT(countries)},
	{"exclude", 0, "PATTERN,..", "no vendor, region or type like this", take_list, AT(exclude)},
	{"allocation", 0, "KIND", "dedicated, shared, burstable or any (any)", cli_set_text,
	 AT(allocation)},
	{"spot", 0, NULL, "price at the typical spot saving", cli_set_flag, AT(spot)},
	{"order-by", 0, "KEY", "price, run-cost or score-per-price (price)", cli_set_text,
	 AT(order)},
	{"run", 0, "DUR", "for run-cost: time of the run as measured (1h)", cli_set_duration,
	 AT(run_ns)},
	{"busy", 0, "CORES", "for run-cost: busy cores meanwhile (--vcpus)", cli_set_text,
	 AT(busy)},
	{"from", 0, "TYPE", "for run-cost: the server it was measured on", cli_set_text, AT(from)},
	{"boot", 0, "DUR", "for run-cost: time paid before the job starts (60s)", take_boot,
	 AT(boot_ns)},
	{"limit", 'n', "N", "how many to show, 0: all (10)", cli_set_text, AT(limit)},
	{"catalog", 0, "FILE", "this catalogue instead of the built-in one", cli_set_text,
	 AT(choice.catalog)},
	{"scores", 0, "FILE|none", "scores and further types", cli_set_text, AT(choice.scores)},
	{"prices", 0, "FILE|none", "own prices (those of catalog import)", cli_set_text,
	 AT(choice.prices)},
	{"online", 0, NULL, "ask the Keeper API of Spare Cores for prices", cli_set_flag,
	 AT(online)},
	{"url", 0, "URL", "of another Keeper", cli_set_text, AT(url)},
	{"json", 0, NULL, "one JSON document", cli_set_flag, AT(json)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static int wrong(const char *option, const char *value, const char *hint)
{
	cli_complain("servers: --%s %s: %s", option, value, hint);
	return EXIT_USAGE;
}

static int take_count(const char *option, const char *text, uint64_t max, uint64_t *ret)
{
	if (!text)
		return 0;
	if (trk__parse_u64(text, ret) < 0 || *ret > max)
		return wrong(option, text, "not a number in range. Try: --help");
	return 0;
}

static int take_size(const char *option, const char *text, uint64_t *ret)
{
	if (text && trk__parse_size(text, ret) < 0)
		return wrong(option, text, "not a size. Try: 16GiB or 512M");
	if (text && *ret && *ret < 1 << 20)
		return wrong(option, text, "these are bytes, less than a MiB. Try: 16GiB or 512M");
	return 0;
}

static int take_needs(const struct settings *s, const struct trk_catalog *c,
		      struct trk_needs *needs)
{
	const struct trk_need_words words = {
		.arch = s->arch,
		.allocation = s->allocation,
		.vendors = s->vendors.text,
		.regions = s->regions.text,
		.countries = s->countries.text,
		.exclude = s->exclude.text,
	};
	struct trk_catalog_query *q = &needs->query;
	struct trk_error error = {.code = 0};
	uint64_t vcpus = 0, gpus = 0;
	int r = take_count("vcpus", s->vcpus, 100000, &vcpus);

	r = r ? r : take_count("gpu", s->gpu, 1000, &gpus);
	r = r ? r : take_count("storage", s->storage, 1000000000, &q->storage_gb);
	r = r ? r : take_size("memory", s->memory, &q->memory_bytes);
	r = r ? r : take_size("vram", s->vram, &q->vram_bytes);
	q->vcpus = (uint32_t) vcpus;
	q->gpus = (uint32_t) gpus;
	if (q->vram_bytes && !q->gpus)
		q->gpus = 1;
	q->gpu_shares = s->gpu_shares;
	q->spot = s->spot;
	if (r == 0 && trk__needs_read(needs, c, &words, &error) < 0) {
		cli_complain("servers: %s", error.message);
		return EXIT_USAGE;
	}
	return r;
}

/* What runs: so many cores busy for so long, measured on that server. */
static int take_work(const struct settings *s, const struct trk_catalog *c,
		     const struct trk_catalog_query *q, struct trk_busy_slice *slice,
		     struct trk_server_work *ret)
{
	struct trk_error error = {.code = 0};
	size_t n;
	int at;

	*slice = (struct trk_busy_slice){q->vcpus ? q->vcpus : 1, (double) s->run_ns / 1e9};
	*ret = (struct trk_server_work){.slices = slice,
					.n = 1,
					.here_one = {NAN, NAN},
					.boot_s = (double) s->boot_ns / 1e9};
	if (s->busy) {
		char *end;

		slice->cores = strtod(s->busy, &end);
		if (*end || !(slice->cores > 0) || slice->cores > 1e6)
			return wrong("busy", s->busy, "not a number of cores");
	}
	if (!s->from)
		return 0;
	at = trk__catalog_find_server(c, -1, s->from);
	if (at < 0) {
		(void) trk__catalog_unknown(c, TRK_KIND_SERVER, -1, s->from, &error);
		cli_complain("servers: %s", error.message);
		return EXIT_USAGE;
	}
	trk__server_measured_on(ret, &trk__catalog_servers(c, &n)[at]);
	return 0;
}

/* ---- results ---- */

static int show(const struct settings *s, const struct trk_offers *result)
{
	struct trk_buf b, notes;
	int r;

	trk__buf_init(&b, OUTPUT_MAX);
	trk__buf_init(&notes, 8192);
	if (s->json)
		trk__offers_json(&b, result);
	else
		cli_servers_text(&b, result, s->spot);
	r = cli_write(STDOUT_FILENO, &b, "stdout");
	if (!s->json && r == 0) {
		cli_servers_notes(&notes, result);
		r = cli_write(STDERR_FILENO, &notes, "stderr");
	}
	trk__buf_release(&b);
	trk__buf_release(&notes);
	return r;
}

static int find(const struct settings *s, struct trk_catalog *c, uint64_t limit)
{
	struct trk_needs *needs = calloc(1, sizeof(*needs));
	struct trk_offers result = {.list = NULL};
	struct trk_server_work work;
	struct trk_busy_slice slice;
	int r = needs ? take_needs(s, c, needs) : EXIT_ERROR;

	r = r ? r : take_work(s, c, &needs->query, &slice, &work);
	if (r == 0 && s->online)
		cli_catalog_online(c, &needs->query, s->url, needs->regions);
	if (r == 0 &&
	    trk__offers_find(c, &needs->query, (enum trk_offers_order) trk__offers_order(s->order),
			     &work, &result) < 0)
		r = EXIT_ERROR;
	result.limit = limit ? (size_t) limit : SIZE_MAX;
	result.today = cli_servers_today();
	if (r == 0 && result.nothing[0]) {
		cli_complain("servers: %s", result.nothing);
		r = EXIT_NODATA;
	} else if (r == 0) {
		r = show(s, &result);
	}
	trk__offers_release(&result);
	free(needs);
	return r;
}

static int run(int argc, char **argv)
{
	struct settings s = {
		.order = "price",
		.run_ns = UINT64_C(3600000000000),
		.boot_ns = UINT64_C(60000000000),
	};
	struct cli_catalog catalog;
	uint64_t limit = 10;
	int at = cli_options(&cli_servers, argc, argv, &s), r;

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at < argc) {
		cli_complain("servers: what is %s? Try: resource-tracker servers --help", argv[at]);
		return EXIT_USAGE;
	}
	if (trk__offers_order(s.order) < 0)
		return wrong("order-by", s.order, "not one of: price run-cost score-per-price");
	r = take_count("limit", s.limit, 1000000, &limit);
	if (r != 0)
		return r;
	r = cli_catalog_load(&s.choice, &catalog);
	if (r != 0)
		return r;
	r = find(&s, &catalog.c, limit);
	trk__catalog_release(&catalog.c);
	return r;
}

const struct cli_command cli_servers = {
	.name = "servers",
	.usage = "servers [OPTIONS]",
	.summary = "Servers that fit, from the catalogue, offline.",
	.details = "Each type is shown where it is cheapest among the regions that are allowed. "
		   "Memory is matched against\nwhat a job really gets, --vram against each GPU. "
		   "Prices are list prices of the date shown below the\ntable; spot prices are "
		   "typical savings, not quotes.",
	.options = options,
	.run = run,
};
