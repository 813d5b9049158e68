/* resource-tracker dashboard: the pages over all jobs, served to this user, or as files. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/detach.h"
#include "base/file.h"
#include "base/parse.h"
#include "cli/dashboard_static.h"
#include "cli/fleet_views.h"
#include "cli/named_runs.h"
#include "serve/dashboard_server.h"
#include "service/alert_list.h"

enum { JSON_MAX = 512 * 1024 * 1024, PATH_SIZE = 4096, REPORTS_MAX = 100000 };

struct settings {
	struct cli_fleet_settings views;
	const char *path, *port, *reports;
	bool json, no_open;
};

#define AT(field) offsetof(struct settings, field)

static const struct cli_option options[] = {
	{"static", 0, "FILE|DIR",
	 "write FILE.html (- is stdout), or a folder with the reports of runs", cli_set_text,
	 AT(path)},
	{"reports", 0, "N", "into the folder: of the newest N runs (50)", cli_set_text,
	 AT(reports)},
	{"json", 0, NULL, "write the data of the page to stdout", cli_set_flag, AT(json)},
	{"port", 0, "N", "serve on this port (one that is free)", cli_set_text, AT(port)},
	{"no-open", 0, NULL, "do not open the browser", cli_set_flag, AT(no_open)},
	{"as-of", 0, "DATE", "at the end of this day (now)", cli_set_text,
	 AT(views) + offsetof(struct cli_fleet_settings, as_of)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text,
	 AT(views) + offsetof(struct cli_fleet_settings, dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* ---- files ---- */

static int put_json(const struct trk_dashboard *d)
{
	struct trk_buf b;
	int r;

	trk__buf_init(&b, JSON_MAX);
	trk__dashboard_json(d, &b);
	trk__buf_putc(&b, '\n');
	if (b.error)
		cli_complain("dashboard: %s", trk__strerror(b.error));
	r = b.error ? EXIT_ERROR : cli_write(STDOUT_FILENO, &b, "stdout");
	trk__buf_release(&b);
	return r;
}

static int make_files(const struct settings *s, const struct trk_fleet_rows *rows, size_t reports)
{
	struct trk_service service = cli_service(s->views.dir);
	TRK_BUF_CLEANUP struct trk_buf alerts;
	struct trk_dashboard d;
	int r = trk__dashboard_make(rows, &d);

	trk__buf_init(&alerts, JSON_MAX);
	if (r == 0) {
		r = trk__alert_list(&service, &alerts);
		if (r < 0)
			trk__dashboard_release(&d);
	}
	if (r < 0) {
		cli_complain("dashboard: %s", trk__strerror(r));
		return EXIT_ERROR;
	}
	d.alerts = alerts.data;
	r = s->json ? put_json(&d) : cli_dashboard_write(&d, &service, s->path, reports);
	trk__dashboard_release(&d);
	return r;
}

static int write_files(const struct settings *s, size_t reports)
{
	struct trk_fleet_rows rows;
	bool empty;
	int r = cli_fleet_load(&s->views, "dashboard", &rows, &empty);

	/* A page without runs says how to begin. */
	if (empty)
		r = 0;
	if (r == 0)
		r = make_files(s, &rows, reports);
	trk__fleet_rows_release(&rows);
	return r;
}

/* ---- served ---- */

struct serving {
	const struct settings *settings;
	char page[PATH_SIZE]; /* that leads the browser to the address; "": none */
};

/* Start the desktop's browser, which is not waited for. */
static void open_browser(const char *path)
{
	if (!trk__detach())
		return;
	(void) execlp("xdg-open", "xdg-open", path, (char *) NULL);
	_exit(EXIT_NOT_FOUND);
}

/* The secret in the address must not stand in the arguments of a process, which all users can read: a file
 * of mode 0600 leads to it. */
static void lead_browser(struct serving *s, const char *address)
{
	const char *dir = cli_state_dir(s->settings->views.dir);
	TRK_FD_CLEANUP int store_fd = *dir ? trk__store_open(dir, true, NULL) : -1;
	TRK_FD_CLEANUP int fd = -1;
	char text[512];
	int len = snprintf(text, sizeof(text),
			   "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" "
			   "content=\"0; url=%s\"><title>resource-tracker</title>\n",
			   address);

	if (store_fd < 0 || snprintf(s->page, sizeof(s->page), "%s/dashboard-%d.html", dir,
				     (int) getpid()) >= PATH_SIZE) {
		s->page[0] = '\0';
		return;
	}
	(void) unlink(s->page);
	fd = open(s->page, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && trk__write_all(fd, text, (size_t) len) == 0)
		open_browser(s->page);
}

