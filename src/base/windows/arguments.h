/* Arguments of this program, which uses '/' in paths; Windows accepts that too. */
#ifndef TRK_BASE_WINDOWS_ARGUMENTS_H
#define TRK_BASE_WINDOWS_ARGUMENTS_H

/* Replace '\\' by '/' where an argument, or the value of --option=VALUE, is a file name. */
void trk__argument_convert(char *argument);

/* Replace '\\' by '/' in a file name. */
void trk__argument_use_slashes(char *text);

#endif
