/* resource-tracker report: one file about one run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/report_files.h"

struct settings {
	struct cli_report_choice choice;
	bool open;
};

#define AT(field) offsetof(struct settings, field)

static const struct cli_option options[] = {
	{"output", 'o', "FILE", "the file; - for stdout (resource-tracker-RUN.html)", cli_set_text,
	 AT(choice.path)},
	{"format", 0, "html|md|json", "a page, Markdown for a CI job's summary, or JSON (html)",
	 cli_set_text, AT(choice.format)},
	{"embed-raw", 0, NULL, "put the recording with all its samples into the page", cli_set_flag,
	 AT(choice.embed_raw)},
	{"open", 0, NULL, "show it in the browser", cli_set_flag, AT(open)},
	{"recording", 0, "DIR", "where recordings lie", cli_set_text, AT(choice.dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* With what the desktop opens files; it goes its own way from there. */
static int open_page(const char *path)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		(void) execlp("xdg-open", "xdg-open", path, (char *) NULL);
		_exit(EXIT_NOT_FOUND);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0)
		return 0;
	cli_complain("%s: cannot open it in a browser: %s", path,
		     pid < 0                      ? trk__strerror(errno)
		     : WEXITSTATUS(status) == 127 ? "there is no xdg-open"
						  : "xdg-open failed");
	return EXIT_ERROR;
}

static int check(const struct settings *s)
{
	if (strcmp(s->choice.format, "html") != 0 && strcmp(s->choice.format, "md") != 0 &&
	    strcmp(s->choice.format, "json") != 0) {
		cli_complain("report: --format %s: not one of: html md json", s->choice.format);
		return EXIT_USAGE;
	}
	if (s->choice.embed_raw && strcmp(s->choice.format, "html") != 0) {
		cli_complain("report: --embed-raw is for --format html");
		return EXIT_USAGE;
	}
	if (s->open && s->choice.path && !strcmp(s->choice.path, "-")) {
		cli_complain("report: --open needs a file. Try: --output FILE");
		return EXIT_USAGE;
	}
	return 0;
}

static int run(int argc, char **argv)
{
	struct settings s = {.choice = {.format = "html"}};
	int at = cli_options(&cli_report, argc, argv, &s), r;
	char path[4096] = "";

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at + 1 < argc) {
		cli_complain("report: one run at a time. Try: resource-tracker report --help");
		return EXIT_USAGE;
	}
	r = check(&s);
	if (r != 0)
		return r;
	s.choice.reference = at < argc ? argv[at] : "@";
	/* What a CI job appends to its summary goes to stdout. */
	if (!s.choice.path && strcmp(s.choice.format, "html") != 0)
		s.choice.path = "-";
	r = cli_report_make(&s.choice, path, sizeof(path));
	if (r == 0 && strcmp(path, "-") != 0)
		cli_complain("wrote %s", path);
	return r == 0 && s.open ? open_page(path) : r;
}

const struct cli_command cli_report = {
	.name = "report",
	.usage = "report [OPTIONS] [RUN|JOB]",
	.summary = "Write a page about a run: verdict, next request, timeline, cost.",
	.details =
		"One HTML file that asks no network and can be read without its script. RUN is "
		"an id or its\nstart, @ (the last run, the default), @2 (the one before), JOB@-1, "
		"or the path of a recording;\nJOB is a name. docs/report.md explains the page.",
	.options = options,
	.run = run,
};
