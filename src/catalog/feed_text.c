/* Price lists as text: Google's of the pricing calculator (YAML), those of SkyPilot (CSV) and of Karpenter
 * (Go). Each is read line by line; a line that is another thing is passed over. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/feed.h"

enum { NAME_SIZE = 96, DEPTH_MAX = 12, CELLS_MAX = 24 };

struct lines {
	const char *at, *end;
};

/* The next line, without its end. */
static bool next_line(struct lines *l, const char **line, size_t *len)
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

static bool take_name(const char *text, size_t len, char to[NAME_SIZE])
{
	if (len == 0 || len >= NAME_SIZE || memchr(text, '\0', len))
		return false;
	memcpy(to, text, len);
	to[len] = '\0';
	return true;
}

/* A plain decimal number that fills the text; NaN for anything else. */
static double number_of(const char *text, size_t len)
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

static int none(const struct trk_feed_rows *r, size_t seen, const char *what,
		struct trk_error *reterr)
{
	(void) r;
	return seen ? 0 : trk__error_set(reterr, -EBADMSG, "", "the answer is no %s", what);
}

/* ---- Google ---- */

/* compute: instance: TYPE: cost: REGION: hour: 0.1, and hour_spot. The depth is that of the blanks. */
struct yaml {
	char key[DEPTH_MAX][NAME_SIZE];
	size_t blanks[DEPTH_MAX];
	size_t depth;
};

/* Take a line "   key: value"; false for what has no key. */
static bool take_yaml(struct yaml *y, const char *line, size_t len, const char **value,
		      size_t *value_len)
{
	size_t blanks = 0, colon;
	const char *at;

	while (blanks < len && line[blanks] == ' ')
		blanks++;
	at = memchr(line + blanks, ':', len - blanks);
	if (!at || line[blanks] == '#')
		return false;
	while (y->depth && y->blanks[y->depth - 1] >= blanks)
		y->depth--;
	colon = (size_t) (at - line);
	if (y->depth == DEPTH_MAX || !take_name(line + blanks, colon - blanks, y->key[y->depth]))
		return false;
	y->blanks[y->depth++] = blanks;
	*value = at + 1;
	*value_len = len - colon - 1;
	while (*value_len && **value == ' ') {
		++*value;
		--*value_len;
	}
	while (*value_len && (*value)[*value_len - 1] == ' ')
		--*value_len;
	return true;
}

int trk__feed_gcp(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		  struct trk_error *reterr)
{
	struct lines l = {text, text + len};
	struct yaml y = {.depth = 0};
	const char *line, *value;
	size_t n, value_len, seen = 0;

	while (next_line(&l, &line, &n)) {
		const char(*k)[NAME_SIZE];
		bool spot;
		double usd;

		if (!take_yaml(&y, line, n, &value, &value_len) || y.depth < 5)
			continue;
		k = (const char(*)[NAME_SIZE]) & y.key[y.depth - 5];
		spot = !strcmp(k[4], "hour_spot");
		if (strcmp(k[0], "instance") != 0 || strcmp(k[2], "cost") != 0 ||
		    (!spot && strcmp(k[4], "hour") != 0))
			continue;
		usd = number_of(value, value_len);
		seen++;
		(void) trk__feed_rows_add(r, vendor, k[3], k[1], spot ? (double) NAN : usd,
					  spot ? usd : (double) NAN);
	}
	return none(r, seen, "list of prices of Google's machines", reterr);
}

/* ---- SkyPilot ---- */

struct cell {
	const char *at;
	size_t len;
};

/* The cells of a line; what is quoted may hold commas. Returns how many. */
static size_t split(const char *line, size_t len, struct cell *cell)
{
	const char *at = line, *end = line + len;
	size_t n = 0;

	while (n < CELLS_MAX) {
		const char *start = at;
		bool quoted = false;

		while (at < end && (quoted || *at != ',')) {
			if (*at == '"')
				quoted = !quoted;
			at++;
		}
		cell[n++] = (struct cell){start, (size_t) (at - start)};
		if (at == end)
			break;
		at++;
	}
	return n;
}

enum { TYPE, PRICE, SPOT, REGION, SKY_COLUMNS };

