#include "catalog/feed.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "catalog/feed_read.h"

enum { CURRENCY, PER, DAY, VALUE, COLUMNS };

/* The range of the rate since the euro exists, with a margin. */
static bool is_rate(double usd)
{
	return usd > 0.5 && usd < 2;
}

static bool is_day(const struct trk_csv_cell *c)
{
	if (c->len != 10)
		return false;
	for (size_t i = 0; i < 10; i++)
		if (i == 4 || i == 7 ? c->at[i] != '-' : c->at[i] < '0' || c->at[i] > '9')
			return false;
	return true;
}

int trk__feed_rate_parse(const char *text, size_t len, struct trk_feed_rate *ret,
			 struct trk_error *reterr)
{
	static const char *const names[COLUMNS] = {"CURRENCY", "CURRENCY_DENOM", "TIME_PERIOD",
						   "OBS_VALUE"};
	struct trk_feed_lines l = {text, text + len};
	struct trk_csv_cell cell[TRK_FEED_CELLS_MAX];
	struct trk_feed_rate found = {.usd = NAN};
	size_t at[COLUMNS];

	if (!trk__feed_columns(&l, names, COLUMNS, at))
		return trk__error_set(reterr, -EBADMSG, "", "the answer is not a table of rates");
	while (trk__feed_row(&l, at, COLUMNS, cell)) {
		double usd = trk__feed_number_in(cell[at[VALUE]].at, cell[at[VALUE]].len);

		if (!trk__feed_is(&cell[at[CURRENCY]], "USD") ||
		    !trk__feed_is(&cell[at[PER]], "EUR") || !is_day(&cell[at[DAY]]) ||
		    !is_rate(usd))
			continue;
		found.usd = usd;
		memcpy(found.date, cell[at[DAY]].at, 10);
	}
	if (isnan(found.usd))
		return trk__error_set(reterr, -EBADMSG, "",
				      "the answer contains no rate of the US dollar to the euro");
	*ret = found;
	return 0;
}

int trk__feed_rate_take(const char *text, double *ret)
{
	double usd = trk__feed_number_in(text, strlen(text));

	if (!is_rate(usd))
		return -EINVAL;
	*ret = usd;
	return 0;
}
