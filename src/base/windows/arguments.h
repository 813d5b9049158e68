/* Arguments of this program. The program knows '/' in paths, as does Windows; the arguments of a job
 * that it starts are not its own, and stay as they were given. */
#ifndef TRK_BASE_WINDOWS_ARGUMENTS_H
#define TRK_BASE_WINDOWS_ARGUMENTS_H

/* Takes a text on the heap. It comes back as it is, or with '/' where it, or the value of
 * --option=VALUE, is the name of a file that is written with '\\'; trk__os_given_arguments() of
 * base/os.h has the text before that. NULL: no memory. Texts are kept until the program ends. */
char *trk__argument_take(char *given);

/* Write the name of a file with '/'. */
void trk__argument_use_slashes(char *text);

#endif
