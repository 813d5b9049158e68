/* Arrays that grow. */
#ifndef TRK_BASE_ARRAY_H
#define TRK_BASE_ARRAY_H

#include <stddef.h>

/* Make room for `need` elements of `size` bytes in a heap array; the capacity at least doubles.
 * `array` is the address of the pointer to it. Returns 0, or -ENOMEM with the array unchanged. */
int trk__array_reserve(void *array, size_t *cap, size_t need, size_t size);

#endif
