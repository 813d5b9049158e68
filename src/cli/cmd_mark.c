/* resource-tracker mark: record a named moment of the run, from inside the job. */
#include <stdlib.h>

#include "cli/cli.h"
#include "track/marks.h"

static int run(int argc, char **argv)
{
	const char *guard = getenv("RESOURCE_TRACKER_RUN");
	int at = cli_options(&cli_mark, argc, argv, NULL), r;

	if (at + 1 != argc || !*argv[at])
		return cli_reject(EXIT_USAGE,
				  "mark: needs one name. Try: resource-tracker mark NAME");
	if (!guard || !*guard) /* outside a run: the same script works with and without a tracker */
		return EXIT_OK;
	r = trk__marks_send(guard, argv[at]);
	if (r < 0)
		return cli_reject(EXIT_ERROR, "mark %s: cannot reach the tracker of the run: %s",
				  argv[at], trk__strerror(r));
	return EXIT_OK;
}

const struct cli_command cli_mark = {
	.name = "mark",
	.usage = "mark NAME",
	.summary = "Name the current moment of the run, from inside the job.",
	.details = "Outside a run, mark does nothing and its exit code is 0.",
	.options = cli_no_options,
	.operands = 1,
	.run = run,
};
