#include "cli/track_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/parse.h"
#include "cli/alert_options.h"
#include "cli/cli.h"
#include "cli/server_options.h"
#include "track/request.h"

#define INTERVAL_MIN_NS 10000000ull
#define INTERVAL_MAX_NS 3600000000000ull

/* ---- options ---- */

/* A later value of the same key wins. */
static void drop_tag(struct track_settings *s, const char *key)
{
	size_t key_len = strlen(key), at = 0;

	while (at < s->track.tags_len) {
		size_t len = strlen(s->tags + at) + 1;

		if (!strncmp(s->tags + at, key, key_len) && s->tags[at + key_len] == '=') {
			memmove(s->tags + at, s->tags + at + len, s->track.tags_len - at - len);
			s->track.tags_len -= len;
			continue;
		}
		at += len;
	}
}

static int add_tag(struct track_settings *s, const char *key, const char *value)
{
	size_t room;
	int n;

	drop_tag(s, key);
	room = sizeof(s->tags) - 1 - s->track.tags_len;
	n = snprintf(s->tags + s->track.tags_len, room, "%s=%s", key, value);
	if (n < 0 || (size_t) n + 1 > room) {
		s->tags[s->track.tags_len] = '\0';
		return cli_reject(EXIT_USAGE, "%s: too many or too long tags (2 kB in all)", key);
	}
	s->track.tags_len += (size_t) n + 1;
	return 0;
}

static int set_tag(void *settings, const struct cli_option *o, const char *value)
{
	const char *equals = strchr(value, '=');
	size_t len = equals ? (size_t) (equals - value) : strlen(value);
	char key[128];

	if (len == 0 || len >= sizeof(key))
		return cli_wrong(o, value, "not of the form KEY or KEY=VALUE");
	(void) snprintf(key, sizeof(key), "%.*s", (int) len, value);
	return add_tag(settings, key, equals ? equals + 1 : "");
}

/* --project-name X is the tag project_name=X. */
static int set_metadata(void *settings, const struct cli_option *o, const char *value)
{
	char key[64];

	(void) snprintf(key, sizeof(key), "%s", o->name);
	for (char *c = key; *c; c++)
		if (*c == '-')
			*c = '_';
	return add_tag(settings, key, value);
}

static int set_request(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;

	if (trk__request_parse(value, s->request) == 0)
		return 0;
	return cli_wrong(o, value, "not of the form cpu=N,mem=SIZE,gpu=N,time=DURATION");
}

static int set_limit(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;
	const char *at = value;
	int r = *at ? 0 : -EINVAL;

	while (*at && r == 0) {
		size_t len = strcspn(at, ",");
		char text[64];
		bool memory;

		(void) snprintf(text, sizeof(text), "%.*s", (int) (len < 63 ? len : 63), at);
		memory = !strncmp(text, "mem=", 4) || !strncmp(text, "memory=", 7);
		if (memory)
			r = trk__parse_size(strchr(text, '=') + 1, &s->track.limits.memory_bytes);
		else if (!strncmp(text, "time=", 5))
			r = trk__parse_duration(text + 5, &s->track.limits.time_ns);
		else
			r = -EINVAL;
		if ((memory ? s->track.limits.memory_bytes : s->track.limits.time_ns) == 0)
			r = -EINVAL;
		at += len;
		at += *at == ',';
	}
	if (r == 0)
		return 0;
	return cli_reject(
		EXIT_USAGE,
		"--limit %s: not of the form mem=SIZE,time=DURATION, such as mem=8GiB,time=2h",
		value);
}

