#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "cli/cli.h"

enum { OPTIONS_MAX = 64, FIRST_VALUE = 256 };

int cli_options(const struct cli_command *command, int argc, char **argv, void *settings)
{
	struct option longs[OPTIONS_MAX + 2];
	char shorts[2 * OPTIONS_MAX + 4] = "";
	size_t n = 0, at;
	int c;

	at = (size_t) snprintf(shorts, sizeof(shorts), "%s",
			       command->stops_at_operand ? "+:h" : ":h");

	for (; command->options[n].name; n++) {
		const struct cli_option *o = &command->options[n];

		longs[n] = (struct option){o->name,
					   !o->value            ? no_argument
					   : o->value[0] == '[' ? optional_argument
								: required_argument,
					   NULL, FIRST_VALUE + (int) n};
		if (!o->letter)
			continue;
		shorts[at++] = o->letter;
		if (o->value)
			shorts[at++] = ':';
	}
	shorts[at] = '\0';
	longs[n] = (struct option){"help", no_argument, NULL, 'h'};
	longs[n + 1] = (struct option){NULL, 0, NULL, 0};
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct cli_option *o = NULL;

		if (c == 'h') {
			cli_print_help(command);
			return CLI_HELP_GIVEN;
		}
		if (c == '?' || c == ':') {
			const char *word = argv[optind - 1];
			bool missing = c == ':';

			if (missing)
				cli_complain("%s: option %s needs a value. Try: resource-tracker "
					     "%s --help",
					     command->name, word, command->name);
			else
				cli_complain(
					"%s: unknown option %s. Try: resource-tracker %s --help",
					command->name, word, command->name);
			return -EXIT_USAGE;
		}
		for (size_t i = 0; i < n && !o; i++)
			if (c == FIRST_VALUE + (int) i ||
			    (command->options[i].letter && c == command->options[i].letter))
				o = &command->options[i];
		if (o && o->take(settings, o, optarg) != 0)
			return -EXIT_USAGE;
	}
	return optind;
}

void cli_print_help(const struct cli_command *command)
{
	(void) printf("usage: resource-tracker %s\n\n%s\n", command->usage, command->summary);
	if (command->details)
		(void) printf("\n%s\n", command->details);
	if (command->options->name)
		(void) printf("\noptions:\n");
	for (const struct cli_option *o = command->options; o->name; o++) {
		char left[64];

		if (!o->help) /* for programs, not for people */
			continue;
		(void) snprintf(left, sizeof(left), "%c%c%s--%s%s%s", o->letter ? '-' : ' ',
				o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
				cli_before_value(o), o->value ? o->value : "");
		(void) printf("  %-30s %s\n", left, o->help);
	}
}

const char *cli_before_value(const struct cli_option *o)
{
	return o->value && o->value[0] != '[' ? " " : "";
}

int cli_set_text(void *settings, const struct cli_option *o, const char *value)
{
	/* --recording "$UNSET" is neither the root nor the usual place. */
	if (*value == '\0' && o->value && !strcmp(o->value, "DIR")) {
		cli_complain("--%s: the name of a folder is expected, not an empty text", o->name);
		return EXIT_USAGE;
	}
	memcpy((char *) settings + o->offset, &value, sizeof(value));
	return 0;
}

int cli_set_flag(void *settings, const struct cli_option *o, const char *value)
{
	bool set = true;

	(void) value;
	memcpy((char *) settings + o->offset, &set, sizeof(set));
	return 0;
}

int cli_set_duration(void *settings, const struct cli_option *o, const char *value)
{
	uint64_t ns;
	int r = trk__parse_duration(value, &ns);

	if (r == 0 && ns == 0)
		r = -ERANGE;
	if (r < 0) {
		cli_complain("--%s %s: %s. Try: --%s 1s, 200ms, 5m or 2h", o->name, value,
			     r == -ERANGE ? "out of range" : "not a duration", o->name);
		return EXIT_USAGE;
	}
	memcpy((char *) settings + o->offset, &ns, sizeof(ns));
	return 0;
}

int cli_set_nothing(void *settings, const struct cli_option *o, const char *value)
{
	(void) settings;
	(void) o;
	(void) value;
	return 0;
}
