/* Converts struct trk_server_needs of the public header to the library's own types. */
#ifndef TRK_API_SERVER_NEEDS_H
#define TRK_API_SERVER_NEEDS_H

#include "catalog/needs.h"
#include "resource_tracker.h"

/* Write a sentence into why[0..size), which may be NULL. Returns `code`. */
int trk__why(char *why, size_t size, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Copy a caller's options over the defaults in *ret; NULL: none are given. A caller of another version
 * has a shorter or a longer struct, which begins with its size, at least `least`. 0, or -EINVAL with
 * a sentence that names `what` in `why`. */
int trk__options_copy(const char *what, const void *given, size_t least, void *ret, size_t size,
		      char *why, size_t why_size);

/* Copy the caller's struct. Fields that an older caller's shorter struct lacks are 0, all of them
 * for NULL. 0, -EINVAL or -TRK_ERR_RANGE, with a sentence in `why`. */
int trk__server_needs_read(const struct trk_server_needs *given, struct trk_server_needs *n,
			   char *why, size_t size);
/* The names, which point into the needs, and the amounts and flags. */
struct trk_need_words trk__server_words(const struct trk_server_needs *n);
struct trk_catalog_query trk__server_wishes(const struct trk_server_needs *n);

#endif
