/* The program: find the verb and run it. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/edits.h"
#include "base/os.h"
#include "cli/cli.h"
#include "probe/linux/worker.h"

/* clang-format off */
const struct cli_command *const cli_commands[] = {
#define X(name) &cli_##name,
	CLI_COMMAND_LIST(X)
#undef X
	NULL,
};
/* clang-format on */

/* Words that stand for others. */
static const struct {
	const char *word, *verb, *more;
} aliases[] = {
	{"--help", "help", NULL},
	{"-h", "help", NULL},
	{"--version", "version", NULL},
	{"-V", "version", NULL},
	{"ls", "history", NULL},
	{"prune", "history", "prune"},
	{"stats", "show", "--stats"},
	{"servers", "catalog", "search"},
	{"digest", "alerts", "digest"},
	{"server-info", "machine", NULL},
	{"cloud-info", "machine", "--cloud"},
};

/* Replace an alias at the front of the words, which stay on the heap until the program ends. */
static void resolve_alias(int *argc, char ***argv)
{
	static char **words;
	size_t i = 0, n = 0, of = sizeof(aliases) / sizeof(aliases[0]);

	while (i < of && (*argc == 0 || strcmp(aliases[i].word, **argv) != 0))
		i++;
	if (i == of)
		return;
	words = calloc((size_t) *argc + 2, sizeof(*words));
	if (!words)
		return;
	words[n++] = (char *) (uintptr_t) aliases[i].verb;
	if (aliases[i].more)
		words[n++] = (char *) (uintptr_t) aliases[i].more;
	memcpy(words + n, *argv + 1, (size_t) (*argc - 1) * sizeof(*words));
	*argc += (int) n - 1;
	*argv = words;
}

const struct cli_command *cli_find_command(int *argc, char ***argv)
{
	const struct cli_command *found = NULL;
	bool has_two = false;

	resolve_alias(argc, argv);
	for (const struct cli_command *const *c = cli_commands; *argc > 0 && *c; c++) {
		size_t len = strcspn((*c)->name, " ");
		bool two = (*c)->name[len] == ' ';

		if (strncmp((*c)->name, **argv, len) != 0 || (**argv)[len] || (found && !two) ||
		    (two && (*argc < 2 || strcmp((*c)->name + len + 1, (*argv)[1]) != 0)))
			continue;
		found = *c;
		has_two = two;
	}
	*argc -= has_two;
	*argv += has_two;
	return found;
}

static int version(int argc, char **argv)
{
	(void) printf("resource-tracker %s\n", TRK_BUILD_VERSION);
	return EXIT_OK;
}

const struct cli_command cli_version = {
	.name = "version",
	.usage = "version",
	.summary = "Print the version.",
	.example = "resource-tracker version",
	.options = cli_no_options,
	.is_hidden = true,
	.run = version,
};

static int unknown_command(const char *name)
{
	const char *best = NULL;
	size_t least = 3;

	for (const struct cli_command *const *c = cli_commands; *c; c++) {
		size_t d = trk__edits(name, (*c)->name);

		if (d < least && d < strlen(name)) {
			least = d;
			best = (*c)->name;
		}
	}
	if (best)
		cli_complain("no such command or program: %s. Did you mean: resource-tracker %s",
			     name, best);
	else
		cli_complain("no such command or program: %s. Try: resource-tracker help", name);
	return EXIT_USAGE;
}

/* Open descriptors 0 to 2 if they are closed, so that no opened file becomes stderr. */
static void guard_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		(void) close(fd);
}

static int run_command(int argc, char **argv)
{
	/* internal VERB: with the options for the library and the packages. */
	bool is_internal = argc > 2 && !strcmp(argv[1], "internal");
	int n = argc - 1 - is_internal;
	char **words = argv + 1 + is_internal;
	const struct cli_command *command = cli_find_command(&n, &words);

	if (command && is_internal)
		cli_accept_internal();
	if (command)
		return command->run(n, words);
	/* resource-tracker [opts] [--] CMD: a path is a program, never a misspelt verb */
	if (argv[1][0] == '-' || strchr(argv[1], '/') || trk__os_has_program(argv[1]))
		return cli_run.run(argc, argv);
	return unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
	int status;

	guard_standard_streams();
	if (argc > 0 && cli_shell_name(argv[0]))
		return cli_shell(cli_shell_name(argv[0]), argc, argv);
	if (argc < 2) {
		(void) cli_help.run(1, argv);
		return EXIT_USAGE;
	}
	status = run_command(argc, argv);
	if (fflush(stdout) != 0 && status == EXIT_OK && errno != EPIPE)
		status = cli_reject(EXIT_ERROR, "stdout: cannot write: %s", trk__strerror(errno));
	/* A GPU driver that hangs would block the exit of this program. */
	if (trk__worker_threads() > 0) {
		(void) fflush(NULL);
		_exit(status);
	}
	return status;
}
