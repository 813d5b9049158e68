#include "base/shell_word.h"

#include <stdio.h>
#include <string.h>

static const char *quote(char *ret, size_t size, const char *before, const char *text)
{
	size_t len = (size_t) snprintf(ret, size, "%s'", before);

	for (; *text; text++) {
		const char *piece = *text == '\'' ? "'\\''" : (char[]){*text, '\0'};
		size_t more = strlen(piece);

		if (len + more + 2 > size) {
			ret[0] = '\0';
			return ret;
		}
		memcpy(ret + len, piece, more);
		len += more;
	}
	(void) snprintf(ret + len, size - len, "'");
	return ret;
}

const char *trk__shell_value(char *ret, size_t size, const char *text)
{
	return quote(ret, size, "", text);
}

const char *trk__shell_word(char *ret, size_t size, const char *text)
{
	return quote(ret, size, *text == '-' ? "-- " : "", text);
}
