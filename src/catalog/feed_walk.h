/* A price list in JSON, walked: each member of one list or object of the document is given to a
 * function. */
#ifndef TRK_CATALOG_FEED_WALK_H
#define TRK_CATALOG_FEED_WALK_H

#include "base/json_read.h"
#include "catalog/feed.h"

struct trk_feed_walk {
	const char *list; /* its key in the document */
	enum trk_json_type type;
	const char *missing; /* the name in the error where there is none */
	void (*take)(struct trk_feed_rows *r, const char *vendor, const struct trk_json_doc *d,
		     const struct trk_json_value *member);
	/* Other fields of the document, before its members; may be NULL. 0, or negative with a
	 * sentence. */
	int (*head)(struct trk_feed_rows *r, const struct trk_json_doc *d,
		    const struct trk_json_value *list, struct trk_error *reterr);
};

/* 0; -EBADMSG, -EFBIG or -ENOMEM with a sentence. */
int trk__feed_walk(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		   const struct trk_feed_walk *walk, struct trk_error *reterr);

/* A plain decimal number that is written as a text; NaN for anything else. */
double trk__feed_number(const char *text);

#endif
