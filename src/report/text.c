#include "report/text.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

size_t trk__text_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char) *text & 0xc0) != 0x80;
	return n;
}

void trk__text_safe(struct trk_buf *b, const char *text, size_t max, bool utf8)
{
	size_t n = 0, len = strlen(text);

	while (n < max && n < len) {
		size_t size = trk__utf8_length(text + n, len - n);

		if (n + size > max)
			break;
		if (size == 1 && text[n] >= 0x20 && text[n] != 0x7f)
			trk__buf_putc(b, text[n]);
		else if (size > 1 && utf8 &&
			 !((unsigned char) text[n] == 0xc2 &&
			   (unsigned char) text[n + 1] < 0xa0)) /* C1 controls */
			trk__buf_add(b, text + n, size);
		else
			trk__buf_putc(b, '?');
		n += size ? size : 1;
	}
	if (n < len)
		trk__buf_puts(b, utf8 ? "\xe2\x80\xa6" : "~");
}

void trk__text_rough_duration(char *text, size_t size, double seconds)
{
	unsigned long minutes = (unsigned long) (seconds / 60 + 0.5);

	if (minutes >= 60)
		(void) snprintf(text, size, "%lu h %lu m", minutes / 60, minutes % 60);
	else if (seconds >= 119.5)
		(void) snprintf(text, size, "%lu m", minutes);
	else
		(void) snprintf(text, size, seconds < 9.95 ? "%.1f s" : "%.0f s", seconds);
}
