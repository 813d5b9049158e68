/* resource-tracker help: the verbs, one verb, or a topic. docs/cli.md, the manual page and the
 * completions are made from the same tables. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "export/table.h"

/* ---- topics ---- */

static const char runs[] = "RUN names one run:\n\n"
			   "  @            the last run, which is the default\n"
			   "  @2           the one before it, and so on\n"
			   "  r-0a1b2c3d   its id, or the start of the id\n"
			   "  JOB@-1       the last run of a job, JOB@-2 the one before it\n"
			   "  ./FILE.rtrk  the path of a recording\n\n"
			   "JOB is the name of a job: that of run --job, else the program, script "
			   "and directory. Verbs\n"
			   "that take a job use its newest run. Where several directories have "
			   "jobs of one name, write\n"
			   "\"JOB in DIRECTORY\", as history prints it.\n";

static const char sizes[] =
	"SIZE is a number of bytes with a unit: 512M, 2GiB, 1.5g, 1000kB. All units are powers of "
	"1024,\n"
	"as Slurm, Docker and Java read them; a bare number is bytes.\n\n"
	"DUR is a number with a unit: 10us, 250ms, 1.5s, 2m, 1h, 3d; a bare number is seconds.\n\n"
	"N is a whole number. Where it limits what is listed, 0 lists all.\n\n"
	"DATE is a day in local time, such as 2026-12-24.\n";

/* ---- a verb ---- */

static void print_option(const struct cli_option *o)
{
	char left[64];

	if (!o->set)
		(void) printf("%s:\n", o->value);
	if (!o->help) /* a title, or for programs */
		return;
	(void) snprintf(left, sizeof(left), "%c%c%s--%s%s%s", o->letter ? '-' : ' ',
			o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
			cli_before_value(o), o->value ? o->value : "");
	(void) printf("  %-30s %s\n", left, o->help);
}

static void print_help(const struct cli_command *command, bool all)
{
	const struct cli_option *o = command->options;

	(void) printf("usage: resource-tracker %s\n\n%s\n", command->usage, command->summary);
	if (command->details)
		(void) printf("\n%s\n", command->details);
	if (command->example)
		(void) printf("\n  %s\n", command->example);
	(void) printf(o->name ? "\n" : "");
	if (o->set)
		(void) printf("options:\n");
	for (; o->name && (all || strcmp(o->name, CLI_MORE) != 0); o++)
		print_option(o);
	if (o->name)
		(void) printf("more: resource-tracker help all %s\n", command->name);
}

void cli_print_help(const struct cli_command *command)
{
	print_help(command, false);
}

/* ---- all ---- */

static void print_list(bool all)
{
	for (const struct cli_command *const *c = cli_commands; *c; c++)
		if (all || (!(*c)->is_hidden && *c != &cli_help))
			(void) printf("  %-14s  %s\n", (*c)->name, (*c)->summary);
}

static void print_all(void)
{
	print_list(true);
	for (const struct cli_command *const *c = cli_commands; *c; c++) {
		(void) printf("\n");
		print_help(*c, true);
	}
}

static void print_verbs(void)
{
	(void) printf(
		"usage: resource-tracker VERB [OPTIONS], or [OPTIONS] [--] CMD [ARG...], short "
		"for run\n"
		"Shows what a batch job really used. Try: resource-tracker -- sleep 1\n\n");
	print_list(false);
	(void) printf("More: help VERB, help all, and the topics help runs, sizes, columns\n");
}

static int print_page(void (*page)(struct trk_buf *b))
{
	TRK_BUF_LOCAL(b, 1 << 20);

	page(&b);
	return cli_print(&b);
}

static int run(int argc, char **argv)
{
	bool all = argc > 1 && !strcmp(argv[1], "all");
	int n = argc - 1 - all;
	char **words = argv + 1 + all;
	const struct cli_command *command = cli_find_command(&n, &words);
	const char *word = n > 0 ? words[0] : "";

	if (command)
		print_help(command, all);
	else if (!strcmp(word, "columns"))
		return print_page(trk__table_markdown);
	else if (!strcmp(word, "man"))
		return print_page(cli_man_page);
	else if (!strcmp(word, "runs"))
		(void) printf("%s", runs);
	else if (!strcmp(word, "sizes"))
		(void) printf("%s", sizes);
	else if (*word)
		return cli_reject(EXIT_USAGE, "help: no such verb: %s. Try: resource-tracker help",
				  word);
	else if (all)
		print_all();
	else
		print_verbs();
	return EXIT_OK;
}

const struct cli_command cli_help = {
	.name = "help",
	.usage = "help [all] [VERB] | help TOPIC",
	.summary = "Describe the verbs.",
	.details = "help all has every verb and option. Topics are runs (names of runs and jobs), "
		   "sizes "
		   "(sizes,\ndurations, numbers), columns, and man (the manual page).",
	.example = "resource-tracker help run",
	.options = cli_no_options,
	.operands = 3,
	.run = run,
};
