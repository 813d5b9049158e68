/* Jobs with a known behaviour, for the tests under Wine.
 *
 *     job exit CODE | print TEXT… | echo | pid | env NAME
 *     job burn MS | children N MS | orphan MS | sleep MS | crash
 *     job code WORD…  run a command line and print its exit code
 *     job asked MS    wait for a console event for at most MS, save, and exit with 7
 *     job event N MS  send the console event N to the tracker, and sleep
 *     job deaf MS     sleep, and ignore console events
 *     job page        print the code page of the console
 *     job paged WORD… run a command line in a console with code page 850, and print it afterwards */
#include <windows.h>

#include <shellapi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

static uint64_t units(FILETIME time)
{
	return (uint64_t) time.dwHighDateTime << 32 | time.dwLowDateTime;
}

static uint64_t own_cpu(void)
{
	FILETIME created, ended, kernel, user;

	GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user);
	return units(kernel) + units(user);
}

static void burn(int ms)
{
	uint64_t from = own_cpu();
	volatile unsigned int x = 1;

	do
		for (int i = 0; i < 200000; i++)
			x = x * 1664525u + 1013904223u;
	while (own_cpu() - from < (uint64_t) ms * 10000);
}

static void print(const wchar_t *text)
{
	char utf8[4096];

	WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, sizeof(utf8), NULL, NULL);
	printf("%s\n", utf8);
}

static HANDLE start(wchar_t *line)
{
	STARTUPINFOW info = {.cb = sizeof(info)};
	PROCESS_INFORMATION made;

	if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &info, &made)) {
		printf("CreateProcess: error %lu\n", GetLastError());
		exit(99);
	}
	CloseHandle(made.hThread);
	return made.hProcess;
}

static HANDLE start_self(const wchar_t *what, int ms)
{
	wchar_t self[MAX_PATH], line[MAX_PATH + 64];

	GetModuleFileNameW(NULL, self, MAX_PATH);
	swprintf(line, MAX_PATH + 64, L"\"%ls\" %ls %d", self, what, ms);
	return start(line);
}

static void print_code(HANDLE process)
{
	DWORD code;

	WaitForSingleObject(process, INFINITE);
	GetExitCodeProcess(process, &code);
	printf("exit code %lu\n", code);
}

static void print_page(void)
{
	DWORD mode = 0;

	GetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), &mode);
	printf("page=%u,mode=%lu.\n", GetConsoleOutputCP(), mode);
}

static BOOL WINAPI ignore(DWORD event)
{
	return event == CTRL_C_EVENT;
}

static volatile LONG arrived = -1;

static BOOL WINAPI note(DWORD event)
{
	InterlockedExchange(&arrived, (LONG) event);
	return TRUE;
}

/* Exit with 7 once an event has arrived, after the time that it takes to save something. */
static int be_asked(int ms)
{
	SetConsoleCtrlHandler(note, TRUE);
	printf("%lu ready\n", GetCurrentProcessId());
	while (arrived < 0)
		Sleep(20);
	Sleep((DWORD) ms);
	printf("saved\n");
	return 7;
}

static void be_deaf(int ms)
{
	SetConsoleCtrlHandler(note, TRUE);
	printf("%lu ready\n", GetCurrentProcessId());
	Sleep((DWORD) ms);
}

/* As the console does it, in the program of which RESOURCE_TRACKER_RUN ends with the pid. */
static void raise_event(int event)
{
	FARPROC routine = GetProcAddress(GetModuleHandleW(L"kernelbase.dll"), "CtrlRoutine");
	const wchar_t *pid = wcsrchr(_wgetenv(L"RESOURCE_TRACKER_RUN"), L':') + 1;
	HANDLE tracker = OpenProcess(PROCESS_ALL_ACCESS, FALSE, (DWORD) _wtoi(pid));

	if (!CreateRemoteThread(tracker, NULL, 0, (LPTHREAD_START_ROUTINE) (uintptr_t) routine,
				(void *) (intptr_t) event, 0, NULL))
		printf("CreateRemoteThread: error %lu\n", GetLastError());
}

static void run_paged(wchar_t *line)
{
	SetConsoleOutputCP(850);
	SetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), ENABLE_PROCESSED_OUTPUT);
	SetConsoleCtrlHandler(ignore, TRUE); /* its child has none of this kind */
	WaitForSingleObject(start(line), INFINITE);
	print_page();
}

/* The rest of the own command line, as it is: after `words` blanks that are not in quotes. */
static wchar_t *rest(int words)
{
	wchar_t *at = GetCommandLineW();

	for (BOOL quoted = FALSE; *at && words > 0; at++) {
		if (*at == L'"')
			quoted = !quoted;
		if (*at == L' ' && !quoted && at[1] != L' ')
			words--;
	}
	return at;
}

static void echo(void)
{
	char text[4096];
	size_t n;

	while ((n = fread(text, 1, sizeof(text), stdin)) > 0)
		fwrite(text, 1, n, stdout);
}

int wmain(int argc, wchar_t **argv)
{
	const wchar_t *what = argc > 1 ? argv[1] : L"";
	int number = argc > 2 ? (int) wcstoul(argv[2], NULL, 0) : 0;
	int other = argc > 3 ? _wtoi(argv[3]) : 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (!wcscmp(what, L"exit"))
		ExitProcess((UINT) number);
	else if (!wcscmp(what, L"print"))
		for (int i = 2; i < argc; i++)
			print(argv[i]);
	else if (!wcscmp(what, L"echo"))
		echo();
	else if (!wcscmp(what, L"pid"))
		printf("%lu\n", GetCurrentProcessId());
	else if (!wcscmp(what, L"env"))
		print(_wgetenv(argv[2]) ? _wgetenv(argv[2]) : L"(not set)");
	else if (!wcscmp(what, L"burn"))
		burn(number);
	else if (!wcscmp(what, L"children"))
		for (int i = 0; i < number; i++)
			WaitForSingleObject(start_self(L"burn", other), INFINITE);
	else if (!wcscmp(what, L"orphan"))
		start_self(L"sleep", number);
	else if (!wcscmp(what, L"sleep"))
		printf("%lu ready\n", GetCurrentProcessId()), Sleep((DWORD) number);
	else if (!wcscmp(what, L"crash"))
		RaiseException(EXCEPTION_ACCESS_VIOLATION, EXCEPTION_NONCONTINUABLE, 0, NULL);
	else if (!wcscmp(what, L"code"))
		print_code(start(rest(2)));
	else if (!wcscmp(what, L"asked"))
		return be_asked(number);
	else if (!wcscmp(what, L"event"))
		raise_event(number), Sleep((DWORD) other);
	else if (!wcscmp(what, L"deaf"))
		be_deaf(number);
	else if (!wcscmp(what, L"page"))
		print_page();
	else if (!wcscmp(what, L"paged"))
		run_paged(rest(2));
	else
		return 98;
	return 0;
}
