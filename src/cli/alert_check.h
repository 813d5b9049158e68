/* The verb `alerts check`: prints the new alerts (service/alert_check.h), runs --on-alert
 * commands. */
#ifndef TRK_CLI_ALERT_CHECK_H
#define TRK_CLI_ALERT_CHECK_H

#include "cli/alert_options.h"
#include "model/run.h"

/* Evaluate the rules for the job of an ended run (NULL: all jobs), print new alerts, send them to
 * the sinks, and run the commands. Returns an exit status. */
int cli_alert_check(const struct cli_alert_settings *s, const char *run);
/* Start `alerts check --run` for the run as a detached process, if a sink or command is set. It
 * keeps no descriptor open; the cost for the run is one fork. */
void cli_alert_check_later(const struct cli_alert_settings *s, const char *run);

#endif
