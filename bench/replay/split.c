/* Tests the splitting of stitched jobs, and measures its speed. */
#include "replay.h"

#include "advise/cpu.h"
#include "advise/phases.h"

enum { ROWS_MAX = 1 << 20 };

struct totals {
	size_t jobs, cuts, paid;
	double saving, borders;
};

static size_t numbers(char *text, double *ret)
{
	size_t n = 0;
	char *next;

	for (double v = strtod(text, &next); next != text && n < ROWS_MAX;
	     v = strtod(text, &next)) {
		ret[n++] = v;
		text = next;
	}
	return n;
}

/* Saving by splitting at the true borders, at the prices that the program assumes. */
static double at_borders(char *ends, const double *dt, const double *u, const double *m,
			 const struct trk_split *whole)
{
	static double end[256];
	size_t n = numbers(ends, end), first = 0;
	double sum = -60 * (2 * TRK_PRICE_CORE_HOUR + 4 * TRK_PRICE_GIB_HOUR) / 3600;

	for (size_t i = 0; i < n; i++) {
		struct trk_split_options never = {.overhead_s = 1e12};
		struct trk_split one;
		size_t last = (size_t) end[i];

		if (last <= first)
			continue;
		if (trk__split_advise(dt + first, u + first, m + first, last - first, &never,
				      &one) < 0)
			exit(3);
		sum += one.price_whole +
		       60 * (2 * TRK_PRICE_CORE_HOUR + 4 * TRK_PRICE_GIB_HOUR) / 3600;
		first = last;
	}
	return 1 - sum / whole->price_whole;
}

static void take_job(void *data, char *line)
{
	static double dt[ROWS_MAX], u[ROWS_MAX], m[ROWS_MAX];
	static struct trk_split s;
	struct totals *t = data;
	char *field[4];
	size_t n, k;

	if (fields_of(line, field, 4) < 4)
		return;
	n = numbers(field[2], m);
	k = numbers(field[3], u);
	n = k < n ? k : n;
	for (size_t i = 0; i < n; i++) {
		dt[i] = 2;
		m[i] *= MIB;
	}
	if (trk__split_advise(dt, u, m, n, NULL, &s) < 0)
		exit(3);
	t->jobs++;
	t->cuts += s.piece_count - 1;
	t->paid += s.pays;
	t->saving += s.saving;
	t->borders += at_borders(field[1], dt, u, m, &s);
}

void bench_split(const char *folder)
{
	enum { SAMPLES = 1000000 };
	struct totals t = {0};
	static struct trk_split s;
	double *dt = malloc(SAMPLES * sizeof(*dt)), *u = malloc(SAMPLES * sizeof(*u)),
	       *m = malloc(SAMPLES * sizeof(*m)), best = INFINITY;

	each_line(folder, "stitched_jobs.csv.gz", take_job, &t);
	printf("\nSplitting %zu stitched jobs: mean saving %.1f %%, %.1f cuts a job, %zu pay; at "
	       "the "
	       "true borders %.1f %%\n",
	       t.jobs, 100 * t.saving / (double) t.jobs, (double) t.cuts / (double) t.jobs, t.paid,
	       100 * t.borders / (double) t.jobs);
	for (size_t i = 0; i < SAMPLES; i++) {
		dt[i] = 1;
		u[i] = (double) (i / 100003 % 5) + (double) (i * 7919 % 101) / 101;
		m[i] = (1 + (double) (i / 150001 % 3)) * 1e9;
	}
	for (int k = 0; k < 5; k++) {
		double start = seconds_now();

		if (trk__split_advise(dt, u, m, SAMPLES, NULL, &s) < 0)
			exit(3);
		best = fmin(best, seconds_now() - start);
	}
	printf("10^6 samples: %.1f ms (best of 5), %zu pieces\n", 1e3 * best, s.piece_count);
	free(dt);
	free(u);
	free(m);
}
