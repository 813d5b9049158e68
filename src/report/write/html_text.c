#include "report/write/html_text.h"

#include <string.h>

const char *const trk__html_tones[] = {"", "strong", "good", "bad", "warn", "muted"};

void trk__html_text(struct trk_buf *b, const char *text)
{
	static const char special[] = "&<>\"'";

	for (; *text; text++) {
		size_t plain = strcspn(text, "&<>\"'\x01\x02\x03\x04");

		trk__buf_add(b, text, plain);
		text += plain;
		if (*text == '\0')
			return;
		if (strchr(special, *text)) /* else a mark */
			trk__buf_markup(b, text, 1, special);
	}
}

void trk__html_rich(struct trk_buf *b, const char *text)
{
	static const char *const elements[] = {"<strong>", "</strong>", "<bdi>", "</bdi>"};

	char piece[256];

	while (*text) {
		size_t plain = strcspn(text, "\x01\x02\x03\x04");

		if (plain >= sizeof(piece))
			plain = sizeof(piece) - 1;
		memcpy(piece, text, plain);
		piece[plain] = '\0';
		trk__html_text(b, piece);
		text += plain;
		if (*text && (unsigned char) *text <= 4)
			trk__buf_puts(b, elements[*text++ - 1]);
	}
}

void trk__html_packed(struct trk_buf *b, uint32_t value, int digits)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	while (digits-- > 0)
		trk__buf_putc(b, alphabet[value >> (6 * digits) & 63]);
}
