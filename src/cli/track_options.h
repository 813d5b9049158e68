/* Settings and options of run, attach and system. */
#ifndef TRK_CLI_TRACK_OPTIONS_H
#define TRK_CLI_TRACK_OPTIONS_H

#include <netinet/in.h>

#include "alert/hook.h"
#include "cli/cli.h"
#include "track/identity.h"
#include "track/track.h"

/* An option of the tracker is a line in the table that points into `track`, and its consumer in
 * src/track; one of what the command prints or writes is a line that points outside of it. */
struct track_settings {
	struct trk_track_options track; /* but job, dir and pid, which are resolved later */
	const char *job, *dir;
	int pid; /* of --pid; 0: none */
	/* What is printed and written. */
	const char *output, *format, *summary, *summary_json, *color, *alerts;
	const char *report; /* file of --report; "": named after the run; NULL: none */
	const char *report_via, *report_earlier;
	uint64_t report_every_ns; /* 0: at the end alone */
	double alert_speed;       /* seconds that alerts take a second for */
	bool steal_of_cores;      /* in JSON, of each core */
	bool quiet, strict, no_recording, plain, detach;
	bool dir_refused; /* no directory was named, and the usual one may be another user's */
	bool temporary;   /* dir is the starter's, and goes when that has gone */
	struct trk_alert_hooks hooks;
	/* What `track` points to. */
	struct trk_quantity request[TRK_REQUESTS];
	struct trk_cloud stated; /* of --instance */
	char tags[TRK_RUN_TAGS_SIZE];
	struct trk_gpu_hints hints;
	struct trk_identity identity;
	struct sockaddr_in endpoint;
};

extern const struct cli_option track_run_options[], track_attach_options[]; /* and of system */
extern const struct cli_option track_internal_options[];                    /* of all three */

/* They point into themselves from track_with() on: not to be copied then. */
void track_settings_init(struct track_settings *s);

#endif
