#include "base/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint32_t hash_of(const char *text, size_t len)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char) text[i]) * 16777619u;
	return hash;
}

/* A table twice as large. */
static int widen(struct trk_texts *t)
{
	size_t wider = t->buckets ? t->buckets * 2 : 256;
	uint32_t *made = calloc(wider, sizeof(*made));

	if (!made)
		return -ENOMEM;
	for (size_t i = 1; i < t->count; i++) {
		size_t at = hash_of(t->text[i], strlen(t->text[i])) & (wider - 1);

		while (made[at])
			at = (at + 1) & (wider - 1);
		made[at] = (uint32_t) i;
	}
	free(t->bucket);
	t->bucket = made;
	t->buckets = wider;
	return 0;
}

long trk__texts_add(struct trk_texts *t, const char *text, size_t len)
{
	size_t at;

	if (len == 0)
		return 0;
	if (t->count == 0)
		t->count = 1;
	if (t->count * 2 >= t->buckets && widen(t) < 0)
		return -ENOMEM;
	at = hash_of(text, len) & (t->buckets - 1);
	for (; t->bucket[at]; at = (at + 1) & (t->buckets - 1)) {
		const char *known = t->text[t->bucket[at]];

		if (!strncmp(known, text, len) && known[len] == '\0')
			return (long) t->bucket[at];
	}
	if (trk__array_reserve(&t->text, &t->cap, t->count + 1, sizeof(*t->text)) < 0)
		return -ENOMEM;
	t->text[t->count] = strndup(text, len);
	if (!t->text[t->count])
		return -ENOMEM;
	t->bucket[at] = (uint32_t) t->count;
	return (long) t->count++;
}

const char *trk__texts_at(const struct trk_texts *t, size_t index)
{
	return index && index < t->count ? t->text[index] : "";
}

void trk__texts_release(struct trk_texts *t)
{
	for (size_t i = 1; i < t->count; i++)
		free(t->text[i]);
	free(t->text);
	free(t->bucket);
	*t = (struct trk_texts){.count = 0};
}
