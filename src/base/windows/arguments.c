#include "base/windows/arguments.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"

enum { CHANGED_MAX = 256 };

static struct {
	char *used, *given;
} changed[CHANGED_MAX];
static int changes;

/* A name of a file that is written with '\\': "C:\x", "\\server\x", ".\x", "..\x", "x\y" if it
 * exists. The program uses '/', which Windows accepts too. */
static bool is_path(const char *text)
{
	if (!strchr(text, '\\'))
		return false;
	if (text[0] == '\\' || (text[0] && text[1] == ':' && text[2] == '\\'))
		return true;
	return !strncmp(text, ".\\", 2) || !strncmp(text, "..\\", 3) || access(text, F_OK) == 0;
}

void trk__argument_use_slashes(char *text)
{
	if (!is_path(text))
		return;
	for (; *text; text++)
		if (*text == '\\')
			*text = '/';
}

char *trk__argument_take(char *given)
{
	char *used = strdup(given), *value;

	if (!used)
		return NULL;
	value = !strncmp(used, "--", 2) ? strchr(used, '=') : NULL;
	trk__argument_use_slashes(value ? value + 1 : used);
	if (changes == CHANGED_MAX || !strcmp(used, given)) {
		free(used);
		return given;
	}
	changed[changes].used = used;
	changed[changes++].given = given;
	return used;
}

void trk__os_given_arguments(char **argv)
{
	for (; *argv; argv++)
		for (int i = 0; i < changes; i++)
			if (*argv == changed[i].used)
				*argv = changed[i].given;
}
