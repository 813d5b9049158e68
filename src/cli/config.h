/* Settings from configuration files and environment variables.
 *
 * In this order, later ones win: $XDG_CONFIG_HOME/resource-tracker/config.toml (else ~/.config/…),
 * ./resource-tracker.toml, or instead of both the file of --config or RESOURCE_TRACKER_CONFIG; then
 * TRACKER_<OPTION>; then the flags. Files are TOML: comments, tables, and keys with a string, a
 * number, true or false, or (for tags) a list of strings. A file that was not named on the command
 * line and that another user may have written is ignored (base/trust.h). */
#ifndef TRK_CLI_CONFIG_H
#define TRK_CLI_CONFIG_H

#include "cli/cli.h"

enum { CLI_ORIGINS_MAX = 128 };

/* The options that ./resource-tracker.toml may set. A directory that was cloned or unpacked may
 * contain such a file, so it can only describe the job and how it is sampled. It cannot name a
 * file, a directory or a command, end the job, change its exit code, or record arguments that the
 * user excludes. */
#define CLI_LOCAL_KEYS                                                                             \
	"job job-name tag note project-name stage-name task-name team env language orchestrator\n" \
	"executor external-run-id container-image pid request input-size instance interval gpu\n"  \
	"no-children no-system no-discovery no-history aggregate-cpu-steal renice summary quiet\n" \
	"color plain"

/* What was set, in order: a later entry of the same name wins. */
struct cli_origins {
	struct cli_origin {
		const struct cli_option *option;
		char value[256];
		char origin[320]; /* "config.toml:3", "TRACKER_INTERVAL" */
		bool refused;     /* the working directory's file may not set it */
	} entry[CLI_ORIGINS_MAX];
	size_t count;
};

/* Apply files and environment to the settings of a command. argv is searched for --config only.
 * Returns 0, or EXIT_USAGE after a complaint. A mistake in a file that --config or
 * RESOURCE_TRACKER_CONFIG names is an error. In other files it is a warning, so that a file of
 * another user does not stop a job, unless `origins` is not NULL. */
int cli_config(const struct cli_command *command, int argc, char **argv, void *settings,
	       struct cli_origins *origins);

/* The variable TRACKER_NAME of an option. */
void cli_variable_of(const char *option, char *name, size_t size);
/* As cli_is_gone(), for a key of a file. */
bool cli_is_gone_key(const char *key);
/* Complain of the variables that are set and have gone. */
void cli_variables_gone(void);

/* ---- the file's text ---- */

struct cli_toml {
	const char *file; /* borrowed, as is the text */
	const char *at;
	const char *line_start;
	unsigned int line;
	char table[64];
	/* The current entry. */
	char key[64];
	char value[4096];
	bool is_list, is_text;
	unsigned int key_line;
};

void cli_toml_init(struct cli_toml *t, const char *file, const char *text);
/* Read the next key with its value; a list gives one entry for each of its texts. Returns 1, 0 at
 * the end, or -EINVAL with "FILE:LINE:COLUMN: what is wrong" in `error`. */
int cli_toml_next(struct cli_toml *t, char error[512]);

#endif