/* Samples a second, or a word for yes or no. */
static int set_lines(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;
	double hz;

	s->track.lines = true;
	s->track.stacks.hz = 0;
	if (!strcmp(value, "auto") ||
	    (value[0] && strcmp(value, "1") != 0 && cli_truth(value) == 1))
		return 0;
	if (!strcmp(value, "off") || cli_truth(value) == 0) {
		s->track.lines = false;
		return 0;
	}
	if (trk__parse_decimal(value, &hz) < 0 || !(hz >= 0.1 && hz <= TRK_STACKS_HZ_MAX))
		return cli_reject(
			EXIT_USAGE,
			"--%s %s: neither samples a second from 0.1 to %d, nor auto or off",
			o->name, value, TRK_STACKS_HZ_MAX);
	s->track.stacks.hz = hz;
	return 0;
}

static int set_interval(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;
	uint64_t ns;
	int r = trk__parse_duration(value, &ns);

	if (r == 0 && (ns < INTERVAL_MIN_NS || ns > INTERVAL_MAX_NS))
		r = -ERANGE;
	if (r < 0)
		return cli_reject(
			EXIT_USAGE,
			"--%s %s: %s. Try: a duration from 10ms to 1h, such as 1s or 200ms",
			o->name, value, r == -ERANGE ? "out of range" : "not a duration");
	s->track.interval_ns = ns;
	return 0;
}

static int set_summary_json(void *settings, const struct cli_option *o, const char *value)
{
	uint64_t number;

	if (!strncmp(value, "fd:", 3) &&
	    (trk__parse_u64(value + 3, &number) < 0 || number > INT32_MAX))
		return cli_reject(EXIT_USAGE,
				  "--%s %s: not a descriptor. Try: fd:3, or ./%s for a file",
				  o->name, value, value);
	return cli_set_text(settings, o, value);
}

static int set_report(void *settings, const struct cli_option *o, const char *value)
{
	/* Values in a configuration or a variable. */
	static const char *const yes[] = {"1", "true", "yes"};
	static const char *const no[] = {"0", "false", "no"};
	struct track_settings *s = settings;

	s->report = value ? value : "";
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (!strcmp(s->report, no[i])) {
			s->report = NULL;
			return 0;
		}
		if (!strcmp(s->report, yes[i]))
			s->report = "";
	}
	return s->report && cli_is_foreign_format("--report", s->report, "html htm md") ? EXIT_USAGE
											: 0;
}

/* A directory called "none" is ./none. */
static int set_recording(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;

	if (!*value)
		return cli_wrong(o, value, "the name of a folder is expected, not an empty text");
	s->no_recording = !strcmp(value, "none");
	s->dir = s->no_recording ? s->dir : value;
	return 0;
}

/* none: no line on stderr; the sinks stay. */
static int set_alert(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;

	if (strcmp(value, "none") != 0)
		return cli_set_sink(settings, o, value);
	s->alerts = "never";
	return 0;
}

static int set_cgroup(void *settings, const struct cli_option *o, const char *value)
{
	static const enum trk_own_group choices[] = {TRK_OWN_GROUP_BELOW, TRK_OWN_GROUP_AUTO,
						     TRK_OWN_GROUP_NEVER};
	struct track_settings *s = settings;
	int choice = cli_choice(o, value);

	if (choice < 0)
		return EXIT_USAGE;
	s->track.own_group = choices[choice];
	return 0;
}

static int set_no_discovery(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;

	s->track.discovery.ask = false;
	return 0;
}

/* ---- options of the Rust program of the same name, the sibling ---- */

int sibling_set_pid(void *settings, const struct cli_option *o, const char *value)
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

static int sibling_set_nice(void *settings, const struct cli_option *o, const char *value)
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

static int sibling_set_steal(void *settings, const struct cli_option *o, const char *value)
{
	struct track_settings *s = settings;
	int truth = cli_truth(value);

	if (truth < 0)
		return cli_wrong(o, value, "true or false is expected");
	s->steal_of_cores = !truth;
	return 0;
}

/* Without a value, or with a word for yes: mask all arguments; with a word for no: none. */
static int sibling_set_redaction(void *settings, const struct cli_option *o, const char *value)
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

#define SET(field) offsetof(struct track_settings, field)

