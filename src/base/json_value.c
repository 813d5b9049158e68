/* Looking things up in what was read. */
#include "base/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
