/* resource-tracker self install: copy this installation into a folder; and the check of the
 * installation for `doctor`, whose old name is `self check`. src/service/installation.c does
 * both. */
#include <string.h>

#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/installation.h"
#include "service/check.h"

struct settings {
	const char *dir;
};

static const struct cli_option options[] = {
	{"recording", 0, "DIR", NULL, cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const char *const state_words[] = {"ok", "absent", "broken"};

int cli_check_installation(const char *dir)
{
	const struct trk_service service = cli_service(dir);
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
		return cli_check_installation(s.dir);
	if (at + 2 == argc && !strcmp(argv[at], "install") && *argv[at + 1]) {
		if (trk__installation_copy(argv[at + 1], &error) == 0)
			return EXIT_OK;
		return cli_reject(EXIT_ERROR, "self install: %s", error.message);
	}
	return cli_reject(EXIT_USAGE, "self: needs install DIR. Try: resource-tracker self --help");
}

const struct cli_command cli_self = {
	.name = "self",
	.usage = "self install DIR",
	.summary = "Copy this installation into a folder.",
	.details =
		"Copies the program to DIR/resource-tracker and links DIR/bin/bash and DIR/bin/sh "
		"to it, so that an\ninit container needs no cp. On Windows it copies only "
		"resource-tracker.exe.",
	.example = "resource-tracker self install ./copy",
	.options = options,
	.is_hidden = true,
	.operands = 2,
	.run = run,
};
