#include "catalog/feed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/os.h"
#include "catalog/search.h"

enum { ROWS_MAX = 128 << 20 };

struct row {
	uint32_t server;
	uint16_t region;
	uint8_t vendor;
	/* NaN: unknown. For a feed of savings: percent, and the class of interruption. */
	double usd, spot_usd;
};

/* ---- rows ---- */

/* Order by vendor and by name, ignoring case, as in lookups of the catalogue. */
static int by_name(const void *a, const void *b, void *data)
{
	const struct trk_catalog *c = data;
	const struct trk_catalog_server *s = trk__catalog_servers(c, NULL);
	const struct trk_catalog_server *x = &s[*(const uint32_t *) a];
	const struct trk_catalog_server *y = &s[*(const uint32_t *) b];

	if (x->vendor != y->vendor)
		return x->vendor < y->vendor ? -1 : 1;
	return strcasecmp(trk__catalog_text(c, x->name), trk__catalog_text(c, y->name));
}

int trk__feed_rows_init(struct trk_feed_rows *r, const struct trk_catalog *c)
{
	struct trk_catalog view = *c;

	*r = (struct trk_feed_rows){.c = c, .region_vendor = -1, .eur_usd = NAN, .eur_of = ""};
	(void) trk__catalog_servers(c, &r->servers);
	r->by_name = calloc(r->servers + 1, sizeof(*r->by_name));
	if (!r->by_name)
		return -ENOMEM;
	for (size_t i = 0; i < r->servers; i++)
		r->by_name[i] = (uint32_t) i;
	trk__os_sort(r->by_name, r->servers, sizeof(*r->by_name), by_name, &view);
	trk__buf_init(&r->rows, ROWS_MAX);
	return 0;
}

void trk__feed_rows_release(struct trk_feed_rows *r)
{
	free(r->by_name);
	r->by_name = NULL;
	trk__buf_release(&r->rows);
}

