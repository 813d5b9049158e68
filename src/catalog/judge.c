/* Check the Keeper's prices for plausibility before they replace the known ones. */
#include "catalog/keeper.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lowest price of each type of a vendor, in one region or (-1) in any; 0: none. */
static uint32_t *lowest(const struct trk_catalog *c, int vendor, int region, const char *from)
{
	size_t servers, blocks;
	uint32_t *ret;
	const struct trk_catalog_block *b = trk__catalog_blocks(c, &blocks);
	struct trk_catalog_prices p = trk__catalog_prices(c, NULL);
	const struct trk_catalog_source *s = trk__catalog_sources(c, NULL);

	(void) trk__catalog_servers(c, &servers);
	ret = calloc(servers ? servers : 1, sizeof(*ret));
	for (size_t i = 0; ret && i < blocks; i++) {
		if (b[i].vendor != vendor || (region >= 0 && b[i].region != region) ||
		    (from && strcmp(trk__catalog_text(c, s[b[i].source].id), from) != 0))
			continue;
		for (uint32_t k = b[i].first; k < b[i].first + b[i].count; k++)
			if (p.price[k] && (!ret[p.server[k]] || p.price[k] < ret[p.server[k]]))
				ret[p.server[k]] = p.price[k];
	}
	return ret;
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return (x > y) - (x < y);
}

/* Prices of one vendor in one region, in two catalogues. */
struct comparison {
	const struct trk_catalog *before, *now;
	const char *vendor, *region;   /* ids */
	size_t had, has;               /* types with a price */
	double old_median, new_median; /* over the types with a price in both, USD an hour */
};

static double median_of(uint32_t *prices, size_t n)
{
	size_t middle = n / 2;

	qsort(prices, n, sizeof(*prices), ascending);
	return n ? prices[middle] / 1e5 : NAN;
}

/* Fill in counts and medians; `old` and `new` are by the servers of the two catalogues. */
static int compare(struct comparison *k, int vendor, int new_vendor, const uint32_t *old,
		   const uint32_t *new)
{
	size_t n, m, both = 0;
	const struct trk_catalog_server *s = trk__catalog_servers(k->before, &n);
	uint32_t *x = calloc(n + 1, sizeof(*x)), *y = calloc(n + 1, sizeof(*y));

	(void) trk__catalog_servers(k->now, &m);
	for (size_t i = 0; i < m; i++)
		k->has += new[i] != 0;
	for (size_t i = 0; x && y && i < n; i++) {
		int at = -1;

		if (!old[i] || s[i].vendor != vendor)
			continue;
		k->had++;
		if (new_vendor >= 0)
			at = trk__catalog_find_server(k->now, new_vendor,
						      trk__catalog_text(k->before, s[i].name));
		if (at < 0 || !new[at])
			continue;
		x[both] = old[i];
		y[both++] = new[at];
	}
	k->old_median = x ? median_of(x, both) : NAN;
	k->new_median = y ? median_of(y, both) : NAN;
	both = x && y;
	free(x);
	free(y);
	return both ? 0 : -ENOMEM;
}

static int judge_group(struct comparison *k, struct trk_error *reterr)
{
	int vendor = trk__catalog_find_vendor(k->before, k->vendor);
	int new_vendor = trk__catalog_find_vendor(k->now, k->vendor);
	int region = vendor < 0 ? -1 : trk__catalog_find_region(k->before, vendor, k->region);
	int new_region =
		new_vendor < 0 ? -1 : trk__catalog_find_region(k->now, new_vendor, k->region);
	uint32_t *old, *new;
	int r;

	if (vendor < 0)
		return 0; /* a new one */
	old = lowest(k->before, vendor, region, NULL);
	/* -1 as vendor gives no prices: the region is missing. */
	new = lowest(k->now, new_region < 0 ? -1 : new_vendor, new_region, TRK_KEEPER_SOURCE);
	r = old && new ? compare(k, vendor, new_vendor, old, new) : -ENOMEM;
	free(old);
	free(new);
	if (r < 0)
		return trk__error_set(reterr, r, "", "out of memory");
	if (k->has * 2 < k->had)
		return trk__error_set(reterr, -TRK_ERR_RANGE, "",
				      "%s (%s) has %zu prices in the answer, %zu before. Try: "
				      "--force",
				      k->vendor, k->region, k->has, k->had);
	if (k->new_median > k->old_median * 1.3 || k->new_median < k->old_median * 0.7)
		return trk__error_set(reterr, -TRK_ERR_RANGE, "",
				      "the median price of %s (%s) would go from %.4f to %.4f "
				      "USD/h. Try: --force",
				      k->vendor, k->region, k->old_median, k->new_median);
	return 0;
}

/* Judge every group of the Keeper's prices that `of` holds. */
static int judge_groups_of(const struct trk_catalog *of, const struct trk_catalog *before,
			   const struct trk_catalog *now, struct trk_error *reterr)
{
	size_t blocks;
	const struct trk_catalog_block *b = trk__catalog_blocks(of, &blocks);
	const struct trk_catalog_source *s = trk__catalog_sources(of, NULL);
	const struct trk_catalog_region *g = trk__catalog_regions(of, NULL);
	const struct trk_catalog_vendor *v = trk__catalog_vendors(of, NULL);
	int r = 0;

	for (size_t i = 0; r == 0 && i < blocks; i++) {
		struct comparison k = {
			.before = before,
			.now = now,
			.vendor = trk__catalog_text(of, v[b[i].vendor].id),
			.region = trk__catalog_text(of, g[b[i].region].id),
		};

		if (!strcmp(trk__catalog_text(of, s[b[i].source].id), TRK_KEEPER_SOURCE))
			r = judge_group(&k, reterr);
	}
	return r;
}

int trk__catalog_judge(const struct trk_catalog *before, const struct trk_catalog *now,
		       struct trk_error *reterr)
{
	int r = judge_groups_of(now, before, now, reterr);

	/* Also those of the earlier update, which may be missing now. */
	return r < 0 ? r : judge_groups_of(before, before, now, reterr);
}
