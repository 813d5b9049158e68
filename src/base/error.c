#include "base/error.h"

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "base/libc.h"
#include "base/message.h"

enum { VALUE_MAX = 160 }; /* in a message: the reason must find room after it */

const char *trk__strerror(int code)
{
	if (code < 0 && code != INT_MIN) /* which has no positive */
		code = -code;
	switch (code) {
#define X(name, value, text)                                                                       \
	case name:                                                                                 \
		return text;
		TRK_ERROR_LIST(X)
#undef X
	default:
		return trk__errno_text(code) ? trk__errno_text(code) : "unknown error";
	}
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
	trk__message(reterr->message, sizeof(reterr->message), VALUE_MAX, format, args);
	va_end(args);
	return code;
}
