/* resource-tracker completions: scripts generated from the tables of commands and options. */
#include <string.h>

#include "cli/cli.h"
#include "cli/config.h"

/* The first option that is completed from `o` on; NULL: no more. */
static const struct cli_option *shown(const struct cli_option *o)
{
	while (o->name && !o->help && strcmp(o->name, CLI_MORE) != 0)
		o++;
	return o->help ? o : NULL;
}

/* The pattern of `case` for the first two words of a verb: 'history prune'), 'history '*). */
static void add_pattern(struct trk_buf *b, const struct cli_command *c)
{
	bool is_one = !strchr(c->name, ' ');

	trk__buf_printf(b, "\t'%s%s'%s)", c->name, is_one ? " " : "", is_one ? "*" : "");
}

static void add_options(struct trk_buf *b, const struct cli_command *c)
{
	for (const struct cli_option *o = shown(c->options); o; o = shown(o + 1))
		trk__buf_printf(b, "--%s ", o->name);
	trk__buf_puts(b, "--help ");
}

static void bash(struct trk_buf *b)
{
	trk__buf_puts(
		b, "# bash completion of resource-tracker\n"
		   "_resource_tracker()\n{\n"
		   "\tlocal cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} i\n"
		   "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		   "\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
		   "\t\t\t_command_offset $((i + 1)) 2>/dev/null\n\t\t\treturn\n\t\tfi\n"
		   "\tdone\n\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '");
	for (const struct cli_command *const *c = cli_commands; *c; c++)
		if (!(*c)->is_hidden)
			trk__buf_printf(b, "%s ", (*c)->name);
	trk__buf_puts(b, "' -- \"$cur\"))\n\t\treturn\n\tfi\n"
			 "\tcase \"$verb ${COMP_WORDS[2]}\" in\n");
	for (const struct cli_command *const *c = cli_commands; *c; c++) {
		add_pattern(b, *c);
		trk__buf_puts(b, " COMPREPLY=($(compgen -W '");
		add_options(b, *c);
		trk__buf_puts(b, "' -- \"$cur\")) ;;\n");
	}
	trk__buf_puts(b, "\tesac\n}\n"
			 "complete -o default -F _resource_tracker resource-tracker\n");
}

/* Escape text for single quotes of zsh and fish: the help texts have no other special
 * characters. */
static void add_quoted(struct trk_buf *b, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			trk__buf_puts(b, "'\\''");
		else if (*text == '[' || *text == ']' || *text == ':')
			trk__buf_printf(b, "\\%c", *text);
		else
			trk__buf_putc(b, *text);
	}
}

static void zsh(struct trk_buf *b)
{
	trk__buf_puts(b, "#compdef resource-tracker\n_resource_tracker()\n{\n\tlocal -a verbs\n"
			 "\tverbs=(\n");
	for (const struct cli_command *const *c = cli_commands; *c; c++) {
		if ((*c)->is_hidden)
			continue;
		trk__buf_printf(b, "\t\t'%s:", (*c)->name);
		add_quoted(b, (*c)->summary);
		trk__buf_puts(b, "'\n");
	}
	trk__buf_puts(b, "\t)\n\tif ((CURRENT == 2)); then\n\t\t_describe command verbs\n"
			 "\t\treturn\n\tfi\n\tcase \"$words[2] $words[3]\" in\n");
	for (const struct cli_command *const *c = cli_commands; *c; c++) {
		add_pattern(b, *c);
		trk__buf_puts(b, "\n\t\t_arguments \\\n");
		for (const struct cli_option *o = shown((*c)->options); o; o = shown(o + 1)) {
			trk__buf_printf(b, "\t\t\t'--%s[", o->name);
			add_quoted(b, o->help);
			trk__buf_printf(b, "]%s%s' \\\n",
					!o->value            ? ""
					: o->value[0] == '[' ? "::"
							     : ":",
					o->value ? "value:_files" : "");
		}
		trk__buf_printf(b, "\t\t\t'%s' ;;\n",
				(*c)->stops_at_operand ? "*::command:_normal" : "*:operand:_files");
	}
	trk__buf_puts(b, "\tesac\n}\ncompdef _resource_tracker resource-tracker\n");
}

static void add_fish_text(struct trk_buf *b, const char *text)
{
	for (; *text; text++)
		trk__buf_printf(b, *text == '\'' ? "\\%c" : "%c", *text);
	trk__buf_puts(b, "'\n");
}

static void fish_command(struct trk_buf *b, const struct cli_command *c)
{
	const char *second = strchr(c->name, ' ');
	int first = (int) strcspn(c->name, " ");

	if (second)
		trk__buf_printf(
			b, "complete -c resource-tracker -n '__fish_seen_subcommand_from %.*s' ",
			first, c->name);
	else if (!c->is_hidden)
		trk__buf_puts(b, "complete -c resource-tracker -n __fish_use_subcommand ");
	if (second || !c->is_hidden) {
		trk__buf_printf(b, "-f -a %s -d '", second ? second + 1 : c->name);
		add_fish_text(b, c->summary);
	}
	for (const struct cli_option *o = shown(c->options); o; o = shown(o + 1)) {
		trk__buf_printf(
			b,
			"complete -c resource-tracker -n '__fish_seen_subcommand_from %.*s%s%s' "
			"-l %s%s -d '",
			first, c->name, second ? "; and __fish_seen_subcommand_from" : "",
			second ? second : "", o->name, o->value && o->value[0] != '[' ? " -r" : "");
		add_fish_text(b, o->help);
	}
}

