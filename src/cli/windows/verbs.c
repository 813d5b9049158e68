/* What the Windows build lacks: it prints so. */
#include "alert/deliver.h"
#include "base/windows/group.h"
#include "cli/cli.h"
#include "cli/track_options.h"
#include "cli/windows/entry.h"

/* Not with the Python of a user either: Metaflow cannot be imported there. */
static int refuse_metaflow(int argc, char **argv)
{
	(void) cli_options(&cli_metaflow, argc < 2 ? argc : 2, argv, NULL);
	return cli_reject(EXIT_ERROR,
			  "metaflow: Metaflow does not run on Windows. Try: the program "
			  "for Linux in WSL, where the flow runs");
}

const struct cli_command cli_metaflow = {
	.name = "metaflow",
	.usage = "metaflow",
	.summary = "Not available on Windows, where Metaflow does not run. Use the program for "
		   "Linux in WSL.",
	.options = cli_no_options,
	.operands = 1,
	.run = refuse_metaflow,
};

const char *cli_shell_name(const char *argv0)
{
	(void) argv0;
	return NULL;
}

int cli_shell(const char *name, int argc, char **argv)
{
	return EXIT_ERROR;
}

/* Only the commands stay. */
static void drop_sinks(struct trk_alert_hooks *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->count; i++)
		if (h->list[i].command)
			h->list[kept++] = h->list[i];
	if (kept < h->count)
		cli_complain("--alert: %s", trk__alert_delivers_nothing);
	h->count = kept;
}

/* A run for the library stays in this process, which alone has the end of its pipe. */
void track_adapt(struct track_settings *s, char **argv)
{
	if (argv && (s->track.limits.time_ns || s->track.limits.memory_bytes) &&
	    s->track.control_fd < 0)
		trk__group_enter();
	cli_windows_mute(false);
	drop_sinks(&s->hooks);
	if (s->track.stacks.hz > 0)
		cli_complain("--lines: not available on Windows");
	if (s->track.own_group)
		cli_complain("--cgroup: not available, Windows has no control groups");
}
