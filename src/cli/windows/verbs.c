/* The verbs that the Windows build lacks: each prints so and fails. */
#include "cli/alert_check.h"
#include "cli/cli.h"
#include "cli/dashboard_serve.h"
#include "cli/tracking.h"

static const struct cli_option no_options[] = {{NULL, 0, NULL, NULL, NULL, 0}};

static int refuse(int argc, char **argv)
{
	(void) argc;
	cli_complain("%s: not in this build for Windows. Try: resource-tracker help", argv[0]);
	return EXIT_ERROR;
}

#define REFUSED(verb, text)                                                                        \
	const struct cli_command cli_##verb = {                                                    \
		.name = text,                                                                      \
		.usage = text,                                                                     \
		.summary = "Not in this build for Windows.",                                       \
		.options = no_options,                                                             \
		.run = refuse,                                                                     \
	};

REFUSED(alerts, "alerts")
REFUSED(digest, "digest")
REFUSED(metaflow, "metaflow")
REFUSED(top, "top")

/* On Windows no process checks alerts after a run. */
void cli_alert_check_later(const struct cli_alert_settings *s, const char *run)
{
	(void) run;
	if (trk__alert_hooks_want_end(&s->hooks))
		cli_complain("alerts: this build for Windows sends none, and runs no command for "
			     "them");
}

int cli_dashboard_serve(const struct cli_fleet_settings *views, uint16_t port, bool open_browser)
{
	(void) views;
	(void) port;
	(void) open_browser;
	cli_complain("dashboard: this build for Windows has no server. Try: resource-tracker "
		     "dashboard --static FILE.html");
	return EXIT_ERROR;
}

const char *cli_shell_name(const char *argv0)
{
	(void) argv0;
	return NULL;
}

int cli_shell(const char *name, int argc, char **argv)
{
	(void) argc;
	(void) argv;
	return refuse(1, (char *[]){(char *) (uintptr_t) name, NULL});
}

void track_complain_of_lacks(const struct track_settings *s)
{
	if (s->track.stacks.hz > 0)
		cli_complain("--lines: no lines of programs are sampled on Windows");
	if (s->track.own_group)
		cli_complain("--cgroup: Windows has no control groups");
	if (s->report_every_ns)
		cli_complain("--report-every: on Windows the page is written at the end alone");
}
