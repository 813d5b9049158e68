/* A command line with the words that distinguish it from others of its program first. */
#ifndef TRK_REPORT_SECTION_COMMAND_WORDS_H
#define TRK_REPORT_SECTION_COMMAND_WORDS_H

#include "report/document.h"

/* `command` in at most `max` characters. The words that at least one of the siblings lacks come
 * first, in strong type; paths among them are reduced to their last part. Names of temporary files
 * are not compared. `siblings` may contain the command itself and empty entries. NULL for an empty
 * command. */
const char *trk__command_words(struct trk_doc *d, const char *command, const char *const *siblings,
			       size_t count, size_t max);

#endif
