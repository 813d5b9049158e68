#include "cli/sibling_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"

int sibling_take_pid(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;
	uint64_t pid;

	if (trk__parse_u64(value, &pid) < 0 || pid == 0 || pid > INT32_MAX)
		return cli_reject(EXIT_USAGE, "%s%s %s: not a pid", o->help ? "--" : "", o->name,
				  value);
	if ((pid_t) pid == getpid())
		return cli_reject(EXIT_USAGE, "%s%s %s: is this program itself",
				  o->help ? "--" : "", o->name, value);
	s->pid = (int) pid;
	return 0;
}

enum { NICE_MIN = -20, NICE_MAX = 19 };

int sibling_take_nice(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;
	bool is_negative = value && *value == '-';
	uint64_t size = NICE_MAX;

	if (value && (trk__parse_u64(value + (is_negative || *value == '+'), &size) < 0 ||
		      size > (is_negative ? -NICE_MIN : NICE_MAX)))
		return cli_reject(EXIT_USAGE, "--%s %s: not a number from %d to %d", o->name, value,
				  NICE_MIN, NICE_MAX);
	s->track.renice = true;
	s->track.nice = is_negative ? -(int) size : (int) size;
	return 0;
}

int sibling_take_steal(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;
	int truth = cli_truth(value);

	if (truth < 0)
		return cli_reject(EXIT_USAGE, "--%s %s: true or false is expected", o->name, value);
	s->steal_of_cores = !truth;
	return 0;
}

/* Without a value, or with a word for yes: mask all arguments; with a word for no: none. */
int sibling_take_redaction(void *settings, const struct cli_option *o, const char *value)
{
	static const char *const words[] = {
		[TRK_REDACT_SECRETS] = "secrets",
		[TRK_REDACT_STRICT] = "strict",
		[TRK_REDACT_ALL] = "all",
		[TRK_REDACT_NOTHING] = "none",
	};
	struct track_settings *s = settings;
	int truth = value ? cli_truth(value) : 1;

	if (truth >= 0) {
		s->track.redaction = truth ? TRK_REDACT_ALL : TRK_REDACT_NOTHING;
		return 0;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(value, words[i])) {
			s->track.redaction = (enum trk_redaction) i;
			return 0;
		}
	return cli_reject(EXIT_USAGE, "--%s=%s: not one of: secrets strict all none", o->name,
			  value);
}

void sibling_speak(const struct track_settings *s)
{
	const char *token = getenv("SENTINEL_API_TOKEN");

	if (s->quiet || !(token && *token))
		return;
	cli_complain("SENTINEL_API_TOKEN: this version does not stream: nothing is sent, the "
		     "samples are in the recording");
}
