/* What the macOS build lacks: the live view of running jobs, which prints so and fails. */
#include "cli/cli.h"
#include "cli/tracking.h"

static const struct cli_option no_options[] = {{NULL, 0, NULL, NULL, NULL, 0}};

static int refuse_top(int argc, char **argv)
{
	cli_complain("top: the program for macOS has no live view. Try: resource-tracker show");
	return EXIT_ERROR;
}

const struct cli_command cli_top = {
	.name = "top",
	.usage = "top",
	.summary = "Not available in the program for macOS.",
	.options = no_options,
	.run = refuse_top,
};

void track_adapt(struct track_settings *s, char **argv)
{
	if (s->track.stacks.hz > 0)
		cli_complain("--lines: not available on macOS");
	if (s->track.own_group)
		cli_complain("--cgroup: not available, macOS has no control groups");
}
