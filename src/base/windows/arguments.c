#include "base/windows/arguments.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

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

void trk__argument_convert(char *argument)
{
	char *value = !strncmp(argument, "--", 2) ? strchr(argument, '=') : NULL;

	trk__argument_use_slashes(value ? value + 1 : argument);
}
