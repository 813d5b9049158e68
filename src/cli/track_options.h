/* Settings and options of run, attach and system. */
#ifndef TRK_CLI_TRACK_OPTIONS_H
#define TRK_CLI_TRACK_OPTIONS_H

#include <netinet/in.h>

#include "alert/hook.h"
#include "cli/cli.h"
#include "track/job_identity.h"
#include "track/track.h"

/* Options of the tracker point into `track` and are used in src/track. Options about what the
 * command prints or writes point to the other fields. */
struct track_settings {
	struct trk_track_options track; /* except job, dir and pid, which are resolved later */
	const char *job, *dir;
	int pid; /* of --pid; 0: none */
	/* Output. */
	const char *output, *format, *summary, *summary_json, *color, *alerts;
	const char *report; /* file of --report; "": named after the run; NULL: none */
	const char *report_via, *report_earlier;
	uint64_t report_every_ns; /* 0: at the end alone */
	double alert_speed;       /* seconds that the alert rules count for one second, for tests */
	bool steal_of_cores;      /* in JSON, steal for each core as well */
	bool quiet, strict, no_recording, detach;
	bool dir_refused; /* no directory was named, and the usual one is not trusted */
	bool temporary;   /* remove dir when the starting process has exited */
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

/* The setter of --pid, also for the operand of attach. */
int sibling_set_pid(void *settings, const struct cli_option *o, const char *value);

/* Do not copy after track_with(): they then point into themselves. */
void track_settings_init(struct track_settings *s);

/* ---- the tracking itself ---- */

/* Track with these settings and report. argv: the command of run (NULL-terminated), or
 * NULL; pid: of attach, or 0. Returns the exit status; for a job that died of a signal, minus the
 * signal's number. */
int track_with(struct track_settings *s, char **argv, int pid);

/* Execute the command in this process, untracked, after a message: what, and an errno. Returns an exit
 * status if that fails, or if an option needs the tracker. */
int track_run_instead(const struct track_settings *s, char **argv, const char *what, int error);

/* Print why exec(3) of a command failed (an errno); returns the exit status for it. */
int track_exec_failure(const char *command, int error);

#endif
