/* Entry point on Windows: converts arguments to UTF-8, sets the console to UTF-8 and colours, and
 * sets the variables for a user's folders to the Windows defaults. */
#ifdef _WIN32 /* for code checkers on other systems */

#include "base/windows/wide.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/windows/arguments.h"
#include "base/windows/child.h"
#include "base/windows/console.h"
#include "base/windows/group.h"
#include "cli/cli.h"
#include "cli/windows/entry.h"

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

void cli_windows_mute(bool mute)
{
	static int kept = -1;
	int nothing = mute ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

	if (nothing >= 0 && kept < 0) {
		kept = _dup(STDERR_FILENO);
		(void) _dup2(nothing, STDERR_FILENO);
	}
	if (nothing >= 0)
		(void) close(nothing);
	if (mute || kept < 0)
		return;
	(void) _dup2(kept, STDERR_FILENO);
	(void) close(kept);
	kept = -1;
}

/* The program that was started first has already marked the run that it is a phase of. */
static void go_on_in_group(void)
{
	if (!trk__group_begin())
		return;
	(void) unsetenv("RESOURCE_TRACKER_RUN");
	cli_windows_mute(true);
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
			argv[i] = trk__argument_take(argv[i]);
		if (!argv[i])
			return EXIT_ERROR;
	}
	if (!argv)
		return EXIT_ERROR;
	set_folders();
	prepare_streams();
	go_on_in_group();
	status = main(argc, argv);
	free(argv);
	return trk__child_whole_code(status);
}

#endif
