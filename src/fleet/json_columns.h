/* A list of objects with the same members as one object of lists: what is alike lies together, and
 * compresses better. */
#ifndef TRK_FLEET_JSON_COLUMNS_H
#define TRK_FLEET_JSON_COLUMNS_H

#include <stddef.h>

#include "base/buf.h"

/* Append {"KEY": [value, value, …], …} for the array of `count` objects in `text`, which struct
 * trk_json wrote without indentation. All have the members of the first one, in its order. 0 or
 * -ENOMEM. */
int trk__json_columns(const char *text, size_t count, struct trk_buf *b);

#endif
