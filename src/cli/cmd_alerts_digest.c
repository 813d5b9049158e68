/* resource-tracker alerts digest: all jobs in one message, for cron or a systemd timer
 * (docs/alerts.md). */

#include "cli/alert_options.h"
#include "service/digest.h"

enum { TEXT_MAX = 1 << 20 };

struct settings {
	struct cli_alert_settings alert;
	bool json;
};

/* clang-format off */
static const struct cli_option options[] = {
	{"json", 0, NULL, "as JSON", cli_set_flag, AT(json)},
	CLI_ALERT_OPTIONS,
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* clang-format on */

static int run(int argc, char **argv)
{
	struct settings s = {.json = false};
	struct trk_error error = {.code = 0};
	struct trk_alert_sender sender;
	TRK_BUF_LOCAL(b, TEXT_MAX);
	bool sends = false;
	int r, written = 0;

	if (cli_alert_configure("alerts digest", argc, argv, &s.alert) != 0)
		return EXIT_USAGE;
	(void) cli_options(&cli_alerts_digest, argc, argv, &s);
	for (size_t i = 0; i < s.alert.hooks.count; i++)
		sends |= s.alert.hooks.list[i].sink != NULL && !s.json;
	sender = cli_alert_sender(&s.alert);
	r = trk__digest(&sender, sends ? &s.alert.hooks : NULL,
			s.json  ? TRK_DIGEST_JSON
			: sends ? TRK_DIGEST_NONE
				: TRK_DIGEST_TEXT,
			&b, &error);
	if (b.len)
		written = cli_print(&b);
	if (r < 0)
		return error.message[0] ? cli_fail("alerts digest", r, &error)
					: cli_alert_status(r);
	return written;
}

const struct cli_command cli_alerts_digest = {
	.name = "alerts digest",
	.usage = "alerts digest [OPTIONS]",
	.summary = "Write the weekly digest: what will fail, and what to change.",
	.details =
		"For cron or a systemd timer: alerts digest --alert mail:ann@example.org sends the "
		"digest if there\nis news, at most once in 6 days. docs/alerts.md shows the "
		"lines for cron and systemd.",
	.example = "resource-tracker alerts digest",
	.options = options,
	.is_hidden = true,
	.internal = cli_alert_internal,
	.run = run,
};
