/* resource-tracker attach: track what runs already. */
#include <unistd.h>

#include "base/parse.h"
#include "cli/config.h"
#include "cli/tracking.h"

static int run(int argc, char **argv)
{
	struct track_settings settings;
	uint64_t pid;
	int at;

	track_settings_init(&settings);
	at = cli_config(&cli_attach, argc, argv, &settings, NULL) == 0
		     ? cli_options(&cli_attach, argc, argv, &settings)
		     : -EXIT_USAGE;
	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at == argc && settings.pid)
		return track_with(&settings, NULL, settings.pid);
	if (at + 1 != argc) {
		cli_complain("attach: needs one pid. Try: resource-tracker attach PID");
		return EXIT_USAGE;
	}
	if (trk__parse_u64(argv[at], &pid) < 0 || pid == 0 || pid > INT32_MAX) {
		cli_complain("attach: %s is not a pid", argv[at]);
		return EXIT_USAGE;
	}
	if ((pid_t) pid == getpid()) {
		cli_complain("attach: pid %s is this program itself", argv[at]);
		return EXIT_USAGE;
	}
	return track_with(&settings, NULL, (int) pid);
}

const struct cli_command cli_attach = {
	.name = "attach",
	.usage = "attach [OPTIONS] PID",
	.summary = "Track a running process and its tree until it ends, or until Ctrl-C.",
	.options = track_attach_options,
	.run = run,
};
