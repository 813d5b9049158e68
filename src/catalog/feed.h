/* Convert public price lists of vendors, and of projects that collect them, to the text format of
 * catalog/text.h.
 *
 * Each parser is pure: it takes a document as fetched and adds rows. Regions and types that are not
 * in the catalogue, and entries without a usable price (zero, Windows, dedicated hosts), are
 * counted and left out. */
#ifndef TRK_CATALOG_FEED_H
#define TRK_CATALOG_FEED_H

#include "base/buf.h"
#include "base/error.h"
#include "catalog/catalog.h"

#define TRK_FEED_SCALEWAY_URL                                                                      \
	"https://api.scaleway.com/product-catalog/v2alpha1/public-catalog/products"                \
	"?page=%u&page_size=100"

enum { TRK_FEED_URL_MAX = 2048 };

/* The result of the documents so far. */
struct trk_feed_rows {
	const struct trk_catalog *c; /* borrowed */
	struct trk_buf rows;
	uint32_t *by_name; /* owned: servers in the order of vendor and name */
	size_t servers;
	int region_vendor, region; /* the last lookup */
	char region_name[96];
	size_t dropped;
	double eur_usd;     /* USD for a euro, for lists in EUR; NaN: not known */
	const char *eur_of; /* borrowed: the source of the rate, for messages */
	unsigned int page;  /* pages read, and entries on them */
	size_t seen;
	char next[TRK_FEED_URL_MAX]; /* URL of the next page; "": none */
};

/* 0 or -ENOMEM. */
int trk__feed_rows_init(struct trk_feed_rows *r, const struct trk_catalog *c);
void trk__feed_rows_release(struct trk_feed_rows *r);

/* Add the saving of spot machines (percent) and their class of interruptions (0 to 4), for a feed
 * without prices. True when it was added. */
bool trk__feed_rows_add_spot(struct trk_feed_rows *r, const char *vendor, const char *region,
			     const char *type, double saving, double klass);

/* Add a price, or a price of spot machines (the other is NaN): of the zones of a region the lowest
 * price counts. True when it was added. */
bool trk__feed_rows_add(struct trk_feed_rows *r, const char *vendor, const char *region,
			const char *type, double usd, double spot_usd);

typedef int trk_feed_parse_fn(struct trk_feed_rows *r, const char *vendor, const char *text,
			      size_t len, struct trk_error *reterr);

/* Name and place of one document. */
struct trk_feed_part {
	const char *vendor;
	const char *url; /* with %s for a region where the feed needs one */
};

struct trk_feed {
	const char *id;     /* as users name it */
	const char *source; /* in the catalogue */
	const char *licence, *title;
	bool by_region; /* one request per named region */
	bool in_euro;   /* its prices are in EUR */
	bool spots;     /* it has savings of spot machines and no prices */
	/* Of several documents of one vendor the first available one is used. NULL at the end. */
	struct trk_feed_part part[16];
	const struct trk_feed_walk *walk; /* for a list in JSON */
	trk_feed_parse_fn *parse;         /* for other formats */
};

extern const struct trk_feed trk__feeds[];
extern const size_t trk__feed_count;
const struct trk_feed *trk__feed_find(const char *id); /* NULL: none */

/* The URL of a part for a region ("" if the feed needs none). 0, or -ENOENT for an unknown
 * region. */
int trk__feed_url(const struct trk_feed *feed, size_t part, const char *region, char *ret,
		  size_t size);

/* Add the prices of a document. 0; -EBADMSG with a sentence in *reterr for an unexpected document;
 * -EFBIG, -ENOMEM. */
int trk__feed_parse(const struct trk_feed *feed, struct trk_feed_rows *r, const char *vendor,
		    const char *text, size_t len, struct trk_error *reterr);

extern const struct trk_feed_walk trk__feed_azure, trk__feed_aws, trk__feed_aws_spot,
	trk__feed_vultr, trk__feed_ovh, trk__feed_scaleway;
trk_feed_parse_fn trk__feed_gcp, trk__feed_skypilot, trk__feed_karpenter;
const char *trk__feed_aws_long_name(const char *region);

struct trk_feed_tally {
	size_t prices, dropped;
};
/* All rows as a text that is added to the catalogue; `date` is "2026-01-31". 0, -EBADMSG when there
 * is no row, -EFBIG, -ENOMEM. -TRK_ERR_RANGE for less than half as many savings as in the catalogue,
 * unless `force`. */
int trk__feed_convert(struct trk_feed_rows *r, const struct trk_feed *feed, const char *date,
		      bool force, struct trk_buf *out, struct trk_feed_tally *ret,
		      struct trk_error *reterr);

/* ---- the price of a euro: the reference rate of the European Central Bank ---- */

#define TRK_FEED_RATE_URL                                                                          \
	"https://data-api.ecb.europa.eu/service/data/EXR/D.USD.EUR.SP00.A"                         \
	"?lastNObservations=1&format=csvdata"

struct trk_feed_rate {
	double usd;    /* for one euro */
	char date[11]; /* "2026-01-31" */
};

/* Parse the last row of the answer, CSV with CURRENCY, CURRENCY_DENOM, TIME_PERIOD and OBS_VALUE.
 * 0, or -EBADMSG with *reterr. */
int trk__feed_rate_parse(const char *text, size_t len, struct trk_feed_rate *ret,
			 struct trk_error *reterr);

/* Parse a rate that the user states, "1.16". 0, or -EINVAL. */
int trk__feed_rate_take(const char *text, double *ret);

#endif