static int find_server(const struct trk_feed_rows *r, int vendor, const char *type)
{
	size_t low = 0, high = r->servers;
	const struct trk_catalog_server *s = trk__catalog_servers(r->c, NULL);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct trk_catalog_server *at = &s[r->by_name[middle]];
		int d = at->vendor != vendor ? (at->vendor < vendor ? -1 : 1)
					     : strcasecmp(trk__catalog_text(r->c, at->name), type);

		if (d == 0)
			return (int) r->by_name[middle];
		if (d < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

/* Rows of one region follow each other. */
static int find_region(struct trk_feed_rows *r, int vendor, const char *name)
{
	if (r->region_vendor == vendor && !strcmp(r->region_name, name))
		return r->region;
	if (strlen(name) >= sizeof(r->region_name))
		return -1;
	r->region_vendor = vendor;
	r->region = trk__catalog_find_region(r->c, vendor, name);
	(void) snprintf(r->region_name, sizeof(r->region_name), "%s", name);
	return r->region;
}

static bool is_price(double usd)
{
	return usd >= 1e-5 && usd < 40000;
}

/* Add a row if the catalogue has its place and type. */
static bool add_row(struct trk_feed_rows *r, const char *vendor, const char *region,
		    const char *type, double usd, double spot_usd)
{
	int v = trk__catalog_find_vendor(r->c, vendor);
	int g = v < 0 || !region ? -1 : find_region(r, v, region);
	int s = g < 0 || !type ? -1 : find_server(r, v, type);
	struct row row = {.usd = usd, .spot_usd = spot_usd};

	if (s < 0 || (isnan(row.usd) && isnan(row.spot_usd))) {
		r->dropped++;
		return false;
	}
	row.vendor = (uint8_t) v;
	row.region = (uint16_t) g;
	row.server = (uint32_t) s;
	trk__buf_add(&r->rows, &row, sizeof(row));
	return true;
}

bool trk__feed_rows_add_spot(struct trk_feed_rows *r, const char *vendor, const char *region,
			     const char *type, double saving, double klass)
{
	bool fits = saving >= 1 && saving <= 99 && klass >= 0 && klass <= 4;

	return add_row(r, vendor, region, type, fits ? saving : (double) NAN,
		       fits ? klass : (double) NAN);
}

bool trk__feed_rows_add(struct trk_feed_rows *r, const char *vendor, const char *region,
			const char *type, double usd, double spot_usd)
{
	return add_row(r, vendor, region, type, is_price(usd) ? usd : (double) NAN,
		       is_price(spot_usd) ? spot_usd : (double) NAN);
}

/* ---- text ---- */

static int by_place(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->vendor != y->vendor)
		return x->vendor < y->vendor ? -1 : 1;
	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return (x->server > y->server) - (x->server < y->server);
}

static double lower(double a, double b)
{
	return isnan(a) || b < a ? b : a;
}

/* Merge rows of the same place and type; drop those without an on-demand price. */
static size_t merge(struct row *row, size_t n, size_t *dropped)
{
	size_t kept = 0;

	for (size_t i = 0; i < n;) {
		struct row one = row[i++];

		for (; i < n && by_place(&row[i], &one) == 0; i++) {
			one.usd = lower(one.usd, row[i].usd);
			one.spot_usd = lower(one.spot_usd, row[i].spot_usd);
		}
		if (isnan(one.usd))
			++*dropped;
		else
			row[kept++] = one;
	}
	return kept;
}

/* Set saving and class of *ret and *source from the catalogue's spot data, if the feed has none.
 * False, results untouched: the catalogue has none either. */
static bool known_spot(const struct trk_feed_rows *r, const struct row *row,
		       struct trk_catalog_price *ret, const char **source)
{
	struct trk_catalog_offer offer;
	const struct trk_catalog_block *b;
	struct trk_catalog_prices p;

	if (trk__catalog_price_in(r->c, (int) row->server, row->region, &offer) < 0)
		return false;
	b = &trk__catalog_blocks(r->c, NULL)[offer.block];
	if (b->spot_source == UINT16_MAX)
		return false;
	*source = trk__catalog_text(r->c, trk__catalog_sources(r->c, NULL)[b->spot_source].id);
	p = trk__catalog_prices(r->c, NULL);
	ret->saving = p.saving[offer.price];
	ret->klass = p.klass[offer.price];
	return true;
}

static void write_row(const struct trk_feed_rows *r, const struct row *row, bool has_spot,
		      struct trk_buf *out)
{
	struct trk_catalog_price old = {.saving = TRK_SAVING_UNKNOWN, .klass = TRK_CLASS_UNKNOWN};
	double saving = 100 * (1 - row->spot_usd / row->usd);
	const char *source;

	trk__buf_printf(out, "\t%s\t%.5f", trk__catalog_server_name(r->c, row->server), row->usd);
	if (!has_spot)
		(void) known_spot(r, row, &old, &source);
	if (has_spot && saving >= 0.5 && saving < 99.5)
		trk__buf_printf(out, "\t%.0f", saving);
	else if (old.saving != TRK_SAVING_UNKNOWN)
		trk__buf_printf(out, "\t%u", old.saving);
	if (old.saving != TRK_SAVING_UNKNOWN && old.klass != TRK_CLASS_UNKNOWN)
		trk__buf_printf(out, "\t%u", old.klass);
	trk__buf_putc(out, '\n');
}

static void write_block(const struct trk_feed_rows *r, const struct trk_feed *feed,
			const char *date, const struct row *row, size_t n, struct trk_buf *out)
{
	const char *spot_source = "-";
	struct trk_catalog_price old;
	bool has_spot = false;

	for (size_t i = 0; i < n; i++)
		has_spot |= !isnan(row[i].spot_usd);
	for (size_t i = 0; i < n && !has_spot; i++)
		if (known_spot(r, &row[i], &old, &spot_source))
			break;
	trk__buf_printf(out, "prices\t%s\t%s\t%s\t%s\texact\t%s\n",
			trk__catalog_vendor_id(r->c, row->vendor),
			trk__catalog_region_id(r->c, row->region), feed->source, date,
			has_spot ? feed->source : spot_source);
	for (size_t i = 0; i < n; i++)
		write_row(r, &row[i], has_spot, out);
}

static void write_spots(const struct trk_feed_rows *r, const struct trk_feed *feed,
			const char *date, const struct row *row, size_t n, struct trk_buf *out)
{
	trk__buf_printf(out, "spots\t%s\t%s\t%s\t%s\texact\n",
			trk__catalog_vendor_id(r->c, row->vendor),
			trk__catalog_region_id(r->c, row->region), feed->source, date);
	for (size_t i = 0; i < n; i++)
		trk__buf_printf(out, "\t%s\t%.0f\t%.0f\n",
				trk__catalog_server_name(r->c, row[i].server), row[i].usd,
				row[i].spot_usd);
}

/* How many savings of a vendor the catalogue has. */
static size_t known_savings(const struct trk_catalog *c, uint8_t vendor)
{
	size_t n, count = 0;
	const struct trk_catalog_block *b = trk__catalog_blocks(c, &n);
	struct trk_catalog_prices p = trk__catalog_prices(c, NULL);

	for (size_t i = 0; i < n; i++)
		for (uint32_t at = b[i].first;
		     b[i].vendor == vendor && at < b[i].first + b[i].count; at++)
			count += p.price[at] && p.saving[at] != TRK_SAVING_UNKNOWN;
	return count;
}

int trk__feed_convert(struct trk_feed_rows *r, const struct trk_feed *feed, const char *date,
		      bool force, struct trk_buf *out, struct trk_feed_tally *ret,
		      struct trk_error *reterr)
{
	struct row *row = (struct row *) (void *) r->rows.data;
	size_t n = r->rows.len / sizeof(*row), dropped = r->dropped;

	if (r->rows.error)
		return trk__error_set(reterr, r->rows.error, "", "the answer is too long");
	if (n)
		qsort(row, n, sizeof(*row), by_place);
	n = merge(row, n, &dropped);
	if (n == 0)
		return trk__error_set(reterr, -EBADMSG, "",
				      "the answer contains no price of a known type and region");
	if (feed->spots && !force && n * 2 < known_savings(r->c, row->vendor))
		return trk__error_set(reterr, -TRK_ERR_RANGE, "",
				      "%s has %zu savings in the answer, %zu before. Try: --force",
				      trk__catalog_vendor_id(r->c, row->vendor), n,
				      known_savings(r->c, row->vendor));
	trk__buf_printf(out, "catalogue\t%d\t%s\nsource\t%s\t%s\t%s\t%s", TRK_CATALOG_FORMAT, date,
			feed->source, date, feed->licence, feed->title);
	if (feed->in_euro)
		trk__buf_printf(out, ", EUR at %.4f USD (%s)", r->eur_usd, r->eur_of);
	trk__buf_putc(out, '\n');
	for (size_t i = 0, to; i < n; i = to) {
		for (to = i;
		     to < n && row[to].vendor == row[i].vendor && row[to].region == row[i].region;)
			to++;
		(feed->spots ? write_spots : write_block)(r, feed, date, &row[i], to - i, out);
	}
	trk__buf_puts(out, "end\n");
	if (out->error)
		return trk__error_set(reterr, out->error, "", "the answer is too long");
	*ret = (struct trk_feed_tally){.prices = n, .dropped = dropped};
	return 0;
}
