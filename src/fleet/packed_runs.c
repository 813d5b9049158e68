#include "fleet/packed_runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/maths.h"

enum {
	STEP_S = 1800, /* of starts */
	KINDS = 4,     /* start, run time, peak, cores */
	PLANES = 2 * KINDS + 1,
	OCTAVE = 64,
	MIDDLE = 32768,
	SIZES_MAX = 31,
};

/* ---- sizes ---- */

/* A size with its price by the hour: runs of one job differ in few of them. */
struct size {
	double cores, mib, usd_hour;
};

struct sizes {
	struct size of[SIZES_MAX];
	size_t count;
};

static bool is_near(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 0.01 * fabs(b);
}

/* The last entry takes all sizes for which there is no room. */
static size_t size_of(struct sizes *s, const struct trk_fleet_run *run)
{
	double usd_hour = run->usd / (run->duration_s / 3600);

	for (size_t i = 0; i < s->count; i++)
		if (is_near(s->of[i].cores, run->asked_cores) &&
		    is_near(s->of[i].mib, run->asked_mib) && is_near(s->of[i].usd_hour, usd_hour))
			return i;
	if (s->count == SIZES_MAX)
		return SIZES_MAX - 1;
	s->of[s->count] = (struct size){
		.cores = run->asked_cores, .mib = run->asked_mib, .usd_hour = usd_hour};
	return s->count++;
}

/* ---- values ---- */

/* The logarithm in steps of this part of an octave; 0: not known or nothing. */
static unsigned int octaves(double x, int part)
{
	double at = x > 0 ? MIDDLE + part * trk__ln(x) / 0.69314718055994531 : 0;

	return at < 1 ? 0 : at > 65535 ? 65535 : (unsigned int) (at + 0.5);
}

/* Steps from *at_s, which advances by them. */
static unsigned int steps_to(const struct trk_fleet_run *run, double *at_s)
{
	double steps = trk__round_even((run->start_s - *at_s) / STEP_S);

	steps = steps > 65535 ? 65535 : steps < 0 ? 0 : steps;
	*at_s += steps * STEP_S;
	return (unsigned int) steps;
}

static void values_of(const struct trk_fleet_run *run, double *at_s, unsigned int value[KINDS])
{
	value[0] = steps_to(run, at_s);
	value[1] = octaves(run->duration_s, OCTAVE);
	value[2] = octaves(run->peak_mib, OCTAVE / 2);
	value[3] = octaves(run->cores, OCTAVE / 2);
}

static int compare(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *) a, y = *(const unsigned int *) b;

	return (x > y) - (x < y);
}

/* The medians of a job's values. -ENOMEM leaves zeros, which are bases as well. */
static int bases_of(const struct trk_fleet_rows *rows, const struct trk_fleet_name *job,
		    unsigned int base[KINDS])
{
	const struct trk_fleet_run *run = &rows->run[job->first];
	unsigned int *list = calloc(job->count + 1, KINDS * sizeof(*list)), value[KINDS];
	double at_s = run->start_s;

	for (size_t k = 0; k < KINDS; k++)
		base[k] = 0;
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < job->count; i++) {
		values_of(&run[i], &at_s, value);
		for (size_t k = 0; k < KINDS; k++)
			list[k * job->count + i] = value[k];
	}
	for (size_t k = 0; k < KINDS && job->count; k++) {
		qsort(list + k * job->count, job->count, sizeof(*list), compare);
		base[k] = list[k * job->count + job->count / 2];
	}
	free(list);
	return 0;
}

/* The difference in 16 bits, small ones of either sign as small numbers. */
static unsigned int zigzag(unsigned int value, unsigned int base)
{
	unsigned int difference = (value - base) & 0xffff;

	return difference & 0x8000 ? 2 * (0xffff - difference) + 1 : 2 * difference;
}

/* ---- planes ---- */

static void pack_job(const struct trk_fleet_rows *rows, const struct trk_fleet_name *job,
		     unsigned char *to)
{
	const struct trk_fleet_run *run = &rows->run[job->first];
	struct sizes sizes = {.count = 0};
	unsigned int base[KINDS], value[KINDS];
	size_t plane = rows->count;
	double at_s = run->start_s;

	(void) bases_of(rows, job, base);
	for (size_t i = 0; i < job->count; i++, to++) {
		values_of(&run[i], &at_s, value);
		for (size_t k = 0; k < KINDS; k++) {
			unsigned int difference = zigzag(value[k], base[k]);

			to[2 * k * plane] = (unsigned char) difference;
			to[(2 * k + 1) * plane] = (unsigned char) (difference >> 8);
		}
		to[2 * KINDS * plane] =
			(unsigned char) (size_of(&sizes, &run[i]) << 3 | run[i].end);
	}
}

void trk__packed_runs_write(const struct trk_fleet_rows *rows, const struct trk_fleet_jobs *jobs,
			    struct trk_buf *b)
{
	unsigned char *planes = calloc(rows->count + 1, PLANES);
	size_t at = 0;

	if (!planes) {
		b->error = -ENOMEM;
		return;
	}
	for (size_t k = 0; k < jobs->count; k++) {
		pack_job(rows, jobs->job[k].name, planes + at);
		at += jobs->job[k].name->count;
	}
	trk__buf_add(b, planes, rows->count * PLANES);
	free(planes);
}

void trk__packed_runs_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			   const struct trk_fleet_name *job)
{
	struct sizes sizes = {.count = 0};
	unsigned int base[KINDS];

	for (size_t i = 0; i < job->count; i++)
		(void) size_of(&sizes, &rows->run[job->first + i]);
	trk__json_key_open(j, "sizes", '[');
	for (size_t i = 0; i < sizes.count; i++) {
		trk__json_open(j, '[');
		trk__json_double(j, sizes.of[i].cores);
		trk__json_double(j, sizes.of[i].mib);
		trk__json_double(j, sizes.of[i].usd_hour);
		trk__json_close(j, ']');
	}
	trk__json_close(j, ']');
	(void) bases_of(rows, job, base);
	trk__json_key_open(j, "base", '[');
	for (size_t k = 0; k < KINDS; k++)
		trk__json_u64(j, base[k]);
	trk__json_close(j, ']');
}
