#include "frame/frame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- memory ----------------------------------------------------------------------------------- */

int trk__frame_init(struct trk_frame *f, size_t columns)
{
	*f = (struct trk_frame){0};
	if (columns > TRK_FRAME_COLUMNS_MAX)
		return -EINVAL;
	f->column = calloc(columns > 0 ? columns : 1, sizeof(*f->column));
	if (!f->column)
		return -ENOMEM;
	f->columns = columns;
	return 0;
}

void trk__frame_release(struct trk_frame *f)
{
	for (size_t c = 0; c < f->columns; c++)
		free(f->column[c]);
	free(f->column);
	free(f->time_s);
	free(f->dt_s);
	*f = (struct trk_frame){0};
}

static int grow_one(double **array, size_t cap)
{
	double *grown = realloc(*array, cap * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*array = grown;
	return 0;
}

static int grow(struct trk_frame *f)
{
	size_t cap = f->cap > 0 ? f->cap * 2 : 256;
	int rc = grow_one(&f->time_s, cap);

	if (rc == 0)
		rc = grow_one(&f->dt_s, cap);
	for (size_t c = 0; rc == 0 && c < f->columns; c++)
		rc = grow_one(&f->column[c], cap);
	if (rc == 0)
		f->cap = cap;
	return rc;
}

int trk__frame_add(struct trk_frame *f, double time_s, double dt_s, const double *values)
{
	if (!isfinite(time_s) || (f->rows > 0 && time_s < f->time_s[f->rows - 1]))
		return -EINVAL;
	if (f->rows == TRK_FRAME_ROWS_MAX)
		return -EFBIG;
	if (f->rows == f->cap) {
		int rc = grow(f);

		if (rc < 0)
			return rc;
	}
	f->time_s[f->rows] = time_s;
	f->dt_s[f->rows] = dt_s;
	for (size_t c = 0; c < f->columns; c++)
		f->column[c][f->rows] = values[c];
	f->rows++;
	return 0;
}

/* --- slice and join --------------------------------------------------------------------------- */

/* First row that ends after time_s. */
static size_t first_after(const struct trk_frame *f, double time_s)
{
	size_t low = 0, high = f->rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->time_s[middle] > time_s)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct trk_frame_view trk__frame_slice(const struct trk_frame *f, double from_s, double to_s)
{
	struct trk_frame_view v = {f, 0, 0};

	if (isnan(from_s) || isnan(to_s))
		return v;
	v.first = first_after(f, from_s);
	v.end = first_after(f, to_s);
	if (v.end < v.first)
		v.end = v.first;
	return v;
}

int trk__frame_join(const struct trk_frame *left, const struct trk_frame *right, double tolerance_s,
		    struct trk_frame *ret)
{
	double row[TRK_FRAME_COLUMNS_MAX];
	struct trk_frame f;
	size_t at = 0; /* rows of `right` that ended by now */
	int rc;

	if (!(tolerance_s >= 0) || left->columns + right->columns > TRK_FRAME_COLUMNS_MAX)
		return -EINVAL;
	rc = trk__frame_init(&f, left->columns + right->columns);
	for (size_t i = 0; rc == 0 && i < left->rows; i++) {
		bool near;

		while (at < right->rows && right->time_s[at] <= left->time_s[i])
			at++;
		near = at > 0 && left->time_s[i] - right->time_s[at - 1] <= tolerance_s;
		for (size_t c = 0; c < left->columns; c++)
			row[c] = left->column[c][i];
		for (size_t c = 0; c < right->columns; c++)
			row[left->columns + c] = near ? right->column[c][at - 1] : NAN;
		rc = trk__frame_add(&f, left->time_s[i], left->dt_s[i], row);
	}
	if (rc < 0) {
		trk__frame_release(&f);
		return rc;
	}
	*ret = f;
	return 0;
}
