/* What run, attach and system can be told: their settings and options. */
#ifndef TRK_CLI_TRACK_OPTIONS_H
#define TRK_CLI_TRACK_OPTIONS_H

#include "cli/cli.h"
#include "record/enforce.h"

struct track_settings {
	const char *job, *output, *format, *dir, *summary, *summary_json, *color, *gpu;
	const char *report; /* file of --report; "": named after the run; NULL: none */
	const char *report_via, *report_earlier;
	uint64_t report_every_ns; /* 0: at the end alone */
	uint64_t interval_ns, duration_ns;
	struct trk_enforce limits;
	struct trk_quantity request[TRK_REQUESTS];
	int control_fd;
	int pid; /* of --pid; 0: none */
	bool redact_args, streaming;
	uint64_t input_bytes; /* 0: not stated */
	bool no_history, quiet, one_process, no_system, strict, no_recording, plain, detach;
	bool temporary; /* dir is the starter's, and goes when that has gone */
	bool no_discovery;
	struct trk_cloud stated; /* of --instance */
	char tags[TRK_RUN_TAGS_SIZE];
	size_t tags_len;
};

extern const struct cli_option track_run_options[], track_attach_options[], track_system_options[];

void track_settings_init(struct track_settings *s);

#endif
