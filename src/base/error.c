#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/libc.h"

enum { NOTE_SIZE = 40 }; /* " [4294967295 bytes left out] " */

const char *trk__strerror(int code)
{
	if (code < 0 && code != INT_MIN) /* which has no positive */
		code = -code;
	switch (code) {
	case TRK_ERR_FORMAT:
		return "not a resource-tracker recording";
	case TRK_ERR_VERSION:
		return "recording made by a newer version of resource-tracker";
	case TRK_ERR_DAMAGED:
		return "damaged recording";
	case TRK_ERR_NODATA:
		return "no data";
	case TRK_ERR_NORUN:
		return "no such run";
	case TRK_ERR_AMBIGUOUS:
		return "more than one run matches";
	case TRK_ERR_UNSUPPORTED:
		return "not supported by this kernel";
	case TRK_ERR_RANGE:
		return "out of range";
	case TRK_ERR_SYMLINK:
		return "a symbolic link, which is not followed";
	case TRK_ERR_UNTRUSTED:
		return "another user owns it or may write to it";
	case TRK_ERR_NOTFILE:
		return "not a regular file";
	default:
		return trk__errno_text(code) ? trk__errno_text(code) : "unknown error";
	}
}

static bool is_inside_character(char c)
{
	return ((unsigned char) c & 0xc0) == 0x80;
}

void trk__message(char *text, size_t size, const char *format, va_list args)
{
	size_t len, head, tail;
	char *whole = NULL;
	va_list again;
	int n;

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
