/* resource-tracker metaflow: what the steps of a flow should request. Reading Metaflow's metadata
 * requires Metaflow, so the process executes Python with the Python package. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"

static const char script[] =
	"import sys\n"
	"try:\n"
	"    from resource_tracker.metaflow_cli import main\n"
	"except ImportError:\n"
	"    sys.exit(\"resource-tracker: metaflow: this Python does not have the package of this "
	"program. Try: \"\n"
	"             \"install its wheel, or name a Python that has it in "
	"RESOURCE_TRACKER_PYTHON\")\n"
	"sys.exit(main(sys.argv[1:]))\n";

static int run(int argc, char **argv)
{
	const char *named = getenv("RESOURCE_TRACKER_PYTHON");
	const char *python = named && *named ? named : "python3";
	char **words;
	size_t n = 0;

	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		cli_print_help(&cli_metaflow);
		return argc < 2 ? EXIT_USAGE : EXIT_OK;
	}
	words = calloc((size_t) argc + 4, sizeof(*words));
	if (!words)
		return cli_reject(EXIT_ERROR, "out of memory");
	words[n++] = (char *) (uintptr_t) python;
	words[n++] = (char *) (uintptr_t) "-c";
	words[n++] = (char *) (uintptr_t) script;
	for (int i = 1; i < argc; i++)
		words[n++] = argv[i];
	(void) execvp(python, words);
	cli_complain("metaflow: %s: %s", python, trk__strerror(errno));
	free(words);
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

const struct cli_command cli_metaflow = {
	.name = "metaflow",
	.usage = "metaflow recommend [--last N] [--margin X] [--json] FLOW",
	.summary = "Print an @resources line for each step of a Metaflow flow.",
	.details = "The request is based on earlier runs of the step with @track_resources. The "
		   "Python package must be\ninstalled for python3, or for the interpreter that "
		   "RESOURCE_TRACKER_PYTHON names. See docs/metaflow.md.",
	.options = cli_no_options,
	.is_hidden = true,
	.run = run,
};
