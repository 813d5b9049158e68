#include "service/digest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/maths.h"
#include "base/shell_word.h"
#include "fleet/job.h"
#include "fleet/overview.h"
#include "service/alert_check.h"

enum { DAYS = 30, CHANGES = 8 };
static const double SAVES_LEAST_USD = 5, WEEK_S = 7 * 86400.0;

struct digest {
	const struct trk_fleet_rows *rows;
	const struct trk_fleet_jobs *jobs;
	const struct trk_fleet_overview *o;
	const struct trk_alert_book *book;
	double now_s;
	bool listed[TRK_ALERT_ENTRIES_MAX]; /* in the message, by their place in the book */
};

/* The changes that are worth a line. */
static size_t count_changes(const struct digest *d)
{
	size_t n = 0;

	while (n < d->o->changes && n < CHANGES &&
	       d->o->change[n]->saves_usd_month >= SAVES_LEAST_USD)
		n++;
	return n;
}

static bool is_of_gpu(const struct trk_fleet_finding *f)
{
	return f->kind == TRK_FLEET_GPU_UNUSED || f->kind == TRK_FLEET_GPU_TOO_BIG;
}

static bool has_gpus(const struct digest *d)
{
	for (size_t i = 0; i < d->o->findings; i++)
		if (is_of_gpu(&d->o->finding[i]))
			return true;
	return false;
}

/* The next job from *at on whose request was changed in the last week; false: there is none. */
static bool next_changed(const struct digest *d, size_t *at, struct trk_fleet_changed *ret)
{
	while (*at < d->jobs->count)
		if (trk__fleet_changed(d->rows, &d->jobs->job[(*at)++], d->now_s - WEEK_S, ret))
			return true;
	return false;
}

/* ---- as a message ---- */

/* Room that is kept for the line about those that do not fit, and for the sections that follow. */
enum { LIST_ROOM = 2048 };

static void add_alerts(struct digest *d, struct trk_alert_message *m)
{
	size_t left_out = 0;
	bool head = false;

	for (int severity = TRK_ALERT_CRITICAL; severity >= 0; severity--)
		for (size_t i = 0; i < d->book->count; i++) {
			const struct trk_alert_entry *e = &d->book->entry[i];

			if (e->severity != severity ||
			    !trk__alert_book_in_digest(d->book, e, d->now_s))
				continue;
			if (!head)
				(void) trk__alert_message_add(
					m, "# What will fail, and what has changed");
			head = true;
			d->listed[i] = strlen(m->list) + LIST_ROOM < sizeof(m->list) &&
				       trk__alert_message_add(m, "%s: %s%s%s", e->rule, e->job,
							      e->job[0] ? ": " : "", e->text);
			left_out += !d->listed[i];
			if (d->listed[i] && e->fix[0])
				(void) trk__alert_message_add(m, "$ %s", e->fix);
		}
	if (left_out)
		(void) trk__alert_message_add(m, "and %zu more: resource-tracker alerts", left_out);
}

static void add_changes(const struct digest *d, struct trk_alert_message *m)
{
	size_t n = count_changes(d);
	char lead[TRK_FLEET_TEXT_SIZE], word[TRK_ALERT_SENTENCE_SIZE];

	for (size_t i = 0; i < n; i++) {
		const struct trk_fleet_job *job = d->o->change[i];
		const char *name = job->name->name;

		if (i == 0)
			(void) trk__alert_message_add(m, "# What to change, largest saving first");
		trk__fleet_job_lead(job, lead);
		(void) trk__alert_message_add(m, "%s: %s", name, lead);
		(void) trk__alert_message_add(
			m, "$ resource-tracker recommend %s",
			*trk__shell_word(word, sizeof(word), name) ? word : job->last->past.id);
	}
}

static void add_gpus(const struct digest *d, struct trk_alert_message *m)
{
	if (has_gpus(d))
		(void) trk__alert_message_add(m, "# GPUs that are not needed");
	for (size_t i = 0; i < d->o->findings; i++)
		if (is_of_gpu(&d->o->finding[i]))
			(void) trk__alert_message_add(m, "%s %s", d->o->finding[i].head,
						      d->o->finding[i].text);
}

static void add_changed(const struct digest *d, struct trk_alert_message *m)
{
	struct trk_fleet_changed c;
	char text[TRK_FLEET_TEXT_SIZE];
	size_t shown = 0;

	for (size_t at = 0; shown < CHANGES && next_changed(d, &at, &c); shown++) {
		if (shown == 0)
			(void) trk__alert_message_add(m, "# What was changed, and what it saved");
		trk__fleet_changed_text(d->rows, &c, text);
		(void) trk__alert_message_add(m, "%s: %s", d->jobs->job[at - 1].name->name, text);
	}
}

