/* OVHcloud's public catalogue of the cloud: addons, of which "b2-7.consumption" is the machine b2-7
 * by the hour, in hundred-millionths of a currency unit. Monthly rates, Windows and other places
 * have addons with other codes. The catalogue of Ireland is in EUR without tax. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "catalog/feed_read.h"

static const double OVH_UNITS = 1e8;

/* "b2-7" of "b2-7.consumption". */
static bool take_type(const char *code, char type[TRK_FEED_NAME_SIZE])
{
	static const char by_the_hour[] = ".consumption";
	size_t len = code ? strlen(code) : 0, tail = sizeof(by_the_hour) - 1;

	return len > tail && !strcmp(code + len - tail, by_the_hour) &&
	       trk__feed_name(code, len - tail, type);
}

/* The price of an hour; NaN without such a price. */
static double hourly(const struct trk_json_doc *d, const struct trk_json_value *addon)
{
	const struct trk_json_value *p = trk__json_first(d, trk__json_get(d, addon, "pricings"));

	for (; p; p = trk__json_next(d, p)) {
		const char *type = trk__json_get_text(d, p, "type");
		const char *mode = trk__json_get_text(d, p, "mode");

		if (type && !strcmp(type, "consumption") && (!mode || !strcmp(mode, "default")))
			return trk__json_get_double(d, p, "price") / OVH_UNITS;
	}
	return NAN;
}

static void take_item(struct trk_feed_rows *r, const char *vendor, const struct trk_json_doc *d,
		      const struct trk_json_value *addon)
{
	char type[TRK_FEED_NAME_SIZE];

	if (take_type(trk__json_get_text(d, addon, "planCode"), type))
		(void) trk__feed_rows_add(r, vendor, "eu", type, hourly(d, addon) * r->eur_usd,
					  NAN);
}

static int head(struct trk_feed_rows *r, const struct trk_json_doc *d,
		const struct trk_json_value *list, struct trk_error *reterr)
{
	const struct trk_json_value *locale = trk__json_get(d, trk__json_root(d), "locale");
	const char *currency = trk__json_get_text(d, locale, "currencyCode");

	if (currency && !strcmp(currency, "EUR"))
		return 0;
	return trk__error_set(reterr, -EBADMSG, "", "the list is not in EUR but in %.20s",
			      currency ? currency : "no known currency");
}

const struct trk_feed_walk trk__feed_ovh = {
	.list = "addons",
	.type = TRK_JSON_ARRAY,
	.missing = "the answer is not a catalogue with addons",
	.take = take_item,
	.head = head,
};
