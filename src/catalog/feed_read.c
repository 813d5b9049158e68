#include "catalog/feed_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/feed.h"

enum { DOCUMENT_MAX = 64 << 20 };

static int walk_json(const struct trk_feed_walk *walk, struct trk_feed_rows *r, const char *vendor,
		     const char *text, size_t len, struct trk_error *reterr)
{
	const struct trk_json_limits limits = {.max_bytes = DOCUMENT_MAX};
	const struct trk_json_value *list, *v;
	struct trk_json_doc d;
	int e = trk__json_read(text, len, &limits, "the answer", &d, reterr);

	if (e < 0)
		return e;
	list = trk__json_get(&d, trk__json_root(&d), walk->list);
	if (!list || list->type != walk->type)
		e = trk__error_set(reterr, -EBADMSG, "", "%s", walk->missing);
	if (e == 0 && walk->head)
		e = walk->head(r, &d, list, reterr);
	for (v = trk__json_first(&d, list); e == 0 && v; v = trk__json_next(&d, v))
		walk->take(r, vendor, &d, v);
	trk__json_doc_release(&d);
	return e;
}

int trk__feed_parse(const struct trk_feed *feed, struct trk_feed_rows *r, const char *vendor,
		    const char *text, size_t len, struct trk_error *reterr)
{
	return feed->walk ? walk_json(feed->walk, r, vendor, text, len, reterr)
			  : feed->parse(r, vendor, text, len, reterr);
}

bool trk__feed_line(struct trk_feed_lines *l, const char **line, size_t *len)
{
	const char *stop;

	if (l->at >= l->end)
		return false;
	*line = l->at;
	stop = memchr(l->at, '\n', (size_t) (l->end - l->at));
	if (!stop)
		stop = l->end;
	*len = (size_t) (stop - l->at);
	l->at = stop + 1;
	if (*len && (*line)[*len - 1] == '\r')
		--*len;
	return true;
}

bool trk__feed_name(const char *text, size_t len, char to[TRK_FEED_NAME_SIZE])
{
	if (len == 0 || len >= TRK_FEED_NAME_SIZE || memchr(text, '\0', len))
		return false;
	memcpy(to, text, len);
	to[len] = '\0';
	return true;
}

double trk__feed_number_in(const char *text, size_t len)
{
	char copy[32], *end;
	double value;

	if (len == 0 || len >= sizeof(copy))
		return NAN;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (strspn(copy, "0123456789.e-") != len)
		return NAN;
	value = strtod(copy, &end);
	return end == copy + len ? value : (double) NAN;
}

double trk__feed_number(const char *text)
{
	return text ? trk__feed_number_in(text, strlen(text)) : (double) NAN;
}

int trk__feed_none(size_t seen, const char *what, struct trk_error *reterr)
{
	return seen ? 0 : trk__error_set(reterr, -EBADMSG, "", "the answer is not a %s", what);
}

bool trk__feed_is(const struct trk_csv_cell *cell, const char *word)
{
	return cell->len == strlen(word) && !memcmp(cell->at, word, cell->len);
}

/* The cells of the next line, without their quotes. False: there is none. */
static bool split(struct trk_feed_lines *l, struct trk_csv_cell cell[TRK_FEED_CELLS_MAX],
		  size_t *ret_cells)
{
	const char *at, *end;
	size_t len, n = 0;

	if (!trk__feed_line(l, &at, &len))
		return false;
	for (end = at + len; n < TRK_FEED_CELLS_MAX; at++) {
		at = trk__csv_cell(at, end, ',', &cell[n++]);
		if (at == end)
			break;
	}
	*ret_cells = n;
	return true;
}

bool trk__feed_columns(struct trk_feed_lines *l, const char *const *names, size_t n, size_t *at)
{
	struct trk_csv_cell cell[TRK_FEED_CELLS_MAX];
	size_t cells, found = 0;

	if (!split(l, cell, &cells))
		return false;
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < cells; i++)
			if (trk__feed_is(&cell[i], names[k])) {
				at[k] = i;
				found++;
				break;
			}
	return found == n;
}

bool trk__feed_row(struct trk_feed_lines *l, const size_t *at, size_t n,
		   struct trk_csv_cell cell[TRK_FEED_CELLS_MAX])
{
	size_t cells, most = 0;

	for (size_t k = 0; k < n; k++)
		most = at[k] > most ? at[k] : most;
	while (split(l, cell, &cells))
		if (cells > most)
			return true;
	return false;
}

/* ---- the price of a euro ---- */

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
