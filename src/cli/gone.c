/* Names that have gone, and what to write instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/config.h"

/* verb: NULL for a variable, and for an option of all verbs that had it, which was also a key of
 * the configuration and a variable TRACKER_NAME. */
static const struct {
	const char *verb, *name, *instead;
} gone[] = {
	{NULL, "--quiet-hours", "--alert alertmanager:URL, whose mute times hold back alerts"},
	{NULL, "--status-key", "kill -USR1 PID of the tracker"},
	{NULL, "RESOURCE_TRACKER_REDACT_ARGS", "TRACKER_REDACT_ARGS"},
	{NULL, "TRACKER_SMTP_PASSWORD", "TRACKER_SMTP_PASSWORD_FILE"},
	{"alerts", "--all", "alerts list --json"},
	{"catalog", "--date", "python3 tools/catalog_build prices OUT --csv FILE --date DATE"},
	{"catalog", "--eur-usd", "python3 tools/catalog_build prices OUT --eur-usd RATE"},
	{"catalog", "import",
	 "python3 tools/catalog_build prices OUT --csv FILE, then resource-tracker catalog update "
	 "--from OUT"},
	{"machine", "--fresh", "--recording of an empty directory, where no answer is cached"},
	{"config", "--show-origin", "config, which always shows it"},
	{"alerts digest", "--send", "alerts digest --alert SINK"},
	{"lines", "--format pprof", "--format speedscope, or folded"},
	{"report", "--format json", "show --json, or export"},
	{"self", "--json", "resource-tracker doctor, a line a check"},
	{"machine", "--ask-gpus", "resource-tracker run --gpu always"},
	{"catalog search", "--boot",
	 "resource-tracker recommend, for the cost of a run that was tracked"},
	{"catalog search", "--busy",
	 "resource-tracker recommend, for the cost of a run that was tracked"},
	{"catalog search", "--from",
	 "resource-tracker recommend, for the cost of a run that was tracked"},
	{"catalog search", "--run",
	 "resource-tracker recommend, for the cost of a run that was tracked"},
	{"catalog search", "--time",
	 "resource-tracker recommend, for the cost of a run that was tracked"},
	{"show", "--watch", "resource-tracker top"},
	{"top", "--size", "the variables COLUMNS and LINES"},
	{"top", "--speed", "the keys < and >; the space bar pauses a replay"},
};

enum { GONE = sizeof(gone) / sizeof(gone[0]) };

bool cli_is_gone(const char *verb, const char *name)
{
	size_t len = strcspn(name, "=");

	for (size_t i = 0; i < GONE; i++)
		if ((!gone[i].verb || !strcmp(gone[i].verb, verb)) &&
		    !strncmp(gone[i].name, name, len) && !gone[i].name[len]) {
			cli_complain("%s%s%s has gone. Use: %s", verb, *verb ? " " : "",
				     gone[i].name, gone[i].instead);
			return true;
		}
	return false;
}

bool cli_is_gone_key(const char *key)
{
	char name[64];

	(void) snprintf(name, sizeof(name), "--%s", key);
	for (char *c = name; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return cli_is_gone("", name);
}

void cli_variables_gone(void)
{
	for (size_t i = 0; i < GONE; i++) {
		const char *value;
		char name[64];

		if (gone[i].verb)
			continue;
		if (gone[i].name[0] == '-')
			cli_variable_of(gone[i].name + strlen("--"), name, sizeof(name));
		else
			(void) snprintf(name, sizeof(name), "%s", gone[i].name);
		value = getenv(name);
		if (value && *value)
			cli_complain("%s has gone. Use: %s", name, gone[i].instead);
	}
}
