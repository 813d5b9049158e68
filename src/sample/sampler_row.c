/* How the parts of the sampler fill the columns of a row. */
#include "base/clock.h"
#include "sample/sampler_private.h"

void trk__sampler_set_delta(struct trk_sampler *s, int column, uint64_t total)
{
	struct counter *last = &s->last[column];

	if (last->valid && s->started)
		trk__sample_set(&s->row, column,
				total > last->value ? (int64_t) (total - last->value) : 0);
	if (!last->valid || total > last->value) /* iowait of /proc/stat may decrease */
		last->value = total;
	last->valid = true;
}

/* The clocks are read one after the other, and the use of an ended process is known a little later:
 * some CPU time in an interval was used before or after it. At most all cores can have been busy;
 * the rest is moved to the next interval. */
void trk__sampler_set_rate(struct trk_sampler *s, int column, int64_t cpu_us, uint64_t over_ns,
			   double cores)
{
	int64_t most_us = (int64_t) (cores * (double) over_ns / 1e3);

	if (!s->started || over_ns == 0)
		return;
	cpu_us += s->owed_us[column];
	s->owed_us[column] = cpu_us > most_us ? cpu_us - most_us : 0;
	if (over_ns < s->options.min_interval_ns)
		return;
	cpu_us -= s->owed_us[column];
	trk__sample_set(&s->row, column,
			(int64_t) ((double) cpu_us * 1e7 / (double) over_ns + 0.5));
}

void trk__sampler_set_bytes(struct trk_sampler *s, int column, uint64_t bytes)
{
	trk__sample_set(&s->row, column, (int64_t) bytes);
}

void trk__sampler_add_source(struct trk_source *list, size_t *n, const char *name, const char *text)
{
	if (*n < TRK_SOURCES_MAX)
		list[(*n)++] = (struct trk_source){name, text};
}
