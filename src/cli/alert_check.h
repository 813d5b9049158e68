/* What happens to alerts after a run: its job is judged, sinks are told, commands are run. */
#ifndef TRK_CLI_ALERT_CHECK_H
#define TRK_CLI_ALERT_CHECK_H

#include "cli/alert_options.h"
#include "model/run.h"

/* Judge the job of a run that has ended (NULL: all jobs), print what is new, tell the sinks, run
 * the commands. An exit status. */
int cli_alert_check(const struct cli_alert_settings *s, const char *run);
/* Tell what was held and may be told now, and send what waits in the outbox. An exit status. */
int cli_alert_flush(const struct cli_alert_settings *s);

/* Start `alerts check --run` for the run in the background, detached, where a sink or command asks
 * for it. It keeps nothing open, and costs the run one fork. */
void cli_alert_check_later(const struct cli_alert_settings *s, const char *run);

#endif
