#include "answer/usual_course.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answer/advice.h"
#include "base/maths.h"
#include "recording/reader.h"
#include "recording/store.h"

enum {
	SMOOTH = 2,          /* points to either side */
	BYTES_MAX = 4 << 20, /* of recordings, to limit the time */
};

/* A job that still runs is compared as if it took 1.5 times as long as the newest earlier run. */
#define LONGER 1.5

static double seconds_of(const struct trk_record *record)
{
	return (double) record->outcome.duration_ns / 1e9;
}

/* ---- one run ---- */

/* Bounds of a run's phases by its marks, in s: 0, the marks, the end. Returns how many phases there
 * are. */
static size_t bounds_of(const struct trk_record *record, double bound[TRK_PHASES_MAX + 1])
{
	double end_s = seconds_of(record);
	size_t n = 0;

	bound[n++] = 0;
	for (size_t i = 0; i < record->marks; i++) {
		double at = (double) record->mark[i].elapsed_ns / 1e9;

		at = at < bound[n - 1] ? bound[n - 1] : at;
		bound[n++] = at < end_s ? at : end_s;
	}
	bound[n] = end_s;
	return n;
}

static bool have_same_marks(const struct trk_record *a, const struct trk_record *b)
{
	if (a->marks != b->marks || !a->marks || a->marks >= TRK_PHASES_MAX)
		return false;
	for (size_t i = 0; i < a->marks; i++)
		if (strcmp(a->mark[i].name, b->mark[i].name) != 0)
			return false;
	return true;
}

/* The moment of the earlier run that corresponds to this moment; without phases the same. */
static double moment_of(const double *now, const double *then, size_t phases, double at)
{
	for (size_t i = 0; i < phases; i++) {
		double length = now[i + 1] - now[i];

		if (at > now[i + 1] && i + 1 < phases)
			continue;
		return length > 0 ? then[i] + (at - now[i]) / length * (then[i + 1] - then[i])
				  : then[i];
	}
	return at;
}

static int take_phases(struct trk_usual_run *r, const struct trk_record *record)
{
	struct trk_time_breakdown *times = malloc(sizeof(*times));
	int error = times ? trk__time_breakdown_of(record, times) : -ENOMEM;

	for (size_t i = 0; error == 0 && i < times->phase_count; i++) {
		memcpy(r->phase[i].name, times->phase[i].name, sizeof(r->phase[i].name));
		r->phase[i].seconds = times->phase[i].end_s - times->phase[i].start_s;
		r->phases = i + 1;
	}
	free(times);
	return error;
}

int trk__usual_course_add(struct trk_usual_course *u, const struct trk_record *now,
			  const struct trk_record *earlier)
{
	struct trk_usual_run *r = &u->run[u->runs];
	struct trk_block all = trk__outline_sum(&earlier->outline, 0, INFINITY);
	double bound[TRK_PHASES_MAX + 1], then[TRK_PHASES_MAX + 1];
	bool by_phase = !now->writing && have_same_marks(now, earlier);
	size_t phases = by_phase ? bounds_of(now, bound) : 0;
	double span_s = now->writing ? LONGER * seconds_of(earlier) : seconds_of(now);

	if (u->runs == TRK_USUAL_RUNS_MAX || !(all.seconds > 0) || !(span_s > 0))
		return 0;
	if (u->runs == 0) {
		u->by_phase = by_phase;
		u->span_s = span_s;
	} else if (u->by_phase != by_phase) {
		return 0; /* not comparable */
	}
	if (by_phase)
		(void) bounds_of(earlier, then);
	*r = (struct trk_usual_run){.seconds = seconds_of(earlier)};
	for (int i = 0; i < TRK_SPENTS; i++)
		r->share[i] = all.spent_s[i] / all.seconds;
	for (size_t p = 0; p < TRK_USUAL_POINTS; p++) {
		double width_s = u->span_s / TRK_USUAL_POINTS, at = (double) p * width_s;
		double from_s = moment_of(bound, then, phases, at);
		double to_s = moment_of(bound, then, phases, at + width_s);

		for (int f = 0; f < TRK_FIGURES_DRAWN; f++)
			r->value[f][p] = from_s >= r->seconds
						 ? 0
						 : trk__outline_figure(&earlier->outline,
								       (enum trk_block_figure) f,
								       from_s, to_s, false);
	}
	u->runs++;
	return take_phases(r, earlier);
}

