/* resource-tracker doctor: what can be measured here, from which source, and how to allow the
 * rest. */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/doctor_findings.h"
#include "cli/environment.h"
#include "cli/selftest.h"
#include "recording/store.h"

struct settings {
	bool json, selftest;
	const char *dir, *work;
};

static const struct cli_option options[] = {
	{"json", 0, NULL, "as one JSON document", cli_set_flag, offsetof(struct settings, json)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text,
	 offsetof(struct settings, dir)},
	{"selftest", 0, NULL, "track jobs that know what they use, and compare (15 s)",
	 cli_set_flag, offsetof(struct settings, selftest)},
	{"work", 0, "NAME", "do the work of one of these jobs and print what it used", cli_set_text,
	 offsetof(struct settings, work)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

void cli_finding_set(struct cli_finding *f, const char *what, enum cli_finding_state state,
		     const char *source, const char *hint)
{
	*f = (struct cli_finding){.what = what, .state = state};
	(void) snprintf(f->source, sizeof(f->source), "%s", source);
	(void) snprintf(f->hint, sizeof(f->hint), "%s", state == CLI_GOOD ? "" : hint);
}

static void check_store(struct cli_finding *f, const char *dir)
{
	struct trk_error error = {.code = 0};
	int fd = trk__store_open(dir, true, &error);

	if (!*dir)
		cli_finding_set(f, "recordings", CLI_MISSING, "the state directory",
				"another user owns it or may write to it. Try: --recording DIR");
	else
		cli_finding_set(f, "recordings", fd >= 0 ? CLI_GOOD : CLI_MISSING, dir,
				error.message);
	trk__close(fd);
}

static void print_text(struct trk_buf *b, const struct cli_finding *list, size_t n)
{
	static const char *const words[] = {"yes", "partly", "no"};

	for (size_t i = 0; i < n; i++) {
		trk__buf_printf(b, "%-6s  %-42s %s\n", words[list[i].state], list[i].what,
				list[i].source);
		if (list[i].hint[0])
			trk__buf_printf(b, "        %s\n", list[i].hint);
	}
}

static void print_json(struct trk_buf *b, const struct cli_finding *list, size_t n)
{
	static const char *const words[] = {"yes", "partly", "no"};
	struct trk_json j;

	trk__json_init(&j, b, 1);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", "resource-tracker.doctor/1");
	trk__json_key(&j, "checks");
	trk__json_open(&j, '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(&j, '{');
		trk__json_key_text(&j, "what", list[i].what);
		trk__json_key_text(&j, "available", words[list[i].state]);
		trk__json_key_text(&j, "source", list[i].source);
		trk__json_key_text(&j, "hint", list[i].hint[0] ? list[i].hint : NULL);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

static int run(int argc, char **argv)
{
	struct settings settings = {0};
	struct cli_finding list[CLI_FINDINGS_MAX];
	struct trk_env env;
	struct trk_buf b;
	size_t n;
	int at = cli_options(&cli_doctor, argc, argv, &settings), r;

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at != argc) {
		cli_complain("doctor: unexpected %s. Try: resource-tracker doctor --help",
			     argv[at]);
		return EXIT_USAGE;
	}
	if (settings.work)
		return cli_selftest_work(settings.work);
	if (settings.selftest)
		return cli_selftest(settings.json);
	r = trk__env_init(&env);
	if (r < 0) {
		cli_complain("/proc: %s: nothing can be measured", trk__strerror(r));
		return EXIT_ERROR;
	}
	n = cli_find(list, &env);
	check_store(&list[n++], cli_state_dir(settings.dir));
	trk__env_release(&env);
	trk__buf_init(&b, 1 << 20);
	if (settings.json)
		print_json(&b, list, n);
	else
		print_text(&b, list, n);
	r = cli_write(1, &b, "stdout");
	trk__buf_release(&b);
	return r;
}

const struct cli_command cli_doctor = {
	.name = "doctor",
	.usage = "doctor [--json] [--selftest]",
	.summary =
		"Report what can be measured here, from which source, and how to permit the rest.",
	.options = options,
	.run = run,
};
