#include "advise/memory_price.h"

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

enum { ALIKE = 3, CANDIDATE_STEPS = sizeof(candidate_step) / sizeof(candidate_step[0]) };

static const double average_share = 0.3; /* of the newest run in the moving average */

/* --- forecasts ---------------------------------------------------------------------------------
 *
 * Each: what would have been forecast before run `at` (at == count: for the next run), from the
 * runs before it; NaN where nothing can be said. */

static void forecast_max(const struct trk_history *h, double *past)
{
	double max = NAN;

	for (size_t i = 0; i <= h->count; i++) {
		past[i] = max;
		if (i < h->count && !(max >= h->need_bytes[i]))
			max = h->need_bytes[i];
	}
}

static void forecast_average(const struct trk_history *h, double *past)
{
	double ln = NAN;

	for (size_t i = 0; i <= h->count; i++) {
		past[i] = trk__exp(ln);
		if (i < h->count)
			ln = isnan(ln) ? h->ln_need[i] : ln + average_share * (h->ln_need[i] - ln);
	}
}

static double input_at(const struct trk_history *h, size_t at)
{
	return at < h->count ? h->input_bytes[at] : h->next_input_bytes;
}

/* Running sums around the first point, so that nothing cancels. */
struct line {
	size_t n;
	double x0, y0, sx, sy, sxx, sxy, min;
};

static void line_add(struct line *l, double x, double y)
{
	if (l->n == 0) {
		l->x0 = x;
		l->y0 = y;
		l->min = y;
	}
	x -= l->x0;
	l->n++;
	l->sx += x;
	l->sy += y - l->y0;
	l->sxx += x * x;
	l->sxy += x * (y - l->y0);
	if (y < l->min)
		l->min = y;
}

static double line_at(const struct line *l, double x)
{
	double n = (double) l->n, spread, slope = 0, y;

	if (l->n == 0 || isnan(x))
		return NAN;
	spread = l->sxx - l->sx * l->sx / n;
	if (spread > 1e-12 * l->sxx)
		slope = (l->sxy - l->sx * l->sy / n) / spread;
	if (!(slope > 0))
		slope = 0;
	y = l->y0 + l->sy / n + slope * (x - l->x0 - l->sx / n);
	return y > l->min / 2 ? y : l->min / 2;
}

static void forecast_line(const struct trk_history *h, double *past)
{
	struct line l = {0};

	for (size_t i = 0; i <= h->count; i++) {
		past[i] = line_at(&l, input_at(h, i));
		if (i < h->count && !isnan(h->input_bytes[i]))
			line_add(&l, h->input_bytes[i], h->need_bytes[i]);
	}
}

static double alike_at(const struct trk_history *h, size_t at)
{
	double ln_x = trk__ln(input_at(h, at)), distance[ALIKE], need[ALIKE], max = NAN;
	size_t kept = 0;

	if (isnan(ln_x))
		return NAN;
	for (size_t i = at; i-- > 0;) { /* newest first: it wins a tie */
		double d = fabs(h->ln_input[i] - ln_x);
		size_t place = kept;

		if (isnan(d))
			continue;
		while (place > 0 && d < distance[place - 1])
			place--;
		if (place == ALIKE)
			continue;
		if (kept < ALIKE)
			kept++;
		for (size_t k = kept - 1; k > place; k--) {
			distance[k] = distance[k - 1];
			need[k] = need[k - 1];
		}
		distance[place] = d;
		need[place] = h->need_bytes[i];
	}
	for (size_t k = 0; k < kept; k++)
		if (!(max >= need[k]))
			max = need[k];
	return max;
}

static void forecast_alike(const struct trk_history *h, double *past)
{
	for (size_t i = 0; i <= h->count; i++)
		past[i] = alike_at(h, i);
}

static void (*const forecast[TRK_BASES])(const struct trk_history *h, double *past) = {
	[TRK_BASIS_MAX] = forecast_max,
	[TRK_BASIS_AVERAGE] = forecast_average,
	[TRK_BASIS_LINE] = forecast_line,
	[TRK_BASIS_ALIKE] = forecast_alike,
};

/* --- the distribution ------------------------------------------------------------------------ */

/* Of each ratio, before they are summed: by memory-hours and by number of runs. */
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

bool trk__ratios_make(const struct trk_history *h, enum trk_basis basis,
		      const struct trk_memory_tuning *tuning, struct trk_ratios *ret)
{
	double past[TRK_MEMORY_RUNS_MAX + 1], total = 0, used = 0, shares = 0;
	struct weights weights;
	double keep = trk__exp(-ln_2 / tuning->half_life_runs), w = 1 / keep;

	forecast[basis](h, past);
	ret->forecast_bytes = past[h->count];
	ret->history_runs = h->count;
	ret->count = 0;
	ret->highest_ratio = 0;
	if (!(ret->forecast_bytes > 0) || isinf(ret->forecast_bytes))
		return false;
	memcpy(ret->past_bytes, past, h->count * sizeof(*past));
	for (size_t i = h->count; i-- > 0;) {
		double t = h->duration_s[i];

		/* The largest so far is no forecast with an error: what counts is how far below it
		 * the runs stay. How far above is the law's. */
		double base = basis == TRK_BASIS_MAX ? ret->forecast_bytes : past[i];

		w *= keep;
		if (!(base > 0))
			continue;
		insert(ret, &weights, h->need_bytes[i] / base, w * t * base, w);
		shares += w;
		total += w * t * base;
		used += w * t * h->need_bytes[i];
	}
	ret->runs = ret->count;
	if (ret->runs == 0 || (basis != TRK_BASIS_MAX && ret->runs < tuning->join_after))
		return false;
	ret->highest_ratio = ret->ratio[ret->count - 1];
	ret->law = record_law(ret, tuning);
	ret->forecast_per_use = total / used;
	for (size_t i = 0; i < ret->runs; i++) {
		weights.weight[i] *= (1 - record_share(ret)) / total;
		weights.share[i] *= (1 - record_share(ret)) / shares;
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

double trk__ratios_price(const struct trk_ratios *r, const struct trk_memory_tuning *tuning,
			 double lambda, double factor, double known_above)
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
	price += lambda * r->need_from[fails];
	price += 1.2 * r->need_from[far];
	price += 1.6 * factor * (r->weight_from[fails] - r->weight_from[far]);
	return price / all;
}

double trk__ratios_best(const struct trk_ratios *r, const struct trk_memory_tuning *tuning,
			double lambda, double above, double *ret_price)
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
			double price = trk__ratios_price(r, tuning, lambda, factor, above);

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

double trk__ratios_chance(const struct trk_ratios *r, double factor)
{
	size_t above = first_above(r, factor);

	if (factor >= r->highest_ratio)
		return record_share(r) * record_above(&r->law, trk__ln(factor / r->highest_ratio));
	return r->share_from[above];
}
