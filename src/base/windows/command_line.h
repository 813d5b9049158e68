/* A Windows program gets its arguments as one text, which the C libraries of Microsoft and others
 * take apart by the rules of CommandLineToArgvW. Pure: UTF-8, no call to the system. */
#ifndef TRK_BASE_WINDOWS_COMMAND_LINE_H
#define TRK_BASE_WINDOWS_COMMAND_LINE_H

#include "base/buf.h"

/* Append one argument, with a blank before it unless the buffer is empty, in quotes where it needs
 * them. */
void trk__command_line_add(struct trk_buf *b, const char *argument);

/* The same for a batch file, which cmd.exe reads: always in quotes. -EINVAL for a character that
 * cmd.exe interprets even in quotes: '"', '%', an end of line. */
int trk__command_line_add_batch(struct trk_buf *b, const char *argument);

/* Split a command line into arguments, each ended by a NUL, at most `size` bytes of them. Returns
 * their length. */
size_t trk__command_line_split(const char *line, char *text, size_t size);

#endif
