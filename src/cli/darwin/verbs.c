/* What the macOS build lacks: the live view of running jobs, which prints so and fails. */
#include "cli/cli.h"
#include "cli/track_options.h"

static int refuse_top(int argc, char **argv)
{
	return cli_reject(
		EXIT_ERROR,
		"top: the program for macOS has no live view. Try: resource-tracker show");
}

const struct cli_command cli_top = {
	.name = "top",
	.usage = "top",
	.summary = "Not available in the program for macOS.",
	.options = cli_no_options,
	.run = refuse_top,
};

void track_adapt(struct track_settings *s, char **argv)
{
	if (s->track.stacks.hz > 0)
		cli_complain("--lines: not available on macOS");
	if (s->track.own_group)
		cli_complain("--cgroup: not available, macOS has no control groups");
}