/* False where it would be empty. */
static bool write_message(struct digest *d, struct trk_alert_message *m)
{
	memset(m, 0, sizeof(*m));
	(void) snprintf(m->rule, sizeof(m->rule), "digest");
	(void) snprintf(m->severity, sizeof(m->severity), "info");
	m->firing = true;
	m->value = m->limit = NAN;
	m->wall_ns =
		(uint64_t) trk__whole(d->now_s * 1e3, 0, INT64_MAX / TRK_NS_PER_MS) * TRK_NS_PER_MS;
	(void) snprintf(m->text, sizeof(m->text), "%s%s%s", d->o->headline,
			d->o->headline[0] && d->o->lead[0] ? " " : "", d->o->lead);
	add_alerts(d, m);
	add_changes(d, m);
	add_gpus(d, m);
	add_changed(d, m);
	return m->list[0] != '\0';
}

/* ---- output ---- */

static void write_text(const struct trk_alert_message *m, struct trk_buf *b)
{
	trk__buf_printf(b, "%s\n", m->text);
	for (const char *at = m->list; *at; at += strcspn(at, "\n") + 1) {
		bool head = !strncmp(at, "# ", 2), paste = !strncmp(at, "$ ", 2);

		trk__buf_printf(b, "%s%.*s\n",
				head    ? "\n"
				: paste ? "    "
					: "",
				(int) strcspn(at, "\n") - (head || paste ? 2 : 0),
				at + (head || paste ? 2 : 0));
	}
	if (!m->list[0])
		trk__buf_puts(b, "Nothing to report: no job is known to fail soon, and no change "
				 "saves $5 a month or more.\n");
}