static bool has_desktop(void)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x11 && *x11) || (wayland && *wayland);
}

static void tell_address(void *data, const char *address)
{
	struct serving *s = data;
	struct trk_buf b;

	trk__buf_init(&b, 1024);
	trk__buf_printf(&b, "%s\n", address);
	(void) cli_write(STDOUT_FILENO, &b, "stdout");
	trk__buf_release(&b);
	cli_complain("dashboard: serves this user until Ctrl-C");
	if (!s->settings->no_open && has_desktop())
		lead_browser(s, address);
}

/* A descriptor that can be read once the program shall end, or -1 after having complained. */
static int take_signals(void)
{
	sigset_t ends;
	int fd;

	(void) sigemptyset(&ends);
	(void) sigaddset(&ends, SIGINT);
	(void) sigaddset(&ends, SIGTERM);
	(void) sigaddset(&ends, SIGHUP);
	(void) sigprocmask(SIG_BLOCK, &ends, NULL);
	(void) signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &ends, SFD_CLOEXEC);
	if (fd < 0)
		cli_complain("dashboard: signalfd: %m");
	return fd;
}

static int serve(const struct settings *s, uint16_t port)
{
	struct serving serving = {.settings = s};
	struct trk_error error = {.code = 0};
	double now_s = 0;
	int r = cli_fleet_now(&s->views, "dashboard", &now_s);
	TRK_FD_CLEANUP int stop_fd = r == 0 ? take_signals() : -1;
	struct trk_dashboard_server server = {
		.service = cli_service(s->views.dir),
		.as_of_s = s->views.as_of ? now_s : (double) NAN,
		.utc_offset_s = cli_fleet_utc_offset(now_s),
		.port = port,
		.stop_fd = stop_fd,
		.on_ready = tell_address,
		.data = &serving,
	};

	if (r != 0 || stop_fd < 0)
		return r ? r : EXIT_ERROR;
	r = trk__dashboard_serve(&server, &error);
	if (serving.page[0])
		(void) unlink(serving.page);
	if (r < 0)
		cli_complain("dashboard: %s", error.message[0] ? error.message : trk__strerror(r));
	return r < 0 ? EXIT_ERROR : EXIT_OK;
}

static int take_number(const char *option, const char *text, uint64_t most, uint64_t usual,
		       uint64_t *ret)
{
	*ret = usual;
	if (!text || (trk__parse_u64(text, ret) == 0 && *ret <= most))
		return 0;
	cli_complain("dashboard: --%s %s: not a number up to %llu", option, text,
		     (unsigned long long) most);
	return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	struct settings s = {.json = false};
	int at = cli_options(&cli_dashboard, argc, argv, &s), r;
	uint64_t port, reports;

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at < argc || (s.path && !*s.path) || (s.path && s.json)) {
		cli_complain("dashboard: %s. Try: resource-tracker dashboard --help",
			     at < argc ? "takes no operand"
			     : s.json  ? "--json and --static do not go together"
				       : "--static needs a name");
		return EXIT_USAGE;
	}
	r = take_number("port", s.port, UINT16_MAX, 0, &port);
	if (r == 0)
		r = take_number("reports", s.reports, REPORTS_MAX, CLI_DASHBOARD_REPORTS, &reports);
	if (r != 0)
		return r;
	return s.path || s.json ? write_files(&s, (size_t) reports) : serve(&s, (uint16_t) port);
}

const struct cli_command cli_dashboard = {
	.name = "dashboard",
	.usage = "dashboard [OPTIONS]",
	.summary = "Show all jobs in the browser: spend, waste, what will fail, each job and run.",
	.details =
		"Serves on 127.0.0.1, at an address with a secret, until Ctrl-C; other users of\n"
		"this machine are refused. With --static it writes files that load nothing "
		"from\n"
		"the network. The figures are those of `resource-tracker fleet`, over 7, 30 and "
		"90\n"
		"days. docs/dashboard.md has pictures.",
	.options = options,
	.run = run,
};
