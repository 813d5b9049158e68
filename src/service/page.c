#include "service/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/output.h"
#include "catalog/needs.h"
#include "lines/native.h"
#include "recording/reader.h"

enum { RAW_MAX = 128 << 20 };

struct work {
	const struct trk_service *s;
	const struct trk_page_request *q;
	struct trk_record record;
	struct trk_report_rows *rows;
	struct trk_job_runs runs;
	struct trk_prices prices;
	bool has_prices, has_change;
	struct trk_need_words words;
	struct trk_change change;
	struct trk_usual_course *usual;
	char *raw;
	size_t raw_len;
	struct trk_doc report;
};

static int load_raw(struct work *w, struct trk_error *reterr)
{
	TRK_FD_CLEANUP int fd = trk__record_open(w->q->dirfd, w->q->path, reterr);
	ssize_t len = fd < 0 ? fd : trk__read_all_fd(fd, RAW_MAX, &w->raw);

	if (len < 0)
		return trk__error_set(reterr, (int) len, w->q->path,
				      "%s: cannot embed the recording: %s", w->q->path,
				      trk__strerror((int) len));
	w->raw_len = (size_t) len;
	return 0;
}

/* The record, its rows in a second pass, and the bytes. */
static int load_recording(struct work *w, struct trk_error *reterr)
{
	const struct trk_page_request *q = w->q;
	struct trk_record *record = &w->record;
	int r = trk__record_read(q->dirfd, q->path, record, NULL, NULL, reterr);

	r = r ? r : trk__lines_look_up(&record->lines, (double) record->run.start_ns / 1e9);
	if (r < 0)
		return r;
	if (q->failed)
		trk__record_fail(record);
	w->rows = trk__report_rows_new(record);
	if (!w->rows)
		return -ENOMEM;
	r = trk__record_read_rows(q->dirfd, q->path, trk__report_rows_take, w->rows, reterr);
	return r < 0 || !q->embed_raw ? r : load_raw(w, reterr);
}

/* The earlier runs, and what changed since them. */
static int load_runs(struct work *w, struct trk_history *h)
{
	int r = trk__job_runs_read(w->s, h, w->q->earlier, &w->record, &w->runs);

	if (r < 0 || !h || w->q->earlier || w->q->live_s > 0 || w->runs.history_error)
		return r;
	trk__job_runs_change(&w->runs, &w->change);
	trk__job_runs_phases(&w->runs, w->s, &w->record, &w->change);
	w->has_change = true;
	return trk__job_runs_usual(&w->runs, w->s, &w->record, &w->usual);
}

/* Change the place of the run to the stated server. */
static void set_stated_place(struct work *w)
{
	const struct trk_advice_input question = trk__job_runs_question(&w->runs, &w->record);
	struct trk_advice *advice = malloc(sizeof(*advice));
	bool has = advice && trk__advice_make(&question, advice) == 0;

	trk__prices_cost_at(&w->s->layers, &w->record, w->q->stated, has ? advice : NULL,
			    &w->runs.use->busy);
	free(advice);
}

/* Reports unknown names, as `recommend` does. */
static int check_words(const struct work *w, struct trk_error *reterr)
{
	struct trk_needs *needs = calloc(1, sizeof(*needs));
	int r = needs ? trk__needs_read(needs, &w->prices.c, &w->words, reterr) : -ENOMEM;

	free(needs);
	return r == -ENOMEM || r == 0 ? r : -EINVAL;
}

/* Servers are searched when the figures are final. */
static int load_prices(struct work *w, struct trk_error *reterr)
{
	const struct trk_page_request *q = w->q;
	struct trk_error error = {.code = 0};

	if (q->live_s > 0)
		return 0;
	w->has_prices = trk__prices_load(&w->s->layers, &w->prices, &error) == 0;
	if (!w->has_prices)
		trk__service_note(w->s, "%s", error.message);
	else if (w->prices.ignored.code)
		trk__service_note(w->s, "%s", w->prices.ignored.message);
	if (q->stated)
		set_stated_place(w);
	w->words = (struct trk_need_words){.vendors = q->vendors, .regions = q->regions};
	return w->has_prices && (q->vendors || q->regions) ? check_words(w, reterr) : 0;
}

static int write_page(struct work *w, struct trk_buf *b)
{
	const struct trk_report_input in = {
		.record = &w->record,
		.rows = w->rows,
		.runs = w->runs.run,
		.count = w->runs.count,
		.use = w->runs.use,
		.catalog = w->has_prices ? &w->prices.c : NULL,
		.words = &w->words,
		.usual = w->usual,
		.change = w->has_change ? &w->change : NULL,
		.raw = w->raw,
		.raw_len = w->raw_len,
		.live_s = w->q->live_s,
		.integration = w->q->integration,
	};
	int r = trk__report_make(&in, &w->report);

	if (r == 0) {
		r = trk__report_write(b, &w->report, w->q->format);
		trk__doc_release(&w->report);
	}
	return r;
}

int trk__page_make(const struct trk_service *s, struct trk_history *h,
		   const struct trk_page_request *request, struct trk_buf *b, char *ret_id,
		   struct trk_error *reterr)
{
	struct work *w;
	int r;

	if (strcmp(request->format, "html") != 0 &&
	    (request->embed_raw || strcmp(request->format, "md") != 0))
		return trk__error_set(reterr, -EINVAL, "", "no such page: format %s%s",
				      request->format, request->embed_raw ? ", embed_raw" : "");
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->s = s;
	w->q = request;
	r = load_recording(w, reterr);
	r = r ? r : load_runs(w, h);
	r = r ? r : load_prices(w, reterr);
	r = r ? r : write_page(w, b);
	if (r == 0 && ret_id)
		memcpy(ret_id, w->record.run.id, TRK_RUN_ID_SIZE);
	trk__prices_release(&w->prices);
	trk__job_runs_release(&w->runs);
	trk__report_rows_free(w->rows);
	trk__record_release(&w->record);
	free(w->usual);
	free(w->raw);
	free(w);
	return r;
}

int trk__page_save(const struct trk_buf *b, const char *path, bool is_named, const char *via)
{
	return b->error    ? b->error
	       : !is_named ? trk__output_replace_own(path, b->data, b->len)
			   : trk__output_replace(via, path, b->data, b->len);
}
