/* The environment in UTF-8, and functions on texts that the C library of Windows lacks. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/wide.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/libc.h"
#include "base/os.h"
#include "base/parse.h"

/* ---- the environment ---- */

enum { VARIABLES_MAX = 4096, NAME_SIZE = 256 };

/* NAME=VALUE. A text that is replaced is not freed, as it may be in use. */
static char *variables[VARIABLES_MAX + 1];
static bool is_own[VARIABLES_MAX]; /* set by setenv(), for this program alone */
static size_t variable_count;
static SRWLOCK variables_lock = SRWLOCK_INIT;

static void read_variables(void)
{
	wchar_t *all = GetEnvironmentStringsW();

	for (const wchar_t *at = all; at && *at && variable_count < VARIABLES_MAX;
	     at += wcslen(at) + 1) {
		char *text = *at == L'=' ? NULL : trk__narrow_text(at); /* "=C:": a directory */

		if (text)
			variables[variable_count++] = text;
	}
	if (all)
		(void) FreeEnvironmentStringsW(all);
}

char **trk__environment(void)
{
	static bool is_read;

	if (!is_read)
		read_variables();
	is_read = true;
	return variables;
}

/* The index of NAME=VALUE, ignoring case; variable_count: none. */
static size_t find_variable(const char *name)
{
	size_t len = strlen(name), i = 0;

	(void) trk__environment();
	while (i < variable_count &&
	       (_strnicmp(variables[i], name, len) != 0 || variables[i][len] != '='))
		i++;
	return i;
}

/* Takes `text`. Returns 0 or -1. */
static int put(size_t i, char *text, bool own)
{
	if (!text || i == VARIABLES_MAX) {
		free(text);
		errno = ENOMEM;
		return -1;
	}
	variables[i] = text;
	is_own[i] = own;
	if (i == variable_count)
		variable_count++;
	return 0;
}

static char *assignment_of(const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 2;
	char *text = malloc(size);

	if (text)
		(void) snprintf(text, size, "%s=%s", name, value);
	return text;
}

/* The value that this process has now, which the program that has loaded the library may have
 * changed. NULL: none. */
static char *read_variable(const char *name)
{
	wchar_t wide[NAME_SIZE], *value;
	char *text = NULL;
	DWORD size;

	if (MultiByteToWideChar(CP_UTF8, 0, name, -1, wide, NAME_SIZE) == 0)
		return NULL;
	size = GetEnvironmentVariableW(wide, NULL, 0);
	value = size ? malloc(size * sizeof(*value)) : NULL;
	if (value && (GetEnvironmentVariableW(wide, value, size) > 0 || size == 1))
		text = trk__narrow_text(value);
	free(value);
	return text;
}

char *trk__getenv(const char *name)
{
	size_t len = strlen(name), i;
	char *now, *found = NULL;

	AcquireSRWLockExclusive(&variables_lock);
	i = find_variable(name);
	now = i < variable_count && is_own[i] ? NULL : read_variable(name);
	if (now && (i == variable_count || strcmp(variables[i] + len + 1, now) != 0))
		(void) put(i, assignment_of(name, now), false);
	if (i < variable_count && (now || is_own[i]))
		found = variables[i] + len + 1;
	ReleaseSRWLockExclusive(&variables_lock);
	free(now);
	return found;
}

int trk__setenv(const char *name, const char *value, int replace)
{
	size_t i;
	int r = 0;

	if (!replace && trk__getenv(name))
		return 0;
	AcquireSRWLockExclusive(&variables_lock);
	i = find_variable(name);
	r = put(i, assignment_of(name, value), true);
	ReleaseSRWLockExclusive(&variables_lock);
	return r;
}

/* The folders of a user, where Windows has them. */
char *trk__os_variable(const char *name)
{
	static const struct {
		const char *name, *from;
	} usual[] = {
		{"HOME", "USERPROFILE"},
		{"XDG_CONFIG_HOME", "APPDATA"},
		{"XDG_STATE_HOME", "LOCALAPPDATA"},
		{"XDG_CACHE_HOME", "LOCALAPPDATA"},
		{"TMPDIR", "TEMP"},
	};
	char *value = trk__getenv(name);

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]) && !value; i++)
		if (!strcmp(usual[i].name, name))
			value = trk__getenv(usual[i].from);
	return value;
}

int trk__unsetenv(const char *name)
{
	wchar_t wide[NAME_SIZE];
	size_t i;

	AcquireSRWLockExclusive(&variables_lock);
	i = find_variable(name);
	if (i < variable_count) {
		variable_count--;
		variables[i] = variables[variable_count];
		is_own[i] = is_own[variable_count];
		variables[variable_count] = NULL;
	}
	if (MultiByteToWideChar(CP_UTF8, 0, name, -1, wide, NAME_SIZE) > 0)
		(void) SetEnvironmentVariableW(wide, NULL);
	ReleaseSRWLockExclusive(&variables_lock);
	return 0;
}

/* ---- texts ---- */

char *strndup(const char *text, size_t max)
{
	size_t len = strnlen(text, max);
	char *copy = malloc(len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

char *strcasestr(const char *text, const char *part)
{
	size_t len = strlen(part);

	for (; strlen(text) >= len; text++)
		if (_strnicmp(text, part, len) == 0)
			return (char *) (uintptr_t) text;
	return NULL;
}

void *memmem(const void *data, size_t len, const void *part, size_t part_len)
{
	const char *at = data;

	for (; len >= part_len; at++, len--)
		if (memcmp(at, part, part_len) == 0)
			return (void *) (uintptr_t) at;
	return NULL;
}

char *trk__strerror_text(int code)
{
	const char *text = trk__errno_text(code);

	return (char *) (uintptr_t) (text ? text : "Unknown error");
}

static bool is_same(char a, char b, int flags)
{
	if (flags & FNM_CASEFOLD)
		return tolower((unsigned char) a) == tolower((unsigned char) b);
	return a == b;
}

int fnmatch(const char *pattern, const char *text, int flags)
{
	for (; *pattern && *pattern != '*'; pattern++, text++)
		if (!*text || (*pattern != '?' && !is_same(*pattern, *text, flags)))
			return 1;
	if (!*pattern)
		return *text ? 1 : 0;
	for (;; text++) {
		if (fnmatch(pattern + 1, text, flags) == 0)
			return 0;
		if (!*text)
			return 1;
	}
}

#endif
