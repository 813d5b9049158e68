/* Converts struct trk_server_needs of the public header to the library's own types. */
#ifndef TRK_API_SERVER_NEEDS_H
#define TRK_API_SERVER_NEEDS_H

#include "catalog/needs.h"
#include "resource_tracker.h"

/* Write a sentence into why[0..size), which may be NULL. Returns `code`. */
int trk__why(char *why, size_t size, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Copy the caller's struct. Fields that an older caller's shorter struct lacks are 0, all of them
 * for NULL. 0, -EINVAL or -TRK_ERR_RANGE, with a sentence in `why`. */
int trk__server_needs_take(const struct trk_server_needs *given, struct trk_server_needs *n,
			   char *why, size_t size);
/* The names, which point into the needs, and the amounts and flags. */
struct trk_need_words trk__server_words(const struct trk_server_needs *n);
struct trk_catalog_query trk__server_wishes(const struct trk_server_needs *n);

#endif
