#include "advise/memory_private.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"

/* The law of records: after n runs the next one exceeds all with probability 1 / (n + 1), and by
 * more than the factor k with P(k) = (1 - f) / (1 + ln k / near) + f / (1 + ln k / far) of that.
 * Most records exceed the last one by about as much as that one exceeds the runs below it; `near`
 * is the geometric mean of this gap and of the scale of all jobs. A share f goes far beyond. It is
 * cut at 2: what is beyond is not worth paying for in advance. */
static const double record_cut = 2;
/* The gap is read between these: equal peaks are so by their rounding, and above a large gap
 * records are no larger than above others. */
static const double gap_min = 0.0001, gap_max = 0.1;

static const double ln_2 = 0.69314718055994531;

/* Candidates are the ratio of each run times these. */
static const double candidate_step[] = {1.0, 1.01, 1.03, 1.06};

enum { CANDIDATE_STEPS = sizeof(candidate_step) / sizeof(candidate_step[0]) };

/* --- the distribution ------------------------------------------------------------------------ */

/* Weights of each ratio, before summing: by memory-hours and by number of runs. */
struct weights {
	double weight[TRK_RATIOS_MAX], share[TRK_RATIOS_MAX];
};

/* Insertion sort: the ratios of real runs are few and often nearly in order. */
static void insert(struct trk_ratios *r, struct weights *weights, double ratio, double w,
		   double share)
{
	size_t at = r->count++;

	while (at > 0 && r->ratio[at - 1] > ratio) {
		r->ratio[at] = r->ratio[at - 1];
		weights->weight[at] = weights->weight[at - 1];
		weights->share[at] = weights->share[at - 1];
		at--;
	}
	r->ratio[at] = ratio;
	weights->weight[at] = w;
	weights->share[at] = share;
}

/* The law for a job whose two largest ratios are the last two of `r`. */
static struct trk_record_law record_law(const struct trk_ratios *r,
					const struct trk_memory_tuning *tuning)
{
	struct trk_record_law law = {tuning->record_scale, tuning->record_far_scale,
				     tuning->record_far};
	double gap;

	if (r->runs < 2)
		return law;
	gap = trk__ln(r->ratio[r->runs - 1] / r->ratio[r->runs - 2]);
	gap = gap < gap_min ? gap_min : gap > gap_max ? gap_max : gap;
	law.near *= trk__exp(tuning->record_own * trk__ln(gap / law.near));
	return law;
}

/* Share of the records that exceed the one before by more than exp(l). */
static double record_above(const struct trk_record_law *law, double l)
{
	return (1 - law->far_share) / (1 + l / law->near) + law->far_share / (1 + l / law->far);
}

/* How far a record exceeds the one before, at the quantile (j + 0.5) / TRK_PSEUDO_RUNS. */
static double record_quantile(const struct trk_record_law *law, size_t j)
{
	double above = 1 - ((double) j + 0.5) / TRK_PSEUDO_RUNS;
	/* record_above(l) = above is a quadratic equation: l * l + 2 * p * l - q = 0. */
	double p = (law->near + law->far -
		    ((1 - law->far_share) * law->near + law->far_share * law->far) / above) /
		   2;
	double q = law->near * law->far * (1 / above - 1);
	double root = trk__exp(trk__ln(p * p + q) / 2), k = trk__exp(root - p);

	return k < record_cut ? k : record_cut;
}

static void sum_from_top(struct trk_ratios *r, const struct weights *weights)
{
	r->weight_from[r->count] = 0;
	r->need_from[r->count] = 0;
	r->share_from[r->count] = 0;
	for (size_t i = r->count; i-- > 0;) {
		r->weight_from[i] = r->weight_from[i + 1] + weights->weight[i];
		r->share_from[i] = r->share_from[i + 1] + weights->share[i];
		r->need_from[i] = r->need_from[i + 1] + weights->weight[i] * r->ratio[i];
	}
}

/* Share of the distribution that the next record has. */
static double record_share(const struct trk_ratios *r)
{
	return 1.0 / (double) (r->history_runs + 1);
}

/* The needs of the runs, as scaled for the predictor. */
struct needs {
	double bytes[TRK_MEMORY_RUNS_MAX];
	bool is_scaled;
};

static void needs_init(struct needs *n, const struct trk_history *h, enum trk_basis basis,
		       double *forecast_bytes)
{
	n->is_scaled = false;
	if (basis != TRK_BASIS_MAX) {
		memcpy(n->bytes, h->need_bytes, h->count * sizeof(*n->bytes));
		return;
	}
	n->is_scaled = trk__memory_scale_young(h, n->bytes);
	for (size_t i = 0; i < h->count; i++)
		if (n->bytes[i] > *forecast_bytes)
			*forecast_bytes = n->bytes[i];
}

/* Sums over the real runs, by weight. */
struct sums {
	double forecast, used, shares;
};

/* Insert the ratio of each real run; past[h->count] is the forecast for the next one. */
static struct sums add_runs(struct trk_ratios *ret, struct weights *weights,
			    const struct trk_history *h, enum trk_basis basis, const double *past,
			    const double *need_bytes, const struct trk_memory_tuning *tuning)
{
	double keep = trk__exp(-ln_2 / tuning->half_life_runs), w = 1 / keep;
	struct sums sums = {0};

	for (size_t i = h->count; i-- > 0;) {
		double t = h->duration_s[i];

		/* The largest peak so far is not a forecast with an error: the ratios are those of
		 * runs below it, and the law of records covers those above. */
		double base = basis == TRK_BASIS_MAX ? past[h->count] : past[i];
		double weight = (w *= keep);

		if (i == h->count - 1)
			weight *= 1 + tuning->newest_extra;
		if (!(base > 0))
			continue;
		insert(ret, weights, need_bytes[i] / base, weight * t * base, weight);
		sums.shares += weight;
		sums.forecast += weight * t * base;
		sums.used += weight * t * need_bytes[i];
	}
	return sums;
}

