#include "model/course.h"

#include <string.h>

#include "base/array.h"

void trk__course_add(struct trk_course *c, void *points, size_t size, size_t most, const void *row,
		     trk_course_merge_fn *merge)
{
	char *point;

	memcpy(&point, points, sizeof(point));
	if (c->count > 0 && c->last < c->each) {
		merge(point + (c->count - 1) * size, row);
		c->last++;
		return;
	}
	if (c->count == most) {
		c->count = most / 2;
		for (size_t i = 0; i < c->count; i++) {
			merge(point + 2 * i * size, point + (2 * i + 1) * size);
			memmove(point + i * size, point + 2 * i * size, size);
		}
		c->each *= 2;
	}
	if (trk__array_reserve(points, &c->cap, c->count + 1, size) < 0)
		return;
	memcpy(&point, points, sizeof(point));
	memcpy(point + c->count++ * size, row, size);
	c->each = c->each ? c->each : 1;
	c->last = 1;
}

size_t trk__course_until(const struct trk_course *c, const void *points, size_t size, double t_s)
{
	size_t low = 0, high = c->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		double end_s;

		memcpy(&end_s, (const char *) points + middle * size, sizeof(end_s));
		if (end_s <= t_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
