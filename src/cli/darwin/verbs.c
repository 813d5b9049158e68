/* What the macOS build lacks: the live view of running jobs, which prints so and fails. */
#include "cli/cli.h"
#include "cli/track_options.h"

static int refuse_top(int argc, char **argv)
{
	return cli_reject(EXIT_ERROR,
			  "top: this build for macOS has no live view. Try: resource-tracker show");
}

const struct cli_command cli_top = {
	.name = "top",
	.usage = "top",
	.summary = "Not in this build for macOS.",
	.options = cli_no_options,
	.run = refuse_top,
};

void track_adapt(struct track_settings *s, char **argv)
{
	if (s->track.stacks.hz > 0)
		cli_complain("--lines: no lines of programs are sampled on macOS");
	if (s->track.own_group)
		cli_complain("--cgroup: macOS has no control groups");
}
