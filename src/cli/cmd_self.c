/* resource-tracker self: check that this installation is complete, or copy it into a folder.
 *
 * src/service/installation.c does both. `doctor` checks what this machine can measure. */
#include <string.h>

#include "cli/cli.h"
#include "cli/environment.h"
#include "service/check.h"

struct settings {
	const char *dir;
};

static const struct cli_option options[] = {
	{"recording", 0, "DIR", "check: directory of the recordings", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const char *const state_words[] = {"ok", "absent", "broken"};

static int check(const struct settings *s)
{
	const struct trk_service service = cli_service(s->dir);
	struct trk_check list[TRK_CHECKS_MAX];
	size_t n = trk__installation_check(&service, cli_temporary_dir("/tmp"), list);
	TRK_BUF_LOCAL(b, 1 << 20);
	bool is_broken = false;
	int r;

	for (size_t i = 0; i < n; i++) {
		trk__buf_printf(&b, "%-6s  %-11s  %s\n", state_words[list[i].state], list[i].what,
				list[i].text);
		is_broken |= list[i].state == TRK_CHECK_BAD;
	}
	r = cli_print(&b);
	return is_broken ? EXIT_ERROR : r;
}

static int run(int argc, char **argv)
{
	struct settings s = {.dir = NULL};
	struct trk_error error;
	int at = cli_options(&cli_self, argc, argv, &s);

	if (at + 1 == argc && !strcmp(argv[at], "check"))
		return check(&s);
	if (at + 2 == argc && !strcmp(argv[at], "install") && *argv[at + 1]) {
		if (trk__installation_copy(argv[at + 1], &error) == 0)
			return EXIT_OK;
		return cli_reject(EXIT_ERROR, "self install: %s", error.message);
	}
	return cli_reject(EXIT_USAGE,
			  "self: check, or install DIR. Try: resource-tracker self --help");
}

const struct cli_command cli_self = {
	.name = "self",
	.usage = "self check | self install DIR",
	.summary = "Check that this installation is whole, or copy it into a folder.",
	.details = "check prints a line for the program, its permissions, each library that is "
		   "loaded on first use, the\ncatalogue, the directory of recordings, and a small "
		   "job that it tracks. \"absent\" marks a missing\nlibrary and names what does "
		   "not work without it; with \"broken\" the exit code is 1.\n"
		   "install copies the program to DIR/resource-tracker and links DIR/bin/bash and "
		   "DIR/bin/sh to it, so\nthat an init container needs no cp. On Windows it copies "
		   "only resource-tracker.exe.",
	.options = options,
	.operands = 2,
	.run = run,
};
