#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include <windows.h>

#include "base/windows/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include <winternl.h>

#include "base/windows/console.h"
#include "base/windows/wide.h"

/* In which a key reaches all processes of a console. Windows ends a program a few seconds after its
 * console was closed. */
enum { EVENT_MS = 300, END_OF_CONSOLE_MS = 60000 };

/* For the program in the group: the number of the event below. */
static const wchar_t variable[] = L"RESOURCE_TRACKER_GROUP";

static struct {
	bool is_own, has_asked;
	HANDLE has_event; /* an event: Ctrl-C or Ctrl-Break has reached the program in it */
	DWORD id;         /* of the group */
} group;

bool trk__group_begin(void)
{
	wchar_t text[32];
	DWORD len = GetEnvironmentVariableW(variable, text, 32);

	if (len == 0 || len >= 32)
		return false;
	(void) SetEnvironmentVariableW(variable, NULL);
	group.is_own = true;
	group.id = GetCurrentProcessId();
	group.has_event = (HANDLE) (uintptr_t) wcstoull(text + 1, NULL, 10);
	(void) SetHandleInformation(group.has_event, HANDLE_FLAG_INHERIT, 0);
	if (text[0] == L'c')
		(void) SetConsoleCtrlHandler(NULL, FALSE); /* Ctrl-C is not ignored */
	return true;
}

/* ---- the program that was started first ---- */

/* There is no function for this flag, which children inherit. */
static bool ignores_ctrl_c(void)
{
	typedef PEB *WINAPI get_own(void);
	get_own *get = (get_own *) (uintptr_t) GetProcAddress(GetModuleHandleW(L"ntdll.dll"),
							      "RtlGetCurrentPeb");
	const RTL_USER_PROCESS_PARAMETERS *p = get ? get()->ProcessParameters : NULL;

	return p && (uintptr_t) p->Reserved2[1] & 1; /* ConsoleFlags */
}

/* A key has reached the group as well, but not an event that was sent to the group of this program,
 * nor Ctrl-C under Wine. */
static BOOL WINAPI pass_on(DWORD event)
{
	if (event != CTRL_BREAK_EVENT && event != CTRL_C_EVENT)
		Sleep(END_OF_CONSOLE_MS); /* the program ends when this returns */
	else if (WaitForSingleObject(group.has_event, EVENT_MS) == WAIT_TIMEOUT)
		(void) GenerateConsoleCtrlEvent(event, group.id);
	return TRUE;
}

static bool start(PROCESS_INFORMATION *ret)
{
	STARTUPINFOW info = {
		.cb = sizeof(info),
		.dwFlags = STARTF_USESTDHANDLES,
		.hStdInput = GetStdHandle(STD_INPUT_HANDLE),
		.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE),
		.hStdError = GetStdHandle(STD_ERROR_HANDLE),
	};
	SECURITY_ATTRIBUTES inherited = {.nLength = sizeof(inherited), .bInheritHandle = TRUE};
	wchar_t path[TRK_WIDE_PATH_MAX], *line = _wcsdup(GetCommandLineW()), text[32];
	bool done = false;

	group.has_event = CreateEventW(&inherited, FALSE, FALSE, NULL);
	(void) swprintf(text, 32, L"%ls%llu", ignores_ctrl_c() ? L"i" : L"c",
			(unsigned long long) (uintptr_t) group.has_event);
	if (line && group.has_event && SetEnvironmentVariableW(variable, text) &&
	    GetModuleFileNameW(NULL, path, TRK_WIDE_PATH_MAX) < TRK_WIDE_PATH_MAX)
		done = CreateProcessW(path, line, NULL, NULL, TRUE, CREATE_NEW_PROCESS_GROUP, NULL,
				      NULL, &info, ret);
	(void) SetEnvironmentVariableW(variable, NULL);
	free(line);
	return done;
}

void trk__group_enter(void)
{
	PROCESS_INFORMATION in_group;
	DWORD code, one;

	if (group.is_own || GetConsoleProcessList(&one, 1) == 0)
		return;
	trk__console_give_back();
	if (!start(&in_group)) {
		(void) trk__console_take();
		return;
	}
	group.id = in_group.dwProcessId;
	(void) SetConsoleCtrlHandler(pass_on, TRUE);
	(void) WaitForSingleObject(in_group.hProcess, INFINITE);
	(void) GetExitCodeProcess(in_group.hProcess, &code);
	ExitProcess(code);
}

/* ---- the program in the group ---- */

void trk__group_note_event(void)
{
	if (group.has_event)
		(void) SetEvent(group.has_event);
}

bool trk__group_ask_to_end(void)
{
	/* Wine refuses Ctrl-Break. */
	bool done = group.is_own && (GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, group.id) ||
				     GenerateConsoleCtrlEvent(CTRL_C_EVENT, group.id));

	group.has_asked |= done;
	return done;
}

bool trk__group_has_asked(void)
{
	return group.has_asked;
}

#endif
