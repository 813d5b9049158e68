#include "fleet/dashboard.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
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
	/* Significant digits of figures: more than any text or chart shows. */
	DIGITS = 7,
	JOB_DIGITS = 5,
	RUN_DIGITS = 3,
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

/* ---- data ---- */

/* Sums of each period and of the one before, and the number of unusual runs. */
static void periods_json(struct trk_json *j, const struct trk_dashboard *d, size_t index)
{
	trk__json_key_open(j, "periods", '[');
	for (int i = 0; i < TRK_DASHBOARD_PERIODS; i++) {
		/* The same jobs are in every period, in another order. */
		const struct trk_fleet_job *job = trk__fleet_job_at(&d->period[i].jobs, index);

		trk__json_open(j, '{');
		trk__json_key(j, "sum");
		trk__fleet_sum_json(j, &job->period);
		trk__json_key(j, "before");
		trk__fleet_sum_json(j, &job->before);
		trk__json_key_u64(j, "odd", job->odd);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void jobs_json(struct trk_json *j, const struct trk_dashboard *d)
{
	trk__json_key_open(j, "jobs", '[');
	for (size_t k = 0; k < jobs_of(d)->count; k++) {
		const struct trk_fleet_job *job = &jobs_of(d)->job[k];

		trk__json_open(j, '{');
		trk__fleet_job_members(j, d->rows, job);
		trk__fleet_job_details(j, d->rows, job, JOB_RUNS_SHOWN);
		trk__json_key_text(j, "command", job->last->past.command);
		periods_json(j, d, job->index);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

/* ---- all runs, for the charts ---- */

/* Figures of a run that the charts show; each is a double. */
static const struct {
	const char *name;
	size_t offset;
	double unit;
} chart_columns[] = {
	{"duration_s", offsetof(struct trk_fleet_run, past.duration_s), 1},
	{"peak_mib", offsetof(struct trk_fleet_run, past.memory.bytes), TRK_MIB},
	{"cores", offsetof(struct trk_fleet_run, cores), 1},
	{"asked_cores", offsetof(struct trk_fleet_run, asked_cores), 1},
	{"asked_mib", offsetof(struct trk_fleet_run, asked_bytes), TRK_MIB},
	{"usd", offsetof(struct trk_fleet_run, usd), 1},
	{"idle_cores_usd", offsetof(struct trk_fleet_run, idle_cores_usd), 1},
	{"idle_memory_usd", offsetof(struct trk_fleet_run, idle_memory_usd), 1},
	{"failed_usd", offsetof(struct trk_fleet_run, failed_usd), 1},
};

/* Minutes since the run before it; of the first run of a job, since 1970. */
static void starts_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			const struct trk_fleet_name *job)
{
	int64_t before_min = 0;

	for (size_t i = 0; i < job->count; i++) {
		int64_t at_min = trk__whole(rows->run[job->first + i].past.start_s / 60 + 0.5, 0,
					    INT64_MAX / 2);

		trk__json_i64(j, at_min - before_min);
		before_min = at_min;
	}
}

static void ends_json(struct trk_json *j, const struct trk_fleet_rows *rows,
		      const struct trk_fleet_name *job)
{
	for (size_t i = 0; i < job->count; i++)
		trk__json_u64(j, rows->run[job->first + i].end);
}

static void figures_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			 const struct trk_fleet_name *job, size_t column)
{
	for (size_t i = 0; i < job->count; i++) {
		double value;

		memcpy(&value,
		       (const char *) &rows->run[job->first + i] + chart_columns[column].offset,
		       sizeof(value));
		trk__json_double(j, value / chart_columns[column].unit);
	}
}

/* A list for each figure, with the runs of the first job, then those of the next one: similar
 * values are adjacent and compress well. */
static void charts_json(struct trk_json *j, const struct trk_dashboard *d)
{
	const struct trk_fleet_jobs *jobs = jobs_of(d);

	trk__json_key_open(j, "charts", '{');
	trk__json_key_open(j, "start", '[');
	for (size_t k = 0; k < jobs->count; k++)
		starts_json(j, d->rows, jobs->job[k].name);
	trk__json_close(j, ']');
	trk__json_key_open(j, "end", '[');
	for (size_t k = 0; k < jobs->count; k++)
		ends_json(j, d->rows, jobs->job[k].name);
	trk__json_close(j, ']');
	for (size_t c = 0; c < sizeof(chart_columns) / sizeof(chart_columns[0]); c++) {
		trk__json_key_open(j, chart_columns[c].name, '[');
		for (size_t k = 0; k < jobs->count; k++)
			figures_json(j, d->rows, jobs->job[k].name, c);
		trk__json_close(j, ']');
	}
	trk__json_close(j, '}');
}

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

/* How a run can end, in the order of the numbers in the charts, and whether its cost is lost. */
static void end_kinds_json(struct trk_json *j)
{
	trk__json_key_open(j, "ends", '[');
	for (int i = 0; i < TRK_FLEET_ENDS; i++) {
		trk__json_open(j, '{');
		trk__json_key_text(j, "name", trk__fleet_end_names[i]);
		trk__json_key_bool(j, "is_failure", trk__fleet_is_failure((enum trk_fleet_end) i));
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void places_json(struct trk_json *j, const struct trk_dashboard *d)
{
	trk__json_key_open(j, "machines", '[');
	for (int i = 0; i < TRK_DASHBOARD_PERIODS; i++)
		trk__fleet_machines_json(j, d->rows, &d->period[i].machines);
	trk__json_close(j, ']');
}

static int newest_json(struct trk_json *j, const struct trk_dashboard *d)
{
	const struct trk_fleet_run_filter all = {.end = -1, .before_s = NAN, .max = NEWEST_SHOWN};

	trk__json_key(j, "newest");
	return trk__fleet_runs_json(j, d->rows, jobs_of(d), &all);
}

int trk__dashboard_json(const struct trk_dashboard *d, struct trk_buf *b)
{
	struct trk_json j;
	int r;

	trk__json_init(&j, b, 0);
	trk__json_open(&j, '{');
	j.digits = DIGITS;
	views_json(&j, d);
	end_kinds_json(&j);
	j.digits = JOB_DIGITS;
	places_json(&j, d);
	jobs_json(&j, d);
	r = newest_json(&j, d);
	j.digits = RUN_DIGITS;
	charts_json(&j, d);
	trk__json_close(&j, '}');
	return r < 0 ? r : b->error;
}

/* ---- the page ---- */

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

static int put_data(const struct trk_dashboard *d, struct trk_buf *b)
{
	TRK_BUF_LOCAL(data, DATA_MAX);
	TRK_BUF_LOCAL(compressed, DATA_MAX);
	int r = trk__dashboard_json(d, &data);
	const struct trk_buf *from;

	if (r == 0)
		r = compress_into(&data, &compressed);
	if (r < 0)
		return r;
	from = r ? &compressed : &data;
	trk__buf_printf(b, "<script type=\"text/plain\" id=\"data\" data-as=\"%s\">",
			r ? "gzip" : "plain");
	trk__buf_base64(b, from->data, from->len);
	trk__buf_puts(b, "</script>\n");
	return 0;
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
		element(b, "<li><b>", o->change[i]->name->name, "</b>: ");
		trk__fleet_why(o->change[i], text);
		escaped(b, text);
		element(b, "; ask for ", trk__fleet_cores(word, o->change[i]->ask_cores),
			" cores, ");
		escaped(b, trk__fleet_memory(word, o->change[i]->ask_bytes));
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
	r = put_data(d, b);
	trk__buf_puts(b, "</body>\n</html>\n");
	return r < 0 ? r : b->error;
}
