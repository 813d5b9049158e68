#ifndef TRK_API_LIBRARY_PATH_H
#define TRK_API_LIBRARY_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The path of the library or program that holds this code; false: not known. */
bool trk__library_path(char *path, size_t size);

#endif
