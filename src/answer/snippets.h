/* Lines to paste into the description of a job, for one batch system each: `recommend --for`. */
#ifndef TRK_ANSWER_SNIPPETS_H
#define TRK_ANSWER_SNIPPETS_H

#include "answer/advice.h"
#include "answer/snippets.def"

enum {
#define X(name, ...) TRK_SNIPPET_##name,
	TRK_SNIPPET_LIST(X)
#undef X
		TRK_SNIPPET_KINDS
};

struct trk_snippet_request;

struct trk_snippet_kind {
	const char *name, *title, *comment, *mark[2];
	void (*print)(struct trk_buf *b, const struct trk_snippet_request *r);
};

extern const struct trk_snippet_kind trk__snippet_kinds[TRK_SNIPPET_KINDS];

/* Lines of the kind of this name. False: there is no such kind. */
bool trk__advice_snippet(struct trk_buf *b, const struct trk_advice *a, const char *kind);

#endif
