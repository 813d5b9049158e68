/* Checks of output file names before a job starts: is the format supported, and is the place
 * writable? */
#ifndef TRK_CLI_OUTPUT_NAMES_H
#define TRK_CLI_OUTPUT_NAMES_H

#include <stdbool.h>

/* The extension of a name, without its dot, ignoring a final ".gz"; "" if it has none. Static text,
 * in lower case, until the next call. */
const char *cli_extension(const char *path);

/* The format of a report in a file of this name: "md", "json", or else "html". path may be NULL. */
const char *cli_page_format(const char *path);

/* Whether `word` is one of `list` (words with blanks between them). */
bool cli_is_word_of(const char *list, const char *word);

/* True, after a complaint, if the extension is that of a data or document format that is not in
 * `known` (words with blanks between them). */
bool cli_is_foreign_format(const char *verb, const char *path, const char *known);

/* Check that a file of that name can be written. 0, or a negative errno after a complaint; -ENOENT:
 * its folder does not exist, but the job may create it. "-", "fd:N" and NULL are fine. */
int cli_check_output(const char *option, const char *path);

#endif
