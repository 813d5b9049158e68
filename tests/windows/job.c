/* Jobs with a known behaviour, for the tests under Wine.
 *
 *     job exit CODE | echo | env NAME | burn MS
 *     job code WORD…  run a command line and print its exit code
 *     job paged WORD… run a command line in a console with code page 850, and print it afterwards */
#include <windows.h>

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

static void print_code(HANDLE process)
{
	DWORD code;

	WaitForSingleObject(process, INFINITE);
	GetExitCodeProcess(process, &code);
	printf("exit code %lu\n", code);
}

static void run_paged(wchar_t *line)
{
	DWORD mode = 0;

	SetConsoleOutputCP(850);
	SetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), ENABLE_PROCESSED_OUTPUT);
	WaitForSingleObject(start(line), INFINITE);
	GetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), &mode);
	printf("page=%u,mode=%lu.\n", GetConsoleOutputCP(), mode);
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

	setvbuf(stdout, NULL, _IONBF, 0);
	if (!wcscmp(what, L"exit"))
		ExitProcess((UINT) number);
	else if (!wcscmp(what, L"echo"))
		echo();
	else if (!wcscmp(what, L"env"))
		print(_wgetenv(argv[2]) ? _wgetenv(argv[2]) : L"(not set)");
	else if (!wcscmp(what, L"burn"))
		burn(number);
	else if (!wcscmp(what, L"code"))
		print_code(start(rest(2)));
	else if (!wcscmp(what, L"paged"))
		run_paged(rest(2));
	else
		return 98;
	return 0;
}
