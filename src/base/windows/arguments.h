/* Arguments of this program, which uses '/' in paths; Windows accepts that too. The arguments of a
 * job are passed on unchanged. */
#ifndef TRK_BASE_WINDOWS_ARGUMENTS_H
#define TRK_BASE_WINDOWS_ARGUMENTS_H

/* Takes a text on the heap. Returns it with '/' in place of '\\' where it, or the value of
 * --option=VALUE, is a file name; else unchanged. trk__os_given_arguments() of base/os.h restores
 * the original. NULL: no memory. Texts are kept until the program ends. */
char *trk__argument_take(char *given);

/* Replace '\\' by '/' in a file name. */
void trk__argument_use_slashes(char *text);

#endif
