/* The dashboard over HTTP, where this build has a server. */
#ifndef TRK_CLI_DASHBOARD_SERVE_H
#define TRK_CLI_DASHBOARD_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/fleet_views.h"

extern const bool cli_dashboard_serves;

/* Show a file in the desktop's browser, without waiting for it. */
void cli_browser_open(const char *path);

/* Serve the pages to this user until a signal ends it; port 0: one that is free. Returns the exit
 * status, after having complained. */
int cli_dashboard_serve(const struct cli_fleet_settings *views, uint16_t port, bool open_browser);

#endif
