/* The JSON reader, with any text. It rejects the text with a place, or returns a tree that can be
 * walked and that, written out, reads back as the same tree. */
#include "base/json_read.h"

#include <math.h>

#include "base/json.h"

#include "fuzz.h"

static void write_value(struct trk_json *j, const struct trk_json_doc *d,
			const struct trk_json_value *v)
{
	bool object = v->type == TRK_JSON_OBJECT;
	const struct trk_json_value *member;
	uint32_t n = 0;

	switch (v->type) {
	case TRK_JSON_OBJECT:
	case TRK_JSON_ARRAY:
		trk__json_open(j, object ? '{' : '[');
		for (member = trk__json_first(d, v); member; member = trk__json_next(d, member)) {
			FUZZ_CHECK(object == (member->key != NULL));
			if (object)
				trk__json_key(j, member->key);
			write_value(j, d, member);
			n++;
		}
		FUZZ_CHECK(n == v->count);
		trk__json_close(j, object ? '}' : ']');
		break;
	case TRK_JSON_TEXT:
		FUZZ_CHECK(strlen(v->text) == v->text_len);
		trk__json_text(j, v->text);
		break;
	case TRK_JSON_NUMBER:
		FUZZ_CHECK(v->text_len > 0);
		trk__json_double(j, trk__json_as_double(v));
		break;
	case TRK_JSON_BOOL:
		trk__json_bool(j, v->truth);
		break;
	case TRK_JSON_NULL:
		trk__json_null(j);
		break;
	}
}

static bool same(const struct trk_json_value *a, const struct trk_json_value *b)
{
	double x = trk__json_as_double(a), y = trk__json_as_double(b);

	/* A number beyond a double is written as null. */
	if (a->type == TRK_JSON_NUMBER && isnan(x))
		return b->type == TRK_JSON_NULL;
	return a->type == b->type && a->count == b->count && a->truth == b->truth &&
	       (a->type != TRK_JSON_TEXT || !strcmp(a->text, b->text)) &&
	       (a->type != TRK_JSON_NUMBER || x == y) &&
	       (!a->key || (b->key && !strcmp(a->key, b->key)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_error error = {.code = 0};
	struct trk_json_limits limits = {.max_bytes = 8 << 20};
	struct trk_json_doc d, again;
	struct trk_json json;
	struct trk_buf buf;
	char *text = malloc(size ? size : 1); /* of its exact size: no NUL follows */
	int64_t whole;

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	if (trk__json_read(text, size, &limits, "f", &d, &error)) {
		FUZZ_CHECK(error.message[0]);
		free(text);
		return 0;
	}
	trk__buf_init(&buf, 8 << 20);
	trk__json_init(&json, &buf, 0);
	write_value(&json, &d, trk__json_root(&d));
	if (!buf.error) {
		FUZZ_CHECK(trk__json_read(buf.data, buf.len, &limits, "", &again, NULL) == 0);
		FUZZ_CHECK(again.count == d.count);
		for (uint32_t i = 0; i < d.count; i++) {
			FUZZ_CHECK(same(&d.values[i], &again.values[i]));
			if (trk__json_as_i64(&d.values[i], &whole))
				FUZZ_CHECK((double) whole == trk__json_as_double(&d.values[i]));
		}
		trk__json_doc_release(&again);
	}
	trk__buf_release(&buf);
	trk__json_doc_release(&d);
	free(text);
	return 0;
}
