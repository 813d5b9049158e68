/* Patterns of '*' and '?'. */
#ifndef TRK_POSIX_FNMATCH_H
#define TRK_POSIX_FNMATCH_H

#define FNM_CASEFOLD 16
int fnmatch(const char *pattern, const char *text, int flags);

#endif