/* The tables below: one line for each option, in the order and under the titles of the help. */
/* clang-format off */
#define COMMON_OPTIONS \
	CLI_OPTION_GROUP("common options"), \
	{"job", 'n', "NAME", "name of the job (the batch system's, else program, script and directory)", cli_set_text, SET(job)}, \
	{"interval", 'i', "DUR", "time between samples, 10ms to 1h; a bare number is seconds (1s)", set_interval, 0}, \
	{"output", 'o', "FILE", "also write the samples to this file; - is stdout", cli_set_text, SET(output)}, \
	{"format", 'f', "csv|json|jsonl", "format of --output (json); without --output, print the samples on stderr", cli_set_word, SET(format)}, \
	{"recording", 0, "DIR|none", "directory of the recordings; none: keep no recording", set_recording, 0}, \
	{"summary", 0, "auto|short|never", "print the summary at the end (auto)", cli_set_word, SET(summary)}, \
	{"quiet", 'q', NULL, "print no summary, and no samples on stderr", cli_set_flag, SET(quiet)}, \
	{"summary-json", 0, "FILE", "write the summary as JSON; fd:N, or - for stdout", set_summary_json, SET(summary_json)}, \
	{"report", 0, "[=FILE]", "write a page about the run at its end (.md: Markdown)", set_report, 0}, \
	{"color", 0, CLI_COLORS, "colour the summary; plain: ASCII without colour (auto)", cli_set_word, SET(color)}

#define ALERT_OPTIONS \
	CLI_OPTION_GROUP("alerts"), \
	{"alert", 0, "SINK|none", "send alerts, such as to mail:ann@example.org; RULE=SINK: of one rule (repeat); none: print none", set_alert, SET(hooks)}, \
	{"on-alert", 0, "RULE=COMMAND", "run a command at an alert, such as oom-risk='kill -USR1 $RT_PID' (repeat)", cli_set_hook, SET(hooks)}

#define REQUEST_OPTION \
	{"request", 0, "cpu=..,mem=..", "what was requested for the job: cpu, mem, gpu, time", set_request, 0}

#define KEPT_OPTIONS \
	CLI_OPTION_GROUP("stored with the run"), \
	{"tag", 0, "K[=V]", "tag to store with the run (repeat)", set_tag, 0}, \
	{"note", 0, "TEXT", "note to store with the run", set_metadata, 0}, \
	{"input-size", 0, "SIZE", "size of the input, for advice by size (of the files that CMD names)", cli_set_size, SET(track.input_bytes)}

#define ADVANCED_OPTIONS \
	CLI_OPTION_GROUP("advanced"), \
	{"instance", 0, "VENDOR/REGION/TYPE", "type of this server, for its price", cli_set_instance_option, SET(stated)}, \
	{"no-discovery", 0, NULL, "do not query the cloud for region and type of the server", set_no_discovery, 0}, \
	{"lines", 0, "HZ|auto|off", "sample which lines of the job's programs use CPU time and memory (auto)", set_lines, 0}, \
	{"gpu", 0, "auto|always|never", "measure GPUs (auto: where a device file or driver is found)", cli_set_choice, SET(track.gpu)}, \
	{"redact-args", 0, "[=secrets|strict|all|none]", "what to mask in recorded command lines (secrets; without a value: all)", sibling_set_redaction, 0}, \
	{"strict", 0, NULL, "exit with 125 if part of the tracking fails", cli_set_flag, SET(strict)}, \
	{"config", 'c', "FILE", "read this configuration instead of the usual files", cli_set_nothing, 0}

