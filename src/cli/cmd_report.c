/* resource-tracker report: one file about one run. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/parse.h"
#include "cli/named_runs.h"
#include "cli/cli.h"
#include "cli/server_options.h"
#include "service/page.h"

struct settings {
	struct trk_page_request request;
	struct trk_cloud instance; /* vendor "": not stated */
	const char *dir, *output;
	bool open;
};

static const struct cli_option options[] = {
	{"output", 'o', "FILE", "name of the file; - for stdout (resource-tracker-RUN.html)",
	 cli_set_text, AT(output)},
	{"format", 0, "html|md", "write a page, or Markdown for a CI job's summary (html)",
	 cli_set_word, AT(request.format)},
	{"embed-raw", 0, NULL, "put the recording with all its samples into the page", cli_set_flag,
	 AT(request.embed_raw)},
	CLI_INSTANCE_OPTION(AT(instance)),
	{"vendor", 0, "NAME,..", "look for servers of these vendors; any: all vendors",
	 cli_set_list, AT(request.vendors)},
	{"region", 0, "NAME,..", "look for servers in these regions; any: all regions",
	 cli_set_list, AT(request.regions)},
	{"open", 0, NULL, "open it in the browser", cli_set_flag, AT(open)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static int set_live(void *settings, const struct cli_option *o, const char *value)
{
	struct settings *s = settings;

	if (trk__parse_decimal(value, &s->request.live_s) < 0)
		return cli_wrong(o, value, "not a number of seconds");
	return 0;
}

static const struct cli_option internal[] = {
	{"live", 0, "SECONDS", "the page of a running job reloads itself", set_live, 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static int check(const struct settings *s)
{
	if (s->request.embed_raw && strcmp(s->request.format, "html") != 0)
		return cli_reject(EXIT_USAGE, "report: --embed-raw needs --format html");
	if (s->open && s->output && !strcmp(s->output, "-"))
		return cli_reject(EXIT_USAGE, "report: --open needs a file. Try: --output FILE");
	return 0;
}

/* ---- the file ---- */

enum { PAGE_USUAL = 128 << 10 };

/* Write the report. A file name that is too long is an error, not truncated. */
static int save(const struct trk_buf *b, const char *id, const char *format, const char *to,
		const char *via, char *path, size_t size)
{
	bool is_named = to && *to;
	int n = is_named ? snprintf(path, size, "%s", to)
			 : snprintf(path, size, "resource-tracker-%s.%s", id, format);
	int r;

	if (!strcmp(path, "-"))
		return cli_write(STDOUT_FILENO, b, "stdout");
	r = n < (int) size ? trk__page_save(b, path, is_named, via) : -ENAMETOOLONG;
	if (r == 0)
		return 0;
	cli_complain("%s: cannot write the report: %s", n < (int) size ? path : to,
		     trk__strerror(r));
	return r == -EACCES || r == -EPERM ? EXIT_DENIED : EXIT_ERROR;
}

int cli_report_file(const char *dir, const char *reference, const struct trk_page_request *request,
		    const char *to, const char *via, char *path, size_t size)
{
	struct trk_service s = cli_service(dir), quiet = s;
	struct trk_page_request q = *request;
	struct trk_error error = {.code = 0};
	char newest[TRK_RUN_ID_SIZE], id[TRK_RUN_ID_SIZE];
	struct trk_history *h = NULL;
	struct cli_run_file run;
	TRK_BUF_LOCAL(b, TRK_PAGE_MAX);
	int r;

	quiet.note = NULL; /* the report of one run needs no history */
	if (!q.earlier)
		(void) trk__runs_history(&quiet, 0, &h, NULL);
	/* A plain name is a job: use its newest run. */
	r = cli_run_find(dir, cli_newest_of(h, reference, "report", newest), &run);
	if (r == 0) {
		q.dirfd = run.dirfd;
		q.path = run.path;
		(void) trk__buf_reserve(&b, PAGE_USUAL);
		r = trk__page_make(&s, h, &q, &b, id, &error);
		r = r < 0 ? cli_fail("report", r, &error)
			  : save(&b, id, q.format, to, via, path, size);
		cli_run_close(&run);
	}
	trk__history_free(h);
	return r;
}

static int run(int argc, char **argv)
{
	static struct settings s;
	int at = cli_options(&cli_report, argc, argv, &s), r;
	char path[4096] = "";

	if (s.output && cli_is_foreign_format("report", s.output, "html htm md"))
		return EXIT_USAGE;
	if (!s.request.format)
		s.request.format = cli_page_format(s.output);
	r = check(&s);
	if (r != 0)
		return r;
	if (s.instance.vendor[0])
		s.request.stated = &s.instance;
	/* Formats for the summary of a CI job go to stdout. */
	if (!s.output && strcmp(s.request.format, "html") != 0)
		s.output = "-";
	r = cli_report_file(s.dir, at < argc ? argv[at] : "@", &s.request, s.output, NULL, path,
			    sizeof(path));
	if (r == 0 && strcmp(path, "-") != 0)
		cli_complain("wrote %s", path);
	return r == 0 && s.open ? cli_browser_show(path) : r;
}

const struct cli_command cli_report = {
	.name = "report",
	.usage = "report [OPTIONS] [RUN|JOB]",
	.summary = "Write a page about a run: verdict, next request, timeline, cost.",
	.details = "Writes one HTML file that loads nothing from the network and can be read "
		   "without JavaScript.\n"
		   "docs/report.md explains the page.",
	.example = "resource-tracker report --output page.html @",
	.options = options,
	.operands = 1,
	.internal = internal,
	.run = run,
};
