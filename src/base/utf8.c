#include "base/utf8.h"

#include <string.h>

uint32_t trk__utf8_code(const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *) text;
	uint32_t code = size > 1 ? s[0] & (0xffu >> (size + 1)) : s[0];

	for (size_t i = 1; i < size; i++)
		code = code << 6 | (s[i] & 0x3fu);
	return code;
}

size_t trk__utf8_length(const char *text, size_t left)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* code by bytes */
	const unsigned char *s = (const unsigned char *) text;
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	uint32_t code;

	if (n == 1)
		return 1;
	if (n == 0 || n > left || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	code = trk__utf8_code(text, n);
	return code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

static bool is_within(uint32_t code, const uint32_t ranges[][2], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (code >= ranges[i][0] && code <= ranges[i][1])
			return true;
	return false;
}

#define COUNT(ranges) (sizeof(ranges) / sizeof((ranges)[0]))

bool trk__utf8_is_hidden(const char *text, size_t size)
{
	static const uint32_t ranges[][2] = {
		{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
		{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
	};

	return size == 0 || is_within(trk__utf8_code(text, size), ranges, COUNT(ranges));
}

void trk__utf8_clean(char *text, size_t len, const char *keep)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = 1;
		if (text[i] >= ' ' && text[i] < 0x7f)
			continue;
		n = trk__utf8_length(text + i, len - i);
		if (trk__utf8_is_hidden(text + i, n) && (text[i] == '\0' || !strchr(keep, text[i])))
			memset(text + i, '?', n ? n : 1);
		n = n ? n : 1;
	}
}

/* East Asian Width W and F of Unicode, in whole blocks; marks of zero width. */
size_t trk__utf8_char_columns(const char *text, size_t size)
{
	static const uint32_t wide[][2] = {
		{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
		{0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
		{0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff},
		{0x20000, 0x3fffd},
	};
	static const uint32_t none[][2] = {
		{0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
	uint32_t code = size ? trk__utf8_code(text, size) : '?';

	return is_within(code, none, COUNT(none)) ? 0 : is_within(code, wide, COUNT(wide)) ? 2 : 1;
}

size_t trk__utf8_columns(const char *text)
{
	size_t n = 0, left = strlen(text);

	while (left) {
		size_t size = trk__utf8_length(text, left);

		if (*text == '\033') {
			size = strcspn(text, "m");
			size += text[size] == 'm';
		} else {
			n += trk__utf8_char_columns(text, size);
		}
		size = size ? size : 1;
		text += size;
		left -= size;
	}
	return n;
}

void trk__utf8_safe(struct trk_buf *b, const char *text, size_t max, bool utf8)
{
	size_t n = 0, len = strlen(text);

	while (n < max && n < len) {
		size_t size = trk__utf8_length(text + n, len - n);

		if (n + size > max)
			break;
		if (trk__utf8_is_hidden(text + n, size) || (size > 1 && !utf8))
			trk__buf_putc(b, '?');
		else
			trk__buf_add(b, text + n, size);
		n += size ? size : 1;
	}
	if (n < len)
		trk__buf_puts(b, utf8 ? "\xe2\x80\xa6" : "~");
}
