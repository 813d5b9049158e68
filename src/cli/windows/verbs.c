/* The verbs that the Windows build lacks: each prints so and fails. */
#include <limits.h>
#include <stdio.h>

#include "alert/deliver.h"
#include "base/detach.h"
#include "base/os.h"
#include "cli/cli.h"
#include "cli/dashboard_serve.h"
#include "cli/tracking.h"

static const struct cli_option no_options[] = {{NULL, 0, NULL, NULL, NULL, 0}};

static int refuse(int argc, char **argv)
{
	cli_complain("%s: not in this build for Windows. Try: resource-tracker help", argv[0]);
	return EXIT_ERROR;
}

#define REFUSED(verb, text)                                                                        \
	const struct cli_command cli_##verb = {                                                    \
		.name = text,                                                                      \
		.usage = text,                                                                     \
		.summary = "Not in this build for Windows.",                                       \
		.options = no_options,                                                             \
		.run = refuse,                                                                     \
	};

REFUSED(metaflow, "metaflow")

const bool cli_dashboard_serves = false;

int cli_dashboard_serve(const struct cli_fleet_settings *views, uint16_t port, bool open_browser)
{
	return EXIT_ERROR;
}

/* The explorer opens a page in the browser, but reads '/' as the sign of an option. */
void cli_browser_open(const char *path)
{
	char name[PATH_MAX];
	char *const argv[] = {(char *) (uintptr_t) trk__os_opener, name, NULL};

	(void) snprintf(name, sizeof(name), "%s", path);
	for (char *at = name; *at; at++)
		if (*at == '/')
			*at = '\\';
	trk__detach_program(trk__os_opener, argv, false);
}

const char *cli_shell_name(const char *argv0)
{
	(void) argv0;
	return NULL;
}

int cli_shell(const char *name, int argc, char **argv)
{
	return refuse(1, (char *[]){(char *) (uintptr_t) name, NULL});
}

/* Only the commands stay. */
static void drop_sinks(struct trk_alert_hooks *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->count; i++)
		if (h->list[i].command)
			h->list[kept++] = h->list[i];
	if (kept < h->count)
		cli_complain("--alert: %s", trk__alert_delivers_nothing);
	h->count = kept;
}

void track_drop_lacks(struct track_settings *s)
{
	drop_sinks(&s->hooks);
	if (s->track.stacks.hz > 0)
		cli_complain("--lines: no lines of programs are sampled on Windows");
	if (s->track.own_group)
		cli_complain("--cgroup: Windows has no control groups");
}