/* Where the columns stand, by the first line. */
static bool find_columns(const struct cell *cell, size_t n, size_t at[SKY_COLUMNS])
{
	static const char *const names[SKY_COLUMNS] = {"InstanceType", "Price", "SpotPrice",
						       "Region"};
	size_t found = 0;

	for (size_t k = 0; k < SKY_COLUMNS; k++)
		for (size_t i = 0; i < n; i++)
			if (cell[i].len == strlen(names[k]) &&
			    !memcmp(cell[i].at, names[k], cell[i].len)) {
				at[k] = i;
				found++;
				break;
			}
	return found == SKY_COLUMNS;
}

/* Of Google's machines with GPUs the list has the price without them. */
static bool lacks_gpus(const struct trk_feed_rows *r, const char *vendor, const char *type)
{
	int v = trk__catalog_find_vendor(r->c, vendor), s;
	size_t n;

	if (strcmp(vendor, "gcp") != 0)
		return false;
	s = v < 0 ? -1 : trk__catalog_find_server(r->c, v, type);
	return s >= 0 && trk__catalog_servers(r->c, &n)[s].gpu_count > 0;
}

int trk__feed_skypilot(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		       struct trk_error *reterr)
{
	struct lines l = {text, text + len};
	struct cell cell[CELLS_MAX];
	size_t at[SKY_COLUMNS], n, most = 0;
	const char *line;

	if (!next_line(&l, &line, &n) || !find_columns(cell, split(line, n, cell), at))
		return trk__error_set(reterr, -EBADMSG, "",
				      "the answer is no table with InstanceType, Price, SpotPrice "
				      "and Region");
	for (size_t k = 0; k < SKY_COLUMNS; k++)
		most = at[k] > most ? at[k] : most;
	while (next_line(&l, &line, &n)) {
		char type[NAME_SIZE], region[NAME_SIZE];

		/* Without a type it is the price of a GPU alone. */
		if (split(line, n, cell) <= most || cell[at[TYPE]].len == 0)
			continue;
		if (!take_name(cell[at[TYPE]].at, cell[at[TYPE]].len, type) ||
		    !take_name(cell[at[REGION]].at, cell[at[REGION]].len, region) ||
		    lacks_gpus(r, vendor, type)) {
			r->dropped++;
			continue;
		}
		(void) trk__feed_rows_add(r, vendor, region, type,
					  number_of(cell[at[PRICE]].at, cell[at[PRICE]].len),
					  number_of(cell[at[SPOT]].at, cell[at[SPOT]].len));
	}
	return 0;
}

/* ---- Karpenter ---- */

/* The next text in quotes of a line; *at moves behind it. */
static bool next_quoted(const char **at, const char *end, char name[NAME_SIZE])
{
	const char *open = memchr(*at, '"', (size_t) (end - *at)), *close;

	if (!open)
		return false;
	close = memchr(open + 1, '"', (size_t) (end - open - 1));
	if (!close)
		return false;
	*at = close + 1;
	return take_name(open + 1, (size_t) (close - open - 1), name);
}

/* `"us-east-1": {` opens a region, `"a1.large": 0.051, "a1.xlarge": 0.102,` are its prices. */
int trk__feed_karpenter(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
			struct trk_error *reterr)
{
	struct lines l = {text, text + len};
	char region[NAME_SIZE] = "", name[NAME_SIZE];
	const char *line;
	size_t n, seen = 0;

	while (next_line(&l, &line, &n)) {
		const char *at = line, *end = line + n;

		while (next_quoted(&at, end, name)) {
			const char *start;

			while (at < end && (*at == ':' || *at == ' '))
				at++;
			if (at < end && *at == '{') {
				memcpy(region, name, sizeof(region));
				break;
			}
			for (start = at; at < end && *at != ',' && *at != '}' && *at != '"';)
				at++;
			if (!*region || isnan(number_of(start, (size_t) (at - start))))
				continue;
			seen++;
			(void) trk__feed_rows_add(r, vendor, region, name,
						  number_of(start, (size_t) (at - start)), NAN);
		}
	}
	return none(r, seen, "table of prices of Karpenter", reterr);
}
