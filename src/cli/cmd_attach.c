/* resource-tracker attach: track a running process. */
#include "cli/config.h"
#include "cli/sibling_options.h"
#include "cli/tracking.h"

static int run(int argc, char **argv)
{
	static const struct cli_option operand = {.name = "attach"};
	struct track_settings settings;
	int at;

	track_settings_init(&settings);
	if (cli_config(&cli_attach, argc, argv, &settings, NULL) != 0)
		return EXIT_USAGE;
	at = cli_options(&cli_attach, argc, argv, &settings);
	if (at == argc && settings.pid)
		return track_with(&settings, NULL, settings.pid);
	if (at + 1 != argc)
		return cli_reject(EXIT_USAGE,
				  "attach: needs one PID. Try: resource-tracker attach PID");
	if (sibling_take_pid(&settings, &operand, argv[at]) != 0)
		return EXIT_USAGE;
	return track_with(&settings, NULL, settings.pid);
}

const struct cli_command cli_attach = {
	.name = "attach",
	.usage = "attach [OPTIONS] PID",
	.summary = "Track a running process and its descendants until it ends, or until Ctrl-C.",
	.options = track_attach_options,
	.operands = 1,
	.internal = track_internal_options,
	.run = run,
};