/* Those of the Rust program, some of which docs/compatibility.md explains, and other names. */
#define MORE_OPTIONS \
	CLI_MORE_OPTIONS, \
	{"no-history", 0, NULL, "do not add the run to the history of its job", cli_set_flag, SET(track.unlisted)}, \
	{"report-every", 0, "DUR", "also write the page of --report at this interval while tracking", cli_set_duration, SET(report_every_ns)}, \
	{"job-name", 0, "NAME", "same as --job", cli_set_same, 0}, \
	{"no-recording", 0, NULL, "same as --recording none", cli_set_same, 0}, \
	{"plain", 0, NULL, "same as --color plain", cli_set_same, 0}, \
	{"alerts", 0, "auto|never", "never: same as --alert none", cli_set_word, SET(alerts)}, \
	{"project-name", 0, "TEXT", "project to which the run belongs", set_metadata, 0}, \
	{"stage-name", 0, "TEXT", "stage of the project or workflow", set_metadata, 0}, \
	{"task-name", 0, "TEXT", "task of the workflow", set_metadata, 0}, \
	{"team", 0, "TEXT", "team to which the run belongs", set_metadata, 0}, \
	{"env", 0, "TEXT", "environment of the run, such as prod", set_metadata, 0}, \
	{"language", 0, "TEXT", "programming language of the job", set_metadata, 0}, \
	{"orchestrator", 0, "TEXT", "orchestrator that started the run", set_metadata, 0}, \
	{"executor", 0, "TEXT", "executor of the run", set_metadata, 0}, \
	{"external-run-id", 0, "TEXT", "id of the run in another system", set_metadata, 0}, \
	{"container-image", 0, "TEXT", "container image of the job", set_metadata, 0}, \
	{"pid", 'p', "PID", "track this process if neither a command nor a PID is given", sibling_set_pid, 0}, \
	{"renice", 'r', "[N]", "nice value of the tracker itself, -20 to 19 (without a value: 19)", sibling_set_nice, 0}, \
	{"aggregate-cpu-steal", 0, "true|false", "with --format json: false adds the steal time of each core (true)", sibling_set_steal, 0}, \
	{"no-children", 0, NULL, "track only this process, without its descendants", cli_set_flag, SET(track.one_process)}, \
	{"no-system", 0, NULL, "do not measure the machine, only the processes", cli_set_flag, SET(track.no_system)}

const struct cli_option track_run_options[] = {
	COMMON_OPTIONS,
	ALERT_OPTIONS,
	CLI_OPTION_GROUP("limits and requests"),
	{"limit", 0, "mem=..,time=..", "warn at 90 %, then end the job: TERM, then KILL; exit code 124", set_limit, 0},
	REQUEST_OPTION,
	{"cgroup", 0, "below|auto|never", "run the job in its own control group, for its exact peak of memory: below this one, or where possible", set_cgroup, 0},
	KEPT_OPTIONS,
	ADVANCED_OPTIONS,
	MORE_OPTIONS,
	{"timeout", 0, "DUR", "same as --limit time=DUR", cli_set_duration, SET(track.limits.time_ns)},
	{"grace", 0, "DUR", "time between TERM and KILL of --limit (5s)", cli_set_duration, SET(track.limits.grace_ns)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

const struct cli_option track_attach_options[] = {
	COMMON_OPTIONS,
	ALERT_OPTIONS,
	CLI_OPTION_GROUP("limits and requests"),
	REQUEST_OPTION,
	{"duration", 0, "DUR", "stop tracking after this time", cli_set_duration, SET(track.duration_ns)},
	KEPT_OPTIONS,
	ADVANCED_OPTIONS,
	MORE_OPTIONS,
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* clang-format on */

void track_settings_init(struct track_settings *s)
{
	*s = (struct track_settings){
		.track.interval_ns = 1000000000ull,
		.track.limits.grace_ns = TRK_ENFORCE_GRACE_NS,
		.track.gpu = TRK_GPU_AUTO,
		.track.lines = true,
		.track.pss_share = -1,
		.track.control_fd = -1,
		.track.discovery.ask = true,
		.summary = "auto",
		.alerts = "auto",
		.alert_speed = 1,
	};
	trk__cloud_clear(&s->stated);
	trk__quantities_clear(s->request, TRK_REQUESTS);
}
