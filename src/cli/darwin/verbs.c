/* The verbs that the build for macOS lacks: it reads recordings, and cannot track yet. Each says so
 * and fails. */
#include "cli/cli.h"
#include "cli/dashboard_serve.h"

#define SUMMARY "Not in this build for macOS, which reads recordings."

static const struct cli_option no_options[] = {{NULL, 0, NULL, NULL, NULL, 0}};

static void complain(const char *verb)
{
	cli_complain("%s: this build for macOS reads recordings and cannot track yet. Try: track "
		     "on Linux, "
		     "then resource-tracker report FILE",
		     verb);
}

static int refuse(int argc, char **argv)
{
	(void) argc;
	complain(argv[0]);
	return EXIT_ERROR;
}

/* Also for `resource-tracker CMD`. */
static int refuse_run(int argc, char **argv)
{
	(void) argc;
	(void) argv;
	complain("run");
	return EXIT_BEFORE_JOB;
}

#define LACKING(symbol, verb, function)                                                            \
	const struct cli_command symbol = {                                                        \
		.name = verb,                                                                      \
		.usage = verb,                                                                     \
		.summary = SUMMARY,                                                                \
		.options = no_options,                                                             \
		.run = function,                                                                   \
	}

LACKING(cli_run, "run", refuse_run);
LACKING(cli_attach, "attach", refuse);
LACKING(cli_system, "system", refuse);
LACKING(cli_top, "top", refuse);
LACKING(cli_server_info, "server-info", refuse);
LACKING(cli_cloud_info, "cloud-info", refuse);
LACKING(cli_mark, "mark", refuse);
LACKING(cli_alerts, "alerts", refuse);
LACKING(cli_digest, "digest", refuse);
LACKING(cli_config_command, "config", refuse);
LACKING(cli_doctor, "doctor", refuse);
LACKING(cli_self, "self", refuse);

int cli_dashboard_serve(const struct cli_fleet_settings *views, uint16_t port, bool open_browser)
{
	(void) views;
	(void) port;
	(void) open_browser;
	cli_complain(
		"dashboard: this build for macOS has no server. Try: resource-tracker dashboard "
		"--static FILE.html");
	return EXIT_ERROR;
}

/* No shell is tracked: a link under the name of a shell is this program. */
const char *cli_shell_name(const char *argv0)
{
	(void) argv0;
	return NULL;
}

int cli_shell(const char *name, int argc, char **argv)
{
	(void) argc;
	(void) argv;
	complain(name);
	return EXIT_NOT_FOUND;
}
