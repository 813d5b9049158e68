/* Options with which the library and the packages start this program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/libc.h"
#include "base/os.h"
#include "base/parse.h"
#include "cli/track_options.h"

#define SET(field) offsetof(struct track_settings, field)

static int set_control_fd(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;
	uint64_t number;
	int fd = trk__parse_u64(value, &number) < 0 ? -EBADF : trk__os_inherit_socket(number);

	if (fd < 0)
		return cli_wrong(o, value, "not an open descriptor");
	s->track.control_fd = fd;
	return 0;
}

/* The page's temporary name, the same in all processes that write it: one that was killed may have
 * left it. */
static int set_report_via(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;
	char *name = NULL;
	int len = asprintf(&name, "%s.%08x", value, trk__random_bits());

	s->report_via = len < 0 ? NULL : cli_keep(name, (size_t) len);
	free(name);
	return 0;
}

/* For tests: rules count each second as N, so that an hour passes in seconds. */
static int set_alert_speed(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;

	if (trk__parse_decimal(value, &s->alert_speed) == 0 && s->alert_speed > 0)
		return 0;
	return cli_wrong(o, value, "not a positive number");
}

/* For the library, which starts this program as its sampler, and the Python package. */
const struct cli_option track_internal_options[] = {
	{"control-fd", 0, "N", NULL, set_control_fd, 0},
	{"detach", 0, NULL, NULL, cli_set_flag, SET(detach)},
	{"temporary", 0, NULL, NULL, cli_set_flag, SET(temporary)},
	{"report-via", 0, "FILE", NULL, set_report_via, 0},
	{"report-earlier", 0, "FILE", NULL, cli_set_text, SET(report_earlier)},
	{"alert-speed", 0, "N", NULL, set_alert_speed, 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};
