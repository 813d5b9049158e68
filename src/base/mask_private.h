/* What the files of the masker share: text of a command line, and where its secrets are. */
#ifndef TRK_BASE_MASK_PRIVATE_H
#define TRK_BASE_MASK_PRIVATE_H

#include "base/mask.h"

/* What a value may be without being secret. Every kind: "true", "none" and the like. */
enum trk_secret_kind {
	TRK_SECRET_NONE, /* the name means no secret */
	TRK_SECRET_ANY,
	TRK_SECRET_WORD, /* --pass 2, --auth basic */
	TRK_SECRET_FILE, /* --private-key ~/.ssh/id_ed25519 */
};

/* A match in the text. */
struct trk_mask_found {
	size_t kept, len; /* bytes to copy, and then to replace */
	const char *by;
};

extern const char trk__mask_secret[]; /* "[SECRET]" */

/* ASCII, in every locale. */
static inline bool trk__mask_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool trk__mask_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool trk__mask_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool trk__mask_is_alnum(char c)
{
	return trk__mask_is_upper(c) || trk__mask_is_lower(c) || trk__mask_is_digit(c);
}

/* A byte of a character of UTF-8 that is not ASCII. */
static inline bool trk__mask_is_beyond_ascii(char c)
{
	return (unsigned char) c >= 0x80;
}

/* Length of the prefix of letters, digits and `more`. */
size_t trk__mask_run(const char *text, const char *more);
/* Length of a word of a shell's line. */
size_t trk__mask_word(const char *text);
/* Length of the value at text: up to its closing quote, or to what ends a word. */
size_t trk__mask_value(const char *text, char quote);

/* mask_names.c: the kind of secret that the name of an option, variable or key means. */
enum trk_secret_kind trk__secret_name(const char *text, size_t len);
/* True if a value of that kind is no secret. */
bool trk__secret_is_plain(enum trk_secret_kind kind, const char *value, size_t len);

/* mask_tokens.c: length of the key or token of a known service at text; 0: none. */
size_t trk__token_length(const char *text);

/* mask_programs.c: notes a program whose options are known, and masks the values of these. `first`:
 * text is a whole argument; else it is a word of a line. */
bool trk__mask_program(struct trk_mask *mask, const char *text, bool first,
		       struct trk_mask_found *ret);

#endif
