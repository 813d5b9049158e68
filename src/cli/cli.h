/* The command line: one file per verb, each a const table entry; one table of options each. */
#ifndef TRK_CLI_CLI_H
#define TRK_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "model/run.h"
#include "recording/reader.h"
#include "recording/store.h"
#include "report/write/terminal.h"

enum {
	EXIT_OK = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_NODATA = 4,
	EXIT_DENIED = 5,
	EXIT_TIMEOUT = 124,
	EXIT_BEFORE_JOB = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/* One option. `value` is the name of its argument in the help, NULL for a flag; "[=NAME]" is one
 * that may be left out, and is written after an equals sign, "[N]" a number that may be left
 * out. */
struct cli_option {
	const char *name;
	char letter; /* '\0': none */
	const char *value;
	const char *help;
	/* Called with the argument, or NULL. Returns 0, or EXIT_USAGE after cli_complain(). */
	int (*set)(void *settings, const struct cli_option *option, const char *value);
	size_t offset; /* into the settings, for the shared setters below */
};

/* The offset of a field of the verb's own `struct settings`. */
#define AT(field) offsetof(struct settings, field)

/* A line of an option table that is no option: the help lists the options below it under this
 * title. */
#define CLI_OPTION_GROUP(title)                                                                    \
	{                                                                                          \
		"", '\0', title, NULL, NULL, 0                                                     \
	}

/* The options after this line are shown by `help all` alone. */
#define CLI_MORE "more"
#define CLI_MORE_OPTIONS                                                                           \
	{                                                                                          \
		CLI_MORE, '\0', CLI_MORE, NULL, NULL, 0                                            \
	}

extern const struct cli_option cli_no_options[];

struct cli_command {
	const char *name;                 /* one word, or two: "history prune" */
	const char *usage;                /* the words after "resource-tracker " */
	const char *summary;              /* one line */
	const char *details;              /* further lines of the help, or NULL */
	const char *example;              /* a command that works as it is, or NULL */
	const struct cli_option *options; /* ends with a NULL name */
	/* Further options, accepted after the verb `internal`, with which the library and the
	 * packages start this program. They are not listed, and files and variables cannot set
	 * them. NULL: none. */
	const struct cli_option *internal;
	bool is_hidden;        /* `help all` lists it, `help` does not */
	bool stops_at_operand; /* arguments after the first operand belong to another program */
	int operands;          /* maximum number, unless stops_at_operand */
	int (*run)(int argc, char **argv);
};

/* The verbs in the order of the help, those of two words before the first word alone; each is
 * cli_NAME. */
/* clang-format off */
#define CLI_COMMAND_LIST(X) \
	X(run) X(show) X(report) X(recommend) X(history_prune) X(history) X(top) \
	X(compare) X(lines) X(export) X(attach) X(system) X(mark) X(import) \
	X(fleet) X(dashboard) X(alerts_digest) X(alerts) X(catalog_search) \
	X(catalog_command) X(machine) X(doctor) X(config_command) X(help) \
	X(self) X(metaflow) X(completions) X(version)
#define X(name) extern const struct cli_command cli_##name;
CLI_COMMAND_LIST(X)
#undef X
/* clang-format on */
extern const struct cli_command *const cli_commands[]; /* NULL-terminated */

/* The command at the front of the words, of two words if there is one; aliases are replaced. The
 * words then begin with the last one of its name. NULL: none. */
const struct cli_command *cli_find_command(int *argc, char ***argv);

/* "resource-tracker: message" and a line end on stderr. */
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As cli_complain(), and return `status`. */
int cli_reject(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "--NAME VALUE: hint"; EXIT_USAGE. */
int cli_wrong(const struct cli_option *o, const char *value, const char *hint);

/* While true, only the first complaint is printed. */
void cli_complain_once(bool once);
/* While a job runs: drop a message that stderr does not take within 0.2 s, as nothing may hold up
 * limits and signals. */
void cli_complain_in_time(bool in_time);

/* Set the origin of the value being set, for complaints: "config.toml:3". NULL: a flag.
 * Borrowed. */
void cli_set_origin(const char *origin);
/* True while the value of a flag is being set: all users of the machine can see it. */
bool cli_is_of_flag(void);

/* Accept the internal options of verbs from now on. */
void cli_accept_internal(void);

/* Parse the options at the front of argv. Returns the index of the first operand. Ends the program
 * after --help, and after a complaint about a wrong option or too many operands. */
int cli_options(const struct cli_command *command, int argc, char **argv, void *settings);
/* The last value of one option at the front of argv; NULL: none. Wrong options are ignored. */
const char *cli_option_value(const struct cli_command *command, int argc, char **argv,
			     const char *name);
void cli_print_help(const struct cli_command *command);

/* Shared setters for cli_option.set. */
int cli_set_text(void *settings, const struct cli_option *o, const char *value); /* const char * */
/* One of the words of o->value, "auto|never": the word, or its index as int or enum. */
int cli_set_word(void *settings, const struct cli_option *o, const char *value);
int cli_set_choice(void *settings, const struct cli_option *o, const char *value);
int cli_set_flag(void *settings, const struct cli_option *o, const char *value); /* bool */
int cli_set_duration(void *settings, const struct cli_option *o,
		     const char *value);                                          /* uint64_t ns */
int cli_set_count(void *settings, const struct cli_option *o, const char *value); /* uint64_t */
int cli_set_size(void *settings, const struct cli_option *o,
		 const char *value); /* uint64_t bytes, not 0 */
/* A day (its last second), a day with an hour, or seconds since 1970: double. */
int cli_set_date(void *settings, const struct cli_option *o, const char *value);
/* As cli_set_text(); "" without a value. */
int cli_set_optional(void *settings, const struct cli_option *o, const char *value);
/* Another option of the verb, as the help says: "same as --format md", or "same as --number", which
 * takes the value. */
int cli_set_same(void *settings, const struct cli_option *o, const char *value);
/* The verb whose options are being set. */
void cli_use_verb(const struct cli_command *command);
/* Index of the value among the words of o->value; -1 after a complaint. */
int cli_choice(const struct cli_option *o, const char *value);
/* 1: a word for yes; 0: for no, or empty; -1: neither. */
int cli_truth(const char *text);
/* True, after a complaint that says what to write instead, if a word of a verb has gone: an
 * operand, "--NAME", or "--NAME VALUE". */
bool cli_is_gone(const char *verb, const char *word);
/* Accepted, and without effect in this version. */
int cli_set_nothing(void *settings, const struct cli_option *o, const char *value);

/* A copy of text[0..len) in static memory, as settings borrow their texts; NULL: there is no room. */
const char *cli_keep(const char *text, size_t len);

/* Seconds that local time is ahead of UTC at this moment. */
double cli_utc_offset(double now_s);

/* Print the error of a service in the name of the verb, and return the exit status: EXIT_USAGE for
 * -EINVAL. */
int cli_fail(const char *verb, int error, const struct trk_error *why);

/* Load the run that `reference` names (a path, an id, "@" …) from the state directory; record NULL:
 * only call on_row for its rows. The caller releases *record. Returns 0, or an exit status after a
 * complaint. */
int cli_load(const char *dir, const char *reference, struct trk_record *record, trk_row_fn *on_row,
	     void *data);

struct trk_page_request;
/* Write the report of the run `reference` (path, id, "@", job). to: the file; NULL or "": named
 * after the run; "-": stdout. via: as for trk__page_save(). Returns 0 with the path of the report
 * in `path`, or an exit status after a complaint. */
int cli_report_file(const char *dir, const char *reference, const struct trk_page_request *request,
		    const char *to, const char *via, char *path, size_t size);

/* Write all of a buffer; 0, or EXIT_ERROR after having complained. Closed pipes are no error. */
int cli_write(int fd, const struct trk_buf *b, const char *where);
/* Write plain text to standard output or standard error, cleaned for a terminal (trk__utf8_clean).
 * Text with colours is cleaned where it is made, and written by cli_write(). */
int cli_print_to(int fd, struct trk_buf *b);
int cli_print(struct trk_buf *b); /* to standard output */

/* The name of the shell if argv[0] is the tracking shell (shell.c), else NULL; and run that shell,
 * tracked. */
const char *cli_shell_name(const char *argv0);
int cli_shell(const char *name, int argc, char **argv);

/* The manual page, in roff. */
void cli_man_page(struct trk_buf *b);

/* The text between an option and its argument in the help. */
const char *cli_before_value(const struct cli_option *o);

/* The words of --color; `mode` below is one of them, NULL: auto. */
#define CLI_COLORS "auto|always|never|plain"
bool cli_is_utf8(void);
bool cli_use_utf8(const char *mode); /* where the locale has it, and not with "plain" */
bool cli_use_color(const char *mode, int fd);
/* Columns that COLUMNS states, or of the terminal that fd is; `usual` where neither is known. */
size_t cli_width(int fd, size_t usual);
/* That width, UTF-8 if the locale uses it, no colour. */
struct trk_terminal_style cli_style(int fd, size_t usual);

/* ---- names of output files, which are checked before a job starts ---- */

/* The extension of a name, without its dot, ignoring a final ".gz"; "" if it has none. Static text,
 * in lower case, until the next call. */
const char *cli_extension(const char *path);

/* The format of a report in a file of this name: "md", or else "html". path may be NULL. */
const char *cli_page_format(const char *path);

/* Whether `word` is one of `list` (words with blanks or line ends between them). */
bool cli_is_word_of(const char *list, const char *word);

/* True, after a complaint, if the extension is that of a data or document format that is not in
 * `known` (words with blanks between them). */
bool cli_is_foreign_format(const char *verb, const char *path, const char *known);

/* Check that a file of that name can be written. 0, or a negative errno after a complaint; -ENOENT:
 * its folder does not exist, but the job may create it. "-", "fd:N" and NULL are fine. */
int cli_check_output(const char *option, const char *path);

/* ---- showing a file in the desktop's browser ---- */

/* Without waiting for it; if it cannot be opened nothing happens. */
void cli_browser_open(const char *path);

/* Wait until the browser has started. Returns the exit status, after a complaint where it has
 * not. */
int cli_browser_show(const char *path);

#endif
