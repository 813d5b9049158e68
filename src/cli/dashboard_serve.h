/* resource-tracker dashboard without --static: the pages over HTTP. */
#ifndef TRK_CLI_DASHBOARD_SERVE_H
#define TRK_CLI_DASHBOARD_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/fleet_views.h"

/* Serve the pages to this user until a signal ends it. open: show them in the browser. Returns the
 * exit status, after a complaint. */
int cli_dashboard_serve(const struct cli_fleet_settings *views, uint16_t port, bool open);

#endif
