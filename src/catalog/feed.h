/* Public price lists of the vendors and of projects that collect them: from their formats to the
 * text of catalog/text.h.
 *
 * Each parser is pure: it takes a document as it was fetched and adds rows. What the catalogue
 * does not have (a region, a type) and what is no price (zero, Windows, dedicated hosts) is
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
	int region_vendor, region; /* the last one that was looked up */
	char region_name[96];
	size_t dropped;
	double eur_usd;     /* USD for a euro, for lists in EUR; NaN: not known */
	const char *eur_of; /* borrowed: the source of the rate, for messages */
	unsigned int page;  /* pages that were read, and what stood on them */
	size_t seen;
	char next[TRK_FEED_URL_MAX]; /* where the document goes on; "": nowhere */
};

/* 0 or -ENOMEM. */
int trk__feed_rows_init(struct trk_feed_rows *r, const struct trk_catalog *c);
void trk__feed_rows_release(struct trk_feed_rows *r);

/* Add what spot machines save (percent) and how often they are interrupted (0 to 4): a feed that
 * has it has no prices. True when it was taken. */
bool trk__feed_rows_add_spot(struct trk_feed_rows *r, const char *vendor, const char *region,
			     const char *type, double saving, double klass);

/* Add a price, or a price of spot machines (the other is NaN): the lowest of the zones of a
 * region counts. True when it was taken. */
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
	const char *id;     /* as a person names it */
	const char *source; /* in the catalogue */
	const char *licence, *title;
	bool by_region; /* a question for each region that is named */
	bool in_euro;   /* its prices are in EUR */
	bool spots;     /* it has what spot machines save, and no prices */
	/* Of several documents of one vendor the first that can be had is taken. A NULL ends
	 * them. */
	struct trk_feed_part part[16];
	const struct trk_feed_walk *walk; /* of a list in JSON, */
	trk_feed_parse_fn *parse;         /* or the parser of another */
};

extern const struct trk_feed trk__feeds[];
extern const size_t trk__feed_count;
const struct trk_feed *trk__feed_find(const char *id); /* NULL: none */

/* The address of a part for a region ("" where the feed takes none). 0 or -ENOENT: it has no
 * such region. */
int trk__feed_url(const struct trk_feed *feed, size_t part, const char *region, char *ret,
		  size_t size);

/* Add the prices of a document. 0; -EBADMSG with a sentence in *reterr where it is another
 * document; -EFBIG, -ENOMEM. */
int trk__feed_parse(const struct trk_feed *feed, struct trk_feed_rows *r, const char *vendor,
		    const char *text, size_t len, struct trk_error *reterr);

extern const struct trk_feed_walk trk__feed_azure, trk__feed_aws, trk__feed_aws_spot,
	trk__feed_vultr, trk__feed_ovh, trk__feed_scaleway;
trk_feed_parse_fn trk__feed_gcp, trk__feed_skypilot, trk__feed_karpenter;
const char *trk__feed_aws_long_name(const char *region);

struct trk_feed_tally {
	size_t prices, dropped;
};
/* All rows as a text on top of the catalogue; `date` is "2026-01-31". 0, -EBADMSG when there is
 * no row, -EFBIG, -ENOMEM. Of savings there have to be at least half as many as the catalogue
 * knows, or `force`: else -TRK_E_RANGE. */
int trk__feed_convert(struct trk_feed_rows *r, const struct trk_feed *feed, const char *date,
		      bool force, struct trk_buf *out, struct trk_feed_tally *ret,
		      struct trk_error *reterr);

#endif