static void changed_json(struct trk_json *j, const struct digest *d)
{
	struct trk_fleet_changed c;
	char text[TRK_FLEET_TEXT_SIZE];

	trk__json_key_open(j, "changed", '[');
	for (size_t at = 0; next_changed(d, &at, &c);) {
		trk__fleet_changed_text(d->rows, &c, text);
		trk__json_open(j, '{');
		trk__json_key_text(j, "job", d->jobs->job[at - 1].name->name);
		trk__json_key_text(j, "text", text);
		trk__json_key_double(j, "usd_before", c.usd_before);
		trk__json_key_double(j, "usd_since", c.usd_since);
		trk__json_key_double(j, "saves_usd_month", c.saves_usd_month);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void write_json(const struct digest *d, struct trk_buf *b)
{
	char text[TRK_FLEET_TEXT_SIZE];
	size_t n = count_changes(d);
	struct trk_json j;

	trk__json_begin(&j, b, 1, "resource-tracker.digest/1");
	trk__json_key_double(&j, "as_of", d->now_s);
	trk__json_key_text(&j, "headline", d->o->headline);
	trk__json_key_text(&j, "lead", d->o->lead);
	trk__json_key_open(&j, "alerts", '[');
	for (size_t i = 0; i < d->book->count; i++) {
		const struct trk_alert_entry *e = &d->book->entry[i];

		if (!trk__alert_book_in_digest(d->book, e, d->now_s))
			continue;
		trk__json_open(&j, '{');
		trk__json_key_text(&j, "id", e->id);
		trk__json_key_text(&j, "rule", e->rule);
		trk__json_key_text(&j, "job", e->job);
		trk__json_key_text(&j, "text", e->text);
		trk__json_key_or_null(&j, "fix", e->fix);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	trk__json_key_open(&j, "changes", '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(&j, '{');
		trk__json_key_text(&j, "job", d->o->change[i]->name->name);
		trk__fleet_why(d->o->change[i], text);
		trk__json_key_text(&j, "why", text);
		trk__fleet_job_lead(d->o->change[i], text);
		trk__json_key_text(&j, "lead", text);
		trk__json_key_double(&j, "saves_usd_month", d->o->change[i]->saves_usd_month);
		trk__json_key_double(&j, "cores", d->o->change[i]->ask_cores);
		trk__json_key_double(&j, "memory_mib", d->o->change[i]->ask_bytes / TRK_MIB);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	trk__json_key_open(&j, "gpus", '[');
	for (size_t i = 0; i < d->o->findings; i++) {
		const struct trk_fleet_finding *f = &d->o->finding[i];

		if (!is_of_gpu(f))
			continue;
		trk__json_open(&j, '{');
		trk__json_key_text(&j, "rule", trk__fleet_finding_names[f->kind]);
		trk__json_key_text(&j, "job", f->head);
		trk__json_key_text(&j, "text", f->text);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	changed_json(&j, d);
	trk__json_end(&j);
}

/* ---- sending ---- */

/* Changes alone count as news at most once in four weeks. */
static bool has_news(const struct digest *d, const struct trk_alert_route *route)
{
	double last_s = trk__alert_book_digest_at(d->book, route);

	return trk__alert_book_digest_has_news(d->book, route, d->now_s) ||
	       ((count_changes(d) > 0 || has_gpus(d)) && !(d->now_s - last_s < 27 * 86400.0));
}

static int queue_for_sinks(const struct trk_alert_hooks *sinks, const struct digest *d,
			   struct trk_alert_book *book, const struct trk_alert_message *m,
			   struct trk_alert_queue *queue)
{
	for (size_t i = 0; i < sinks->count; i++) {
		const struct trk_alert_hook *hook = &sinks->list[i];
		struct trk_alert_route route;
		int r;

		/* An Alertmanager accepts only alerts, not messages. */
		if (!hook->sink || hook->rule >= 0 || trk__alert_hook_is_alertmanager(hook))
			continue;
		r = trk__alert_route(queue->sender, hook->sink, &route);
		if (r < 0)
			return r;
		if (!has_news(d, &route) || !trk__alert_book_digest_due(book, &route, d->now_s))
			continue;
		trk__alert_book_digest_told(book, &route, d->listed, d->now_s);
		trk__alert_queue_add(queue, hook->sink, m);
	}
	return 0;
}

/* With the book open; it is closed before anything is sent. */
static int write_and_send(const struct trk_alert_sender *s, const struct trk_alert_hooks *sinks,
			  enum trk_digest_form form, struct digest *d,
			  struct trk_alert_store *store, struct trk_buf *b)
{
	struct trk_alert_message *m = malloc(sizeof(*m));
	struct trk_alert_queue queue = {.sender = s};
	int r = m ? 0 : -ENOMEM, closed, sent;

	if (r == 0 && write_message(d, m) && sinks)
		r = queue_for_sinks(sinks, d, &store->book, m, &queue);
	if (form == TRK_DIGEST_JSON)
		write_json(d, b);
	else if (m && form == TRK_DIGEST_TEXT)
		write_text(m, b);
	closed = trk__alert_store_close(s, store, sinks != NULL);
	sent = trk__alert_queue_send(&queue);
	free(m);
	return r ? r : closed ? closed : sent;
}

static int answer(const struct trk_alert_sender *s, const struct trk_alert_hooks *sinks,
		  enum trk_digest_form form, const struct trk_fleet_rows *rows, struct trk_buf *b)
{
	struct trk_alert_store store;
	struct trk_fleet_views *v = malloc(sizeof(*v));
	int r = v ? trk__fleet_views_make(rows, DAYS, NULL, v) : -ENOMEM;

	if (r < 0) {
		free(v);
		trk__service_note(&s->service, "digest: out of memory");
		return r;
	}
	r = trk__alert_store_open(s, &store);
	if (r == 0) {
		struct digest d = {.rows = rows,
				   .jobs = &v->jobs,
				   .o = &v->overview,
				   .book = &store.book,
				   .now_s = rows->now_s};

		if (trk__alerts_judge(rows, SIZE_MAX, &store.book, NULL, NULL) < 0 ||
		    trk__alerts_judge_budget(rows, s->budget_usd, &store.book, NULL, NULL) < 0)
			trk__service_note(&s->service, "digest: out of memory");
		r = write_and_send(s, sinks, form, &d, &store, b);
	}
	trk__fleet_views_release(v);
	free(v);
	return r;
}

int trk__digest(const struct trk_alert_sender *s, const struct trk_alert_hooks *sinks,
		enum trk_digest_form form, struct trk_buf *b, struct trk_error *reterr)
{
	const struct trk_alerts_when when = {s->now_s, s->utc_offset_s};
	struct trk_fleet_rows rows;
	size_t job;
	int r = trk__alerts_rows(&s->service, NULL, &when, &rows, &job, reterr);

	if (r < 0)
		return r;
	r = rows.count ? answer(s, sinks, form, &rows, b)
		       : trk__error_set(reterr, -TRK_ERR_NODATA, NULL,
					"digest: no runs in the history yet");
	trk__fleet_rows_release(&rows);
	return r;
}
