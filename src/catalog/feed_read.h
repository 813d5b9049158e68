/* Shared by the parsers of price lists. For JSON, a function is called for each member of one array
 * or object of the document. Text is read line by line; lines of another form are skipped. */
#ifndef TRK_CATALOG_FEED_READ_H
#define TRK_CATALOG_FEED_READ_H

#include "base/csv.h"
#include "base/json_read.h"
#include "catalog/feed.h"

enum { TRK_FEED_NAME_SIZE = 96, TRK_FEED_CELLS_MAX = 24 };

struct trk_feed_walk {
	const char *list; /* its key in the document */
	enum trk_json_type type;
	const char *missing; /* its name in the error if it is missing */
	void (*take)(struct trk_feed_rows *r, const char *vendor, const struct trk_json_doc *d,
		     const struct trk_json_value *member);
	/* Other fields of the document, before its members; may be NULL. 0, or negative with a
	 * sentence. */
	int (*head)(struct trk_feed_rows *r, const struct trk_json_doc *d,
		    const struct trk_json_value *list, struct trk_error *reterr);
};

struct trk_feed_lines {
	const char *at, *end;
};

/* The next line, without its end. */
bool trk__feed_line(struct trk_feed_lines *l, const char **line, size_t *len);

/* Copy a name; false if it is empty, too long, or contains NUL. */
bool trk__feed_name(const char *text, size_t len, char to[TRK_FEED_NAME_SIZE]);

/* The whole text as a plain decimal number; NaN for other texts and for NULL. */
double trk__feed_number(const char *text);
double trk__feed_number_in(const char *text, size_t len);

bool trk__feed_is(const struct trk_csv_cell *cell, const char *word);
/* Find the columns of these names in the first line of CSV. False: one is missing. */
bool trk__feed_columns(struct trk_feed_lines *l, const char *const *names, size_t n, size_t *at);
/* The next line of CSV that has all these columns. False: there is none. */
bool trk__feed_row(struct trk_feed_lines *l, const size_t *at, size_t n,
		   struct trk_csv_cell cell[TRK_FEED_CELLS_MAX]);

/* 0, or -EBADMSG if `seen` is 0: "the answer is no …". */
int trk__feed_none(size_t seen, const char *what, struct trk_error *reterr);

#endif
