#include "service/service.h"

#include <stdarg.h>

#include "base/error.h"

enum { NOTE_MAX = 2048 };

void trk__service_note(const struct trk_service *s, const char *format, ...)
{
	char text[NOTE_MAX];
	va_list args;

	if (!s->note)
		return;
	va_start(args, format);
	trk__message(text, sizeof(text), format, args);
	va_end(args);
	s->note(s->data, text);
}
