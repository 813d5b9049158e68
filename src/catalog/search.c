#include "catalog/search.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The needs with an amount are the first bits of enum trk_need. */
enum { NEEDS = 7, AMOUNTS = 5 };

const char *trk__catalog_need_name(unsigned int need)
{
	static const char *const names[NEEDS] = {
		"vCPUs",         "memory",       "GPUs",       "memory of each GPU",
		"local storage", "architecture", "allocation",
	};

	for (unsigned int i = 0; i < NEEDS; i++)
		if (need == 1u << i)
			return names[i];
	return NULL;
}

double trk__catalog_usd(uint32_t units)
{
	return units / 1e5;
}

static uint32_t gpus_of(const struct trk_catalog_query *q, const struct trk_catalog_server *s)
{
	return s->gpu_permille == 1000 || q->gpu_shares ? s->gpu_count : 0;
}

/* The amounts of a server and of the query, in the order of the needs. */
struct amount {
	double has, wants;
};
static void compare(const struct trk_catalog_query *q, const struct trk_catalog_server *s,
		    struct amount ret[AMOUNTS])
{
	const struct amount amounts[AMOUNTS] = {
		{s->vcpus, q->vcpus},
		{(double) trk__catalog_usable_bytes(s), (double) q->memory_bytes},
		{gpus_of(q, s), q->gpus},
		{(double) ((uint64_t) s->vram_mib << 20), (double) q->vram_bytes},
		{s->storage_gb, (double) q->storage_gb},
	};

	memcpy(ret, amounts, sizeof(amounts));
}

/* The needs that a server misses. */
static unsigned int unmet_needs(const struct trk_catalog_query *q,
				const struct trk_catalog_server *s)
{
	unsigned int mac = 1u << TRK_ARCH_X86_64_MAC | 1u << TRK_ARCH_ARM64_MAC;
	unsigned int archs = q->archs ? q->archs : ~mac;
	unsigned int unmet = 0;
	struct amount a[AMOUNTS];

	compare(q, s, a);
	for (unsigned int i = 0; i < AMOUNTS; i++)
		unmet |= (unsigned int) (a[i].has < a[i].wants) << i;
	if (!(archs & 1u << s->arch))
		unmet |= TRK_NEED_ARCH;
	if (q->allocations && !(q->allocations & 1u << s->allocation))
		unmet |= TRK_NEED_ALLOCATION;
	return unmet;
}

