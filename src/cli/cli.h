/* The command line: one file per verb, each a const table entry; one table of options each. */
#ifndef TRK_CLI_CLI_H
#define TRK_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "recording/reader.h"
#include "model/run.h"
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
	int (*take)(void *settings, const struct cli_option *option, const char *value);
	size_t offset; /* into the settings, for the shared setters below */
};

/* Options that the help lists under a title: names with a blank before and behind each. Of the last
 * group are all that no other has. */
struct cli_option_group {
	const char *title, *names;
};

struct cli_command {
	const char *name;
	const char *usage;                /* what follows "resource-tracker " */
	const char *summary;              /* one line */
	const char *details;              /* further lines of the help, or NULL */
	const struct cli_option *options; /* ends with a NULL name */
	/* More of them after the verb `internal`, which the library and the packages start this
	 * program with: not listed, and not settable by files or variables. NULL: none. */
	const struct cli_option *internal;
	const struct cli_option_group *groups; /* of the help, ends with a NULL title; or NULL */
	bool stops_at_operand; /* what follows the first operand belongs to another program */
	int operands;          /* at most, else */
	int (*run)(int argc, char **argv);
};

/* The verbs in the order of the help; each is cli_NAME in its file cmd_NAME.c. */
/* clang-format off */
#define CLI_COMMAND_LIST(X) \
	X(run) X(attach) X(system) X(show) X(top) X(report) X(stats) X(export) \
	X(recommend) X(fleet) X(dashboard) X(history) X(ls) X(prune) X(import) \
	X(compare) X(servers) X(catalog_command) X(server_info) X(cloud_info) X(lines) \
	X(mark) X(alerts) X(digest) X(metaflow) X(config_command) X(doctor) X(self) \
	X(completions) X(help) X(version)
#define X(name) extern const struct cli_command cli_##name;
CLI_COMMAND_LIST(X)
#undef X
/* clang-format on */
extern const struct cli_command *const cli_commands[]; /* NULL-terminated */

/* "resource-tracker: message" and a line end on stderr. */
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and return `status`. */
int cli_reject(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* While true, the first complaint is written and the others are dropped. */
void cli_complain_once(bool once);

/* Whose value is being taken, for complaints: "config.toml:3". NULL: a flag. Borrowed. */
void cli_speak_of(const char *origin);
/* Whether the value that is being taken is that of a flag: all users of the machine can see it. */
bool cli_is_of_flag(void);

/* From here on take the internal options of verbs, too. */
void cli_take_internal(void);

/* Take the options at the front of argv. Returns the index of the first operand. Ends the program
 * after --help, and after a complaint about a wrong option or too many operands. */
int cli_options(const struct cli_command *command, int argc, char **argv, void *settings);
/* The last value of one option at the front of argv; NULL: none. What is wrong is passed over. */
const char *cli_option_value(const struct cli_command *command, int argc, char **argv,
			     const char *name);
void cli_print_help(const struct cli_command *command);

/* Shared setters for cli_option.take. */
int cli_set_text(void *settings, const struct cli_option *o, const char *value); /* const char * */
/* One of the words of o->value, "auto|never": the word, or its index as int or enum. */
int cli_set_word(void *settings, const struct cli_option *o, const char *value);
int cli_set_choice(void *settings, const struct cli_option *o, const char *value);
int cli_set_flag(void *settings, const struct cli_option *o, const char *value); /* bool */
int cli_set_duration(void *settings, const struct cli_option *o,
		     const char *value); /* uint64_t ns */
/* Index of the value among the words of o->value; -1 after a complaint. */
int cli_choice(const struct cli_option *o, const char *value);
/* 1: a word for yes, 0: for no (or empty), -1: neither. */
int cli_truth(const char *text);
/* Accepted, and without effect in this version. */
int cli_set_nothing(void *settings, const struct cli_option *o, const char *value);

/* Complain of what a service could not do, and return its exit status: EXIT_USAGE for -EINVAL, in
 * the name of the verb. */
int cli_fail(const char *verb, int error, const struct trk_error *why);

/* Load the run that `reference` names (a path, an id, "@" …) from the state directory; record
 * NULL: its rows alone, for on_row. The caller releases. Returns 0, or an exit status after
 * having complained. */
int cli_load(const char *dir, const char *reference, struct trk_record *record, trk_row_fn *on_row,
	     void *data);

/* Write all of a buffer; 0, or EXIT_ERROR after having complained. Closed pipes are no error. */
int cli_write(int fd, const struct trk_buf *b, const char *where);
/* The same to standard output; releases the buffer. */
int cli_print(struct trk_buf *b);

/* The name of the shell that argv[0] stands for, or NULL; and that shell, tracked. */
const char *cli_shell_name(const char *argv0);
int cli_shell(const char *name, int argc, char **argv);

/* The manual page, in roff. */
void cli_man_page(struct trk_buf *b);

/* How an argument is written after its option: "", " NAME" or "[=NAME]" begin so. */
const char *cli_before_value(const struct cli_option *o);

bool cli_is_utf8(void);
bool cli_use_color(const char *mode, int fd);
/* Columns that COLUMNS states, or of the terminal that fd is; `usual` where neither is known. */
size_t cli_width(int fd, size_t usual);
/* That width, and UTF-8 where the locale has it; without colour. */
struct trk_terminal_style cli_style(int fd, size_t usual);

#endif
