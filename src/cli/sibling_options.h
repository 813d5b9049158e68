/* Flags of the Rust sibling beyond those that run, attach and system have anyway; its TRACKER_*
 * variables are those of every option (config.h). docs/compatibility.md lists all of them. */
#ifndef TRK_CLI_SIBLING_OPTIONS_H
#define TRK_CLI_SIBLING_OPTIONS_H

#include "cli/track_options.h"

int sibling_take_pid(void *settings, const struct cli_option *o, const char *value);
/* What belongs to streaming: a flag with or without a value. */
int sibling_take_streaming(void *settings, const struct cli_option *o, const char *value);

/* Entries of an option table. Streaming's are not in the help: they do nothing yet. */
#define SIBLING_OPTIONS                                                                            \
	{"pid",                                                                                    \
	 'p',                                                                                      \
	 "PID",                                                                                    \
	 "track this process where no command and no PID is given",                                \
	 sibling_take_pid,                                                                         \
	 0},                                                                                       \
		{"redact-args", 0,                                                                 \
		 NULL,          "keep the names of programs, not their arguments",                 \
		 cli_set_flag,  offsetof(struct track_settings, redact_args)},                     \
		{"streaming", 0, NULL, NULL, sibling_take_streaming, 0},                           \
		{"no-streaming", 0, NULL, NULL, cli_set_nothing, 0},                               \
		{"sentinel", 0, NULL, NULL, sibling_take_streaming, 0},                            \
		{"no-sentinel", 0, NULL, NULL, cli_set_nothing, 0},                                \
		{"sentinel-token", 0, "TOKEN", NULL, sibling_take_streaming, 0},                   \
		{"sentinel-api-token", 0, "TOKEN", NULL, sibling_take_streaming, 0},               \
		{"sentinel-url", 0, "URL", NULL, sibling_take_streaming, 0},                       \
		{"sentinel-api-url", 0, "URL", NULL, sibling_take_streaming, 0},                   \
	{                                                                                          \
		"upload-interval", 0, "SECS", NULL, sibling_take_streaming, 0                      \
	}

/* Say once that streaming was asked for and what becomes of it. */
void sibling_speak(const struct track_settings *s);

#endif
