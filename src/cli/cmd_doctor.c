/* resource-tracker doctor: what can be measured on this machine, from which source, how to enable
 * the rest, and whether this installation is whole. src/service/machine_check.c tries the sources,
 * src/service/selftest.c compares the figures of jobs with what the jobs used. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/human.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/installation.h"
#include "service/check.h"
#include "service/selftest.h"

enum { TEXT_MAX = 1 << 20 };

struct settings {
	bool json, selftest;
	const char *dir, *work;
};

static const struct cli_option options[] = {
	{"json", 0, NULL, "print one JSON document", cli_set_flag, AT(json)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	{"selftest", 0, NULL, "track jobs with known use, and compare the figures (15 s)",
	 cli_set_flag, AT(selftest)},
	CLI_MORE_OPTIONS,
	{"work", 0, "NAME", "do the work of one of these jobs and print what it used", cli_set_text,
	 AT(work)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* ---- what can be measured ---- */

static const char *const check_words[] = {"yes", "partly", "no"};

static void checks_text(struct trk_buf *b, const struct trk_check *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		trk__buf_printf(b, "%-6s  %-42s %s\n", check_words[list[i].state], list[i].what,
				list[i].text);
		if (list[i].hint[0])
			trk__buf_printf(b, "        %s\n", list[i].hint);
	}
}

static void checks_json(struct trk_buf *b, const struct trk_check *list, size_t n)
{
	struct trk_json j;

	trk__json_begin(&j, b, 1, "resource-tracker.doctor/1");
	trk__json_key_open(&j, "checks", '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(&j, '{');
		trk__json_key_text(&j, "what", list[i].what);
		trk__json_key_text(&j, "available", check_words[list[i].state]);
		trk__json_key_text(&j, "source", list[i].text);
		trk__json_key_or_null(&j, "hint", list[i].hint);
		trk__json_close(&j, '}');
	}
	trk__json_end(&j);
}

static int check(const struct settings *s)
{
	const struct trk_gpu_hints hints = cli_gpu_hints(false);
	struct trk_check list[TRK_CHECKS_MAX];
	int n = trk__machine_check(cli_state_dir(s->dir), &hints, list);
	TRK_BUF_LOCAL(b, TEXT_MAX);
	int r;

	if (n < 0)
		return cli_reject(EXIT_ERROR, "/proc: %s: nothing can be measured",
				  trk__strerror(n));
	(s->json ? checks_json : checks_text)(&b, list, (size_t) n);
	if (!s->json)
		trk__buf_putc(&b, '\n');
	r = cli_print(&b);
	return r == 0 && !s->json ? cli_check_installation(s->dir) : r;
}

/* ---- self-test: jobs with known use ---- */

static const char *const state_words[] = {"ok", "WRONG", "not tested"};

static const char *amount(char text[TRK_HUMAN_SIZE], enum trk_total total, double value)
{
	switch (total) {
	case TRK_TOTAL_PEAK_MEMORY_MIB:
		return trk__human_memory(text, value);
	case TRK_TOTAL_DISK_WRITE_BYTES:
		return trk__human_bytes(text, value);
	default:
		return trk__human_seconds(text, value);
	}
}

static void selftest_text(struct trk_buf *b, const struct utsname *system,
			  const struct trk_selftest_figure *list, int n)
{
	trk__buf_printf(b, "resource-tracker %s on %s %s, %s\n", TRK_BUILD_VERSION, system->sysname,
			system->release, system->machine);
	trk__buf_printf(b, "%-38s  %9s  %9s  %-9s  %s\n", "what a job did", "true", "told", "label",
			"");
	for (int i = 0; i < n; i++) {
		const struct trk_selftest_figure *r = &list[i];
		char truth[TRK_HUMAN_SIZE], measured[TRK_HUMAN_SIZE];
		bool known = r->measured.quality != TRK_QUALITY_UNKNOWN;

		trk__buf_printf(b, "%-38s  %9s  %9s  %-9s  %s%s%s\n", r->work->text,
				amount(truth, r->work->total, r->truth),
				amount(measured, r->work->total, known ? r->measured.value : NAN),
				trk__quality_name(r->measured.quality), state_words[r->state],
				r->why[0] ? ": " : "", r->why);
	}
}

static int selftest(void)
{
	struct trk_selftest_figure list[TRK_KNOWN_WORKS_MAX];
	const char *tmp = cli_temporary_dir("/tmp");
	struct trk_error error = {.code = 0};
	struct utsname system;
	bool good = true;
	TRK_BUF_LOCAL(b, TEXT_MAX);
	int n, r;

	if (uname(&system) < 0)
		return cli_reject(EXIT_ERROR, "doctor: %s", trk__strerror(-errno));
	n = trk__selftest(tmp, list, &error);
	if (n < 0)
		return cli_reject(EXIT_ERROR, "doctor: %s", error.message);
	for (int i = 0; i < n; i++)
		good &= list[i].state != TRK_SELFTEST_WRONG;
	selftest_text(&b, &system, list, n);
	r = cli_print(&b);
	return r != EXIT_OK ? r : good ? EXIT_OK : EXIT_ERROR;
}

static int complain_of_work(const char *name)
{
	char names[160] = "";
	size_t len = 0;

	for (const struct trk_known_work *w = trk__known_works; w->text; w++)
		len += (size_t) snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "",
					 w->name);
	return cli_reject(EXIT_USAGE, "doctor: --work %s: no such work. Try: %s", name, names);
}

static int do_work(const char *name)
{
	const struct trk_known_work *work = trk__known_work_find(name);
	struct trk_error error = {.code = 0};
	struct trk_json j;
	TRK_BUF_LOCAL(b, TEXT_MAX);
	double value;

	if (!work)
		return complain_of_work(name);
	if (trk__selftest_work(work, cli_temporary_dir("/var/tmp"), &value, &error) < 0)
		return cli_reject(EXIT_ERROR, "doctor: %s", error.message);
	trk__json_begin(&j, &b, 0, NULL);
	trk__json_key_text(&j, "work", work->name);
	trk__json_key_double(&j, trk__total_keys[work->total], value);
	trk__json_end(&j);
	return cli_print(&b);
}

static int run(int argc, char **argv)
{
	struct settings settings = {0};

	(void) cli_options(&cli_doctor, argc, argv, &settings);
	if (settings.work)
		return do_work(settings.work);
	if (settings.selftest && settings.json)
		return cli_reject(EXIT_USAGE, "doctor: --selftest prints a table, not JSON");
	return settings.selftest ? selftest() : check(&settings);
}

const struct cli_command cli_doctor = {
	.name = "doctor",
	.usage = "doctor [--json | --selftest]",
	.summary = "Report what can be measured here, and whether this installation is whole.",
	.details =
		"The second part has a line for the program, its permissions, each library that is "
		"loaded on first\nuse, the catalogue, the directory of recordings, and a small "
		"job that it tracks. \"absent\" marks a\nmissing library and names what does not "
		"work without it; with \"broken\" the exit code is 1.",
	.example = "resource-tracker doctor",
	.options = options,
	.run = run,
};
