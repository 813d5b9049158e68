/* The report of a recording file, with what a caller wants looked at beside it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/report.h"

enum { RUNS_MAX = 200, RAW_MAX = 128 << 20 };

struct runs {
	const struct trk_record *record;
	struct trk_past *run;
	size_t count;
	double until_s;
};

static int take_run(void *data, const struct trk_past *run)
{
	struct runs *runs = data;

	if (run->start_s <= runs->until_s && strcmp(run->id, runs->record->run.id) != 0)
		runs->run[runs->count++] = *run;
	return 0;
}

int trk__report_runs(struct trk_history *h, const struct trk_record *record, struct trk_past **ret,
		     size_t *ret_count)
{
	struct trk_job_key job = trk__job_key(&record->run);
	struct runs runs = {.record = record,
			    .run = calloc(h ? RUNS_MAX + 1 : 1, sizeof(*runs.run)),
			    .until_s = (double) record->run.start_ns / 1e9 + 1e-3};

	if (!runs.run)
		return -ENOMEM;
	/* Without a history the run stands alone. */
	if (h && trk__history_list(h, &job, RUNS_MAX, false, take_run, &runs, NULL) < 0)
		runs.count = 0;
	for (size_t i = 0; i < runs.count / 2; i++) {
		struct trk_past newer = runs.run[i];

		runs.run[i] = runs.run[runs.count - 1 - i];
		runs.run[runs.count - 1 - i] = newer;
	}
	trk__past_from(record, "", &runs.run[runs.count++]);
	*ret = runs.run;
	*ret_count = runs.count;
	return 0;
}

struct work {
	struct trk_record first;
	struct trk_report report;
	struct trk_report_rows *rows;
	struct trk_past *runs;
	size_t count;
	char *raw;
	ssize_t raw_len;
};

/* The rows, in a second pass; and what else was asked for. */
static int load_more(int dirfd, const char *path, const struct trk_report_source *from,
		     struct work *w, struct trk_error *reterr)
{
	int r;

	w->rows = trk__report_rows_new(&w->first);
	if (!w->rows)
		return -ENOMEM;
	r = trk__record_read_rows(dirfd, path, trk__report_rows_take, w->rows, reterr);
	if (r < 0)
		return r;
	if (from->embed_raw) {
		w->raw_len = trk__read_all_at(dirfd, path, RAW_MAX, &w->raw);
		if (w->raw_len < 0)
			return (int) w->raw_len;
	}
	return trk__report_runs(from->history, &w->first, &w->runs, &w->count);
}

static int make_and_write(const struct trk_report_source *from, struct work *w, struct trk_buf *b,
			  const char *format)
{
	struct trk_report_input in = {
		.record = &w->first,
		.rows = w->rows,
		.runs = w->runs,
		.count = w->count,
		.catalog = from->catalog,
		.raw = w->raw,
		.raw_len = w->raw ? (size_t) w->raw_len : 0,
	};
	int r = trk__report_make(&in, &w->report);

	if (r < 0)
		return r;
	r = trk__report_write(b, &w->report, format);
	trk__report_release(&w->report);
	return r;
}

int trk__report_of_file(int dirfd, const char *path, const struct trk_report_source *from,
			struct trk_buf *b, const char *format, struct trk_error *reterr)
{
	struct work *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	r = trk__record_read(dirfd, path, &w->first, NULL, NULL, reterr);
	if (r == 0) {
		r = load_more(dirfd, path, from, w, reterr);
		if (r == 0)
			r = make_and_write(from, w, b, format);
		trk__record_release(&w->first);
	}
	trk__report_rows_free(w->rows);
	free(w->runs);
	free(w->raw);
	free(w);
	return r;
}
