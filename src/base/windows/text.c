/* The environment in UTF-8, and functions on texts that the C library of Windows lacks. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/wide.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/libc.h"
#include "base/parse.h"

/* ---- the environment ---- */

enum { VARIABLES_MAX = 4096 };

static char *variables[VARIABLES_MAX + 1]; /* NAME=VALUE */
static size_t variable_count;

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

/* The entry NAME=VALUE, ignoring case; NULL: none. */
static char **find_variable(const char *name)
{
	size_t len = strlen(name);

	for (char **at = trk__environment(); *at; at++)
		if (_strnicmp(*at, name, len) == 0 && (*at)[len] == '=')
			return at;
	return NULL;
}

char *trk__getenv(const char *name)
{
	char **at = find_variable(name);

	return at ? *at + strlen(name) + 1 : NULL;
}

/* The old text is not freed, as it may be in use. */
int trk__setenv(const char *name, const char *value, int replace)
{
	char **at = find_variable(name), *text;
	size_t size = strlen(name) + strlen(value) + 2;

	if (at && !replace)
		return 0;
	text = malloc(size);
	if (!text || (!at && variable_count == VARIABLES_MAX)) {
		free(text);
		errno = ENOMEM;
		return -1;
	}
	(void) snprintf(text, size, "%s=%s", name, value);
	if (at)
		*at = text;
	else
		variables[variable_count++] = text;
	return 0;
}

/* ---- texts ---- */

char *trk__strndup(const char *text, size_t max)
{
	size_t len = strnlen(text, max);
	char *copy = malloc(len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

char *trk__strcasestr(const char *text, const char *part)
{
	size_t len = strlen(part);

	for (; strlen(text) >= len; text++)
		if (_strnicmp(text, part, len) == 0)
			return (char *) (uintptr_t) text;
	return NULL;
}

void *trk__memmem(const void *data, size_t len, const void *part, size_t part_len)
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

/* ---- times ---- */

/* A number of at most `digits` digits from `min` to `max`. */
static const char *take_number(const char *text, int digits, int min, int max, int *ret)
{
	int number = 0, n = 0;

	for (; n < digits && text[n] >= '0' && text[n] <= '9'; n++)
		number = number * 10 + (text[n] - '0');
	if (n == 0 || number < min || number > max)
		return NULL;
	*ret = number;
	return text + n;
}

static const char *take_field(char which, const char *text, struct tm *tm)
{
	int number;

	switch (which) {
	case 'Y':
		text = take_number(text, 4, 0, 9999, &number);
		tm->tm_year = text ? number - 1900 : tm->tm_year;
		return text;
	case 'm':
		text = take_number(text, 2, 1, 12, &number);
		tm->tm_mon = text ? number - 1 : tm->tm_mon;
		return text;
	case 'd':
		return take_number(text, 2, 1, 31, &tm->tm_mday);
	case 'H':
		return take_number(text, 2, 0, 23, &tm->tm_hour);
	case 'M':
		return take_number(text, 2, 0, 59, &tm->tm_min);
	case 'S':
		return take_number(text, 2, 0, 60, &tm->tm_sec);
	default:
		return NULL;
	}
}

char *trk__strptime(const char *text, const char *pattern, struct tm *tm)
{
	for (; *pattern && text; pattern++) {
		if (*pattern == '%')
			text = take_field(*++pattern, text, tm);
		else
			text = *text == *pattern ? text + 1 : NULL;
	}
	return (char *) (uintptr_t) text;
}

#endif
