/* resource-tracker system: the whole machine. */
#include "cli/config.h"
#include "cli/tracking.h"

static int run(int argc, char **argv)
{
	struct track_settings settings;
	int at;

	track_settings_init(&settings);
	at = cli_config(&cli_system, argc, argv, &settings, NULL) == 0
		     ? cli_options(&cli_system, argc, argv, &settings)
		     : -EXIT_USAGE;
	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at != argc) {
		cli_complain("system: unexpected %s. Try: resource-tracker system --help",
			     argv[at]);
		return EXIT_USAGE;
	}
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