static bool is_excluded(const struct trk_catalog_query *q, const char *name)
{
	for (size_t i = 0; i < q->excludes; i++)
		if (fnmatch(q->exclude[i], name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static bool block_counts(const struct trk_catalog *c, const struct trk_catalog_query *q,
			 const struct trk_catalog_block *b)
{
	const struct trk_catalog_region *r = &trk__catalog_regions(c, NULL)[b->region];
	const struct trk_catalog_vendor *v = &trk__catalog_vendors(c, NULL)[b->vendor];

	if (q->vendors_ok && !q->vendors_ok[b->vendor])
		return false;
	if (q->regions_ok ? !q->regions_ok[b->region] : r->restricted)
		return false;
	return !q->excludes || (!is_excluded(q, trk__catalog_text(c, v->id)) &&
				!is_excluded(q, trk__catalog_text(c, r->id)));
}

/* The price of the offer; 0: no offer. */
static uint32_t units_of(const struct trk_catalog_query *q, uint32_t price, uint8_t saving)
{
	if (!q->spot)
		return price;
	if (saving == TRK_SAVING_UNKNOWN)
		return 0;
	return (uint32_t) ((uint64_t) price * (100u - saving) / 100);
}

static bool is_old(const struct trk_catalog_query *q, const struct trk_catalog_block *b)
{
	return trk__catalog_age_days(b->date, q->today) > TRK_PRICE_OLD_DAYS;
}

static bool is_better(const struct trk_catalog_offer *o, bool old, uint32_t units)
{
	if (!o->units)
		return true;
	return old == o->old ? units < o->units : o->old;
}

/* The cheapest offer of each server, by index of the server; units 0: none. */
static struct trk_catalog_offer *cheapest(const struct trk_catalog *c,
					  const struct trk_catalog_query *q, size_t servers)
{
	size_t n_blocks;
	const struct trk_catalog_block *b = trk__catalog_blocks(c, &n_blocks);
	struct trk_catalog_prices p = trk__catalog_prices(c, NULL);
	struct trk_catalog_offer *best = calloc(servers ? servers : 1, sizeof(*best));

	for (size_t i = 0; best && i < n_blocks; i++) {
		bool old = is_old(q, &b[i]);

		if (!block_counts(c, q, &b[i]))
			continue;
		for (uint32_t at = b[i].first; at < b[i].first + b[i].count; at++) {
			struct trk_catalog_offer *o = &best[p.server[at]];
			uint32_t units = units_of(q, p.price[at], p.saving[at]);

			if (!units || !is_better(o, old, units))
				continue;
			o->old = old;
			o->units = units;
			o->price = at;
			o->block = (uint16_t) i;
			o->server = p.server[at];
		}
	}
	return best;
}

static bool is_offered(const struct trk_catalog_query *q, const struct trk_catalog_server *s)
{
	return q->previous_generation || !(s->flags & TRK_SERVER_PREVIOUS);
}

static int by_price(const void *a, const void *b)
{
	const struct trk_catalog_offer *x = a, *y = b;

	if (x->old != y->old)
		return x->old - y->old;
	if (x->units != y->units)
		return x->units < y->units ? -1 : 1;
	return (x->server > y->server) - (x->server < y->server);
}

int trk__catalog_search(const struct trk_catalog *c, const struct trk_catalog_query *q,
			struct trk_catalog_offer **ret, size_t *retn)
{
	size_t n, hits = 0;
	const struct trk_catalog_server *s = trk__catalog_servers(c, &n);
	struct trk_catalog_offer *best = cheapest(c, q, n);

	if (!best)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		unsigned int unmet;

		if (!best[i].units || !is_offered(q, &s[i]))
			continue;
		unmet = unmet_needs(q, &s[i]);
		if (unmet && !(q->near_misses && (unmet & (unmet - 1)) == 0))
			continue;
		if (q->excludes && is_excluded(q, trk__catalog_text(c, s[i].name)))
			continue;
		best[i].unmet = (uint16_t) unmet;
		best[hits++] = best[i];
	}
	qsort(best, hits, sizeof(*best), by_price);
	*ret = best;
	*retn = hits;
	return 0;
}

/* The missing amount of each need as a share of the available one; 1 for needs without an amount. */
static void find_shortfalls(const struct trk_catalog_query *q, const struct trk_catalog_server *s,
			    unsigned int unmet, double ret[NEEDS])
{
	struct amount a[AMOUNTS];

	compare(q, s, a);
	for (unsigned int i = 0; i < NEEDS; i++)
		ret[i] = !(unmet & 1u << i) ? 0
			 : i >= AMOUNTS     ? 1
			 : a[i].has > 0     ? a[i].wants / a[i].has - 1
					    : 1000;
}

int trk__catalog_nearest(const struct trk_catalog *c, const struct trk_catalog_query *q,
			 struct trk_catalog_offer *ret, unsigned int *retbinding)
{
	size_t n;
	const struct trk_catalog_server *s = trk__catalog_servers(c, &n);
	struct trk_catalog_offer *best = cheapest(c, q, n);
	double least = 1e300;

	if (!best)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		unsigned int unmet = best[i].units ? unmet_needs(q, &s[i]) : 0, binding = 0;
		double lacks[NEEDS], sum = 0, most = -1;

		if (!best[i].units || !is_offered(q, &s[i]) ||
		    (q->excludes && is_excluded(q, trk__catalog_text(c, s[i].name))))
			continue;
		find_shortfalls(q, &s[i], unmet, lacks);
		for (unsigned int k = 0; k < NEEDS; k++) {
			sum += lacks[k];
			if (unmet & 1u << k && lacks[k] > most) {
				most = lacks[k];
				binding = 1u << k;
			}
		}
		if (sum >= least)
			continue;
		least = sum;
		*ret = best[i];
		ret->unmet = (uint16_t) unmet;
		*retbinding = binding;
	}
	free(best);
	return least < 1e300 ? 0 : -ENOENT;
}

int trk__catalog_price_in(const struct trk_catalog *c, int server, int region,
			  struct trk_catalog_offer *ret)
{
	size_t n_blocks;
	const struct trk_catalog_block *b = trk__catalog_blocks(c, &n_blocks);
	struct trk_catalog_prices p = trk__catalog_prices(c, NULL);

	for (size_t i = 0; i < n_blocks; i++) {
		for (uint32_t at = b[i].first;
		     b[i].region == region && at < b[i].first + b[i].count; at++) {
			if (p.server[at] != server || !p.price[at])
				continue;
			*ret = (struct trk_catalog_offer){
				.units = p.price[at],
				.price = at,
				.server = (uint16_t) server,
				.block = (uint16_t) i,
			};
			return 0;
		}
	}
	return -ENOENT;
}

static int mark_region(const struct trk_catalog *c, const uint8_t *vendors_ok, const char *id,
		       bool exactly, uint8_t *regions_ok)
{
	size_t vendors;
	int found = 0;

	(void) trk__catalog_vendors(c, &vendors);
	for (size_t v = 0; v < vendors; v++) {
		int region = -ENOENT;

		if (!vendors_ok || vendors_ok[v])
			region = trk__catalog_find_region(c, (int) v, id);
		if (region < 0 ||
		    (exactly && strcasecmp(trk__catalog_region_id(c, (size_t) region), id) != 0))
			continue;
		regions_ok[region] = 1;
		found++;
	}
	return found;
}

/* "eu-west-1" is a region of one vendor, and could be a zone of another one's region "eu". */
int trk__catalog_mark_region(const struct trk_catalog *c, const uint8_t *vendors_ok, const char *id,
			     uint8_t *regions_ok)
{
	int found = mark_region(c, vendors_ok, id, true, regions_ok);

	return found ? found : mark_region(c, vendors_ok, id, false, regions_ok);
}

/* The member states of the European Union, and the regions whose places lie in several of them. */
static bool is_in_eu(const char *country)
{
	static const char members[] = "AT BE BG CY CZ DE DK EE ES EU FI FR GR HR HU IE IT LT LU LV "
				      "MT NL PL PT RO SE SI SK";

	return *country && strstr(members, country);
}

int trk__catalog_mark_country(const struct trk_catalog *c, const char *country, uint8_t *regions_ok)
{
	size_t n;
	const struct trk_catalog_region *r = trk__catalog_regions(c, &n);
	bool eu = !strcasecmp(country, "EU");
	int found = 0;

	for (size_t i = 0; i < n; i++) {
		if (eu ? !is_in_eu(r[i].country) : strcasecmp(r[i].country, country) != 0)
			continue;
		if (r[i].restricted)
			continue;
		regions_ok[i] = 1;
		found++;
	}
	return found;
}
