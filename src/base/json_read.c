/* The tree is built in one pass over a copy of the text. Each value but the first follows a bracket
 * or a comma, so counting those gives the size of the block before anything is read, and values
 * never move. Texts are unescaped in place: a character is never longer than its escape. */
#include "base/json_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/utf8.h"

enum {
	DEFAULT_BYTES = 1 << 20,
	DEFAULT_DEPTH = 64,
	MOST_DEPTH = 512, /* values are read by recursion, about 100 bytes of stack a level */
	MOST_BYTES = 1 << 30,
};

struct reader {
	char *start;
	char *at;
	char *end; /* points to a NUL byte */
	struct trk_json_doc *doc;
	unsigned int depth;
	unsigned int max_depth;
	bool nan_is_null;
	int code;            /* of the first failure, at `at` */
	const char *problem; /* a sentence about it */
};

static bool fail(struct reader *r, int code, const char *problem)
{
	if (!r->code) {
		r->code = code;
		r->problem = problem;
	}
	return false;
}

static void skip_space(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
		r->at++;
}

/* Four hexadecimal digits. */
static bool read_hex(const char *s, uint32_t *ret)
{
	uint32_t code = 0;

	for (int i = 0; i < 4; i++) {
		if (trk__hex_digit(s[i]) < 0)
			return false;
		code = code << 4 | (uint32_t) trk__hex_digit(s[i]);
	}
	*ret = code;
	return true;
}

static char *put_utf8(char *to, uint32_t code)
{
	static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
	unsigned int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

	*to++ = (char) (first[more] | code >> 6 * more);
	while (more-- > 0)
		*to++ = (char) (0x80 | (code >> 6 * more & 0x3f));
	return to;
}

/* `\uXXXX`, at the `u`; two of them for a character beyond the first plane. */
static bool read_unicode(struct reader *r, char **to)
{
	uint32_t code, low;

	if (!read_hex(r->at + 1, &code))
		return fail(r, -EBADMSG, "\\u needs four hexadecimal digits");
	if (code == 0)
		return fail(r, -EBADMSG, "a NUL character in a string");
	if (code >= 0xd800 && code < 0xe000) {
		if (code >= 0xdc00 || r->at[5] != '\\' || r->at[6] != 'u' ||
		    !read_hex(r->at + 7, &low) || low < 0xdc00 || low >= 0xe000)
			return fail(r, -EBADMSG, "half a surrogate pair");
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		r->at += 6;
	}
	r->at += 5;
	*to = put_utf8(*to, code);
	return true;
}

static bool read_escape(struct reader *r, char **to)
{
	static const char names[] = "\"\\/bfnrt";
	static const char meanings[] = "\"\\/\b\f\n\r\t";
	const char *found;

	r->at++;
	if (*r->at == 'u')
		return read_unicode(r, to);
	found = *r->at ? strchr(names, *r->at) : NULL;
	if (!found)
		return fail(r, -EBADMSG, "an unknown escape");
	*(*to)++ = meanings[found - names];
	r->at++;
	return true;
}

/* A text, at its opening quote; unescaped in place and terminated. */
static bool read_text(struct reader *r, const char **ret, uint32_t *ret_len)
{
	char *start = ++r->at;
	char *to = start;

	while (*r->at != '"') {
		unsigned char c = (unsigned char) *r->at;
		size_t n;

		if (c == '\\') {
			if (!read_escape(r, &to))
				return false;
			continue;
		}
		if (r->at == r->end)
			return fail(r, -EBADMSG, "a string that is not closed");
		if (c < 0x20)
			return fail(r, -EBADMSG, "a control character in a string");
		n = trk__utf8_length(r->at, (size_t) (r->end - r->at));
		if (n == 0)
			return fail(r, -EBADMSG, "invalid UTF-8");
		memmove(to, r->at, n);
		to += n;
		r->at += n;
	}
	*to = '\0';
	r->at++;
	*ret = start;
	*ret_len = (uint32_t) (to - start);
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool skip_digits(char **at)
{
	if (!is_digit(**at))
		return false;
	while (is_digit(**at))
		(*at)++;
	return true;
}

/* A number: its text is kept, and converted on request. The byte after it belongs to the caller and
 * may not be overwritten, so this text has a length and no NUL. */
static bool read_number(struct reader *r, struct trk_json_value *v)
{
	char *s = r->at;

	if (*s == '-')
		s++;
	if (*s == '0')
		s++;
	else if (!skip_digits(&s))
		return fail(r, -EBADMSG, "no JSON value");
	if (*s == '.') {
		s++;
		if (!skip_digits(&s))
			return fail(r, -EBADMSG, "no digit after the decimal point");
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		if (*s == '+' || *s == '-')
			s++;
		if (!skip_digits(&s))
			return fail(r, -EBADMSG, "no digit in the exponent");
	}
	v->type = TRK_JSON_NUMBER;
	v->text = r->at;
	v->text_len = (uint32_t) (s - r->at);
	r->at = s;
	return true;
}

static bool take_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(r->at, word, n) != 0)
		return false;
	r->at += n;
	return true;
}

