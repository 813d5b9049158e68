/* A command line as people tell it from its siblings: the words that differ come first. */
#ifndef TRK_REPORT_SECTION_COMMAND_WORDS_H
#define TRK_REPORT_SECTION_COMMAND_WORDS_H

#include "report/document.h"

/* `command` with the words that one of its siblings does not have first, in strong type and as the
 * last part of their paths; temporary files are no difference. NULL where it is empty. At most
 * `max` characters; `siblings` may hold the command itself and empty ones. */
const char *trk__command_words(struct trk_doc *d, const char *command, const char *const *siblings,
			       size_t count, size_t max);

#endif
