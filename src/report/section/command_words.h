/* A command line with the words that distinguish it from others of its program first. */
#ifndef TRK_REPORT_SECTION_COMMAND_WORDS_H
#define TRK_REPORT_SECTION_COMMAND_WORDS_H

#include "report/document.h"

/* `command`, beginning with the words that one of its siblings lacks, in strong type and reduced to
 * the last part of their paths; names of temporary files are not compared. NULL if it is empty. At
 * most `max` characters; `siblings` may contain the command itself and empty entries. */
const char *trk__command_words(struct trk_doc *d, const char *command, const char *const *siblings,
			       size_t count, size_t max);

#endif
