/* Rules of other projects, implemented from their published descriptions (docs/advice.md). */
#include "replay.h"

static int ascending(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

static double max_of(const struct step *s, size_t first, size_t at)
{
	double max = 0;

	for (size_t i = first; i < at; i++)
		max = fmax(max, s->past[i].y);
	return max;
}

static double user(const struct step *s, size_t at)
{
	return s->past[at].user;
}

static double round_original(double mib)
{
	for (double step = 128; step <= 2048; step *= 2)
		if (mib <= step)
			return step;
	return ceil(mib / 1024) * 1024;
}

/* The original package: largest of the last five x 1.2. */
static double original(const struct step *s, size_t at)
{
	return round_original(1.2 * max_of(s, at > 5 ? at - 5 : 0, at));
}

/* Robusta KRR: largest x 1.15, at least 100 MiB. */
static double krr(const struct step *s, size_t at)
{
	return fmax(100, 1.15 * max_of(s, 0, at));
}

/* Kubernetes VPA: decaying histogram of the peaks (a run counts as an interval of a day, half-life
 * a day), 90th percentile, x 1.15, at least 250 MB; a failure raises the sample. */
static double vpa(const struct step *s, size_t at)
{
	enum { BUCKETS = 240 };
	double weight[BUCKETS] = {0}, total = 0, seen = 0, w = 1, upper = 10;
	double edge[BUCKETS];

	for (size_t b = 0; b < BUCKETS; b++) {
		edge[b] = upper; /* MB */
		upper += 10 * pow(1.05, (double) b + 1);
	}
	for (size_t i = at; i-- > 0; w /= 2) {
		double mb = s->past[i].y * 1.048576;
		size_t b = 0;

		while (b < BUCKETS - 1 && edge[b] < mb)
			b++;
		weight[b] += w;
		total += w;
	}
	for (size_t b = 0; b < BUCKETS; b++) {
		seen += weight[b];
		if (seen >= 0.9 * total)
			return fmax(250, 1.15 * edge[b]) / 1.048576;
	}
	return fmax(250, 1.15 * edge[BUCKETS - 1]) / 1.048576;
}

/* Tovar et al. 2018: first allocation of least expected waste, one retry at the largest seen. */
static double bucket50(double mib)
{
	return ceil(mib / 50) * 50;
}

static double tovar(const struct step *s, size_t at)
{
	double top = bucket50(max_of(s, 0, at)), best = top, least = INFINITY;

	for (size_t k = 0; k < at; k++) {
		double a = bucket50(s->past[k].y), all = 0, above = 0;

		for (size_t i = 0; i < at; i++) {
			all += s->past[i].t;
			above += s->past[i].y > a ? s->past[i].t : 0;
		}
		if (a * all + top * above < least) {
			least = a * all + top * above;
			best = a;
		}
	}
	return best;
}

static double tovar_retry(const struct step *s, size_t at, double failed)
{
	double top = bucket50(max_of(s, 0, at));

	return top > failed ? top : 2 * failed;
}

/* Witt et al. 2019: 95th percentile, doubling. */
static double witt_p95(const struct step *s, size_t at)
{
	double *y = malloc(at * sizeof(*y)), place = 0.95 * (double) (at - 1), value;
	size_t low = (size_t) place;

	for (size_t i = 0; i < at; i++)
		y[i] = s->past[i].y;
	qsort(y, at, sizeof(*y), ascending);
	value = y[low];
	if (low + 1 < at)
		value += (place - (double) low) * (y[low + 1] - y[low]);
	free(y);
	return value;
}

struct line {
	double slope, base;
	bool good;
	double r;
};

static struct line line_of(const struct step *s, size_t at)
{
	struct line l = {0};
	double n = 0, mx = 0, my = 0, sxx = 0, sxy = 0, syy = 0;

	for (size_t i = 0; i < at; i++) {
		if (isnan(s->past[i].x))
			continue;
		n++;
		mx += s->past[i].x;
		my += s->past[i].y;
	}
	if (n < 2)
		return l;
	mx /= n;
	my /= n;
	for (size_t i = 0; i < at; i++) {
		double dx = s->past[i].x - mx, dy = s->past[i].y - my;

		if (isnan(dx))
			continue;
		sxx += dx * dx;
		sxy += dx * dy;
		syy += dy * dy;
	}
	if (!(sxx > 0))
		return l;
	l.slope = sxy / sxx;
	l.base = my - l.slope * mx;
	l.r = syy > 0 ? sxy / sqrt(sxx * syy) : 0;
	l.good = true;
	return l;
}

/* Witt et al.: line through input size plus the largest error below; without input the mean. */
static double witt_line(const struct step *s, size_t at)
{
	struct line l = line_of(s, at);
	double x = s->past[at].x, offset = 0, mean = 0;

	if (!l.good || isnan(x)) {
		for (size_t i = 0; i < at; i++)
			mean += s->past[i].y / (double) at;
		l = (struct line){.base = mean, .good = true};
		x = 0;
	}
	for (size_t i = 0; i < at; i++) {
		double px = isnan(s->past[i].x) ? 0 : s->past[i].x;

		offset = fmax(offset, s->past[i].y - (l.base + l.slope * px));
	}
	return fmax(l.base + l.slope * x + offset, 1);
}

/* Ponder 2024. */
static double ponder_line(const struct step *s, size_t at)
{
	struct line l = line_of(s, at);
	double x = s->past[at].x, low = INFINITY, high = 0, xlow = INFINITY, xhigh = 0;
	double weights = 0, variance = 0, value;

	/* Asymmetric loss: over-prediction has a weight of 0.02. A few rounds of re-weighted least
	 * squares. */
	for (int round = 0; round < 30; round++) {
		double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, spread;

		for (size_t i = 0; i < at; i++) {
			double px = s->past[i].x, py = s->past[i].y;
			double w = py > l.base + l.slope * px ? 1 : 0.02;

			if (isnan(px))
				continue;
			sw += w;
			sx += w * px;
			sy += w * py;
			sxx += w * px * px;
			sxy += w * px * py;
		}
		spread = sw * sxx - sx * sx;
		if (!(spread > 1e-9 * sw * sxx))
			break;
		l.slope = (sw * sxy - sx * sy) / spread;
		l.base = (sy - l.slope * sx) / sw;
	}
	for (size_t i = 0; i < at; i++) {
		double px = s->past[i].x, w, error;

		if (isnan(px))
			continue;
		low = fmin(low, s->past[i].y);
		high = fmax(high, s->past[i].y);
		xlow = fmin(xlow, px);
		xhigh = fmax(xhigh, px);
		w = 1 / (1 + fabs(px - x));
		error = s->past[i].y - (l.base + l.slope * px);
		weights += w;
		variance += w * error * error;
	}
	value = l.base + l.slope * x;
	if (x >= xlow && x <= xhigh)
		value = fmin(fmax(value, low), high);
	return value + fmax(128, 2 * sqrt(variance / weights));
}

static double ponder(const struct step *s, size_t at)
{
	const struct past *p = &s->past[at];
	double value, xmax = 0;
	struct line l;

	for (size_t i = 0; i < at; i++)
		xmax = fmax(xmax, isnan(s->past[i].x) ? 0 : s->past[i].x);
	value = max_of(s, 0, at) + 128;
	if (at < 5) {
		if (!isnan(p->user) && !(p->x <= xmax))
			return p->user;
	} else {
		l = line_of(s, at);
		if (l.good && l.r > 0.3 && !isnan(p->x))
			value = ponder_line(s, at);
	}
	value = fmax(value, 128); /* a line may fall below zero */
	return isnan(p->user) ? value : fmin(value, p->user);
}

static double ponder_retry(const struct step *s, size_t at, double failed)
{
	return s->past[at].user > failed ? s->past[at].user : 2 * failed;
}

/* TaskVine's greedy bucketing: the weight of a point is its order of arrival. Split recursively
 * where that lowers the expected waste. Draw a bucket by its probability, and take the next one
 * after a failure. */
struct point {
	double y, w;
};

static int by_peak(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	return (p->y > q->y) - (p->y < q->y);
}

/* Waste of [low..high] in one bucket, or split after `cut`. */
static double waste_of(const struct point *p, size_t low, size_t cut, size_t high)
{
	double wl = 0, wh = 0, ml = 0, mh = 0, pl, ph, top = p[high].y, mid = p[cut].y;

	for (size_t i = low; i <= high; i++) {
		if (i <= cut) {
			wl += p[i].w;
			ml += p[i].w * p[i].y;
		} else {
			wh += p[i].w;
			mh += p[i].w * p[i].y;
		}
	}
	pl = wl / (wl + wh);
	ph = 1 - pl;
	ml /= wl;
	if (wh <= 0)
		return top - ml;
	mh /= wh;
	return pl * pl * (mid - ml) + pl * ph * (top - ml) + ph * pl * (mid + top - mh) +
	       ph * ph * (top - mh);
}

static void break_up(const struct point *p, size_t low, size_t high, double *top, double *weight,
		     size_t *count)
{
	size_t cut = high;
	double least = waste_of(p, low, high, high), w = 0;

	for (size_t i = low; i < high; i++) {
		double waste = waste_of(p, low, i, high);

		if (waste < least) {
			least = waste;
			cut = i;
		}
	}
	if (cut < high && *count < 60) {
		break_up(p, low, cut, top, weight, count);
		break_up(p, cut + 1, high, top, weight, count);
		return;
	}
	for (size_t i = low; i <= high; i++)
		w += p[i].w;
	top[*count] = p[high].y;
	weight[(*count)++] = w;
}

static double drawn(size_t seed)
{
	unsigned long long x = (seed + 1) * 0x9e3779b97f4a7c15ull;

	x ^= x >> 31;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 29;
	return (double) (x >> 11) / 9007199254740992.0;
}

static double bucketed(const struct step *s, size_t at, double above)
{
	struct point *p = malloc(at * sizeof(*p));
	double top[64], weight[64], total = 0, draw;
	size_t count = 0;

	for (size_t i = 0; i < at; i++)
		p[i] = (struct point){s->past[i].y, (double) i + 1};
	qsort(p, at, sizeof(*p), by_peak);
	break_up(p, 0, at - 1, top, weight, &count);
	free(p);
	for (size_t i = 0; i < count; i++)
		total += top[i] > above ? weight[i] : 0;
	if (!(total > 0))
		return 2 * above;
	draw = drawn(at * 131 + (size_t) above) * total;
	for (size_t i = 0; i < count; i++) {
		if (top[i] <= above)
			continue;
		draw -= weight[i];
		if (draw < 0)
			return top[i];
	}
	return top[count - 1];
}

static double bucketing(const struct step *s, size_t at)
{
	return at < 10 ? max_of(s, 0, at) : bucketed(s, at, 0);
}

static double bucketing_retry(const struct step *s, size_t at, double failed)
{
	return at < 10 ? 2 * failed : bucketed(s, at, failed);
}

/* --- ours, with fewer predictors
 * --------------------------------------------------------------- */

static double only_max(const struct step *s, size_t at)
{
	unsigned int before = ours.tuning.predictors;
	double request;

	ours.tuning.predictors = 0;
	request = ours_request(s, at);
	ours.tuning.predictors = before;
	return request;
}

static double only_max_retry(const struct step *s, size_t at, double failed)
{
	unsigned int before = ours.tuning.predictors;
	double request;

	ours.tuning.predictors = 0;
	request = ours_retry(s, at, failed);
	ours.tuning.predictors = before;
	return request;
}

static double no_input(const struct step *s, size_t at)
{
	double request;

	ours.input = false;
	request = ours_request(s, at);
	ours.input = true;
	return request;
}

static double no_input_retry(const struct step *s, size_t at, double failed)
{
	double request;

	ours.input = false;
	request = ours_retry(s, at, failed);
	ours.input = true;
	return request;
}

static double safe(const struct step *s, size_t at)
{
	double request;

	ours.risk = TRK_RISK_SAFE;
	request = ours_request(s, at);
	ours.risk = TRK_RISK_DEFAULT;
	return request;
}

static double cheap(const struct step *s, size_t at)
{
	double request;

	ours.risk = TRK_RISK_CHEAP;
	request = ours_request(s, at);
	ours.risk = TRK_RISK_DEFAULT;
	return request;
}

const struct rule rules[] = {
	{"user's request", user, NULL, true},
	{"original (last 5 x 1.2)", original, NULL, false},
	{"KRR", krr, NULL, false},
	{"VPA", vpa, NULL, false},
	{"Tovar", tovar, tovar_retry, false},
	{"Witt p95", witt_p95, NULL, false},
	{"Witt line + max", witt_line, NULL, false},
	{"Ponder", ponder, ponder_retry, false},
	{"bucketing, greedy", bucketing, bucketing_retry, false},
	{"ours, largest only", only_max, only_max_retry, false},
	{"ours, no input size", no_input, no_input_retry, false},
	{"ours, cheap", cheap, ours_retry, false},
	{"ours, safe", safe, ours_retry, false},
	{"**ours**", ours_request, ours_retry, false},
};
const size_t rule_count = sizeof(rules) / sizeof(rules[0]);
