/* resource-tracker config: the settings and their origins. */
#include <string.h>

#include "base/buf.h"
#include "cli/config.h"
#include "cli/track_options.h"

struct settings {
	const char *file;
};

static const struct cli_option options[] = {
	{"config", 'c', "FILE", "read this file instead of the usual ones", cli_set_text, AT(file)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* A later entry of the same option wins; tags add up. */
static bool is_overridden(const struct cli_origins *origins, size_t at)
{
	for (size_t i = at + 1; i < origins->count; i++)
		if (origins->entry[i].option == origins->entry[at].option &&
		    !origins->entry[i].refused &&
		    strcmp(origins->entry[at].option->name, "tag") != 0)
			return true;
	return false;
}

static void print_entry(struct trk_buf *b, const struct cli_origin *entry)
{
	trk__buf_printf(b, "%s%s = ", entry->refused ? "# ignored: " : "", entry->option->name);
	if (!entry->option->value) {
		trk__buf_puts(b, strchr("1tTyYoO", entry->value[0]) ? "true" : "false");
	} else {
		trk__buf_putc(b, '"');
		for (const char *c = entry->value; *c; c++) {
			if (*c == '"' || *c == '\\')
				trk__buf_putc(b, '\\');
			trk__buf_putc(b, *c);
		}
		trk__buf_putc(b, '"');
	}
	trk__buf_printf(b, "  # %s\n", entry->origin);
}

static void print_local_keys(struct trk_buf *b)
{
	trk__buf_puts(b, "# ./resource-tracker.toml may set: ");
	for (const char *c = CLI_LOCAL_KEYS; *c; c++)
		trk__buf_putc(b, *c == '\n' ? ' ' : *c);
	trk__buf_putc(b, '\n');
}

/* The verb whose settings these are; `run` itself does not exist on systems that do not track. */
static const struct cli_command tracking_verb = {.name = "run", .options = track_run_options};

static int run(int argc, char **argv)
{
	static struct cli_origins origins;
	static struct track_settings tracking;
	struct settings settings = {0};
	TRK_BUF_LOCAL(b, 1 << 20);

	(void) cli_options(&cli_config_command, argc, argv, &settings);
	track_settings_init(&tracking);
	if (cli_config(&tracking_verb, argc, argv, &tracking, &origins) != 0)
		return EXIT_USAGE;
	for (size_t i = 0; i < origins.count; i++)
		if (!is_overridden(&origins, i))
			print_entry(&b, &origins.entry[i]);
	if (origins.count == 0)
		trk__buf_puts(&b, "# nothing is set: every option has its default\n");
	print_local_keys(&b);
	return cli_print(&b);
}

const struct cli_command cli_config_command = {
	.name = "config",
	.usage = "config [--config FILE]",
	.summary = "Show the settings that files and variables make, and where each comes from.",
	.details = "Files are TOML; a key is the name of an option of run, attach or system:\n\n"
		   "  interval = \"500ms\"\n  quiet = true\n  tags = [\"team=blue\"]\n"
		   "  [job]\n  name = \"nightly\"\n  [tracker]\n  interval_secs = 1\n\n"
		   "Settings are read in this order; a later one overrides an earlier "
		   "one:\n$XDG_CONFIG_HOME/resource-tracker/config.toml (or ~/.config/...), "
		   "./resource-tracker.toml,\nthe environment (TRACKER_INTERVAL for --interval, "
		   "and so on), flags. --config or\nRESOURCE_TRACKER_CONFIG names a file that is "
		   "read instead of the two files.\n\n"
		   "./resource-tracker.toml may set only:\n\n" CLI_LOCAL_KEYS "\n\n"
		   "A file that is not named is read only if it belongs to you or to root, is not "
		   "a link, and no\nother user may write to it or to a directory above it. "
		   "Otherwise, or if it has a mistake, one\nwarning is printed and the job runs.",
	.example = "TRACKER_INTERVAL=2 resource-tracker config",
	.options = options,
	.run = run,
};