static void fish(struct trk_buf *b)
{
	for (const struct cli_command *const *c = cli_commands; *c; c++)
		fish_command(b, *c);
}

/* ---- the manual page ---- */

/* Escape text for roff. */
static void add_roff(struct trk_buf *b, const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			trk__buf_puts(b, "\\&");
		if (*text == '\\')
			trk__buf_puts(b, "\\e");
		else if (*text == '-')
			trk__buf_puts(b, "\\-");
		else
			trk__buf_putc(b, *text);
		start = *text == '\n';
	}
}

static void man_command(struct trk_buf *b, const struct cli_command *c)
{
	trk__buf_puts(b, ".SS \"resource\\-tracker ");
	add_roff(b, c->usage);
	trk__buf_puts(b, "\"\n");
	add_roff(b, c->summary);
	trk__buf_putc(b, '\n');
	if (c->details) {
		trk__buf_puts(b, ".PP\n.nf\n");
		add_roff(b, c->details);
		trk__buf_puts(b, "\n.fi\n");
	}
	for (const struct cli_option *o = c->options; o->name; o++) {
		if (!o->help)
			continue;
		trk__buf_puts(b, ".TP\n");
		if (o->letter)
			trk__buf_printf(b, "\\fB\\-%c\\fR, ", o->letter);
		trk__buf_puts(b, "\\fB\\-\\-");
		add_roff(b, o->name);
		trk__buf_puts(b, "\\fR");
		if (o->value) {
			trk__buf_printf(b, "%s\\fI", cli_before_value(o));
			add_roff(b, o->value);
			trk__buf_puts(b, "\\fR");
		}
		trk__buf_putc(b, '\n');
		add_roff(b, o->help);
		trk__buf_putc(b, '\n');
	}
}

void cli_man_page(struct trk_buf *b)
{
	trk__buf_printf(b,
			".TH RESOURCE\\-TRACKER 1 \"\" \"resource\\-tracker %s\"\n.SH NAME\n"
			"resource\\-tracker \\- what a batch job really used\n.SH SYNOPSIS\n"
			".B resource\\-tracker\n.I COMMAND\n[OPTIONS]\n.br\n"
			".B resource\\-tracker\n[OPTIONS] \\-\\- \\fICMD\\fR [ARG...]\n"
			".SH DESCRIPTION\n"
			"resource\\-tracker records CPU, memory, disk and network use of a "
			"command, of a running process, or\nof the whole machine, and prints a "
			"summary at the end. It needs no root and no daemon.\n.SH COMMANDS\n",
			TRK_BUILD_VERSION);
	for (const struct cli_command *const *c = cli_commands; *c; c++)
		man_command(b, *c);
	trk__buf_puts(
		b, ".SH EXIT STATUS\n"
		   ".B run\nends with the exit code of the command, or by the same signal.\n124: "
		   "--limit ended it, 125: failed before the start, 126: "
		   "not executable, 127: not found.\nOther commands: 0 success, 1 error, 2 usage, "
		   "4 no such run or no data, 5 not permitted.\n"
		   ".SH ENVIRONMENT\n.TP\n.B RESOURCE_TRACKER_DIR\ndirectory of the recordings\n"
		   ".TP\n.B RESOURCE_TRACKER_HISTORY\npostgresql://USER@HOST/DATABASE: a history "
		   "that a team shares\n"
		   ".TP\n.B RESOURCE_TRACKER_CONFIG\nthe configuration file to read instead of the "
		   "usual ones\n"
		   ".TP\n.B RESOURCE_TRACKER_RUN\nset for the job; identifies the run to which it "
		   "belongs\n"
		   ".TP\n.B TRACKER_...\nevery option of \\fBrun\\fR: TRACKER_INTERVAL for "
		   "\\-\\-interval, and so on\n"
		   ".SH FILES\n.TP\n.I ~/.local/state/resource\\-tracker/runs/\nrecordings\n"
		   ".TP\n.I ~/.config/resource\\-tracker/config.toml\nconfiguration: every option\n"
		   ".TP\n.I ./resource\\-tracker.toml\nconfiguration of the working directory; it "
		   "may set only: ");
	for (const char *c = CLI_LOCAL_KEYS; *c; c++)
		trk__buf_puts(b, *c == '-' ? "\\-" : (const char[]){*c == '\n' ? ' ' : *c, 0});
	trk__buf_puts(b, ".\nFiles and directories that are not named are used only if they belong "
			 "to the user or to root and no other user may write to them or to a "
			 "directory above them.\n");
}

static int run(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*print)(struct trk_buf *b);
	} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
	int at = cli_options(&cli_completions, argc, argv, NULL);
	TRK_BUF_LOCAL(b, 1 << 20);

	for (size_t i = 0; at + 1 == argc && i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].name, argv[at]) != 0)
			continue;
		shells[i].print(&b);
		return cli_print(&b);
	}
	return cli_reject(EXIT_USAGE, "completions: needs one of: bash zsh fish");
}

const struct cli_command cli_completions = {
	.name = "completions",
	.usage = "completions bash|zsh|fish",
	.summary = "Print the completion script of a shell.",
	.details = "eval \"$(resource-tracker completions bash)\" in ~/.bashrc; likewise for zsh.\n"
		   "resource-tracker completions fish | source",
	.example = "eval \"$(resource-tracker completions bash)\"",
	.options = cli_no_options,
	.operands = 1,
	.is_hidden = true,
	.run = run,
};
