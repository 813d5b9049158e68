/* Showing a file in the desktop's browser. */
#ifndef TRK_CLI_BROWSER_H
#define TRK_CLI_BROWSER_H

/* Without waiting for it; if it cannot be opened nothing happens. */
void cli_browser_open(const char *path);

/* Wait until the browser has started. Returns the exit status, after a complaint where it has
 * not. */
int cli_browser_show(const char *path);

#endif
