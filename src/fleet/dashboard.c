#include "fleet/dashboard.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/gzip.h"
#include "base/libc.h"
#include "base/maths.h"
#include "fleet/answer.h"
#include "fleet/json.h"
#include "fleet/words.h"

enum {
	DATA_MAX = 256 * 1024 * 1024,
	NEWEST_SHOWN = 150, /* runs of the page Runs, with exact figures */
	JOB_RUNS_SHOWN = 3, /* and of each job */
	BASE = 91,
};

const int trk__dashboard_days[TRK_DASHBOARD_PERIODS] = {7, 30, 90};

int trk__dashboard_make(const struct trk_fleet_rows *rows, struct trk_dashboard *ret)
{
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	ret->rows = rows;
	ret->period = calloc(TRK_DASHBOARD_PERIODS, sizeof(*ret->period));
	if (!ret->period)
		return -ENOMEM;
	for (int i = 0; i < TRK_DASHBOARD_PERIODS; i++) {
		r = trk__fleet_views_make(rows, trk__dashboard_days[i], i ? &ret->period[0] : NULL,
					  &ret->period[i]);
		while (r < 0 && i-- > 0)
			trk__fleet_views_release(&ret->period[i]);
		if (r < 0)
			break;
	}
	if (r < 0)
		free(ret->period);
	return r;
}

void trk__dashboard_release(struct trk_dashboard *d)
{
	for (int i = 0; i < TRK_DASHBOARD_PERIODS; i++)
		trk__fleet_views_release(&d->period[i]);
	free(d->period);
}

/* The jobs in the order of the first view of 30 days, as the JSON lists them. */
static const struct trk_fleet_jobs *jobs_of(const struct trk_dashboard *d)
{
	return &d->period[1].jobs;
}

/* ---- packed runs ---- */

/* All runs in nine bytes each, for the charts of the page.
 *
 * Start, run time, peak and cores take 16 bits each, as the difference from the median of the job,
 * which is near zero and compresses well. The bytes of one kind lie together (planes): low bytes,
 * then high bytes. The last plane holds the size and the end of a run. Starts are kept to half an
 * hour, run time to 1/64 of an octave, peak and cores to 1/32. */
enum {
	STEP_S = 1800, /* of starts */
	KINDS = 4,     /* start, run time, peak, cores */
	PLANES = 2 * KINDS + 1,
	OCTAVE = 64,
	MIDDLE = 32768,
	SIZES_MAX = 31,
};

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

/* The logarithm in steps of this part of an octave; 0: not known or nothing. */
static unsigned int octaves(double x, int part)
{
	double at = x > 0 ? MIDDLE + part * trk__ln(x) / 0.69314718055994531 : 0;

	return at < 1 ? 0 : (unsigned int) trk__whole(at + 0.5, 0, 65535);
}

