/* Keys as a terminal sends them. Pure. */
#ifndef TRK_TOP_KEYS_H
#define TRK_TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Printable ASCII is itself. */
enum trk_key {
	TRK_KEY_NONE = 0,
	TRK_KEY_CTRL_C = 3,
	TRK_KEY_BACKSPACE = 8,
	TRK_KEY_ENTER = 13,
	TRK_KEY_CTRL_Z = 26,
	TRK_KEY_ESCAPE = 27,
	TRK_KEY_UP = 256,
	TRK_KEY_DOWN,
	TRK_KEY_LEFT,
	TRK_KEY_RIGHT,
	TRK_KEY_SHIFT_LEFT,
	TRK_KEY_SHIFT_RIGHT,
	TRK_KEY_HOME,
	TRK_KEY_END,
	TRK_KEY_PAGE_UP,
	TRK_KEY_PAGE_DOWN,
	TRK_KEY_UNKNOWN,
};

/* Parse the first key of text[0..len). Returns its length in bytes; 0 if more bytes are needed.
 * With `last` no more bytes come, and a single escape is the key Escape. */
size_t trk__key_parse(const char *text, size_t len, bool last, int *ret_key);

#endif
