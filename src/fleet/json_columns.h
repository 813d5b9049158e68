/* Convert a list of objects with the same members to one object of lists: similar values are
 * adjacent and compress better. */
#ifndef TRK_FLEET_JSON_COLUMNS_H
#define TRK_FLEET_JSON_COLUMNS_H

#include <stddef.h>

#include "base/buf.h"

/* Append {"KEY": [value, value, …], …} for the array of `count` objects in `text`, written by
 * struct trk_json without indentation. All must have the members of the first one, in the same
 * order. 0 or -ENOMEM. */
int trk__json_columns(const char *text, size_t count, struct trk_buf *b);

#endif