bool trk__ratios_make(const struct trk_history *h, enum trk_basis basis,
		      const struct trk_memory_tuning *tuning, struct trk_ratios *ret)
{
	double past[TRK_MEMORY_RUNS_MAX + 1];
	struct weights weights;
	struct needs needs;
	struct sums sums;

	trk__memory_forecast(h, basis, past);
	needs_init(&needs, h, basis, &past[h->count]);
	ret->is_scaled = needs.is_scaled;
	ret->forecast_bytes = past[h->count];
	ret->history_runs = h->count;
	ret->count = 0;
	ret->highest_ratio = 0;
	if (!(ret->forecast_bytes > 0) || isinf(ret->forecast_bytes))
		return false;
	sums = add_runs(ret, &weights, h, basis, past, needs.bytes, tuning);
	ret->runs = ret->count;
	if (ret->runs == 0 || (basis != TRK_BASIS_MAX && ret->runs < tuning->join_after))
		return false;
	ret->highest_ratio = ret->ratio[ret->count - 1];
	ret->law = record_law(ret, tuning);
	ret->forecast_per_use = sums.forecast / sums.used;
	for (size_t i = 0; i < ret->runs; i++) {
		weights.weight[i] *= (1 - record_share(ret)) / sums.forecast;
		weights.share[i] *= (1 - record_share(ret)) / sums.shares;
	}
	for (size_t j = 0; j < TRK_PSEUDO_RUNS; j++)
		insert(ret, &weights, ret->highest_ratio * record_quantile(&ret->law, j),
		       record_share(ret) / TRK_PSEUDO_RUNS, record_share(ret) / TRK_PSEUDO_RUNS);
	sum_from_top(ret, &weights);
	return true;
}

/* First ratio above x. */
static size_t first_above(const struct trk_ratios *r, double x)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (r->ratio[middle] > x)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* How far the chance of failing with this factor is above the bearable one. */
static double chance_too_high(const struct trk_ratios *r, const struct trk_memory_tuning *tuning,
			      const struct trk_fail_price *fail, double factor)
{
	/* The law of records alone leaves a chance of 1 / (n + 1). */
	double young = fail->young_share / (double) (r->history_runs + 1);
	double bearable = tuning->bearable_chance > young ? tuning->bearable_chance : young;
	double chance = r->share_from[first_above(r, factor)];

	return chance > bearable ? chance - bearable : 0;
}

/* Expected price of one run with forecast * factor, in forecast * run time, given that the ratio is
 * above `known_above` (0: nothing known). */
static double price_of(const struct trk_ratios *r, const struct trk_memory_tuning *tuning,
		       const struct trk_fail_price *fail, double factor, double known_above)
{
	/* A failed attempt is paid, then the next one: 1.2 times the need or 1.6 times the first
	 * request, whichever is more. They cross at 4/3 of the request. */
	size_t from = known_above > 0 ? first_above(r, known_above) : 0;
	size_t fails = first_above(r, factor), far = first_above(r, factor * 4 / 3);
	double all = r->weight_from[from], price;

	if (fails < from)
		fails = from;
	if (far < fails)
		far = fails;
	if (!(all > 0))
		return INFINITY;
	price = factor * (all - r->weight_from[fails]);
	price += tuning->time_to_failure * factor * r->weight_from[fails];
	price += fail->lambda * r->need_from[fails];
	price += 1.2 * r->need_from[far];
	price += 1.6 * factor * (r->weight_from[fails] - r->weight_from[far]);
	price /= all;
	if (fail->charge > 0)
		price += fail->charge * r->need_from[0] * chance_too_high(r, tuning, fail, factor);
	return price;
}

double trk__ratios_best(const struct trk_ratios *r, const struct trk_memory_tuning *tuning,
			const struct trk_fail_price *fail, double above, double *ret_price)
{
	double best = 0, least = INFINITY;
	double bound = tuning->chance_max > record_share(r) ? tuning->chance_max : record_share(r);
	size_t first = above > 0 ? first_above(r, above) : 0;

	while (above <= 0 && first < r->runs && r->share_from[first + 1] > bound)
		first++;
	/* A price is no less than its factor. */
	for (size_t i = first; i < r->count && r->ratio[i] < least; i++) {
		/* Records are dense enough by themselves. */
		size_t steps = r->ratio[i] > r->highest_ratio ? 1 : CANDIDATE_STEPS;

		for (size_t k = 0; k < steps; k++) {
			double factor = r->ratio[i] * candidate_step[k];
			double price = price_of(r, tuning, fail, factor, above);

			if (price < least) {
				least = price;
				best = factor;
			}
		}
	}
	if (ret_price)
		*ret_price = least;
	return best;
}

double trk__ratios_median(const struct trk_ratios *r)
{
	double half = (r->share_from[0] + r->share_from[r->runs]) / 2;
	size_t at = 0;

	while (at + 1 < r->runs && r->share_from[at + 1] >= half)
		at++;
	return r->ratio[at];
}

double trk__ratios_chance(const struct trk_ratios *r, double factor)
{
	size_t above = first_above(r, factor);

	if (factor >= r->highest_ratio)
		return record_share(r) * record_above(&r->law, trk__ln(factor / r->highest_ratio));
	return r->share_from[above];
}
