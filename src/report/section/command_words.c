#include "report/section/command_words.h"

#include <string.h>

enum { WORDS_MAX = 48, OWN_MAX = 6 };

struct word {
	const char *text;
	size_t len;
	bool own; /* at least one sibling lacks it */
};

static size_t split(const char *command, struct word *word)
{
	size_t n = 0;

	for (const char *at = command; *at && n < WORDS_MAX;) {
		size_t len = strcspn(at, " ");

		if (len)
			word[n++] = (struct word){at, len, false};
		at += len + (at[len] == ' ');
	}
	return n;
}

static bool has_word(const char *command, const struct word *w)
{
	for (const char *at = command; *at;) {
		size_t len = strcspn(at, " ");

		if (len == w->len && !memcmp(at, w->text, len))
			return true;
		at += len + (at[len] == ' ');
	}
	return false;
}

static bool is_temporary(const struct word *w)
{
	return w->len > 5 && (!memcmp(w->text, "/tmp/", 5) || !memcmp(w->text, "/var/t", 6));
}

static bool is_own(const struct word *w, const char *const *siblings, size_t count)
{
	if (is_temporary(w))
		return false;
	for (size_t i = 0; i < count; i++)
		if (siblings[i] && *siblings[i] && !has_word(siblings[i], w))
			return true;
	return false;
}

static struct word last_part(struct word w)
{
	for (size_t i = w.len; i-- > 0;)
		if (w.text[i] == '/' && i + 1 < w.len) {
			w.text += i + 1;
			w.len -= i + 1;
			break;
		}
	return w;
}

static void join(char *text, size_t size, const struct word *w)
{
	size_t len = strlen(text), room = size - len - 1;

	if (len && room) {
		text[len++] = ' ';
		room--;
	}
	memcpy(text + len, w->text, w->len < room ? w->len : room);
	text[len + (w->len < room ? w->len : room)] = '\0';
}

const char *trk__command_words(struct trk_doc *d, const char *command, const char *const *siblings,
			       size_t count, size_t max)
{
	struct word word[WORDS_MAX];
	size_t n = split(command, word), own = 0;
	char first[128] = "", rest[256] = "";

	if (n == 0)
		return NULL;
	for (size_t i = 0; i < n && own < OWN_MAX; i++) {
		word[i].own = is_own(&word[i], siblings, count);
		own += word[i].own;
	}
	for (size_t i = 0; i < n; i++) {
		struct word w = last_part(word[i]);

		if (!word[i].own)
			join(rest, sizeof(rest), i == 0 ? &w : &word[i]);
		else
			join(first, sizeof(first), &w);
	}
	if (own == 0)
		return trk__doc_safe(d, rest, max);
	return trk__doc_print(d, TRK_DOC_STRONG "%s" TRK_DOC_PLAIN " %s",
			      trk__doc_safe(d, first, max / 2),
			      trk__doc_safe(d, rest, max - max / 2));
}
