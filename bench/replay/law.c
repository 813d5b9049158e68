/* Tests the law of records: the likelihood of the jumps of the recorded jobs. Its parameters are
 * chosen on three families and tested on the fourth. */
#include "replay.h"

enum { JUMPS_MAX = 4000, RUNS = 40 };

/* Runs that exceeded all of the 2 to 40 runs before them. */
struct jumps {
	size_t count;
	double far[JUMPS_MAX]; /* ln of the ratio to the largest before */
	double gap[JUMPS_MAX]; /* ln of the ratio of the largest to the second largest before */
};

struct law {
	double own, far, far_scale;
};

static void jumps_of(struct jumps *j, const struct step *s)
{
	double first = 0, second = 0;

	for (size_t i = 0; i < s->count && i <= RUNS; i++) {
		double y = s->past[i].y;

		if (i >= 2 && y > first * (1 + 1e-9) && j->count < JUMPS_MAX) {
			j->far[j->count] = log(y / first);
			j->gap[j->count++] = fmin(fmax(log(first / second), 0.0001), 0.1);
		}
		second = fmax(second, fmin(y, first));
		first = fmax(first, y);
	}
}

/* Mean logarithm of the density. A larger value is better. */
static double fit(const struct jumps *j, const struct law *law)
{
	double pooled = trk__memory_tuning.record_scale, sum = 0;

	for (size_t i = 0; i < j->count; i++) {
		double near = pow(pooled, 1 - law->own) * pow(j->gap[i], law->own), l = j->far[i];
		double density = (1 - law->far) * near / ((near + l) * (near + l));

		density +=
			law->far * law->far_scale / ((law->far_scale + l) * (law->far_scale + l));
		sum += log(density);
	}
	return sum / (double) j->count;
}

void bench_law(const char *folder)
{
	static const double owns[] = {0, 0.25, 0.5, 0.75, 1}, fars[] = {0, 0.05, 0.1, 0.2, 0.3},
			    scales[] = {0.05, 0.1, 0.2, 0.5};
	static struct jumps jumps[FAMILIES];
	static const struct law pooled = {0, 0, 1};

	for (int k = 0; k < FAMILIES; k++) {
		struct family f;

		family_read(folder, k, 10, 200, &f);
		for (size_t i = 0; i < f.count; i++)
			jumps_of(&jumps[k], &f.step[i]);
	}
	printf("\n| left out | jumps | own gap | far | of scale | log likelihood there | of the "
	       "pooled law |\n|---|---|---|---|---|---|---|\n");
	for (int left = 0; left < FAMILIES; left++) {
		struct law best = pooled;
		double most = -INFINITY;

		for (size_t n = 0; n < 5 * 5 * 4; n++) {
			struct law law = {owns[n / 20], fars[n / 4 % 5], scales[n % 4]};
			double sum = 0;

			for (int k = 0; k < FAMILIES; k++)
				sum += k == left ? 0 : fit(&jumps[k], &law);
			if (sum > most) {
				most = sum;
				best = law;
			}
		}
		printf("| %s | %zu | %g | %g | %g | %.3f | %.3f |\n", family_names[left],
		       jumps[left].count, best.own, best.far, best.far_scale,
		       fit(&jumps[left], &best), fit(&jumps[left], &pooled));
	}
}
