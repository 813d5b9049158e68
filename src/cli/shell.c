/* The tracking shell: under the name of a shell, below libexec/resource-tracker/bin, this
 * program runs the real shell of that name with the same arguments, and tracks it. For SHELL :=
 * in a makefile, and for other programs that take the path of a shell.
 *
 * It prints nothing, as make starts a shell for each line of a recipe. `show` and `history` print
 * what a run used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "cli/cli.h"

enum { PATH_SIZE = 4096 };

static bool is_this_program(const char *path)
{
	struct stat a, b;

	return stat(path, &a) == 0 && stat(trk__os_own_file(), &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* The first program of this name in PATH, then in the usual places, that is not this program. */
static bool find_real(const char *name, char *path)
{
	const char *at = getenv("PATH");
	static const char usual[] = "/bin:/usr/bin:/usr/local/bin";

	for (int turn = 0; turn < 2; turn++, at = usual) {
		while (at && *at) {
			size_t len = strcspn(at, ":");

			(void) snprintf(path, PATH_SIZE, "%.*s/%s", (int) len, at, name);
			if (len && access(path, X_OK) == 0 && !is_this_program(path))
				return true;
			at += len;
			at += *at == ':';
		}
	}
	return false;
}

const char *cli_shell_name(const char *argv0)
{
	static const char *const names[] = {"bash", "sh", "dash", "zsh", "ksh"};
	const char *slash = strrchr(argv0, '/');
	const char *name = slash ? slash + 1 : argv0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return names[i];
	return NULL;
}

int cli_shell(const char *name, int argc, char **argv)
{
	static char path[PATH_SIZE];
	char **words = calloc((size_t) argc + 5, sizeof(*words));
	size_t n = 0;
	int status;

	if (!words || !find_real(name, path)) {
		cli_complain("%s: the real shell is not found in PATH", name);
		free(words);
		return EXIT_NOT_FOUND;
	}
	if (getenv("RESOURCE_TRACKER_RUN")) { /* too small a part of a run to be its phase */
		argv[0] = path;
		(void) execv(path, argv);
	}
	words[n++] = (char[]){"run"};
	words[n++] = (char[]){"--quiet"};
	words[n++] = (char[]){"--"};
	words[n++] = path;
	for (int i = 1; i < argc; i++)
		words[n++] = argv[i];
	status = cli_run.run((int) n, words);
	free(words);
	return status;
}
