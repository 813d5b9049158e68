/* The verb `alerts check`: prints what service/alert_check.h found, and runs the commands of --on-alert. */
#ifndef TRK_CLI_ALERT_CHECK_H
#define TRK_CLI_ALERT_CHECK_H

#include "cli/alert_options.h"
#include "model/run.h"

/* Judge the job of a run that has ended (NULL: all jobs), print what is new, send it to the sinks,
 * run the commands. An exit status. */
int cli_alert_check(const struct cli_alert_settings *s, const char *run);
/* Start `alerts check --run` for the run in the background, detached, where a sink or command asks
 * for it. It keeps nothing open, and costs the run one fork. */
void cli_alert_check_later(const struct cli_alert_settings *s, const char *run);

#endif
