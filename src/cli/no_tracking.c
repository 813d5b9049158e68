/* The verbs that track or read this machine, in the program for systems where only the Python
 * package does so. */
#include <string.h>

#include "cli/cli.h"
#include "cli/dashboard_serve.h"
#include "cli/installation.h"
#include "probe/linux/worker.h"

#define IN_PYTHON "python -m resource_tracker run -- CMD"

/* Name of the constant, verb, what to use in its place. */
/* clang-format off */
#define ABSENT_LIST(X) \
	X(run, "run", IN_PYTHON) \
	X(attach, "attach", IN_PYTHON) \
	X(system, "system", IN_PYTHON) \
	X(top, "top", "resource-tracker show") \
	X(mark, "mark", "resource_tracker.mark() in Python") \
	X(machine, "machine", "resource_tracker.get_server_info() in Python") \
	X(metaflow, "metaflow", "python -m resource_tracker metaflow")
/* clang-format on */

/* `resource-tracker CMD` is short for `run`. */
static int refuse(int argc, char **argv)
{
	static const char *const absent[][2] = {
#define X(id, verb, instead) {verb, instead},
		ABSENT_LIST(X)
#undef X
	};
	size_t n = sizeof(absent) / sizeof(absent[0]), i = 0;

	while (i < n && strcmp(argv[0], absent[i][0]) != 0)
		i++;
	i = i == n ? 0 : i;
	return cli_reject(EXIT_BEFORE_JOB, "%s: not available on this system. Try: %s",
			  absent[i][0], absent[i][1]);
}

#define X(id, verb, instead)                                                                       \
	const struct cli_command cli_##id = {                                                      \
		.name = verb,                                                                      \
		.usage = verb,                                                                     \
		.summary = "Not available on this system. Use: " instead ".",                      \
		.options = cli_no_options,                                                         \
		.run = refuse,                                                                     \
	};
ABSENT_LIST(X)
#undef X

static int run_doctor(int argc, char **argv)
{
	(void) cli_options(&cli_doctor, argc, argv, NULL);
	return cli_check_installation(NULL);
}

const struct cli_command cli_doctor = {
	.name = "doctor",
	.usage = "doctor",
	.summary = "Report whether this installation is whole.",
	.options = cli_no_options,
	.run = run_doctor,
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

/* Nothing is read by workers. */
int trk__worker_threads(void)
{
	return 0;
}