static bool read_word(struct reader *r, struct trk_json_value *v)
{
	if (take_word(r, "null")) {
		v->type = TRK_JSON_NULL;
		return true;
	}
	v->truth = *r->at == 't';
	if (take_word(r, "true") || take_word(r, "false")) {
		v->type = TRK_JSON_BOOL;
		return true;
	}
	if (r->nan_is_null &&
	    (take_word(r, "NaN") || take_word(r, "Infinity") || take_word(r, "-Infinity"))) {
		v->type = TRK_JSON_NULL;
		return true;
	}
	v->truth = false;
	return read_number(r, v);
}

static bool read_value(struct reader *r, uint32_t *ret_place);

/* `"key":`, up to the value. */
static bool read_key(struct reader *r, const char **ret)
{
	uint32_t len;

	if (*r->at != '"')
		return fail(r, -EBADMSG, "a key in quotes is missing");
	if (!read_text(r, ret, &len))
		return false;
	skip_space(r);
	if (*r->at != ':')
		return fail(r, -EBADMSG, "a colon is missing after the key");
	r->at++;
	return true;
}

/* Read the members and the closing bracket. `place`: index of the value. */
static bool read_members(struct reader *r, uint32_t place, bool object)
{
	struct trk_json_value *values = r->doc->values;
	uint32_t last = 0;

	skip_space(r);
	if (*r->at == (object ? '}' : ']')) {
		r->at++;
		return true;
	}
	for (;;) {
		const char *key = NULL;
		uint32_t child;

		skip_space(r);
		if ((object && !read_key(r, &key)) || !read_value(r, &child))
			return false;
		values[child].key = key;
		if (last)
			values[last].next = child;
		else
			values[place].first = child;
		last = child;
		values[place].count++;
		skip_space(r);
		if (*r->at == (object ? '}' : ']')) {
			r->at++;
			return true;
		}
		if (*r->at != ',')
			return fail(r, -EBADMSG,
				    object ? "a comma or } is missing" : "a comma or ] is missing");
		r->at++;
	}
}

static bool read_value(struct reader *r, uint32_t *ret_place)
{
	uint32_t place = r->doc->count++;
	struct trk_json_value *v = &r->doc->values[place];
	bool ok;

	*ret_place = place;
	*v = (struct trk_json_value){.type = TRK_JSON_NULL};
	skip_space(r);
	switch (*r->at) {
	case '{':
	case '[':
		v->type = *r->at == '{' ? TRK_JSON_OBJECT : TRK_JSON_ARRAY;
		if (r->depth == r->max_depth)
			return fail(r, -EFBIG, "arrays and objects are nested too deeply");
		r->at++;
		r->depth++;
		ok = read_members(r, place, v->type == TRK_JSON_OBJECT);
		r->depth--;
		return ok;
	case '"':
		v->type = TRK_JSON_TEXT;
		return read_text(r, &v->text, &v->text_len);
	default:
		return read_word(r, v);
	}
}

/* At most this many values: the document, and one after each opening bracket and each comma. */
static size_t most_values(const char *text, size_t len)
{
	size_t n = 1;

	for (size_t i = 0; i < len; i++)
		n += text[i] == ',' || text[i] == '[' || text[i] == '{';
	return n;
}

/* Line and column (in bytes, from 1) of the failure. Texts that were unescaped in place keep no
 * line end that they did not have, and lose none: a text may not hold one. */
static int report(const struct reader *r, const char *original, const char *name,
		  struct trk_error *reterr)
{
	size_t offset = (size_t) (r->at - r->start);
	unsigned long line = 1;
	size_t line_start = 0;

	for (size_t i = 0; i < offset; i++)
		if (original[i] == '\n') {
			line++;
			line_start = i + 1;
		}
	(void) trk__error_set(reterr, r->code, name, "%s (line %lu, column %zu)", r->problem, line,
			      offset - line_start + 1);
	if (reterr)
		reterr->line = line;
	return r->code;
}

static int build(struct reader *r, const char *text, size_t len, struct trk_json_doc *doc)
{
	uint32_t place;

	doc->text = calloc(1, len + 1);
	doc->values = calloc(most_values(text, len), sizeof(*doc->values));
	if (!doc->text || !doc->values)
		return -ENOMEM;
	memcpy(doc->text, text, len);
	doc->text[len] = '\0';
	r->start = r->at = doc->text;
	r->end = doc->text + len;
	r->doc = doc;
	if (!read_value(r, &place))
		return r->code;
	skip_space(r);
	if (r->at != r->end)
		(void) fail(r, -EBADMSG, "text after the end of the document");
	return r->code;
}

