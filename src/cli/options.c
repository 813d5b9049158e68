#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/edits.h"
#include "base/parse.h"
#include "cli/cli.h"

enum { OPTIONS_MAX = 80, FIRST_VALUE = 256, COUNT_MAX = 1000000000 };

const struct cli_option cli_no_options[] = {{NULL, 0, NULL, NULL, NULL, 0}};

static bool accepts_internal;
static const struct cli_command *verb_in_use =
	&(const struct cli_command){.name = "", .options = cli_no_options};

void cli_accept_internal(void)
{
	accepts_internal = true;
}

/* A command's options in the form of getopt_long(3). */
struct table {
	const struct cli_option *options[OPTIONS_MAX];
	struct option longs[OPTIONS_MAX + 2];
	char shorts[3 * OPTIONS_MAX + 4];
	size_t count;
};

static void add_options(struct table *t, const struct cli_option *o)
{
	for (; o && o->name && t->count < OPTIONS_MAX; o++) {
		int takes = !o->value            ? no_argument
			    : o->value[0] == '[' ? optional_argument
						 : required_argument;
		size_t n = t->count;

		if (!o->set) /* the title of a group */
			continue;
		t->count++;
		t->options[n] = o;
		t->longs[n] = (struct option){o->name, takes, NULL, FIRST_VALUE + (int) n};
		for (int at = 0; o->letter && at <= takes; at++)
			t->shorts[strlen(t->shorts)] = at ? ':' : o->letter;
	}
}

static void table_init(struct table *t, const struct cli_command *command)
{
	memset(t, 0, sizeof(*t));
	(void) snprintf(t->shorts, sizeof(t->shorts), "%s",
			command->stops_at_operand ? "+:h" : ":h");
	add_options(t, command->options);
	add_options(t, accepts_internal ? command->internal : NULL);
	t->longs[t->count] = (struct option){"help", no_argument, NULL, 'h'};
	opterr = 0;
	optind = 0; /* reset the position of an earlier call */
}

/* The option that getopt_long found, or NULL. */
static const struct cli_option *option_of(const struct table *t, int c)
{
	for (size_t i = 0; i < t->count; i++)
		if (c == FIRST_VALUE + (int) i ||
		    (t->options[i]->letter && c == t->options[i]->letter))
			return t->options[i];
	return NULL;
}

static bool is_number(const char *word)
{
	size_t sign = *word == '-' || *word == '+', digits = strspn(word + sign, "0123456789");

	return digits > 0 && word[sign + digits] == '\0';
}

/* The value of the option that was found. For "[N]" the next word is the value if it is a
 * number. */
static const char *value_of(const struct cli_option *o, int argc, char **argv)
{
	bool may_follow = !optarg && o->value && o->value[0] == '[' && o->value[1] != '=';

	if (may_follow && optind < argc && is_number(argv[optind]))
		return argv[optind++];
	return optarg;
}

/* The option most similar to `word`, or NULL. A prefix of an option counts as that option. */
static const char *closest_option(const struct cli_command *command, const char *word)
{
	size_t len = strcspn(word, "="), least = 3;
	const char *best = NULL;
	char typed[48];

	while (len && *word == '-') {
		word++;
		len--;
	}
	if (len < 2 || len >= sizeof(typed))
		return NULL;
	(void) snprintf(typed, sizeof(typed), "%.*s", (int) len, word);
	for (const struct cli_option *o = command->options; o->name; o++) {
		size_t d = trk__edits(typed, o->name);

		if (strlen(o->name) > len && !strncmp(o->name, typed, len))
			d = 1;
		if (!o->help || d >= least || d >= len)
			continue;
		least = d;
		best = o->name;
	}
	return best;
}

