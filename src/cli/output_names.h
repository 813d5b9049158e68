/* Names of files that a user wants written: of a format that the program has, in a place that can
 * be written to. Both are said before a job starts. */
#ifndef TRK_CLI_OUTPUT_NAMES_H
#define TRK_CLI_OUTPUT_NAMES_H

#include <stdbool.h>

/* The extension of a name, without ".gz" behind it and without its dot; "" where it has none.
 * Static text, in lower case, until the next call. */
const char *cli_extension(const char *path);

/* Is `word` one of `list` (words with blanks between them)? */
bool cli_is_word_of(const char *list, const char *word);

/* True where the extension is that of a data or document format and is not in `known` (words with
 * blanks between them): after a complaint that names these. */
bool cli_is_foreign_format(const char *verb, const char *path, const char *known);

/* Could a file of that name be written now? 0, or a negative errno after a complaint; -ENOENT: its
 * folder is not there, which the job may make. "-", "fd:N" and NULL are fine. */
int cli_check_output(const char *option, const char *path);

#endif
