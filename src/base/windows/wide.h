/* Conversion between the UTF-8 of the program and the UTF-16 of Windows. */
#ifndef TRK_BASE_WINDOWS_WIDE_H
#define TRK_BASE_WINDOWS_WIDE_H

#include <windows.h>

#include <stdbool.h>
#include <stddef.h>

enum { TRK_WIDE_PATH_MAX = 4096 };

/* The errno for a Windows error code. */
int trk__windows_errno(DWORD error);
/* Set errno from GetLastError() and return -1. */
int trk__windows_failed(void);

/* A path below the directory dirfd (or AT_FDCWD), with the prefix that lifts the limit of 260
 * characters. False with errno. */
bool trk__wide_path(int dirfd, const char *path, wchar_t wide[TRK_WIDE_PATH_MAX]);
/* The path of an open file or directory: where Windows does not tell it (volumes of some drivers;
 * long paths under Wine), the one that _keep was given. False with errno. */
bool trk__wide_path_of(int fd, wchar_t wide[TRK_WIDE_PATH_MAX]);
void trk__wide_keep(int fd, const wchar_t *wide);
/* A path of Windows, without such a prefix and with '/'. False with errno. */
bool trk__narrow_path(const wchar_t *wide, char *path, size_t size);
/* UTF-16 on the heap as UTF-8 (the caller frees); NULL: no memory. */
char *trk__narrow_text(const wchar_t *wide);

HANDLE trk__handle_of(int fd);

#endif