static void complain_of(const struct cli_command *command, const char *word, bool lacks_value)
{
	const char *closest = lacks_value ? NULL : closest_option(command, word);

	if (!lacks_value && cli_is_gone(command->name, word))
		return;
	if (lacks_value)
		cli_complain("%s: option %s needs a value. Try: resource-tracker %s --help",
			     command->name, word, command->name);
	else if (closest)
		cli_complain("%s: unknown option %s. Did you mean: --%s", command->name, word,
			     closest);
	else
		cli_complain("%s: unknown option %s. Try: resource-tracker %s --help",
			     command->name, word, command->name);
}

/* Exit after a complaint. `run` exits with 125, to differ from the exit codes of jobs. */
static _Noreturn void end_of(const struct cli_command *command)
{
	exit(command->stops_at_operand ? EXIT_BEFORE_JOB : EXIT_USAGE);
}

int cli_options(const struct cli_command *command, int argc, char **argv, void *settings)
{
	struct table t;
	int c;

	table_init(&t, command);
	cli_use_verb(command);
	while ((c = getopt_long(argc, argv, t.shorts, t.longs, NULL)) != -1) {
		const struct cli_option *o = option_of(&t, c);

		if (c == 'h') {
			cli_print_help(command);
			exit(fflush(stdout) == 0 ? EXIT_OK : EXIT_ERROR);
		}
		if (c == '?' || c == ':') {
			complain_of(command, argv[optind - 1], c == ':');
			end_of(command);
		}
		if (o && o->set(settings, o, value_of(o, argc, argv)) != 0)
			end_of(command);
	}
	if (!command->stops_at_operand && argc - optind > command->operands) {
		cli_complain("%s: unexpected %s. Try: resource-tracker %s --help", command->name,
			     argv[optind + command->operands], command->name);
		end_of(command);
	}
	return optind;
}

const char *cli_option_value(const struct cli_command *command, int argc, char **argv,
			     const char *name)
{
	const char *value = NULL;
	struct table t;
	int c;

	table_init(&t, command);
	while ((c = getopt_long(argc, argv, t.shorts, t.longs, NULL)) != -1) {
		const struct cli_option *o = option_of(&t, c);
		const char *given = o ? value_of(o, argc, argv) : NULL;

		if (o && !strcmp(o->name, name))
			value = given;
	}
	return value;
}

const char *cli_before_value(const struct cli_option *o)
{
	return o->value && strncmp(o->value, "[=", 2) != 0 ? " " : "";
}

int cli_set_text(void *settings, const struct cli_option *o, const char *value)
{
	/* Refuse an empty folder, as in --recording "$UNSET". */
	if (*value == '\0' && o->value && !strcmp(o->value, "DIR"))
		return cli_reject(EXIT_USAGE,
				  "--%s: the name of a folder is expected, not an empty text",
				  o->name);
	memcpy((char *) settings + o->offset, &value, sizeof(value));
	return 0;
}

int cli_choice(const struct cli_option *o, const char *value)
{
	const char *at = o->value;
	char choices[96];

	for (int i = 0; *value; i++) {
		size_t len = strcspn(at, "|");

		if (len == strlen(value) && !strncmp(at, value, len))
			return i;
		if (!at[len])
			break;
		at += len + 1;
	}
	(void) snprintf(choices, sizeof(choices), "--%s %s", o->name, value);
	if (cli_is_gone(verb_in_use->name, choices))
		return -1;
	(void) snprintf(choices, sizeof(choices), "%s", o->value);
	for (char *c = choices; *c; c++)
		if (*c == '|')
			*c = ' ';
	cli_complain("--%s %s: not one of: %s", o->name, value, choices);
	return -1;
}

int cli_set_word(void *settings, const struct cli_option *o, const char *value)
{
	return cli_choice(o, value) < 0 ? EXIT_USAGE : cli_set_text(settings, o, value);
}

int cli_set_choice(void *settings, const struct cli_option *o, const char *value)
{
	int choice = cli_choice(o, value);

	if (choice < 0)
		return EXIT_USAGE;
	memcpy((char *) settings + o->offset, &choice, sizeof(choice));
	return 0;
}