int trk__json_read(const char *text, size_t len, const struct trk_json_limits *limits,
		   const char *name, struct trk_json_doc *ret, struct trk_error *reterr)
{
	size_t max_bytes = limits && limits->max_bytes ? limits->max_bytes : DEFAULT_BYTES;
	unsigned int depth = limits && limits->max_depth ? limits->max_depth : DEFAULT_DEPTH;
	struct reader r = {.max_depth = depth < MOST_DEPTH ? depth : MOST_DEPTH,
			   .nan_is_null = limits && limits->nan_is_null};
	struct trk_json_doc doc = {.count = 0};
	int n;

	if (len > max_bytes || len > MOST_BYTES)
		return trk__error_set(reterr, -EFBIG, name, "longer than %zu bytes",
				      max_bytes < MOST_BYTES ? max_bytes : MOST_BYTES);
	n = build(&r, text, len, &doc);
	if (n == 0) {
		*ret = doc;
		return 0;
	}
	if (n == -ENOMEM)
		(void) trk__error_set(reterr, n, name, "out of memory");
	else
		(void) report(&r, text, name, reterr);
	trk__json_doc_release(&doc);
	return n;
}

void trk__json_doc_release(struct trk_json_doc *d)
{
	free(d->values);
	free(d->text);
	*d = (struct trk_json_doc){.count = 0};
}

/* ---- looking up ---- */

const struct trk_json_value *trk__json_root(const struct trk_json_doc *d)
{
	return d->count ? &d->values[0] : NULL;
}

const struct trk_json_value *trk__json_first(const struct trk_json_doc *d,
					     const struct trk_json_value *v)
{
	return v && v->first ? &d->values[v->first] : NULL;
}

const struct trk_json_value *trk__json_next(const struct trk_json_doc *d,
					    const struct trk_json_value *v)
{
	return v && v->next ? &d->values[v->next] : NULL;
}

const struct trk_json_value *trk__json_get(const struct trk_json_doc *d,
					   const struct trk_json_value *object, const char *key)
{
	const struct trk_json_value *found = NULL;
	const struct trk_json_value *v;

	if (!object || object->type != TRK_JSON_OBJECT)
		return NULL;
	for (v = trk__json_first(d, object); v; v = trk__json_next(d, v))
		if (!strcmp(v->key, key))
			found = v;
	return found;
}

const char *trk__json_as_text(const struct trk_json_value *v)
{
	return v && v->type == TRK_JSON_TEXT ? v->text : NULL;
}

/* strtod() reads the decimal sign of the host program's locale: where it stops at the point, that
 * sign is a comma. */
static double digits_to_double(const char *digits, size_t len)
{
	char text[64];
	char *own = NULL, *s = text, *end;
	double value;

	if (len >= sizeof(text)) {
		own = malloc(len + 1);
		if (!own)
			return NAN;
		s = own;
	}
	memcpy(s, digits, len);
	s[len] = '\0';
	value = strtod(s, &end);
	if (*end == '.') {
		*end = ',';
		value = strtod(s, NULL);
	}
	free(own);
	return value;
}

double trk__json_as_double(const struct trk_json_value *v)
{
	double value;

	if (!v || v->type != TRK_JSON_NUMBER)
		return NAN;
	value = digits_to_double(v->text, v->text_len);
	return isfinite(value) ? value : NAN;
}

/* Digits without point and exponent, exactly. */
static bool plain_i64(const char *s, size_t len, int64_t *ret)
{
	bool negative = *s == '-';
	int64_t value = 0;

	for (size_t i = negative; i < len; i++)
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_sub_overflow(value, s[i] - '0', &value))
			return false;
	if (!negative && __builtin_sub_overflow(0, value, &value))
		return false;
	*ret = value;
	return true;
}

bool trk__json_as_i64(const struct trk_json_value *v, int64_t *ret)
{
	double value;

	if (!v || v->type != TRK_JSON_NUMBER)
		return false;
	if (plain_i64(v->text, v->text_len, ret))
		return true;
	/* Beyond 2^53 a double does not identify a whole number. */
	value = trk__json_as_double(v);
	if (!(fabs(value) <= 9007199254740992.0) || value != (double) (int64_t) value)
		return false;
	*ret = (int64_t) value;
	return true;
}

const char *trk__json_get_text(const struct trk_json_doc *d, const struct trk_json_value *object,
			       const char *key)
{
	return trk__json_as_text(trk__json_get(d, object, key));
}

double trk__json_get_double(const struct trk_json_doc *d, const struct trk_json_value *object,
			    const char *key)
{
	return trk__json_as_double(trk__json_get(d, object, key));
}
