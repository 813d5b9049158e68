/* resource-tracker servers: which servers fit, offline, and what they cost. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "advise/server.h"
#include "base/clock.h"
#include "base/parse.h"
#include "catalog/suggest.h"
#include "cli/catalog_files.h"
#include "cli/catalog_online.h"
#include "cli/cli.h"
#include "cli/servers_output.h"

enum { LIST_MAX = 64, WORDS_MAX = 2048, OUTPUT_MAX = 64 << 20 };

struct list {
	const char *item[LIST_MAX];
	size_t n;
	char words[WORDS_MAX]; /* what the items point into */
	size_t used;
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

#define AT(field) offsetof(struct settings, field)

/* A value, or several with commas between them; the option may be repeated. */
static int take_list(void *settings, const struct cli_option *o, const char *value)
{
	struct list *list = (struct list *) (void *) ((char *) settings + o->offset);

	while (*value) {
		size_t len = strcspn(value, ",");

		if (list->n == LIST_MAX || len >= WORDS_MAX - list->used) {
			cli_complain("servers: --%s: too many", o->name);
			return EXIT_USAGE;
		}
		if (len) {
			list->item[list->n++] = memcpy(list->words + list->used, value, len);
			list->used += len;
			list->words[list->used++] = '\0';
		}
		value += len + (value[len] == ',');
	}
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
	{"boot", 0, "DUR", "for run-cost: time paid before the job starts (60s)", cli_set_duration,
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
	return 0;
}

static int take_arch(const char *text, unsigned int *ret)
{
	static const struct {
		const char *name;
		unsigned int archs;
	} known[] = {
		{"x86_64", 1u << TRK_ARCH_X86_64},
		{"amd64", 1u << TRK_ARCH_X86_64},
		{"arm64", 1u << TRK_ARCH_ARM64},
		{"aarch64", 1u << TRK_ARCH_ARM64},
		{"any", 0},
	};
	struct utsname name;

	if (!text)
		text = uname(&name) == 0 ? name.machine : "x86_64";
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcasecmp(text, known[i].name) != 0)
			continue;
		*ret = known[i].archs;
		return 0;
	}
	return wrong("arch", text, "not one of: x86_64 arm64 any");
}

static int take_allocation(const char *text, unsigned int *ret)
{
	if (!text || !strcasecmp(text, "any"))
		return 0;
	for (unsigned int i = 0; i < TRK_ALLOCATIONS; i++)
		if (!strcasecmp(text, trk__catalog_allocation_names[i]))
			*ret = 1u << i;
	return *ret ? 0 : wrong("allocation", text, "not one of: dedicated shared burstable any");
}

static int take_needs(const struct settings *s, struct trk_catalog_query *q)
{
	uint64_t vcpus = 0, gpus = 0;
	int r = take_count("vcpus", s->vcpus, 100000, &vcpus);

	r = r ? r : take_count("gpu", s->gpu, 1000, &gpus);
	r = r ? r : take_count("storage", s->storage, 1000000000, &q->storage_gb);
	r = r ? r : take_size("memory", s->memory, &q->memory_bytes);
	r = r ? r : take_size("vram", s->vram, &q->vram_bytes);
	r = r ? r : take_arch(s->arch, &q->archs);
	r = r ? r : take_allocation(s->allocation, &q->allocations);
	q->vcpus = (uint32_t) vcpus;
	q->gpus = (uint32_t) gpus;
	if (q->vram_bytes && !q->gpus)
		q->gpus = 1;
	q->gpu_shares = s->gpu_shares;
	q->spot = s->spot;
	q->exclude = s->exclude.item;
	q->excludes = s->exclude.n;
	return r;
}

/* Marks for vendors and regions; they live in the caller's arrays. */
static int take_places(const struct settings *s, const struct trk_catalog *c, uint8_t *vendors,
		       uint8_t *regions, struct trk_catalog_query *q)
{
	for (size_t i = 0; i < s->vendors.n; i++) {
		int at = trk__catalog_find_vendor(c, s->vendors.item[i]);

		if (at < 0) {
			cli_catalog_complain_unknown(c, "servers", "vendor", s->vendors.item[i],
						     TRK_KIND_VENDOR, -1);
			return EXIT_USAGE;
		}
		vendors[at] = 1;
	}
	if (s->vendors.n)
		q->vendors_ok = vendors;
	for (size_t i = 0; i < s->regions.n; i++) {
		if (trk__catalog_mark_region(c, q->vendors_ok, s->regions.item[i], regions) > 0)
			continue;
		cli_catalog_complain_unknown(
			c, "servers", "region", s->regions.item[i], TRK_KIND_REGION,
			s->vendors.n == 1 ? trk__catalog_find_vendor(c, s->vendors.item[0]) : -1);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < s->countries.n; i++) {
		if (trk__catalog_mark_country(c, s->countries.item[i], regions) > 0)
			continue;
		return wrong("country", s->countries.item[i],
			     "no region there. Try: two letters such as DE, or EU");
	}
	if (s->regions.n || s->countries.n)
		q->regions_ok = regions;
	return 0;
}

