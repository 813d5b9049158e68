/* The program: find the verb and run it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/edits.h"
#include "base/os.h"
#include "cli/cli.h"
#include "probe/linux/worker.h"
#include "sink/table.h"

/* clang-format off */
const struct cli_command *const cli_commands[] = {
#define X(name) &cli_##name,
	CLI_COMMAND_LIST(X)
#undef X
	NULL,
};
/* clang-format on */

static const struct cli_command *find_command(const char *name)
{
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		return &cli_help;
	if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		return &cli_version;
	for (const struct cli_command *const *c = cli_commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static int print_page(void (*page)(struct trk_buf *b))
{
	TRK_BUF_LOCAL(b, 1 << 20);

	page(&b);
	return cli_print(&b);
}

static int help(int argc, char **argv)
{
	const struct cli_command *command = argc > 1 ? find_command(argv[1]) : NULL;

	if (argc > 1 && !strcmp(argv[1], "columns"))
		return print_page(trk__table_markdown);
	if (argc > 1 && !strcmp(argv[1], "man"))
		return print_page(cli_man_page);
	if (command) {
		cli_print_help(command);
		return EXIT_OK;
	}
	if (argc > 1)
		return cli_reject(EXIT_USAGE,
				  "help: no such command: %s. Try: resource-tracker help", argv[1]);
	(void) printf("usage: resource-tracker COMMAND [OPTIONS]\n"
		      "       resource-tracker [OPTIONS] [--] CMD [ARG...]   (short for run)\n\n"
		      "resource-tracker shows what a batch job really used. Put it before any "
		      "command.\n\n");
	for (const struct cli_command *const *c = cli_commands; *c; c++)
		(void) printf("  %-12s %s\n", (*c)->name, (*c)->summary);
	(void) printf("\nresource-tracker help COMMAND describes a command; help columns lists the "
		      "columns.\n");
	return EXIT_OK;
}

static int version(int argc, char **argv)
{
	(void) printf("resource-tracker %s\n", TRK_BUILD_VERSION);
	return EXIT_OK;
}

const struct cli_command cli_help = {
	.name = "help",
	.usage = "help [COMMAND]",
	.summary = "Describe the commands.",
	.options = cli_no_options,
	.run = help,
};

const struct cli_command cli_version = {
	.name = "version",
	.usage = "version",
	.summary = "Print the version.",
	.options = cli_no_options,
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

int main(int argc, char **argv)
{
	const struct cli_command *command;
	int status;

	guard_standard_streams();
	if (argc > 0 && cli_shell_name(argv[0]))
		return cli_shell(cli_shell_name(argv[0]), argc, argv);
	if (argc < 2) {
		(void) help(1, argv);
		return EXIT_USAGE;
	}
	/* internal VERB: with the options for the library and the packages. */
	if (argc > 2 && !strcmp(argv[1], "internal") && find_command(argv[2])) {
		cli_accept_internal();
		argc--;
		argv++;
	}
	command = find_command(argv[1]);
	if (command) {
		status = command->run(argc - 1, argv + 1);
	} else if (argv[1][0] == '-' || strchr(argv[1], '/') || trk__os_has_program(argv[1])) {
		/* resource-tracker [opts] [--] CMD: a path is a program, never a misspelt verb */
		status = cli_run.run(argc, argv);
	} else {
		status = unknown_command(argv[1]);
	}
	if (fflush(stdout) != 0 && status == EXIT_OK && errno != EPIPE)
		status = cli_reject(EXIT_ERROR, "stdout: cannot write: %s", trk__strerror(errno));
	/* A GPU driver that hangs would block the exit of this program. */
	if (trk__worker_threads() > 0) {
		(void) fflush(NULL);
		_exit(status);
	}
	return status;
}
