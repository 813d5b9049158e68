/* The dashboard over HTTP. */
#ifndef TRK_CLI_DASHBOARD_SERVE_H
#define TRK_CLI_DASHBOARD_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/fleet_views.h"

/* Serve the pages to this user until a signal ends it; port 0: one that is free. Returns the exit
 * status, after having complained. */
int cli_dashboard_serve(const struct cli_fleet_settings *views, uint16_t port, bool open_browser);

#endif
