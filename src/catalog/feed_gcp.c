/* Google's prices as the pricing calculator of Cyclenerd has them (YAML). */
#include <math.h>
#include <string.h>

#include "catalog/feed_read.h"

enum { DEPTH_MAX = 12 };

/* compute: instance: TYPE: cost: REGION: hour: 0.1, and hour_spot. The indentation gives the
 * depth. */
struct yaml {
	char key[DEPTH_MAX][TRK_FEED_NAME_SIZE];
	size_t blanks[DEPTH_MAX];
	size_t depth;
};

/* Take an indented line "key: value"; false if there is no key. */
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
	if (y->depth == DEPTH_MAX ||
	    !trk__feed_name(line + blanks, colon - blanks, y->key[y->depth]))
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
	struct trk_feed_lines l = {text, text + len};
	struct yaml y = {.depth = 0};
	const char *line, *value;
	size_t n, value_len, seen = 0;

	while (trk__feed_line(&l, &line, &n)) {
		const char(*k)[TRK_FEED_NAME_SIZE];
		bool spot;
		double usd;

		if (!take_yaml(&y, line, n, &value, &value_len) || y.depth < 5)
			continue;
		k = (const char(*)[TRK_FEED_NAME_SIZE]) & y.key[y.depth - 5];
		spot = !strcmp(k[4], "hour_spot");
		if (strcmp(k[0], "instance") != 0 || strcmp(k[2], "cost") != 0 ||
		    (!spot && strcmp(k[4], "hour") != 0))
			continue;
		usd = trk__feed_number_in(value, value_len);
		seen++;
		(void) trk__feed_rows_add(r, vendor, k[3], k[1], spot ? (double) NAN : usd,
					  spot ? usd : (double) NAN);
	}
	return trk__feed_none(seen, "list of prices of Google's machines", reterr);
}
