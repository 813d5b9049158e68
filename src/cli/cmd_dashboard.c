/* resource-tracker dashboard: the pages over all jobs, served to this user, or as files. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/environment.h"
#include "cli/fleet_views.h"
#include "cli/named_runs.h"
#include "cli/cli.h"
#include "cli/dashboard_serve.h"
#include "service/alert_list.h"
#include "service/dashboard_folder.h"
#include "service/page.h"

enum { TEXT_MAX = 512 * 1024 * 1024, REPORTS_USUAL = 50, PATH_SIZE = 4096 };

struct settings {
	struct cli_fleet_settings views;
	const char *path;
	uint64_t port, reports;
	bool json;
	int open; /* index in "yes|no" */
};

static const struct cli_option options[] = {
	{"static", 0, "FILE|DIR",
	 "write FILE.html (- is stdout), or a folder with the reports of runs", cli_set_text,
	 AT(path)},
	{"number", 'n', "N", "with a folder: write the reports of the newest N runs (50)",
	 cli_set_count, AT(reports)},
	{"json", 0, NULL, "write the data of the page to stdout", cli_set_flag, AT(json)},
	{"port", 0, "N", "serve on this port (a free one)", cli_set_count, AT(port)},
	{"open", 0, "yes|no", "open the browser (yes)", cli_set_choice, AT(open)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(views.dir)},
	CLI_MORE_OPTIONS,
	{"reports", 0, "N", "same as --number", cli_set_same, 0},
	{"no-open", 0, NULL, "same as --open no", cli_set_same, 0},
	{"as-of", 0, "DATE", "figures as of the end of this day (now)", cli_set_date,
	 AT(views.as_of_s)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* ---- files ---- */

static int fail(const char *path, int error)
{
	cli_complain("dashboard: %s: %s", path, trk__strerror(error));
	return error == -EACCES || error == -EPERM ? EXIT_DENIED : EXIT_ERROR;
}

static int put_json(const struct trk_dashboard *d)
{
	TRK_BUF_LOCAL(b, TEXT_MAX);
	int r = trk__dashboard_json(d, &b);

	if (r < 0) {
		cli_complain("dashboard: %s", trk__strerror(r));
		return EXIT_ERROR;
	}
	trk__buf_putc(&b, '\n');
	return cli_print(&b);
}

static int put_page(struct trk_dashboard *d, const char *path)
{
	TRK_BUF_LOCAL(b, TEXT_MAX);
	int r, written = 0;

	d->kind = TRK_DASHBOARD_FILE;
	r = trk__dashboard_html(d, &b);
	if (r == 0 && !strcmp(path, "-"))
		written = cli_write(STDOUT_FILENO, &b, "stdout");
	else if (r == 0)
		r = trk__page_save(&b, path, true, NULL);
	return r < 0 ? fail(path, r) : written;
}

/* "-" (stdout) or a name that ends in .html or .htm is the page; anything else is a folder. */
static int put_static(struct trk_dashboard *d, const struct trk_service *service, const char *path,
		      size_t reports)
{
	const char *extension = cli_extension(path);
	struct trk_error error = {.code = 0};
	size_t written;
	int r;

	if (!strcmp(path, "-") || !strcmp(extension, "html") || !strcmp(extension, "htm"))
		return put_page(d, path);
	r = trk__dashboard_folder(service, d, path, reports, &written, &error);
	if (r < 0) {
		cli_complain("dashboard: %s", error.message);
		return r == -EACCES || r == -EPERM ? EXIT_DENIED : EXIT_ERROR;
	}
	cli_complain("wrote %s/index.html and %zu report%s", path, written,
		     written == 1 ? "" : "s");
	return 0;
}

static int make_files(const struct settings *s, const struct trk_fleet_rows *rows)
{
	struct trk_service service = cli_service(s->views.dir);
	TRK_BUF_LOCAL(alerts, TEXT_MAX);
	struct trk_dashboard d;
	int r = trk__dashboard_make(rows, &d);

	if (r == 0) {
		r = trk__alert_list(&service, &alerts);
		if (r < 0)
			trk__dashboard_release(&d);
	}
	if (r < 0)
		return cli_reject(EXIT_ERROR, "dashboard: %s", trk__strerror(r));
	d.alerts = alerts.data;
	r = s->json ? put_json(&d) : put_static(&d, &service, s->path, (size_t) s->reports);
	trk__dashboard_release(&d);
	return r;
}

static int write_files(const struct settings *s)
{
	struct trk_fleet_rows rows;
	bool empty;
	int r = cli_fleet_load(&s->views, "dashboard", &rows, &empty);

	/* A page without runs explains how to start. */
	if (empty)
		r = 0;
	if (r == 0)
		r = make_files(s, &rows);
	trk__fleet_rows_release(&rows);
	return r;
}

/* ---- the verb ---- */

static int run(int argc, char **argv)
{
	struct settings s = {.views.as_of_s = NAN, .reports = REPORTS_USUAL};

	(void) cli_options(&cli_dashboard, argc, argv, &s);
	if ((s.path && !*s.path) || (s.path && s.json))
		return cli_reject(EXIT_USAGE,
				  "dashboard: %s. Try: resource-tracker dashboard --help",
				  s.json ? "--json and --static cannot be combined"
					 : "--static needs a file or a folder");
	if (s.port > UINT16_MAX)
		return cli_reject(EXIT_USAGE, "dashboard: --port %llu: not a number up to %d",
				  (unsigned long long) s.port, UINT16_MAX);
	if (s.path || s.json)
		return write_files(&s);
	return cli_dashboard_serve(&s.views, (uint16_t) s.port, s.open == 0);
}

const struct cli_command cli_dashboard = {
	.name = "dashboard",
	.usage = "dashboard [OPTIONS]",
	.summary = "Show all jobs in the browser: spend, waste, what will fail, each job and run.",
	.details = "Serves the pages on 127.0.0.1, at a secret address, until Ctrl-C. Other users "
		   "of this\nmachine are refused. With --static it writes files that load nothing "
		   "from the network.\nThe figures are those of `resource-tracker fleet`, over 7, "
		   "30 and 90 days.\ndocs/dashboard.md has pictures.",
	.example = "resource-tracker dashboard --static fleet.html",
	.options = options,
	.run = run,
};
