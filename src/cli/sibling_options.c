#include "cli/sibling_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"

int sibling_take_pid(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;
	uint64_t pid;

	if (trk__parse_u64(value, &pid) < 0 || pid == 0 || pid > INT32_MAX) {
		cli_complain("--%s %s: not a pid", o->name, value);
		return EXIT_USAGE;
	}
	if ((pid_t) pid == getpid()) {
		cli_complain("--%s %s: this program itself", o->name, value);
		return EXIT_USAGE;
	}
	s->pid = (int) pid;
	return 0;
}

int sibling_take_streaming(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;

	(void) o;
	(void) value;
	s->streaming = true;
	return 0;
}

void sibling_speak(const struct track_settings *s)
{
	const char *token = getenv("SENTINEL_API_TOKEN");

	if (s->quiet || (!s->streaming && !(token && *token)))
		return;
	cli_complain(
		"streaming to Sentinel comes with a later version: nothing is sent, the samples "
		"are in the recording");
}
