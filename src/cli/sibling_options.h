/* Flags of the Rust program of the same name (the sibling) that run, attach and system accept in
 * addition to their own. Its TRACKER_* variables set the options of the same name (config.h).
 * docs/compatibility.md lists all of them. */
#ifndef TRK_CLI_SIBLING_OPTIONS_H
#define TRK_CLI_SIBLING_OPTIONS_H

#include "cli/track_options.h"

int sibling_take_nice(void *settings, const struct cli_option *o, const char *value);
int sibling_take_steal(void *settings, const struct cli_option *o, const char *value);
int sibling_take_redaction(void *settings, const struct cli_option *o, const char *value);
/* Also used for the operand of attach. */
int sibling_take_pid(void *settings, const struct cli_option *o, const char *value);

/* Entries of an option table. */
/* clang-format off */
#define SIBLING_OPTIONS \
	{"pid", 'p', "PID", "track this process if neither a command nor a PID is given", \
	 sibling_take_pid, 0}, \
	{"renice", 'r', "[N]", "nice value of the tracker itself, -20 to 19 (without a value: 19)", \
	 sibling_take_nice, 0}, \
	{"aggregate-cpu-steal", 0, "true|false", \
	 "with --format json: false adds the steal time of each core (true)", sibling_take_steal, 0}, \
	{"redact-args", 0, "[=secrets|strict|all|none]", \
	 "what to mask in recorded command lines (secrets; without a value: all)", \
	 sibling_take_redaction, 0}
/* clang-format on */

/* Print once that a token for streaming is set, and that nothing is sent. */
void sibling_speak(const struct track_settings *s);

#endif
