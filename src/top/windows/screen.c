/* The console: its events are keys, which are passed on as the bytes that a terminal sends, and new
 * sizes. Ctrl-C is a key while a screen is open. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "top/screen.h"

#include "base/windows/wide.h"

#include <string.h>

#include "base/file.h"

/* Alternate screen, no cursor, no line wrap; and their reset. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?2026l\033[0m\033[?7h\033[?25h\033[?1049l"

enum { RECORDS = 16 };

static struct {
	bool open, gone;
	int out_fd;
	HANDLE in, out;
	DWORD in_mode; /* before */
	int columns, rows;
	char keys[256]; /* that were not read yet */
	size_t len;
} screen;

/* ---- keys ---- */

static void push(const char *text)
{
	size_t len = strlen(text);

	if (len > sizeof(screen.keys) - screen.len)
		return;
	memcpy(screen.keys + screen.len, text, len);
	screen.len += len;
}

static void take_key(const KEY_EVENT_RECORD *key)
{
	static const struct {
		WORD code;
		const char *plain, *with_shift;
	} table[] = {
		{VK_UP, "\033[A", "\033[A"},       {VK_DOWN, "\033[B", "\033[B"},
		{VK_RIGHT, "\033[C", "\033[1;2C"}, {VK_LEFT, "\033[D", "\033[1;2D"},
		{VK_HOME, "\033[H", "\033[H"},     {VK_END, "\033[F", "\033[F"},
		{VK_PRIOR, "\033[5~", "\033[5~"},  {VK_NEXT, "\033[6~", "\033[6~"},
	};
	char c = key->uChar.UnicodeChar < 128 ? (char) key->uChar.UnicodeChar : '\0';

	if (!key->bKeyDown)
		return;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].code == key->wVirtualKeyCode) {
			push(key->dwControlKeyState & SHIFT_PRESSED ? table[i].with_shift
								    : table[i].plain);
			return;
		}
	if (c)
		push((char[]){c, '\0'});
}

/* Take the events that are there. */
static void take_events(void)
{
	INPUT_RECORD record[RECORDS];
	DWORD n = 0;

	if (!ReadConsoleInputW(screen.in, record, RECORDS, &n)) {
		screen.gone = true;
		return;
	}
	for (DWORD i = 0; i < n; i++)
		for (WORD k = 0;
		     record[i].EventType == KEY_EVENT && k < record[i].Event.KeyEvent.wRepeatCount;
		     k++)
			take_key(&record[i].Event.KeyEvent);
}

/* ---- the screen ---- */

int trk__screen_open(int in_fd, int out_fd)
{
	DWORD mode;

	screen.in = trk__handle_of(in_fd);
	screen.out = trk__handle_of(out_fd);
	screen.out_fd = out_fd;
	if (!GetConsoleMode(screen.in, &screen.in_mode) || !GetConsoleMode(screen.out, &mode))
		return -ENOTTY;
	(void) SetConsoleMode(screen.in, ENABLE_WINDOW_INPUT);
	(void) trk__screen_size(&screen.columns, &screen.rows);
	screen.open = true;
	screen.gone = false;
	screen.len = 0;
	(void) trk__write_all(out_fd, ENTER, sizeof(ENTER) - 1);
	return 0;
}

void trk__screen_close(void)
{
	if (!screen.open)
		return;
	screen.open = false;
	(void) trk__write_all(screen.out_fd, LEAVE, sizeof(LEAVE) - 1);
	(void) SetConsoleMode(screen.in, screen.in_mode);
}

bool trk__screen_size(int *ret_columns, int *ret_rows)
{
	CONSOLE_SCREEN_BUFFER_INFO info;

	if (!GetConsoleScreenBufferInfo(screen.out, &info))
		return false;
	*ret_columns = info.srWindow.Right - info.srWindow.Left + 1;
	*ret_rows = info.srWindow.Bottom - info.srWindow.Top + 1;
	return true;
}

/* No event tells of a new size of the window whose buffer keeps its size. */
static bool is_resized(void)
{
	int columns = screen.columns, rows = screen.rows;

	(void) trk__screen_size(&screen.columns, &screen.rows);
	return columns != screen.columns || rows != screen.rows;
}

bool trk__screen_wait(int timeout_ms, bool *ret_resized)
{
	ULONGLONG until_ms = GetTickCount64() + (ULONGLONG) timeout_ms, now_ms;

	*ret_resized = is_resized();
	while (!screen.len && !screen.gone && !*ret_resized &&
	       (now_ms = GetTickCount64()) < until_ms) {
		if (WaitForSingleObject(screen.in, (DWORD) (until_ms - now_ms)) == WAIT_OBJECT_0)
			take_events();
		*ret_resized = is_resized();
	}
	return screen.len > 0 || screen.gone;
}

ssize_t trk__screen_read(char *keys, size_t size)
{
	size_t len = size < screen.len ? size : screen.len;

	memcpy(keys, screen.keys, len);
	screen.len -= len;
	memmove(screen.keys, screen.keys + len, screen.len);
	return (ssize_t) len;
}

/* No program is stopped on Windows. */
void trk__screen_suspend(void)
{
}

#endif
