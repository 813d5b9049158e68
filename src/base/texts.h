/* Texts that are kept once each: equal texts have the same index and the same address. */
#ifndef TRK_BASE_TEXTS_H
#define TRK_BASE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct trk_texts {   /* zero-initialised: empty */
	char **text; /* owned; text[0] is not used: index 0 is "" */
	size_t count, cap;
	uint32_t *bucket; /* owned; hash table of indices, 0: free */
	size_t buckets;
};

/* The index of a text, which is copied if it is new; 0 of an empty one. -ENOMEM. */
long trk__texts_add(struct trk_texts *t, const char *text, size_t len);
/* A view, until the release; never NULL. */
const char *trk__texts_at(const struct trk_texts *t, size_t index);
void trk__texts_release(struct trk_texts *t);

#endif
