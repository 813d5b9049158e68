/* A course: points over the time of a run, in order, in a list of bounded size.
 *
 * A point is a struct that begins with the end of its time, a double in s since the start of the
 * run. When the list is full, neighbours are merged in pairs, and each later point takes twice as
 * many rows: memory is bounded for any length of run, and each row costs the same. */
#ifndef TRK_MODEL_COURSE_H
#define TRK_MODEL_COURSE_H

#include <stddef.h>

/* Zeroed memory is an empty course. The owner has the points, in a heap array. */
struct trk_course {
	size_t count, cap;
	size_t each; /* rows per point */
	size_t last; /* rows in the last point so far */
};

/* Merge a point with the one after it. */
typedef void trk_course_merge_fn(void *into, const void *next);

/* Add one row, as a point of `size` bytes; it is dropped without memory. `points` is the address of
 * the pointer to the array, which has `most` elements at most. */
void trk__course_add(struct trk_course *c, void *points, size_t size, size_t most, const void *row,
		     trk_course_merge_fn *merge);
/* Number of points that end at or before t_s. */
size_t trk__course_until(const struct trk_course *c, const void *points, size_t size, double t_s);

#endif
