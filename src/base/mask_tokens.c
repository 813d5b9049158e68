/* Keys and tokens of known services, by the forms of mask_tokens.def. */
#include <string.h>

#include "base/mask_private.h"

static const char *const forms[] = {
#define TOKEN(form, what) form,
#include "base/mask_tokens.def"
#undef TOKEN
};

static const char classes[] = "*&~^%#";

static bool is_in_class(char class, char c)
{
	switch (class) {
	case '*':
		return trk__mask_is_alnum(c);
	case '&':
		return trk__mask_is_alnum(c) || c == '-' || c == '_';
	case '~':
		return trk__mask_is_alnum(c) || c == '+' || c == '/';
	case '^':
		return trk__mask_is_upper(c) || trk__mask_is_digit(c);
	case '%':
		return trk__mask_is_digit(c) || (c >= 'a' && c <= 'f');
	default:
		return trk__mask_is_digit(c);
	}
}

/* Length of the text of that form; 0: the text has another. */
static size_t form_length(const char *text, const char *form)
{
	const char *at = text;

	while (*form) {
		char class = *form++;
		size_t least = 0, n = 0;

		if (!strchr(classes, class)) {
			if (*at++ != class)
				return 0;
			continue;
		}
		while (trk__mask_is_digit(*form))
			least = least * 10 + (size_t) (*form++ - '0');
		while (is_in_class(class, at[n]))
			n++;
		if (n < least)
			return 0;
		at += n;
	}
	return (size_t) (at - text);
}

size_t trk__token_length(const char *text)
{
	if (!trk__mask_is_alnum(text[0]))
		return 0;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		bool is_possible = forms[i][0] == text[0] || strchr(classes, forms[i][0]);
		size_t len = is_possible ? form_length(text, forms[i]) : 0;

		if (len)
			return len + trk__mask_run(text + len, "_-.=");
	}
	return 0;
}
