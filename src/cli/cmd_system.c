/* resource-tracker system: track the whole machine. */
#include "cli/config.h"
#include "cli/tracking.h"

static int run(int argc, char **argv)
{
	struct track_settings settings;

	track_settings_init(&settings);
	if (cli_config(&cli_system, argc, argv, &settings, NULL) != 0)
		return EXIT_USAGE;
	(void) cli_options(&cli_system, argc, argv, &settings);
	return track_with(&settings, NULL, 0);
}

const struct cli_command cli_system = {
	.name = "system",
	.usage = "system [OPTIONS]",
	.summary = "Track the whole machine until Ctrl-C or --duration.",
	.options = track_attach_options,
	.internal = track_internal_options,
	.run = run,
};
