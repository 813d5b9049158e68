#include "cli/catalog_online.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "catalog/fetch.h"
#include "catalog/image.h"
#include "catalog/keeper.h"
#include "catalog/text.h"
#include "cli/cli.h"

enum {
	ANSWER_MAX = 64 << 20,
	ANSWERS_MAX = 20, /* of /servers: so many a minute are free */
	UPDATE_S = 120,
	ONLINE_S = 10,
	ONLINE_REGIONS = 3, /* that the Keeper takes in one question */
};

/* Answers as they come, with the text that they become. */
struct talk {
	const char *url;
	unsigned int timeout_s;
	struct trk_keeper_answer answer[ANSWERS_MAX];
	size_t n;
	struct trk_json_doc table; /* of regions; asked for once, where it is needed */
	struct trk_buf text;
	struct trk_keeper_tally tally;
	char date[32];
	struct trk_error error;
};

static void talk_init(struct talk *t, const char *url, unsigned int timeout_s)
{
	*t = (struct talk){.url = url ? url : TRK_KEEPER_URL, .timeout_s = timeout_s};
	trk__buf_init(&t->text, ANSWER_MAX);
	trk__clock_iso8601(trk__clock_wall_ns(), t->date);
	t->date[10] = '\0';
}

static void talk_release(struct talk *t)
{
	for (size_t i = 0; i < t->n; i++)
		trk__json_doc_release(&t->answer[i].doc);
	trk__json_doc_release(&t->table);
	trk__buf_release(&t->text);
}