void cli_use_verb(const struct cli_command *command)
{
	verb_in_use = command;
}

int cli_set_same(void *settings, const struct cli_option *o, const char *value)
{
	const struct cli_option *other = verb_in_use->options;
	const char *name = o->help + strlen("same as --");
	size_t len = strcspn(name, " =");

	while (other->name && (strlen(other->name) != len || strncmp(other->name, name, len) != 0))
		other++;
	return other->set(settings, other, name[len] ? name + len + 1 : value);
}

int cli_set_optional(void *settings, const struct cli_option *o, const char *value)
{
	return cli_set_text(settings, o, value ? value : "");
}

int cli_set_count(void *settings, const struct cli_option *o, const char *value)
{
	uint64_t count;

	if (trk__parse_u64(value, &count) < 0 || count > COUNT_MAX)
		return cli_wrong(o, value,
				 "not a whole number in range. Try: resource-tracker help sizes");
	memcpy((char *) settings + o->offset, &count, sizeof(count));
	return 0;
}

int cli_set_size(void *settings, const struct cli_option *o, const char *value)
{
	uint64_t bytes;

	if (trk__parse_size(value, &bytes) < 0 || bytes == 0)
		return cli_wrong(o, value, "not a size. Try: 16GiB or 512M");
	memcpy((char *) settings + o->offset, &bytes, sizeof(bytes));
	return 0;
}

/* "08:00", after a T or a blank. Returns the rest of the text, or NULL. */
static const char *scan_hour(const char *text, struct tm *ret)
{
	int hour, minute, len = 0;

	if (sscanf(text, "%*1[T ]%2d:%2d%n", &hour, &minute, &len) != 2 || hour < 0 || hour > 23 ||
	    minute < 0 || minute > 59)
		return NULL;
	ret->tm_hour = hour;
	ret->tm_min = minute;
	return text + len;
}

int cli_set_date(void *settings, const struct cli_option *o, const char *value)
{
	struct tm tm = {.tm_isdst = -1};
	const char *end = trk__scan_date(value, &tm);
	double s;

	if (end && *end)
		end = scan_hour(end, &tm);
	else if (end)
		tm.tm_sec = 24 * 3600 - 1;
	if (end && !*end)
		s = (double) mktime(&tm);
	else if (trk__parse_decimal(value, &s) < 0 || !(s >= 0 && s < 1e11))
		return cli_wrong(o, value, "not a date such as 2026-12-24 or '2026-12-24 08:00'");
	memcpy((char *) settings + o->offset, &s, sizeof(s));
	return 0;
}

int cli_set_flag(void *settings, const struct cli_option *o, const char *value)
{
	bool set = true;

	memcpy((char *) settings + o->offset, &set, sizeof(set));
	return 0;
}

int cli_set_duration(void *settings, const struct cli_option *o, const char *value)
{
	uint64_t ns;
	int r = trk__parse_duration(value, &ns);

	if (r == 0 && ns == 0)
		r = -ERANGE;
	if (r < 0)
		return cli_reject(EXIT_USAGE, "--%s %s: %s. Try: --%s 1s, 200ms, 5m or 2h", o->name,
				  value, r == -ERANGE ? "out of range" : "not a duration", o->name);
	memcpy((char *) settings + o->offset, &ns, sizeof(ns));
	return 0;
}

int cli_wrong(const struct cli_option *o, const char *value, const char *hint)
{
	return cli_reject(EXIT_USAGE, "--%s %s: %s", o->name, value, hint);
}

int cli_set_nothing(void *settings, const struct cli_option *o, const char *value)
{
	return 0;
}

int cli_truth(const char *text)
{
	static const char *const yes[] = {"1", "true", "yes", "on"};
	static const char *const no[] = {"", "0", "false", "no", "off"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!strcasecmp(text, yes[i]))
			return 1;
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (!strcasecmp(text, no[i]))
			return 0;
	return -1;
}
