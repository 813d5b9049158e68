/* Karpenter's table of Amazon's prices (Go). */
#include <math.h>
#include <string.h>

#include "catalog/feed_read.h"

/* The next text in quotes of a line; *at moves behind it. */
static bool next_quoted(const char **at, const char *end, char name[TRK_FEED_NAME_SIZE])
{
	const char *open = memchr(*at, '"', (size_t) (end - *at)), *close;

	if (!open)
		return false;
	close = memchr(open + 1, '"', (size_t) (end - open - 1));
	if (!close)
		return false;
	*at = close + 1;
	return trk__feed_name(open + 1, (size_t) (close - open - 1), name);
}

/* `"us-east-1": {` opens a region, `"a1.large": 0.051, "a1.xlarge": 0.102,` are its prices. */
int trk__feed_karpenter(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
			struct trk_error *reterr)
{
	struct trk_feed_lines l = {text, text + len};
	char region[TRK_FEED_NAME_SIZE] = "", name[TRK_FEED_NAME_SIZE];
	const char *line;
	size_t n, seen = 0;

	while (trk__feed_line(&l, &line, &n)) {
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
			if (!*region || isnan(trk__feed_number_in(start, (size_t) (at - start))))
				continue;
			seen++;
			(void) trk__feed_rows_add(r, vendor, region, name,
						  trk__feed_number_in(start, (size_t) (at - start)),
						  NAN);
		}
	}
	return trk__feed_none(seen, "table of prices of Karpenter", reterr);
}