static int get(struct talk *t, struct trk_json_doc *ret, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int get(struct talk *t, struct trk_json_doc *ret, const char *format, ...)
{
	const struct trk_json_limits limits = {.max_bytes = ANSWER_MAX, .nan_is_null = true};
	char url[2048];
	struct trk_buf body;
	va_list args;
	int r, n;

	n = snprintf(url, sizeof(url), "%.1000s", t->url);
	va_start(args, format);
	(void) vsnprintf(url + n, sizeof(url) - (size_t) n, format, args);
	va_end(args);
	trk__buf_init(&body, ANSWER_MAX);
	r = trk__fetch(url, t->timeout_s, &body, &t->error);
	if (r == 0)
		r = trk__json_read(body.data ? body.data : "", body.len, &limits, "the answer", ret,
				   &t->error);
	trk__buf_release(&body);
	return r;
}

/* The Keeper's name of a region, which is a number for some vendors. */
static int region_name(struct talk *t, const char *vendor, const char *region, char *name,
		       size_t size)
{
	int r = t->table.count ? 0 : get(t, &t->table, "/table/region");

	if (r < 0)
		return r;
	if (trk__keeper_region(&t->table, vendor, region, name, size) < 0)
		return trk__error_set(&t->error, -ENOENT, "", "the Keeper has no region %s of %s",
				      region, vendor);
	return 0;
}

static const char *id_of_vendor(const struct trk_catalog *c, size_t vendor)
{
	size_t n;

	return trk__catalog_text(c, trk__catalog_vendors(c, &n)[vendor].id);
}

static const char *id_of_region(const struct trk_catalog *c, size_t region)
{
	size_t n;

	return trk__catalog_text(c, trk__catalog_regions(c, &n)[region].id);
}

/* ---- update ---- */

static int ask_all(struct talk *t)
{
	t->answer[t->n].region = -1;
	if (get(t, &t->answer[t->n].doc, "/servers?limit=-1&only_active=true") < 0)
		return t->error.code;
	t->n++;
	return 0;
}

static int ask_region(struct talk *t, const struct trk_catalog *c, int region)
{
	size_t n;
	const char *vendor = id_of_vendor(c, trk__catalog_regions(c, &n)[region].vendor);
	char name[96];

	if (region_name(t, vendor, id_of_region(c, (size_t) region), name, sizeof(name)) < 0)
		return t->error.code;
	t->answer[t->n].region = region;
	if (get(t, &t->answer[t->n].doc,
		"/servers?limit=-1&only_active=true&vendor=%s&vendor_regions=%s~%s",
		trk__keeper_vendor(vendor), trk__keeper_vendor(vendor), name) < 0)
		return t->error.code;
	t->n++;
	return 0;
}

/* "aws/us-east-1", the first of a list. Index of the region, or an exit status, negative. */
static int named_region(const struct trk_catalog *c, const char *text, size_t len)
{
	char vendor[64], region[96];
	const char *slash = memchr(text, '/', len);
	int at, found;

	if (!slash) {
		cli_complain("catalog: --region %.*s: not of the form VENDOR/REGION, such as "
			     "aws/us-east-1",
			     (int) len, text);
		return -EXIT_USAGE;
	}
	(void) snprintf(vendor, sizeof(vendor), "%.*s", (int) (slash - text), text);
	(void) snprintf(region, sizeof(region), "%.*s", (int) (len - (size_t) (slash - text) - 1),
			slash + 1);
	at = trk__catalog_find_vendor(c, vendor);
	found = at < 0 ? -1 : trk__catalog_find_region(c, at, region);
	if (found >= 0)
		return found;
	cli_complain("catalog: unknown %s %s. Try: resource-tracker catalog info",
		     at < 0 ? "vendor" : "region", at < 0 ? vendor : region);
	return -EXIT_USAGE;
}

static int ask_regions(struct talk *t, const struct trk_catalog *c, const char *list)
{
	while (list && *list) {
		size_t len = strcspn(list, ",");
		int region = named_region(c, list, len);

		if (region < 0)
			return -region;
		if (t->n == ANSWERS_MAX) {
			cli_complain("catalog: at most %d regions at a time", ANSWERS_MAX - 1);
			return EXIT_USAGE;
		}
		if (ask_region(t, c, region) < 0) {
			cli_complain("catalog: %s", t->error.message);
			return EXIT_ERROR;
		}
		list += len + (list[len] == ',');
	}
	return 0;
}

/* The new text must be readable, and make sense beside what is known. */
static int check(struct talk *t, const struct trk_catalog *base,
		 const struct cli_catalog_choice *choice, bool force)
{
	struct cli_catalog_choice old = *choice;
	struct cli_catalog *before = calloc(1, sizeof(*before));
	struct trk_catalog now;
	int r = trk__catalog_text_load(base, "the answer", t->text.data, t->text.len, &now,
				       &t->error);

	if (r < 0 || !before) {
		free(before);
		return r < 0 ? r : -ENOMEM;
	}
	/* An earlier update that cannot be read is no reason to keep it. */
	old.update = NULL;
	old.quiet = true;
	if (!force && cli_catalog_load(&old, before) == 0) {
		r = trk__keeper_judge(&before->c, &now, &t->error);
		trk__catalog_release(&before->c);
	} else if (!force) {
		r = trk__keeper_judge(base, &now, &t->error);
	}
	trk__catalog_release(&now);
	free(before);
	return r;
}

static int keep(struct talk *t)
{
	char path[4096];
	int r;

	if (!cli_catalog_update_path(path, sizeof(path))[0]) {
		cli_complain("catalog: no place for a cache. Try: set HOME");
		return EXIT_ERROR;
	}
	r = cli_catalog_replace(path, &t->text);
	if (r == 0)
		(void) fprintf(stderr, "%zu prices now stand in %s; %zu new types, %zu left out\n",
			       t->tally.prices, path, t->tally.new_types, t->tally.dropped);
	return r;
}

int cli_catalog_update(const struct cli_catalog_choice *choice, const char *url,
		       const char *regions, bool force)
{
	struct cli_catalog_choice bare = *choice;
	struct cli_catalog *base = calloc(1, sizeof(*base));
	struct talk *t = calloc(1, sizeof(*t));
	int r = EXIT_ERROR;

	bare.update = bare.prices = "none";
	if (base && t)
		r = cli_catalog_load(&bare, base);
	if (r != 0) {
		free(base);
		free(t);
		return r;
	}
	talk_init(t, url, UPDATE_S);
	if (ask_all(t) < 0) {
		cli_complain("catalog: %s; nothing was changed", t->error.message);
		r = EXIT_ERROR;
	}
	r = r ? r : ask_regions(t, &base->c, regions);
	if (r == 0 && (trk__keeper_convert(&base->c, t->answer, t->n, t->date, &t->text, &t->tally,
					   &t->error) < 0 ||
		       check(t, &base->c, choice, force) < 0)) {
		cli_complain("catalog: %s; nothing was changed",
			     t->error.message[0] ? t->error.message : "out of memory");
		r = EXIT_ERROR;
	}
	r = r ? r : keep(t);
	talk_release(t);
	trk__catalog_release(&base->c);
	free(base);
	free(t);
	return r;
}

/* ---- online ---- */

/* The needs, in the Keeper's words: memory in GiB, at most 256 vCPUs as a minimum. */
static void add_needs(struct trk_buf *b, const struct trk_catalog *c,
		      const struct trk_catalog_query *q)
{
	const double gib = 1024.0 * 1024 * 1024;
	size_t vendors;

	trk__buf_printf(b,
			"/servers?limit=250&only_active=true&order_by=min_price_ondemand&order_dir="
			"asc&vcpus_min=%u",
			q->vcpus < 1     ? 1
			: q->vcpus > 256 ? 256
					 : q->vcpus);
	if (q->memory_bytes)
		trk__buf_printf(b, "&memory_min=%.3f", (double) q->memory_bytes / gib);
	if (q->gpus)
		trk__buf_printf(b, "&gpu_min=%u", q->gpus);
	if (q->vram_bytes)
		trk__buf_printf(b, "&gpu_memory_min=%.3f", (double) q->vram_bytes / gib);
	if (q->storage_gb)
		trk__buf_printf(b, "&storage_size=%llu", (unsigned long long) q->storage_gb);
	for (int i = 0; i < TRK_ARCHES; i++)
		if (q->archs & 1u << i)
			trk__buf_printf(b, "&architecture=%s", trk__catalog_arch_names[i]);
	(void) trk__catalog_vendors(c, &vendors);
	for (size_t i = 0; q->vendors_ok && i < vendors; i++)
		if (q->vendors_ok[i])
			trk__buf_printf(b, "&vendor=%s", trk__keeper_vendor(id_of_vendor(c, i)));
}

/* One question for each region that was named, else one for all. */
static int ask_needs(struct talk *t, const struct trk_catalog *c, const struct trk_catalog_query *q,
		     const char *needs)
{
	size_t regions, asked = 0;
	const struct trk_catalog_region *g = trk__catalog_regions(c, &regions);
	char name[96];

	for (size_t i = 0; q->regions_ok && i < regions; i++) {
		const char *vendor = id_of_vendor(c, g[i].vendor);

		if (!q->regions_ok[i] || (q->vendors_ok && !q->vendors_ok[g[i].vendor]))
			continue;
		if (asked++ == ONLINE_REGIONS)
			return trk__error_set(&t->error, -EINVAL, "",
					      "the Keeper takes at most %d regions",
					      ONLINE_REGIONS);
		if (region_name(t, vendor, id_of_region(c, i), name, sizeof(name)) < 0)
			return t->error.code;
		t->answer[t->n].region = (int) i;
		if (get(t, &t->answer[t->n].doc, "%s&vendor_regions=%s~%s", needs,
			trk__keeper_vendor(vendor), name) < 0)
			return t->error.code;
		t->n++;
	}
	if (q->regions_ok)
		return asked ? 0 : trk__error_set(&t->error, -ENOENT, "", "no region to ask about");
	t->answer[t->n].region = -1;
	if (get(t, &t->answer[t->n].doc, "%s", needs) < 0)
		return t->error.code;
	t->n++;
	return 0;
}

static int lay_over(struct talk *t, struct trk_catalog *c)
{
	struct trk_catalog now;

	if (trk__keeper_convert(c, t->answer, t->n, t->date, &t->text, &t->tally, &t->error) < 0 ||
	    trk__catalog_text_load(c, "the answer", t->text.data, t->text.len, &now, &t->error) < 0)
		return -EBADMSG;
	trk__catalog_release(c);
	*c = now;
	return 0;
}

void cli_catalog_online(struct trk_catalog *c, struct trk_catalog_query *q, const char *url,
			uint8_t *room)
{
	struct talk *t = calloc(1, sizeof(*t));
	const struct trk_catalog_region *g;
	struct trk_buf needs;
	size_t n;
	int r = -ENOMEM;

	trk__buf_init(&needs, 4096);
	if (t) {
		talk_init(t, url, ONLINE_S);
		add_needs(&needs, c, q);
		r = needs.error ? needs.error : ask_needs(t, c, q, needs.data);
		r = r ? r : lay_over(t, c);
		if (r < 0)
			cli_complain("%s; these are the prices of the catalogue",
				     t->error.message[0] ? t->error.message : trk__strerror(r));
		talk_release(t);
	}
	free(t);
	trk__buf_release(&needs);
	if (r < 0 || q->regions_ok)
		return;
	g = trk__catalog_regions(c, &n);
	memset(room, 0, TRK_CATALOG_REGIONS_MAX);
	for (size_t i = 0; i < n; i++)
		room[i] = !strcmp(trk__catalog_text(c, g[i].id), TRK_KEEPER_ANYWHERE);
	q->regions_ok = room;
}
