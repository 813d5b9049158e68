#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include <windows.h>

#include "base/windows/console.h"

static struct {
	bool is_taken, handles_end;
	UINT code_page; /* 0: no console */
	HANDLE output;  /* NULL: standard output is no console */
	DWORD mode;
} before;

/* Ctrl-C ends the program in another thread, and no function of atexit() is called. */
static BOOL WINAPI on_end(DWORD event)
{
	trk__console_give_back();
	return FALSE; /* the next handler ends the program */
}

static bool is_console(DWORD stream, DWORD *ret_mode)
{
	return GetConsoleMode(GetStdHandle(stream), ret_mode);
}

bool trk__console_take(void)
{
	DWORD mode;

	if (before.is_taken)
		return before.output != NULL;
	before.output = is_console(STD_OUTPUT_HANDLE, &before.mode)
				? GetStdHandle(STD_OUTPUT_HANDLE)
				: NULL;
	if (!before.output && !is_console(STD_ERROR_HANDLE, &mode))
		return false;
	if (!before.handles_end)
		(void) SetConsoleCtrlHandler(on_end, TRUE);
	before.handles_end = before.is_taken = true;
	before.code_page = GetConsoleOutputCP();
	(void) SetConsoleOutputCP(CP_UTF8);
	return before.output &&
	       SetConsoleMode(before.output, before.mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

void trk__console_give_back(void)
{
	if (!before.is_taken)
		return;
	before.is_taken = false;
	(void) SetConsoleOutputCP(before.code_page);
	if (before.output)
		(void) SetConsoleMode(before.output, before.mode);
}

#endif
