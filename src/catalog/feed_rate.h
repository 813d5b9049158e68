/* The price of a euro in US dollars: the reference rate of the European Central Bank. */
#ifndef TRK_CATALOG_FEED_RATE_H
#define TRK_CATALOG_FEED_RATE_H

#include <stddef.h>

#include "base/error.h"

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
