/* A JSON reader: a text becomes a tree in one block of memory, bounded in depth and in size.
 *
 * Strict (RFC 8259): UTF-8 without a byte order mark, no comments, no commas at the end, no lone
 * surrogates, nothing after the document. A text that holds a NUL character is refused, so that
 * every text of the tree is a C string. Of equal keys in one object the last one counts.
 *
 * Every lookup returns "not found" for NULL and for a value of another type: a caller can chain
 * lookups and check the last result only. */
#ifndef TRK_BASE_JSON_READ_H
#define TRK_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum trk_json_type {
	TRK_JSON_NULL,
	TRK_JSON_BOOL,
	TRK_JSON_NUMBER,
	TRK_JSON_TEXT,
	TRK_JSON_ARRAY,
	TRK_JSON_OBJECT,
};

struct trk_json_value {
	enum trk_json_type type;
	bool truth;      /* of TRK_JSON_BOOL */
	const char *key; /* of a member of an object, else NULL */
	const char
		*text; /* of TRK_JSON_TEXT, unescaped; of TRK_JSON_NUMBER, where no NUL follows */
	uint32_t text_len; /* of both */
	uint32_t count;    /* members or elements */
	uint32_t first;    /* places in the document's block; 0: none */
	uint32_t next;
};

struct trk_json_doc {
	struct trk_json_value *values; /* owned; values[0] is the document itself */
	uint32_t count;
	char *text; /* owned: the input, unescaped in place */
};

struct trk_json_limits {
	size_t max_bytes;       /* of the text; 0: 1 MiB. At most 1 GiB. */
	unsigned int max_depth; /* of arrays and objects in each other; 0: 64, at most 512 */
	bool nan_is_null; /* take the NaN, Infinity and -Infinity that Python writes, as null */
};

/* Read a whole text. `name` is the file in messages ("" for none); `limits` may be NULL. Returns 0;
 * -EBADMSG for malformed JSON, -EFBIG for a text that is too long or too deep, -ENOMEM. The error
 * then has line and column, and *ret is untouched. It uses at most 41 bytes of memory a byte of
 * text (for brackets only), usually three to six. */
int trk__json_read(const char *text, size_t len, const struct trk_json_limits *limits,
		   const char *name, struct trk_json_doc *ret, struct trk_error *reterr);
void trk__json_doc_release(struct trk_json_doc *d);

/* The whole document. All values are views that live as long as the document. */
const struct trk_json_value *trk__json_root(const struct trk_json_doc *d);
/* The member of an object under `key`, or NULL. */
const struct trk_json_value *trk__json_get(const struct trk_json_doc *d,
					   const struct trk_json_value *object, const char *key);
/* The first element of an array or member of an object, and the one after `v`; NULL at the end. */
const struct trk_json_value *trk__json_first(const struct trk_json_doc *d,
					     const struct trk_json_value *v);
const struct trk_json_value *trk__json_next(const struct trk_json_doc *d,
					    const struct trk_json_value *v);

/* The value; NULL or NaN where it has another type. */
const char *trk__json_as_text(const struct trk_json_value *v);
double trk__json_as_double(const struct trk_json_value *v);
/* An integer that fits, in any form (`2`, `2.0`, `2e0`); else false, *ret untouched. */
bool trk__json_as_i64(const struct trk_json_value *v, int64_t *ret);

/* As above, for the member under `key`. */
const char *trk__json_get_text(const struct trk_json_doc *d, const struct trk_json_value *object,
			       const char *key);
double trk__json_get_double(const struct trk_json_doc *d, const struct trk_json_value *object,
			    const char *key);

#define TRK_JSON_DOC_CLEANUP __attribute__((cleanup(trk__json_doc_release)))

#endif
