#include "catalog/keeper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char source[] = TRK_KEEPER_SOURCE;

const char *trk__keeper_vendor(const char *vendor)
{
	return !strcmp(vendor, "hetzner") ? "hcloud" : vendor;
}

/* ---- items ---- */

struct item {
	int vendor, answer, server; /* server: -1 where the catalogue does not have it */
	const char *name;           /* view */
	const struct trk_json_value *json;
	double usd, spot;
	double vcpus, memory_mib;
	const char *arch, *allocation;
};

struct items {
	const struct trk_catalog *c;
	const struct trk_keeper_answer *answers;
	struct item *list; /* owned */
	size_t n, dropped;
};

/* The content of a cell of the text: no blanks, no control bytes, not the sign for "not known". */
static bool is_name(const char *text)
{
	if (!text || !*text || !strcmp(text, "-") || strlen(text) > 80)
		return false;
	for (; *text; text++)
		if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
		      (*text >= '0' && *text <= '9') || strchr("._-+", *text)))
			return false;
	return true;
}

/* Google's types that the lists call x86 and that are ARM. */
static bool is_google_arm(const char *vendor, const char *name)
{
	static const char *const families[] = {"t2a-", "c4a-", "n4a-", "a4x-"};

	for (size_t i = 0; i < 4 && !strcmp(vendor, "gcp"); i++)
		if (!strncmp(name, families[i], 4))
			return true;
	return false;
}

static const char *one_of(const char *const *names, int n, const char *text)
{
	for (int i = 0; text && i < n; i++)
		if (!strcasecmp(names[i], text))
			return names[i];
	return NULL;
}

static bool is_whole(const struct item *it)
{
	return it->vcpus >= 1 && it->vcpus <= 60000 && it->memory_mib >= 1 &&
	       it->memory_mib < 4e9 && it->arch;
}

static bool take_item(struct items *all, const struct trk_json_doc *d,
		      const struct trk_json_value *v, struct item *ret)
{
	const char *vendor = trk__json_get_text(d, v, "vendor_id");
	struct item it = {
		.vendor = vendor ? trk__catalog_find_vendor(all->c, vendor) : -1,
		.name = trk__json_get_text(d, v, "api_reference"),
		.json = v,
		.usd = trk__json_get_double(d, v, "min_price_ondemand"),
		.spot = trk__json_get_double(d, v, "min_price_spot"),
		.vcpus = trk__json_get_double(d, v, "vcpus"),
		.memory_mib = trk__json_get_double(d, v, "memory_amount"),
		.arch = one_of(trk__catalog_arch_names, TRK_ARCHES,
			       trk__json_get_text(d, v, "cpu_architecture")),
		.allocation = one_of(trk__catalog_allocation_names, TRK_ALLOCATIONS,
				     trk__json_get_text(d, v, "cpu_allocation")),
	};
	const char *status = trk__json_get_text(d, v, "status");

	if (it.vendor < 0 || !is_name(it.name) || !(it.usd > 0 && it.usd < 40000) ||
	    (status && strcasecmp(status, "active") != 0))
		return false;
	it.server = trk__catalog_find_server(all->c, it.vendor, it.name);
	if (it.server >= 0) /* as the catalogue spells it */
		it.name = trk__catalog_server_name(all->c, (size_t) it.server);
	if (is_google_arm(vendor, it.name))
		it.arch = trk__catalog_arch_names[TRK_ARCH_ARM64];
	/* Of a type that is not known yet, all of it has to be there. */
	if (it.server < 0 && !is_whole(&it))
		return false;
	if (!it.allocation)
		it.allocation = trk__catalog_allocation_names[TRK_ALLOCATION_DEDICATED];
	*ret = it;
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->vendor != y->vendor)
		return x->vendor < y->vendor ? -1 : 1;
	if (x->answer != y->answer)
		return x->answer < y->answer ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int collect(struct items *all, size_t answers, struct trk_error *reterr)
{
	size_t room = 1;

	for (size_t i = 0; i < answers; i++) {
		const struct trk_json_value *root = trk__json_root(&all->answers[i].doc);

		if (!root || root->type != TRK_JSON_ARRAY)
			return trk__error_set(reterr, -EBADMSG, "",
					      "the answer is not a list of servers");
		room += root->count;
	}
	all->list = calloc(room, sizeof(*all->list));
	if (!all->list)
		return trk__error_set(reterr, -ENOMEM, "", "out of memory");
	for (size_t i = 0; i < answers; i++) {
		const struct trk_json_doc *d = &all->answers[i].doc;
		const struct trk_json_value *v = trk__json_first(d, trk__json_root(d));

		for (; v; v = trk__json_next(d, v)) {
			if (!take_item(all, d, v, &all->list[all->n])) {
				all->dropped++;
				continue;
			}
			all->list[all->n++].answer = (int) i;
		}
	}
	qsort(all->list, all->n, sizeof(*all->list), by_place);
	return all->n ? 0
		      : trk__error_set(reterr, -EBADMSG, "",
				       "the answer contains no server with a price");
}

/* ---- text ---- */

static const char *vendor_id(const struct items *all, int vendor)
{
	return trk__catalog_vendor_id(all->c, (size_t) vendor);
}

/* Is the item the same type as one before it: of the same answer (a double), or of an earlier
 * one? */
static bool seen_in_answer(const struct items *all, size_t i)
{
	return i > 0 && by_place(&all->list[i], &all->list[i - 1]) == 0;
}

static bool seen_of_vendor(const struct items *all, size_t from, size_t i)
{
	struct item key = all->list[i];

	if (seen_in_answer(all, i))
		return true;
	for (key.answer = all->list[from].answer; key.answer < all->list[i].answer; key.answer++)
		if (bsearch(&key, all->list, all->n, sizeof(key), by_place))
			return true;
	return false;
}

