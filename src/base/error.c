#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/libc.h"
#include "base/utf8.h"

enum { NOTE_SIZE = 40 }; /* " [4294967295 bytes left out] " */

const char *trk__strerror(int code)
{
	enum { FIRST = TRK_ERR_FORMAT };
	static const char *const texts[] = {
		[TRK_ERR_FORMAT - FIRST] = "not a resource-tracker recording",
		[TRK_ERR_VERSION - FIRST] = "recording made by a newer version of resource-tracker",
		[TRK_ERR_DAMAGED - FIRST] = "damaged recording",
		[TRK_ERR_NODATA - FIRST] = "no data",
		[TRK_ERR_NORUN - FIRST] = "no such run",
		[TRK_ERR_AMBIGUOUS - FIRST] = "more than one run matches",
		[TRK_ERR_UNSUPPORTED - FIRST] = "not supported by this kernel",
		[TRK_ERR_RANGE - FIRST] = "out of range",
		[TRK_ERR_SYMLINK - FIRST] = "a symbolic link, which is not followed",
		[TRK_ERR_UNTRUSTED - FIRST] = "another user owns it or may write to it",
		[TRK_ERR_NOTFILE - FIRST] = "not a regular file",
	};

	if (code < 0 && code != INT_MIN) /* which has no positive */
		code = -code;
	if (code >= FIRST && code <= TRK_ERR_NOTFILE)
		return texts[code - FIRST];
	return trk__errno_text(code) ? trk__errno_text(code) : "unknown error";
}

static bool is_inside_character(char c)
{
	return ((unsigned char) c & 0xc0) == 0x80;
}

static void format_message(char *text, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

static void format_message(char *text, size_t size, const char *format, va_list args)
{
	size_t len, head, tail;
	char *whole = NULL;
	va_list again;
	int n;

	*text = '\0';
	va_copy(again, args);
	n = vsnprintf(text, size, format, args);
	if (n >= 0 && (size_t) n >= size && size > 2 * NOTE_SIZE)
		n = vasprintf(&whole, format, again);
	va_end(again);
	if (n < 0 || !whole)
		return; /* it fits, or there is no memory: then the end is missing */
	len = (size_t) n;
	head = (size - NOTE_SIZE) / 2;
	tail = len - (size - NOTE_SIZE) / 2;
	while (head > 0 && is_inside_character(whole[head]))
		head--;
	while (is_inside_character(whole[tail]))
		tail++;
	(void) snprintf(text, size, "%.*s [%zu bytes left out] %s", (int) head, whole, tail - head,
			whole + tail);
	free(whole);
}

void trk__message(char *text, size_t size, const char *format, va_list args)
{
	format_message(text, size, format, args);
	trk__utf8_clean(text, strlen(text), "");
}

const char *trk__error_text(const struct trk_error *error, int code)
{
	return error->message[0] ? error->message : trk__strerror(code);
}

int trk__error_set(struct trk_error *reterr, int code, const char *file, const char *format, ...)
{
	va_list args;

	if (!reterr)
		return code;
	reterr->code = code;
	reterr->line = 0;
	(void) snprintf(reterr->file, sizeof(reterr->file), "%s", file ? file : "");
	va_start(args, format);
	trk__message(reterr->message, sizeof(reterr->message), format, args);
	va_end(args);
	return code;
}
