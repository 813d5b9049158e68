/* The verbs that track or read this machine, in the program for systems where only the Python
 * package does so. */
#include <string.h>

#include "cli/cli.h"
#include "cli/dashboard_serve.h"

#define TRACK_IN_PYTHON "python -m resource_tracker run -- CMD"

static const struct {
	const char *verb, *instead;
} known[] = {
	{"run", TRACK_IN_PYTHON},
	{"attach", TRACK_IN_PYTHON},
	{"system", TRACK_IN_PYTHON},
	{"top", "resource-tracker show"},
	{"mark", "resource_tracker.mark() in Python"},
	{"doctor", "resource-tracker self check"},
	{"server-info", "resource_tracker.get_server_info() in Python"},
	{"cloud-info", "resource_tracker.get_cloud_info() in Python"},
	{"metaflow", "python -m resource_tracker metaflow"},
};

/* `resource-tracker CMD` is short for `run`. */
static int refuse(int argc, char **argv)
{
	size_t n = sizeof(known) / sizeof(known[0]), i = 0;

	while (i < n && strcmp(argv[0], known[i].verb) != 0)
		i++;
	i = i == n ? 0 : i;
	return cli_reject(EXIT_BEFORE_JOB, "%s: not available on this system. Try: %s",
			  known[i].verb, known[i].instead);
}

const struct cli_command cli_run = {
	.name = "run",
	.usage = "run",
	.summary = "Not available on this system. Use: " TRACK_IN_PYTHON ".",
	.options = cli_no_options,
	.run = refuse,
};

const struct cli_command cli_attach = {
	.name = "attach",
	.usage = "attach",
	.summary = "Not available on this system. Use: " TRACK_IN_PYTHON ".",
	.options = cli_no_options,
	.run = refuse,
};

const struct cli_command cli_system = {
	.name = "system",
	.usage = "system",
	.summary = "Not available on this system. Use: " TRACK_IN_PYTHON ".",
	.options = cli_no_options,
	.run = refuse,
};

const struct cli_command cli_top = {
	.name = "top",
	.usage = "top",
	.summary = "Not available on this system. Use: resource-tracker show.",
	.options = cli_no_options,
	.run = refuse,
};

const struct cli_command cli_mark = {
	.name = "mark",
	.usage = "mark",
	.summary = "Not available on this system. Use: resource_tracker.mark() in Python.",
	.options = cli_no_options,
	.run = refuse,
};

const struct cli_command cli_doctor = {
	.name = "doctor",
	.usage = "doctor",
	.summary = "Not available on this system. Use: resource-tracker self check.",
	.options = cli_no_options,
	.run = refuse,
};

const struct cli_command cli_server_info = {
	.name = "server-info",
	.usage = "server-info",
	.summary =
		"Not available on this system. Use: resource_tracker.get_server_info() in Python.",
	.options = cli_no_options,
	.run = refuse,
};

const struct cli_command cli_cloud_info = {
	.name = "cloud-info",
	.usage = "cloud-info",
	.summary =
		"Not available on this system. Use: resource_tracker.get_cloud_info() in Python.",
	.options = cli_no_options,
	.run = refuse,
};

const struct cli_command cli_metaflow = {
	.name = "metaflow",
	.usage = "metaflow",
	.summary = "Not available on this system. Use: python -m resource_tracker metaflow.",
	.options = cli_no_options,
	.run = refuse,
};

int cli_dashboard_serve(const struct cli_fleet_settings *views, uint16_t port, bool open)
{
	return cli_reject(EXIT_ERROR, "dashboard: no server is available on this system. Try: "
				      "resource-tracker dashboard --static FILE.html");
}

/* The tracking shell. */
const char *cli_shell_name(const char *argv0)
{
	return NULL;
}

int cli_shell(const char *name, int argc, char **argv)
{
	return EXIT_ERROR;
}