bool trk__usual_course_read(struct trk_usual_course *u, const struct trk_record *now, int runs_fd,
			    const struct trk_past_run *past)
{
	struct trk_record *record;
	struct stat st;

	if (!past->ended || past->code != 0 || past->signal != 0 ||
	    !strcmp(past->id, now->run.id) || past->start_s * 1e9 >= (double) now->run.start_ns ||
	    !trk__store_is_name(past->file) ||
	    fstatat(runs_fd, past->file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	u->bytes += st.st_size;
	if (u->bytes > BYTES_MAX)
		return true;
	record = calloc(1, sizeof(*record));
	if (record && trk__record_read(runs_fd, past->file, record, NULL, NULL, NULL) == 0) {
		if (trk__advice_ended_well(&record->outcome))
			(void) trk__usual_course_add(u, now, record);
		trk__record_release(record);
	}
	free(record);
	return u->runs == TRK_USUAL_RUNS_MAX;
}

/* ---- over the runs ---- */

/* Quantile with linear interpolation between ranks. */
static double quantile(const double *sorted, size_t n, double share)
{
	double rank = share * (double) (n - 1);
	size_t low = (size_t) rank;

	return low + 1 < n ? sorted[low] + (rank - (double) low) * (sorted[low + 1] - sorted[low])
			   : sorted[n - 1];
}

static struct trk_usual_band band_of(const struct trk_usual_course *u, int figure, size_t p)
{
	double v[TRK_USUAL_RUNS_MAX] = {0};
	size_t n = 0;

	for (size_t i = 0; i < u->runs; i++)
		if (isfinite(u->run[i].value[figure][p]))
			v[n++] = u->run[i].value[figure][p];
	if (n < TRK_USUAL_RUNS_MIN)
		return (struct trk_usual_band){NAN, NAN, NAN};
	trk__sort_values(v, n);
	return (struct trk_usual_band){quantile(v, n, 0.1), quantile(v, n, 0.5),
				       quantile(v, n, 0.9)};
}

bool trk__usual_course_settle(struct trk_usual_course *u)
{
	for (int f = 0; f < TRK_FIGURES_DRAWN; f++)
		for (size_t p = 0; p < TRK_USUAL_POINTS; p++)
			u->band[f][p] = band_of(u, f, p);
	return u->runs >= TRK_USUAL_RUNS_MIN;
}

struct trk_usual_band trk__usual_course_at(const struct trk_usual_course *u,
					   enum trk_block_figure figure, double at_s)
{
	double place = at_s / u->span_s * TRK_USUAL_POINTS;
	size_t at = (size_t) trk__whole(place, 0, TRK_USUAL_POINTS - 1), n = 0;
	struct trk_usual_band sum = {0, 0, 0};

	for (size_t p = at < SMOOTH ? 0 : at - SMOOTH;
	     place <= TRK_USUAL_POINTS && p <= at + SMOOTH && p < TRK_USUAL_POINTS; p++) {
		const struct trk_usual_band *b = &u->band[figure][p];

		if (isnan(b->middle))
			continue;
		sum.low += b->low;
		sum.middle += b->middle;
		sum.high += b->high;
		n++;
	}
	/* NaN without any */
	return (struct trk_usual_band){sum.low / (double) n, sum.middle / (double) n,
				       sum.high / (double) n};
}

/* The median of the known values; NaN if fewer than half are known. */
static double median(double *value, size_t count)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(value[i]))
			value[known++] = value[i];
	return 2 * known >= count && known ? trk__median(value, known) : (double) NAN;
}

double trk__usual_course_seconds(const struct trk_usual_course *u)
{
	double value[TRK_USUAL_RUNS_MAX];

	for (size_t r = 0; r < u->runs; r++)
		value[r] = u->run[r].seconds;
	return median(value, u->runs);
}

double trk__usual_course_share(const struct trk_usual_course *u, enum trk_spent spent)
{
	double value[TRK_USUAL_RUNS_MAX];

	for (size_t r = 0; r < u->runs; r++)
		value[r] = u->run[r].share[spent];
	return median(value, u->runs);
}

/* A phase without a name is found by its number, in runs without names: a running job does not show
 * its later phases yet. */
static double phase_of(const struct trk_usual_run *r, const struct trk_time_breakdown *times,
		       size_t phase)
{
	const char *name = times->phase[phase].name;

	if (phase < r->phases && !strcmp(r->phase[phase].name, name) &&
	    (*name || times->marked || times->phase_count <= r->phases))
		return r->phase[phase].seconds;
	for (size_t i = 0; *name && i < r->phases; i++)
		if (!strcmp(r->phase[i].name, name))
			return r->phase[i].seconds;
	return NAN;
}

double trk__usual_course_phase_s(const struct trk_usual_course *u,
				 const struct trk_time_breakdown *times, size_t phase)
{
	double value[TRK_USUAL_RUNS_MAX];

	for (size_t r = 0; r < u->runs; r++)
		value[r] = phase_of(&u->run[r], times, phase);
	return median(value, u->runs);
}
