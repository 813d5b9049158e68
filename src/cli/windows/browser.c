/* The explorer opens a page in the browser. Its exit code says nothing. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include <limits.h>
#include <stdlib.h>

#include "base/os.h"
#include "base/windows/child.h"
#include "cli/cli.h"

/* It reads '/' as the sign of an option, and a path without a folder as a place of its own. */
static int start(const char *path)
{
	char name[PATH_MAX];
	char *const argv[] = {(char *) (uintptr_t) trk__os_opener, name, NULL};
	const struct trk_beside explorer = {
		.file = trk__os_opener, .argv = argv, .environment = trk__os_environment()};
	HANDLE process;
	int r = realpath(path, name) ? 0 : -errno;

	for (char *at = name; r == 0 && *at; at++)
		if (*at == '/')
			*at = '\\';
	if (r == 0)
		r = trk__child_beside(&explorer, &process);
	if (r == 0)
		(void) CloseHandle(process);
	return r;
}

void cli_browser_open(const char *path)
{
	(void) start(path);
}

int cli_browser_show(const char *path)
{
	int r = start(path);

	return r == 0 ? 0
		      : cli_reject(EXIT_ERROR, "%s: cannot open it in a browser by %s: %s", path,
				   trk__os_opener, trk__strerror(r));
}

#endif
