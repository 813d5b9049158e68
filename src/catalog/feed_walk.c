#include "catalog/feed_walk.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENT_MAX = 64 << 20 };

int trk__feed_walk(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		   const struct trk_feed_walk *walk, struct trk_error *reterr)
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

double trk__feed_number(const char *text)
{
	char *end;
	double value;

	if (!text || !*text || strspn(text, "0123456789.") != strlen(text))
		return NAN;
	value = strtod(text, &end);
	return *end ? (double) NAN : value;
}
