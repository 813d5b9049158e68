#include "import/series.h"
#include "base/maths.h"

#include <math.h>
#include <string.h>

void trk__series_init(struct trk_series *s, struct trk_importing *i, double interval_s)
{
	*s = (struct trk_series){
		.i = i,
		.interval_s = interval_s > 0 && interval_s <= 3600 ? interval_s : (double) NAN,
		.t = TRK_IMP_TOTALS_UNKNOWN,
	};
	s->t.peak_is = "largest sample";
}

void trk__series_sum(double *into, double value)
{
	if (!isnan(value))
		*into = isnan(*into) ? value : *into + value;
}

static void count(struct trk_series *s, const struct trk_sample *row)
{
	double memory = trk__sample_get(row, TRK_PROCESS_MEMORY);

	if (isnan(memory))
		memory = trk__sample_get(row, TRK_PROCESS_RSS);
	if (memory > s->t.peak_mib || isnan(s->t.peak_mib))
		s->t.peak_mib = memory;
	trk__series_sum(&s->t.user_s, trk__sample_get(row, TRK_PROCESS_UTIME));
	trk__series_sum(&s->t.system_s, trk__sample_get(row, TRK_PROCESS_STIME));
	trk__series_sum(&s->t.cpu_s, trk__sample_get(row, TRK_PROCESS_CPU_USAGE) *
					     trk__sample_get(row, TRK_INTERVAL));
	trk__series_sum(&s->t.read_bytes, trk__sample_get(row, TRK_PROCESS_DISK_READ));
	trk__series_sum(&s->t.write_bytes, trk__sample_get(row, TRK_PROCESS_DISK_WRITE));
}

/* Compute a rate that the file lacks from the amounts. */
static void add_rate(struct trk_sample *row, int rate, int user, int system, double interval_s)
{
	if (!trk__sample_knows(row, rate) && trk__sample_knows(row, user) &&
	    trk__sample_knows(row, system))
		trk__imp_set(row, rate,
			     (trk__sample_get(row, user) + trk__sample_get(row, system)) /
				     interval_s);
}

static int write_row(struct trk_series *s, struct trk_sample *row, double time_s, double interval_s)
{
	int r = 0;

	if (!s->begun) {
		s->begun = true;
		s->start_s = time_s - interval_s;
		s->i->run.start_ns = trk__imp_ns(s->start_s);
		s->i->run.interval_ns = (uint64_t) trk__whole(interval_s * 1e9, 0, INT64_MAX);
		trk__imp_key(s->i, &s->i->run.start_ns, sizeof(s->i->run.start_ns));
		trk__imp_key(s->i, &s->i->run.pid, sizeof(s->i->run.pid));
		r = trk__imp_begin(s->i);
	}
	trk__imp_set(row, TRK_TIMESTAMP, time_s);
	trk__imp_set(row, TRK_ELAPSED, time_s - s->start_s);
	trk__imp_set(row, TRK_INTERVAL, interval_s);
	if (!s->has_rates) {
		add_rate(row, TRK_PROCESS_CPU_USAGE, TRK_PROCESS_UTIME, TRK_PROCESS_STIME,
			 interval_s);
		add_rate(row, TRK_SYSTEM_CPU_USAGE, TRK_SYSTEM_UTIME, TRK_SYSTEM_STIME, interval_s);
	}
	count(s, row);
	return r == 0 ? trk__imp_row(s->i, row) : r;
}

int trk__series_add(struct trk_series *s, const struct trk_sample *row, double time_s)
{
	struct trk_sample copy = *row;
	bool is_first = !s->begun && !s->waiting;
	double interval_s = s->interval_s;
	int r;

	/* Year 2286, and steps of at most a day: values beyond are damage. */
	if (!(time_s >= 0 && time_s < 1e10) ||
	    (!is_first && !(time_s > s->last_s && time_s - s->last_s <= 86400))) {
		s->i->result->skipped++;
		return 0;
	}
	if (is_first && isnan(interval_s)) {
		s->first = copy;
		s->waiting = true;
		s->last_s = time_s;
		return 0;
	}
	if (!is_first)
		interval_s = time_s - s->last_s;
	if (s->waiting) {
		s->waiting = false;
		r = write_row(s, &s->first, s->last_s, interval_s);
		if (r < 0)
			return r;
	}
	s->last_s = time_s;
	return write_row(s, &copy, time_s, interval_s);
}

int trk__series_end(struct trk_series *s)
{
	struct trk_importing *i = s->i;
	double split_s = s->t.user_s + s->t.system_s;
	int r = 0;

	if (s->waiting) { /* a single row: assume one second */
		s->waiting = false;
		r = write_row(s, &s->first, s->last_s, 1);
	}
	if (r < 0 || !s->begun)
		return r;
	trk__imp_add_totals(i, &s->t, isnan(split_s) ? s->t.cpu_s : split_s, "sum of the samples",
			    "sum of the samples");
	return trk__imp_end(i);
}

/* ---- columns by the names of other tables ---- */

/* The name without "process_" or "system_"; *process: which of them it was. */
static const char *without_prefix(const char *name, bool *process)
{
	if (!strncmp(name, "process_", 8)) {
		*process = true;
		return name + 8;
	}
	if (!strncmp(name, "system_", 7)) {
		*process = false;
		return name + 7;
	}
	return name;
}

/* A name that only the full set of columns has, except the stamps. */
static int full_column(const char *name, double *ret_factor)
{
	int i = trk__column_find(name);

	if (i < 0 || i == TRK_TIMESTAMP || i == TRK_ELAPSED || i == TRK_INTERVAL)
		return -1;
	*ret_factor = (double) trk__columns[i].divisor;
	return i;
}

int trk__series_column(const char *name, bool process, bool is_04, double *ret_factor)
{
	const char *bare = without_prefix(name, &process);

	for (int i = 0; i < TRK_COLUMNS; i++) {
		const struct trk_column_info *c = &trk__columns[i];
		bool of_process = false;
		const char *full = without_prefix(c->name_05, &of_process);

		if (!c->name_05[0] || i == TRK_TIMESTAMP || of_process != process ||
		    strcmp(bare, is_04 ? c->name_04 : full) != 0)
			continue;
		*ret_factor = (double) (is_04 ? c->divisor_04 : c->divisor);
		return i;
	}
	return full_column(name, ret_factor);
}

void trk__series_set(struct trk_sample *row, int column, double value, double factor)
{
	double stored = value * factor;

	/* Also false for NaN. Beyond it a sum over a run would not fit. */
	if (stored > -9e15 && stored < 9e15)
		trk__sample_set(row, column, (int64_t) (stored < 0 ? stored - 0.5 : stored + 0.5));
}