static void write_gpus(struct trk_buf *out, const struct items *all, const struct item *it,
		       const char *vendor, const char *date, bool *opened)
{
	const struct trk_json_doc *d = &all->answers[it->answer].doc;
	double count = trk__json_get_double(d, it->json, "gpu_count");
	double vram = trk__json_get_double(d, it->json, "gpu_memory_min");
	const char *model = trk__json_get_text(d, it->json, "gpu_model");

	if (!(count >= 1 && count <= 64) || count != (double) (int) count)
		return;
	if (!*opened)
		trk__buf_printf(out, "gpus\t%s\t%s\t%s\texact\n", vendor, source, date);
	*opened = true;
	trk__buf_printf(out, "\t%s\t%.0f\t%s", it->name, count, is_name(model) ? model : "-");
	if (vram >= 1 && vram < 4e6)
		trk__buf_printf(out, "\t%.0f", vram);
	trk__buf_putc(out, '\n');
}

/* Types that the catalogue does not have; its facts about the others are as good or better. */
static size_t write_types(struct trk_buf *out, const struct items *all, size_t from, size_t to,
			  const char *date)
{
	const char *vendor = vendor_id(all, all->list[from].vendor);
	size_t added = 0;
	bool opened = false;

	for (size_t i = from; i < to; i++) {
		const struct item *it = &all->list[i];

		if (it->server >= 0 || seen_of_vendor(all, from, i))
			continue;
		if (!added++)
			trk__buf_printf(out, "servers\t%s\t%s\t%s\texact\n", vendor, source, date);
		trk__buf_printf(out, "\t%s\t%.0f\t%.0f\t%s\t%s\n", it->name, it->vcpus,
				it->memory_mib, it->arch, it->allocation);
	}
	for (size_t i = from; i < to && added; i++)
		if (all->list[i].server < 0 && !seen_of_vendor(all, from, i))
			write_gpus(out, all, &all->list[i], vendor, date, &opened);
	return added;
}

static size_t write_prices(struct trk_buf *out, const struct items *all, size_t from, size_t to,
			   const char *date)
{
	const char *vendor = vendor_id(all, all->list[from].vendor), *id = TRK_KEEPER_ANYWHERE;
	int region = all->answers[all->list[from].answer].region;
	size_t count = 0;

	if (region >= 0)
		id = trk__catalog_region_id(all->c, (size_t) region);
	else if (trk__catalog_find_region(all->c, all->list[from].vendor, id) < 0)
		trk__buf_printf(out, "region\t%s\t%s\t-\t-\t-\tits cheapest region, not named\n",
				vendor, id);
	trk__buf_printf(out, "prices\t%s\t%s\t%s\t%s\texact\t%s\n", vendor, id, source, date,
			source);
	for (size_t i = from; i < to; i++) {
		const struct item *it = &all->list[i];
		double saving = 100 * (1 - it->spot / it->usd);

		if (seen_in_answer(all, i))
			continue;
		trk__buf_printf(out, "\t%s\t%.5f", it->name, it->usd < 1e-5 ? 1e-5 : it->usd);
		/* Of several regions the two prices may not be of the same one. */
		if (region >= 0 && saving > 0 && saving < 100)
			trk__buf_printf(out, "\t%.0f", saving);
		trk__buf_putc(out, '\n');
		count++;
	}
	return count;
}

static size_t end_of_group(const struct items *all, size_t from, bool by_answer)
{
	size_t to = from;

	while (to < all->n && all->list[to].vendor == all->list[from].vendor &&
	       (!by_answer || all->list[to].answer == all->list[from].answer))
		to++;
	return to;
}

int trk__keeper_convert(const struct trk_catalog *c, const struct trk_keeper_answer *answers,
			size_t n, const char *date, struct trk_buf *out,
			struct trk_keeper_tally *ret, struct trk_error *reterr)
{
	struct items all = {.c = c, .answers = answers};
	struct trk_keeper_tally tally = {0, 0, 0};
	int r = collect(&all, n, reterr);

	if (r == 0)
		trk__buf_printf(out,
				"catalogue\t%d\t%s\nsource\t%s\t%s\town\tSpare Cores Keeper API\n",
				TRK_CATALOG_FORMAT, date, source, date);
	for (size_t i = 0; r == 0 && i < all.n; i = end_of_group(&all, i, false))
		tally.new_types += write_types(out, &all, i, end_of_group(&all, i, false), date);
	for (size_t i = 0; r == 0 && i < all.n; i = end_of_group(&all, i, true))
		tally.prices += write_prices(out, &all, i, end_of_group(&all, i, true), date);
	tally.dropped = all.dropped;
	free(all.list);
	if (r == 0) {
		trk__buf_puts(out, "end\n");
		r = out->error;
	}
	if (r == 0)
		*ret = tally;
	return r;
}

/* ---- regions ---- */

int trk__keeper_region(const struct trk_json_doc *table, const char *vendor, const char *region,
		       char *ret, size_t size)
{
	const struct trk_json_value *v = trk__json_first(table, trk__json_root(table));

	for (; v; v = trk__json_next(table, v)) {
		const char *of = trk__json_get_text(table, v, "vendor_id");
		const char *id = trk__json_get_text(table, v, "region_id");
		const char *name = trk__json_get_text(table, v, "api_reference");

		if (!of || !is_name(id) || strcmp(of, trk__keeper_vendor(vendor)) != 0 ||
		    (strcmp(id, region) != 0 && (!name || strcmp(name, region) != 0)))
			continue;
		(void) snprintf(ret, size, "%s", id);
		return 0;
	}
	return -ENOENT;
}
