#include "top/keys.h"

#include <string.h>

/* Longer sequences are not bound to a key. */
enum { SEQUENCE_MAX = 16 };

static const struct {
	const char *sequence; /* after the escape */
	int key;
} table[] = {
	{"[A", TRK_KEY_UP},
	{"OA", TRK_KEY_UP},
	{"[B", TRK_KEY_DOWN},
	{"OB", TRK_KEY_DOWN},
	{"[C", TRK_KEY_RIGHT},
	{"OC", TRK_KEY_RIGHT},
	{"[D", TRK_KEY_LEFT},
	{"OD", TRK_KEY_LEFT},
	{"[1;2C", TRK_KEY_SHIFT_RIGHT},
	{"[1;2D", TRK_KEY_SHIFT_LEFT},
	{"[c", TRK_KEY_SHIFT_RIGHT},
	{"[d", TRK_KEY_SHIFT_LEFT},
	{"[H", TRK_KEY_HOME},
	{"OH", TRK_KEY_HOME},
	{"[1~", TRK_KEY_HOME},
	{"[7~", TRK_KEY_HOME},
	{"[F", TRK_KEY_END},
	{"OF", TRK_KEY_END},
	{"[4~", TRK_KEY_END},
	{"[8~", TRK_KEY_END},
	{"[5~", TRK_KEY_PAGE_UP},
	{"[6~", TRK_KEY_PAGE_DOWN},
};

static int key_of(const char *sequence, size_t len)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strlen(table[i].sequence) == len && !memcmp(table[i].sequence, sequence, len))
			return table[i].key;
	return TRK_KEY_UNKNOWN;
}

/* A control sequence ends with a byte from '@' to '~' after its bracket; SS3 is one more byte. */
static size_t parse_sequence(const char *text, size_t len, bool last, int *ret_key)
{
	for (size_t i = 2; i < len && i < SEQUENCE_MAX; i++)
		if (text[1] == 'O' || (text[i] >= '@' && text[i] <= '~')) {
			*ret_key = key_of(text + 1, i);
			return i + 1;
		}
	if (len < SEQUENCE_MAX && !last)
		return 0;
	*ret_key = TRK_KEY_UNKNOWN;
	return len < SEQUENCE_MAX ? len : SEQUENCE_MAX;
}

static int plain_key(unsigned char c)
{
	switch (c) {
	case '\r':
	case '\n':
		return TRK_KEY_ENTER;
	case 8:
	case 127:
		return TRK_KEY_BACKSPACE;
	case TRK_KEY_CTRL_C:
	case TRK_KEY_CTRL_Z:
		return c;
	default:
		return c >= ' ' && c < 127 ? c : TRK_KEY_UNKNOWN;
	}
}

size_t trk__key_parse(const char *text, size_t len, bool last, int *ret_key)
{
	if (len == 0)
		return 0;
	if (text[0] != '\033') {
		*ret_key = plain_key((unsigned char) text[0]);
		return 1;
	}
	if (len == 1 && !last)
		return 0;
	if (len > 1 && (text[1] == '[' || text[1] == 'O'))
		return parse_sequence(text, len, last, ret_key);
	*ret_key = TRK_KEY_ESCAPE;
	return 1;
}
