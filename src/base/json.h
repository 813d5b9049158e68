/* A JSON writer over a bounded buffer: commas, escapes and null for unknown numbers.
 *
 * Numbers are written with the shortest digits that read back to the same value, or with fewer
 * digits on request, never localised. */
#ifndef TRK_BASE_JSON_H
#define TRK_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct trk_json {
	struct trk_buf *buf; /* borrowed */
	unsigned int indent; /* blanks per level; 0: one line */
	unsigned int depth;
	/* Significant digits of fractional numbers below 100,000; above, they become whole numbers.
	 * 0: all. */
	unsigned int digits;
	bool comma; /* a value was written at this level */
	bool after_key;
	uint64_t lists; /* one bit per level: '[' */
};

void trk__json_init(struct trk_json *j, struct trk_buf *buf, unsigned int indent);
/* Begin an object with the name of its schema (NULL: none). trk__json_end closes all open brackets
 * and ends the line. */
void trk__json_begin(struct trk_json *j, struct trk_buf *buf, unsigned int indent,
		     const char *schema);
void trk__json_end(struct trk_json *j);
void trk__json_open(struct trk_json *j, char bracket);  /* '{' or '[' */
void trk__json_close(struct trk_json *j, char bracket); /* '}' or ']' */
void trk__json_key(struct trk_json *j, const char *key);

/* Text is written as UTF-8; invalid bytes become U+FFFD. NULL is null. */
void trk__json_text(struct trk_json *j, const char *text);
void trk__json_text_n(struct trk_json *j, const char *text, size_t len);
void trk__json_u64(struct trk_json *j, uint64_t value);
void trk__json_i64(struct trk_json *j, int64_t value);
/* A key with its value. */
void trk__json_key_text(struct trk_json *j, const char *key, const char *text);
void trk__json_key_or_null(struct trk_json *j, const char *key, const char *text); /* "": null */
void trk__json_key_double(struct trk_json *j, const char *key, double value);
void trk__json_key_u64(struct trk_json *j, const char *key, uint64_t value);
void trk__json_key_i64(struct trk_json *j, const char *key, int64_t value);
void trk__json_key_bool(struct trk_json *j, const char *key, bool value);
void trk__json_key_open(struct trk_json *j, const char *key, char bracket);
/* Open an object under the key; where it is not known, write null and return false. */
bool trk__json_key_object(struct trk_json *j, const char *key, bool is_known);
/* NaN and infinities are null. */
void trk__json_double(struct trk_json *j, double value);
/* value / 10^decimals, exactly, without trailing zeros. */
void trk__json_fixed(struct trk_json *j, int64_t value, unsigned int decimals);
void trk__json_bool(struct trk_json *j, bool value);
void trk__json_null(struct trk_json *j);
/* A value that is JSON already. */
void trk__json_verbatim(struct trk_json *j, const char *json);

/* value / 10^decimals as text without trailing zeros ("12.5", "-0.001", "7"). */
void trk__buf_fixed(struct trk_buf *b, int64_t value, unsigned int decimals);

#endif
