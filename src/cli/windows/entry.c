/* Entry point on Windows: converts arguments to UTF-8, sets the console to UTF-8 and colours, and
 * sets the variables for a user's folders to the Windows defaults. */
#ifdef _WIN32 /* for code checkers on other systems */

#include "base/windows/wide.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/windows/arguments.h"
#include "base/windows/console.h"
#include "cli/cli.h"

int main(int argc, char **argv);
int wmain(int argc, wchar_t **wide);

/* Variables that name folders, with '/' and with the usual places of Windows. */
static void set_folders(void)
{
	static const char *const names[] = {
		"RESOURCE_TRACKER_DIR", "RESOURCE_TRACKER_DATA", "HOME",  "XDG_CONFIG_HOME",
		"XDG_STATE_HOME",       "XDG_CACHE_HOME",        "TMPDIR"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = trk__os_variable(names[i]);
		char *text = value ? strdup(value) : NULL;

		if (!text)
			continue;
		trk__argument_use_slashes(text);
		(void) setenv(names[i], text, 1);
		free(text);
	}
	(void) setenv("LANG", "C.UTF-8", 0);
}

static void prepare_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		(void) _setmode(fd, _O_BINARY);
	if (trk__console_take())
		(void) setenv("TERM", "xterm-256color", 0);
	(void) atexit(trk__console_give_back);
}

int wmain(int argc, wchar_t **wide)
{
	char **argv = calloc((size_t) argc + 1, sizeof(*argv));
	int status;

	_fmode = _O_BINARY;
	for (int i = 0; argv && i < argc; i++) {
		argv[i] = trk__narrow_text(wide[i]);
		if (!argv[i])
			return EXIT_ERROR;
		if (i > 0)
			trk__argument_convert(argv[i]);
	}
	if (!argv)
		return EXIT_ERROR;
	set_folders();
	prepare_streams();
	status = main(argc, argv);
	free(argv);
	return status;
}

#endif