/* Steps from *at_s, which advances by them. */
static unsigned int steps_to(const struct trk_fleet_run *run, double *at_s)
{
	double exact = trk__round_even((run->start_s - *at_s) / STEP_S);
	unsigned int steps = (unsigned int) trk__whole(exact, 0, 65535);

	*at_s += steps * (double) STEP_S;
	return steps;
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

/* Append the planes of all runs, job by job. */
static void put_packed_runs(const struct trk_fleet_rows *rows, const struct trk_fleet_jobs *jobs,
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

/* Append what a reader of the packed runs of a job needs: "sizes", [[cores, MiB, $ an hour], ...],
 * and "base", the medians of steps between starts, run time, peak and cores. */
static void packed_runs_json(struct trk_json *j, const struct trk_fleet_rows *rows,
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

/* ---- data ---- */

/* Hours, so that five digits suffice. */
static const double hour = 3600, gib_hour = 3600 * 1024;

static void close_figures(struct trk_json *j, const double *figure, size_t count)
{
	for (size_t i = 0; i < count; i++)
		trk__json_double(j, figure[i]);
	trk__json_close(j, ']');
}

/* The numbers of a sum, without derived ones. */
static void sum_json(struct trk_json *j, const struct trk_fleet_sum *sum)
{
	const size_t counts[] = {sum->runs,   sum->failed,    sum->out_of_memory,
				 sum->priced, sum->estimated, sum->unpriced};
	const double figures[] = {sum->usd,
				  sum->idle_cores_usd,
				  sum->idle_memory_usd,
				  sum->failed_usd,
				  sum->used_core_s / hour,
				  sum->asked_core_s / hour,
				  sum->used_mib_s / gib_hour,
				  sum->asked_mib_s / gib_hour,
				  sum->run_s / hour};

	trk__json_open(j, '[');
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		trk__json_u64(j, counts[i]);
	close_figures(j, figures, sizeof(figures) / sizeof(figures[0]));
}

/* The figures for the comparison with the previous period. */
static void before_json(struct trk_json *j, const struct trk_fleet_sum *sum)
{
	const double figures[] = {sum->usd,
				  trk__fleet_waste_usd(sum),
				  sum->used_core_s / hour,
				  sum->asked_core_s / hour,
				  sum->used_mib_s / gib_hour,
				  sum->asked_mib_s / gib_hour};

	trk__json_open(j, '[');
	trk__json_u64(j, sum->out_of_memory);
	trk__json_u64(j, sum->priced + sum->estimated);
	close_figures(j, figures, sizeof(figures) / sizeof(figures[0]));
}

/* Sums of each period, and of the one before. */
static void periods_json(struct trk_json *j, const struct trk_dashboard *d, size_t index)
{
	for (int i = 0; i < TRK_DASHBOARD_PERIODS; i++) {
		/* The same jobs are in every period, in another order. */
		const struct trk_fleet_job *job = trk__fleet_job_at(&d->period[i].jobs, index);
		char key[8] = {'p', (char) ('0' + trk__dashboard_days[i] / 10),
			       (char) ('0' + trk__dashboard_days[i] % 10), '\0'};

		trk__json_key_open(j, key, '[');
		sum_json(j, &job->period);
		before_json(j, &job->before);
		trk__json_u64(j, job->odd);
		trk__json_close(j, ']');
	}
}

/* Its newest runs as rows of [id, start, end, run time, change, odd, cores, of, MiB, of, $, lost].
 */
static void job_runs_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			  const struct trk_fleet_job *job)
{
	size_t count = job->name->count;

	trk__json_key_open(j, "newest", '[');
	for (size_t i = 0; i < JOB_RUNS_SHOWN && i < count; i++) {
		const struct trk_fleet_run *run = &rows->run[job->name->first + count - 1 - i];
		struct trk_anomaly odd;

		trk__fleet_judge(rows, job, run, &odd);
		trk__json_open(j, '[');
		trk__json_text(j, run->id);
		trk__json_double(j, trk__round_even(run->start_s));
		trk__json_u64(j, run->end);
		trk__json_double(j, run->duration_s);
		trk__json_double(j, odd.change);
		trk__json_u64(j, odd.verdict > TRK_ANOMALY_NO);
		trk__json_double(j, run->cores);
		trk__json_double(j, run->asked_cores);
		trk__json_double(j, run->peak_mib);
		trk__json_double(j, run->asked_mib);
		trk__json_double(j, run->usd);
		trk__json_double(j, run->idle_cores_usd + run->idle_memory_usd + run->failed_usd);
		trk__json_close(j, ']');
	}
	trk__json_close(j, ']');
}

static void job_list_json(struct trk_json *j, const struct trk_dashboard *d)
{
	trk__json_open(j, '[');
	for (size_t k = 0; k < jobs_of(d)->count; k++) {
		const struct trk_fleet_job *job = &jobs_of(d)->job[k];

		trk__json_open(j, '{');
		trk__fleet_job_members(j, d->rows, job);
		trk__fleet_job_details(j, d->rows, job, 0);
		job_runs_json(j, d->rows, job);
		trk__json_key_text(j, "command", trk__fleet_text(d->rows, job->last->command));
		trk__json_key_double(j, "first", d->rows->run[job->name->first].start_s);
		packed_runs_json(j, d->rows, job->name);
		periods_json(j, d, job->index);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void jobs_json(struct trk_json *j, const struct trk_dashboard *d)
{
	trk__json_key(j, "jobs");
	job_list_json(j, d);
}

/* ---- columns ---- */

/* The end of the value or key that begins here. */
static const char *skip(const char *at)
{
	bool text = false;
	int depth = 0;

	for (; *at; at++) {
		if (text) {
			at += *at == '\\' && at[1];
			text = *at != '"';
		} else if (*at == '"') {
			text = true;
		} else if (*at == '{' || *at == '[') {
			depth++;
		} else if (depth == 0 && strchr(",:}]", *at)) {
			break;
		} else if (*at == '}' || *at == ']') {
			depth--;
		}
	}
	return at;
}

/* One member of all objects. Each cursor moves on to the comma behind it, or to the end of its
 * object. */
static void put_column(const char **at, size_t count, struct trk_buf *b)
{
	const char *key = at[0] + 1, *colon = skip(key);

	trk__buf_add(b, key, (size_t) (colon - key));
	trk__buf_puts(b, ":[");
	for (size_t i = 0; i < count; i++) {
		const char *value = skip(at[i] + 1);

		value += *value == ':';
		at[i] = skip(value);
		trk__buf_puts(b, i ? "," : "");
		trk__buf_add(b, value, (size_t) (at[i] - value));
	}
	trk__buf_putc(b, ']');
}

/* Append {"KEY": [value, value, …], …} for the array of `count` objects in `text`, written by
 * struct trk_json without indentation: similar values are adjacent and compress better. All must
 * have the members of the first one, in the same order. 0 or -ENOMEM. */
static int put_columns(const char *text, size_t count, struct trk_buf *b)
{
	const char **at = calloc(count + 1, sizeof(*at));

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		at[i] = text + 1; /* a brace, after the bracket or a comma */
		text = skip(text + 1);
	}
	trk__buf_putc(b, '{');
	while (count && *at[0] && *at[0] != '}') {
		trk__buf_puts(b, *at[0] == ',' ? "," : "");
		put_column(at, count, b);
	}
	trk__buf_putc(b, '}');
	free(at);
	return 0;
}

/* As the page holds them. */
static void job_columns_json(struct trk_json *j, const struct trk_dashboard *d)
{
	TRK_BUF_LOCAL(list, DATA_MAX);
	TRK_BUF_LOCAL(columns, DATA_MAX);
	struct trk_json inner;
	int r;

	trk__json_init(&inner, &list, 0);
	job_list_json(&inner, d);
	r = list.error ? list.error : put_columns(list.data, jobs_of(d)->count, &columns);
	r = r ? r : columns.error;
	trk__json_key(j, "jobs");
	trk__json_verbatim(j, r ? "null" : columns.data);
	if (r)
		j->buf->error = r;
}

/* The newest runs of all jobs, as rows of [id, job, start, end, run time, cores, of, MiB, of, $].
 */
static void newest_json(struct trk_json *j, const struct trk_dashboard *d)
{
	const struct trk_fleet_run_filter all = {.end = -1, .before_s = NAN, .max = NEWEST_SHOWN};
	const struct trk_fleet_rows *rows = d->rows;
	struct trk_fleet_run_page page;
	int r = trk__fleet_run_page_make(rows, &all, &page);

	trk__json_key_open(j, "newest", '[');
	for (size_t i = 0; r == 0 && i < page.count; i++) {
		const struct trk_fleet_run *run = page.run[i];
		const struct trk_fleet_name *job = &rows->job[run->job];

		trk__json_open(j, '[');
		trk__json_text(j, run->id);
		trk__json_text(j, trk__fleet_text(rows, job->name));
		trk__json_double(j, trk__round_even(run->start_s));
		trk__json_text(j, trk__fleet_end_names[run->end]);
		trk__json_double(j, run->duration_s);
		trk__json_double(j, run->cores);
		trk__json_double(j, run->asked_cores);
		trk__json_double(j, run->peak_mib);
		trk__json_double(j, run->asked_mib);
		trk__json_double(j, run->usd);
		for (int t = 0; t < TRK_FLEET_TRAITS; t++)
			trk__json_text(j, trk__fleet_text(rows, run->trait[t]));
		trk__json_text(j, trk__fleet_text(rows, job->scope));
		trk__json_close(j, ']');
	}
	trk__json_close(j, ']');
	if (r == 0)
		trk__fleet_run_page_release(&page);
	else
		j->buf->error = r;
}

/* Fractions are cut to this many digits, more than any text shows; integers and the digits before
 * the point are kept. Further digits would be noise that does not compress. */
static void shorten(const struct trk_buf *from, int digits, struct trk_buf *b)
{
	const char *at = from->data, *end = from->data + from->len;
	bool text = false;

	while (at < end) {
		size_t len = text ? 0 : strspn(at, "-+.0123456789eE");

		if (len && memchr(at, '.', len)) {
			double value = strtod(at, NULL);

			trk__buf_printf(b, "%.*g", fabs(value) >= 1e5 ? 17 : digits,
					fabs(value) >= 1e5 ? trk__round_even(value) : value);
		} else {
			len = len ? len : 1;
			len += text && *at == '\\';
			trk__buf_add(b, at, len);
			text = text != (*at == '"');
		}
		at += len;
	}
}

typedef void part_fn(struct trk_json *j, const struct trk_dashboard *d);

static void views_json(struct trk_json *j, const struct trk_dashboard *d)
{
	trk__json_key_text(j, "schema", "resource-tracker.dashboard/1");
	trk__json_key_double(j, "as_of", d->rows->now_s);
	trk__json_key_double(j, "utc_offset_s", d->rows->utc_offset_s);
	trk__json_key_u64(j, "count", d->rows->count);
	trk__json_key_open(j, "overview", '[');
	for (int i = 0; i < TRK_DASHBOARD_PERIODS; i++)
		trk__fleet_overview_json(j, d->rows, &d->period[i].overview);
	trk__json_close(j, ']');
	trk__json_key_open(j, "reported", '[');
	for (size_t i = 0; i < d->reported_count; i++)
		trk__json_text(j, d->reported[i]);
	trk__json_close(j, ']');
	trk__json_key(j, "alerts");
	trk__json_verbatim(j, d->alerts ? d->alerts : "null");
}

static void places_json(struct trk_json *j, const struct trk_dashboard *d)
{
	trk__json_key_open(j, "machines", '[');
	for (int i = 0; i < TRK_DASHBOARD_PERIODS; i++)
		trk__fleet_machines_json(j, d->rows, &d->period[i].machines);
	trk__json_close(j, ']');
}

/* Append the members that `part` writes, with numbers of this many digits. */
static void add_part(const struct trk_dashboard *d, part_fn *part, int digits, struct trk_buf *b)
{
	struct trk_json j;
	TRK_BUF_LOCAL(whole, DATA_MAX);

	trk__json_init(&j, &whole, 0);
	trk__json_open(&j, '{');
	part(&j, d);
	trk__json_close(&j, '}');
	if (whole.error) {
		b->error = whole.error;
	} else {
		struct trk_buf inner = {.data = whole.data + 1, .len = whole.len - 2};

		shorten(&inner, digits, b);
	}
}

static void all_json(const struct trk_dashboard *d, part_fn *jobs, struct trk_buf *b)
{
	const struct {
		part_fn *part;
		int digits;
	} parts[] = {{views_json, 7}, {places_json, 5}, {jobs, 5}, {newest_json, 5}};

	trk__buf_putc(b, '{');
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		trk__buf_puts(b, i ? "," : "");
		add_part(d, parts[i].part, parts[i].digits, b);
	}
	trk__buf_putc(b, '}');
}

void trk__dashboard_json(const struct trk_dashboard *d, struct trk_buf *b)
{
	all_json(d, jobs_json, b);
}

/* ---- the page ---- */

/* Two characters hold 13 bits, lowest first: printable ones that mean nothing in HTML. */
static void put_base91(struct trk_buf *b, const unsigned char *data, size_t len)
{
	char digit[BASE];
	unsigned int v = 0, bits = 0, n = 0;

	for (int c = '!'; c <= '~'; c++)
		if (c != '&' && c != '<' && c != '>')
			digit[n++] = (char) c;
	for (size_t i = 0; i < len || bits > 0;) {
		for (; i < len && bits < 13; bits += 8)
			v |= (unsigned int) data[i++] << bits;
		trk__buf_putc(b, digit[(v & 8191) % BASE]);
		trk__buf_putc(b, digit[(v & 8191) / BASE]);
		v >>= 13;
		bits = bits > 13 ? bits - 13 : 0;
	}
}

/* Through zlib into a file in memory and back: 1, 0 without zlib, or a negative error. */
static int compress_into(const struct trk_buf *data, struct trk_buf *ret)
{
	TRK_FD_CLEANUP int fd = trk__memory_file("dashboard");
	struct trk_gzip *z;
	int r = 0;
	off_t size;

	if (fd < 0)
		return fd;
	z = trk__gzip_open(fd, 1, &r);
	if (!z)
		return r == -TRK_ERR_UNSUPPORTED ? 0 : r;
	r = trk__gzip_write(z, data->data ? data->data : "", data->len);
	if (trk__gzip_close(z) < 0 || r < 0)
		return -EIO;
	size = lseek(fd, 0, SEEK_END);
	r = size < 0 ? -EIO : trk__buf_reserve(ret, (size_t) size + 1);
	if (r < 0)
		return r;
	if (pread(fd, ret->data, (size_t) size, 0) != size)
		return -EIO;
	ret->len = (size_t) size;
	return 1;
}

static int put_data(struct trk_buf *b, const char *id, const struct trk_buf *data)
{
	TRK_BUF_LOCAL(packed, DATA_MAX);
	int r;

	if (data->error)
		return data->error;
	r = compress_into(data, &packed);
	if (r >= 0) {
		const struct trk_buf *from = r ? &packed : data;

		trk__buf_printf(
			b,
			"<script type=\"text/plain\" id=\"%s\" data-as=\"%s\" data-bytes=\"%zu\">",
			id, r ? "gzip" : "plain", from->len);
		put_base91(b, (const unsigned char *) from->data, from->len);
		trk__buf_puts(b, "</script>\n");
		r = 0;
	}
	return r;
}

static void escaped(struct trk_buf *b, const char *text)
{
	trk__buf_markup(b, text, strlen(text), "&<>\"");
}

static void element(struct trk_buf *b, const char *open, const char *text, const char *close)
{
	trk__buf_puts(b, open);
	escaped(b, text);
	trk__buf_puts(b, close);
}

/* The Overview for a browser without scripts. */
static void plain_html(const struct trk_dashboard *d, struct trk_buf *b)
{
	const struct trk_fleet_overview *o = &d->period[1].overview;
	char text[TRK_FLEET_TEXT_SIZE], word[TRK_FLEET_WORD_SIZE];

	trk__buf_puts(b, "<main id=\"main\"><h1>All jobs</h1><div class=\"lead\"><p>");
	/* As the script writes it, which leaves it where it is until the data are read. */
	if (o->headline[0])
		element(b, "<strong class=\"warn\">▲ ", o->headline, "</strong> ");
	escaped(b, o->lead);
	if (o->warning[0])
		element(b, " <strong class=\"bad\">◆ ", o->warning, "</strong>");
	trk__buf_puts(b, "</p>");
	element(b, "<p class=\"basis\">", o->basis, "</p></div>");
	trk__buf_puts(b, "<h2>Change these first</h2><ul>");
	for (size_t i = 0; i < o->changes; i++) {
		element(b, "<li><b>", trk__fleet_text(d->rows, o->change[i]->name->name), "</b>: ");
		trk__fleet_why(o->change[i], text);
		escaped(b, text);
		element(b, "; ask for ", trk__fleet_cores(word, o->change[i]->ask_cores),
			" cores, ");
		escaped(b, trk__fleet_memory(word, o->change[i]->ask_mib));
		element(b, "; saves ", trk__fleet_usd(word, o->change[i]->saves_usd_month),
			" a month</li>");
	}
	trk__buf_puts(b, "</ul><h2>Before it fails</h2><ul>");
	for (size_t i = 0; i < o->findings; i++) {
		element(b, "<li><b>", o->finding[i].head, "</b> ");
		element(b, "", o->finding[i].text, "</li>");
	}
	trk__buf_puts(
		b,
		"</ul><p class=\"note\">Charts and the other pages need JavaScript. The script is "
		"in this file and sends no request.</p></main>");
}

static int put_all_data(const struct trk_dashboard *d, struct trk_buf *b)
{
	TRK_BUF_LOCAL(data, DATA_MAX);
	int r;

	all_json(d, job_columns_json, &data);
	r = put_data(b, "data", &data);
	trk__buf_clear(&data);
	if (r == 0) {
		put_packed_runs(d->rows, jobs_of(d), &data);
		r = put_data(b, "runs", &data);
	}
	return r;
}

/* The Content-Security-Policy of the page as a tag; a served page has it in a header. */
static void put_policy(const struct trk_dashboard *d, struct trk_buf *b)
{
	if (d->kind == TRK_DASHBOARD_SERVED)
		return;
	trk__buf_printf(
		b,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'%s\">\n",
		trk__dashboard_css_hash, trk__dashboard_js_hash,
		d->kind == TRK_DASHBOARD_FOLDER ? "; frame-src 'self' file:" : "");
}

int trk__dashboard_html(const struct trk_dashboard *d, struct trk_buf *b)
{
	static const char *const kinds[] = {"file", "folder", "served"};
	int r;

	trk__buf_puts(b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	put_policy(d, b);
	trk__buf_puts(b,
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n"
		      "<meta name=\"referrer\" content=\"no-referrer\">\n"
		      "<title>All jobs - resource-tracker</title>\n<style>");
	trk__buf_puts(b, trk__dashboard_css);
	trk__buf_printf(b, "</style>\n</head>\n<body>\n<div id=\"app\" data-kind=\"%s\">",
			kinds[d->kind]);
	plain_html(d, b);
	trk__buf_puts(b, "</div>\n");
	trk__buf_puts(b, "<script>");
	trk__buf_puts(b, trk__dashboard_js);
	trk__buf_puts(b, "</script>\n");
	r = put_all_data(d, b);
	trk__buf_puts(b, "</body>\n</html>\n");
	return r < 0 ? r : b->error;
}
