#include "advise/phases.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/maths.h"

/* Running sums of one column around its mean, so that nothing cancels. */
struct sums {
	double *sum, *square; /* [rows + 1] */
};

struct segment {
	size_t first, end, cut; /* cut: the best, 0 where there is none */
	double gain;
};

void trk__phases_normalise(double *column, size_t rows)
{
	double mean = 0, square = 0, sd, guess;

	for (size_t i = 0; i < rows; i++)
		mean += column[i] / (double) rows;
	for (size_t i = 0; i < rows; i++)
		square += (column[i] - mean) * (column[i] - mean) / (double) rows;
	/* Root by its logarithm, then one step of Newton: sqrt() is in libm. */
	guess = square > 0 ? trk__exp(trk__ln(square) / 2) : 0;
	sd = guess > 0 ? (guess + square / guess) / 2 : 0;
	for (size_t i = 0; i < rows; i++)
		column[i] = sd > 1e-12 * fabs(mean) ? (column[i] - mean) / sd : 0;
}

static double cost(const struct sums *s, size_t columns, size_t first, size_t end)
{
	double total = 0;

	for (size_t c = 0; c < columns; c++) {
		double sum = s[c].sum[end] - s[c].sum[first];

		total += s[c].square[end] - s[c].square[first] - sum * sum / (double) (end - first);
	}
	return total;
}

/* Find the best cut of a segment. */
static void best_cut(const struct sums *s, size_t columns, size_t min_rows, struct segment *seg)
{
	double whole = cost(s, columns, seg->first, seg->end);

	seg->cut = 0;
	seg->gain = -INFINITY;
	for (size_t at = seg->first + min_rows; at + min_rows <= seg->end; at++) {
		double gain =
			whole - cost(s, columns, seg->first, at) - cost(s, columns, at, seg->end);

		if (gain >= seg->gain) { /* of equal ones the last */
			seg->gain = gain;
			seg->cut = at;
		}
	}
}

static int sums_fill(struct sums *s, const double *const *column, size_t columns, size_t rows)
{
	for (size_t c = 0; c < columns; c++) {
		double mean = 0;

		for (size_t i = 0; i < rows; i++) {
			if (!isfinite(column[c][i]))
				return -EINVAL;
			mean += column[c][i] / (double) rows;
		}
		s[c].sum[0] = s[c].square[0] = 0;
		for (size_t i = 0; i < rows; i++) {
			double x = column[c][i] - mean;

			s[c].sum[i + 1] = s[c].sum[i] + x;
			s[c].square[i + 1] = s[c].square[i] + x * x;
		}
	}
	return 0;
}

/* Cut as long as it gains; seg[] stays in order. Returns the number of segments. */
static size_t cut_all(const struct sums *s, size_t columns, size_t rows, size_t min_rows,
		      double penalty, size_t cuts_max, struct segment *seg)
{
	size_t count = 1;

	seg[0] = (struct segment){.first = 0, .end = rows};
	best_cut(s, columns, min_rows, &seg[0]);
	while (count <= cuts_max) {
		size_t best = 0;

		for (size_t i = 1; i < count; i++)
			if (seg[i].gain > seg[best].gain)
				best = i;
		if (seg[best].cut == 0 || !(seg[best].gain > penalty))
			break;
		for (size_t i = count; i > best + 1; i--)
			seg[i] = seg[i - 1];
		seg[best + 1] = (struct segment){.first = seg[best].cut, .end = seg[best].end};
		seg[best].end = seg[best].cut;
		best_cut(s, columns, min_rows, &seg[best]);
		best_cut(s, columns, min_rows, &seg[best + 1]);
		count++;
	}
	return count;
}

int trk__phases_cut(const double *const *column, size_t columns, size_t rows, size_t min_rows,
		    double penalty, size_t cuts_max, size_t *ret_end)
{
	struct segment seg[TRK_PHASES_MAX + 1];
	struct sums *s;
	double *memory;
	size_t count = 0;
	int rc;

	if (cuts_max >= TRK_PHASES_MAX || isnan(penalty))
		return -EINVAL;
	if (rows == 0 || columns == 0)
		return 0;
	if (rows > SIZE_MAX / 2 / sizeof(*memory) / columns - 1)
		return -ENOMEM;
	s = calloc(columns, sizeof(*s));
	memory = calloc(columns * 2 * (rows + 1), sizeof(*memory));
	if (!s || !memory) {
		free(s);
		free(memory);
		return -ENOMEM;
	}
	for (size_t c = 0; c < columns; c++) {
		s[c].sum = memory + 2 * c * (rows + 1);
		s[c].square = s[c].sum + rows + 1;
	}
	rc = sums_fill(s, column, columns, rows);
	if (rc == 0) {
		count = cut_all(s, columns, rows, min_rows > 0 ? min_rows : 1, penalty, cuts_max,
				seg);
		for (size_t i = 0; i < count; i++)
			ret_end[i] = seg[i].end;
		rc = (int) count;
	}
	free(memory);
	free(s);
	return rc;
}