/* ---- results ---- */

static int by_score_per_price(const void *a, const void *b, void *data)
{
	const struct trk_catalog *c = data;
	const struct trk_server_estimate *x = a, *y = b;
	double p = cli_servers_score(c, &x->offer) / x->offer.units;
	double q = cli_servers_score(c, &y->offer) / y->offer.units;

	if (isnan(p) || isnan(q))
		return isnan(p) - isnan(q);
	return p > q ? -1 : p < q;
}

static int search(const struct trk_catalog *c, const struct trk_catalog_query *q, const char *order,
		  struct cli_servers_result *ret)
{
	struct trk_catalog_offer *offers;
	int r = trk__catalog_search(c, q, &offers, &ret->n);

	if (r < 0)
		return r;
	ret->list = calloc(ret->n ? ret->n : 1, sizeof(*ret->list));
	for (size_t i = 0; ret->list && i < ret->n; i++)
		ret->list[i].offer = offers[i];
	free(offers);
	if (!ret->list)
		return -ENOMEM;
	if (!strcmp(order, "score-per-price")) {
		struct trk_catalog view = *c;

		qsort_r(ret->list, ret->n, sizeof(*ret->list), by_score_per_price, &view);
	}
	return ret->n ? 0 : -ENOENT;
}

static int advise(const struct settings *s, const struct trk_catalog *c,
		  const struct trk_catalog_query *q, struct cli_servers_result *ret)
{
	struct trk_busy_slice slice = {q->vcpus ? q->vcpus : 1, (double) s->run_ns / 1e9};
	struct trk_server_work work = {&slice, 1, {NAN, NAN}, (double) s->boot_ns / 1e9, 0};
	size_t n;
	int r;

	if (s->busy) {
		char *end;

		slice.cores = strtod(s->busy, &end);
		if (*end || !(slice.cores > 0) || slice.cores > 1e6)
			return wrong("busy", s->busy, "not a number of cores");
	}
	if (s->from) {
		int at = trk__catalog_find_server(c, -1, s->from);

		if (at < 0) {
			cli_catalog_complain_unknown(c, "servers", "type", s->from, TRK_KIND_SERVER,
						     -1);
			return EXIT_USAGE;
		}
		trk__server_measured_on(&work, &trk__catalog_servers(c, &n)[at]);
	}
	r = trk__server_advise(c, q, &work, &ret->advice);
	if (r < 0)
		return r;
	ret->list = ret->advice.list;
	ret->n = ret->advice.n;
	ret->costs = true;
	return 0;
}

/* ---- nothing fits ---- */

static int nothing_fits(const struct trk_catalog *c, const struct trk_catalog_query *q)
{
	char text[320];

	cli_servers_nothing(c, q, NULL, text, sizeof(text));
	cli_complain("servers: %s", text);
	return EXIT_NODATA;
}

static int show(const struct settings *s, const struct cli_servers_result *result)
{
	struct trk_buf b, notes;
	int r;

	trk__buf_init(&b, OUTPUT_MAX);
	trk__buf_init(&notes, 8192);
	if (s->json)
		cli_servers_json(&b, result);
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

static uint32_t today(void)
{
	char text[32];
	unsigned int y = 0, m = 0, d = 0;

	trk__clock_iso8601(trk__clock_wall_ns(), text);
	return sscanf(text, "%u-%u-%u", &y, &m, &d) == 3 ? y * 10000 + m * 100 + d : 0;
}

static int find(const struct settings *s, struct trk_catalog *c, uint64_t limit)
{
	uint8_t vendors[256] = {0}, regions[1024] = {0};
	struct trk_catalog_query q = {0};
	struct cli_servers_result result = {
		.c = c, .query = &q, .limit = limit ? (size_t) limit : SIZE_MAX, .today = today()};
	int r = take_needs(s, &q);

	r = r ? r : take_places(s, c, vendors, regions, &q);
	if (r != 0)
		return r;
	if (s->online)
		cli_catalog_online(c, &q, s->url, regions);
	if (!strcmp(s->order, "run-cost"))
		r = advise(s, c, &q, &result);
	else
		r = search(c, &q, s->order, &result);
	if (r == 0)
		r = show(s, &result);
	else if (r == -ENOENT)
		r = nothing_fits(c, &q);
	else if (r < 0)
		r = EXIT_ERROR;
	free(result.list);
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
	if (strcmp(s.order, "price") != 0 && strcmp(s.order, "run-cost") != 0 &&
	    strcmp(s.order, "score-per-price") != 0)
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
