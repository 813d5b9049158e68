/* resource-tracker self: check that this installation is complete, or copy it into a folder.
 *
 * src/service/installation.c does both. `doctor` checks what this machine can measure. */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "service/check.h"

struct settings {
	bool json;
	const char *dir;
};

static const struct cli_option options[] = {
	{"json", 0, NULL, "check: print one JSON document", cli_set_flag, AT(json)},
	{"recording", 0, "DIR", "check: directory of the recordings", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const char *const state_words[] = {"ok", "absent", "broken"};

static void print_text(struct trk_buf *b, const struct trk_check *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		trk__buf_printf(b, "%-6s  %-11s  %s\n", state_words[list[i].state], list[i].what,
				list[i].text);
}

static void print_json(struct trk_buf *b, const struct trk_check *list, size_t n)
{
	struct trk_json j;

	trk__json_begin(&j, b, 1, "resource-tracker.self-check/1");
	trk__json_key_text(&j, "version", TRK_BUILD_VERSION);
	trk__json_key_open(&j, "checks", '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(&j, '{');
		trk__json_key_text(&j, "what", list[i].what);
		trk__json_key_text(&j, "state", state_words[list[i].state]);
		trk__json_key_text(&j, "text", list[i].text);
		trk__json_close(&j, '}');
	}
	trk__json_end(&j);
}

static int check(const struct settings *s)
{
	const struct trk_service service = cli_service(s->dir);
	struct trk_check list[TRK_CHECKS_MAX];
	size_t n = trk__installation_check(&service, cli_temporary_dir("/tmp"), list);
	TRK_BUF_LOCAL(b, 1 << 20);
	int r;

	(s->json ? print_json : print_text)(&b, list, n);
	r = cli_print(&b);
	for (size_t i = 0; i < n; i++)
		if (list[i].state == TRK_CHECK_BAD)
			r = EXIT_ERROR;
	return r;
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
	.usage = "self check [--json] | self install DIR",
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
