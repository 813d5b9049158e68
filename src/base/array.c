#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int trk__array_reserve(void *array, size_t *cap, size_t need, size_t size)
{
	size_t more = *cap ? *cap * 2 : 16, bytes;
	void *old, *bigger;

	if (need <= *cap)
		return 0;
	if (more < need)
		more = need;
	memcpy(&old, array, sizeof(old));
	bigger = __builtin_mul_overflow(more, size, &bytes) ? NULL : realloc(old, bytes);
	if (!bigger)
		return -ENOMEM;
	memcpy(array, &bigger, sizeof(bigger));
	*cap = more;
	return 0;
}
