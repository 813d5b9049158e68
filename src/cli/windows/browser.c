/* The program that the user has chosen for pages opens one. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/wide.h"

#include <limits.h>
#include <shellapi.h>
#include <stdlib.h>

#include "cli/cli.h"

/* 0 or a negative errno. */
static int start(const char *path)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];
	char name[PATH_MAX];

	/* A result above 32 means success. */
	if (!realpath(path, name) || !trk__wide_path(AT_FDCWD, name, wide))
		return -errno;
	return (intptr_t) ShellExecuteW(NULL, L"open", wide, NULL, NULL, SW_SHOWNORMAL) > 32
		       ? 0
		       : -trk__windows_errno(GetLastError());
}

void cli_browser_open(const char *path)
{
	(void) start(path);
}

int cli_browser_show(const char *path)
{
	int r = start(path);

	return r == 0 ? 0
		      : cli_reject(EXIT_ERROR, "%s: cannot open it in a browser: %s", path,
				   trk__strerror(r));
}

#endif
