/* resource-tracker digest: the week of all jobs in one message: what will fail, what was reported
 * or held, which changes save most. For cron or a systemd timer (docs/alerts.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alert/live.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/alert_options.h"
#include "cli/environment.h"
#include "fleet/overview.h"
#include "fleet/words.h"
#include "service/alerts.h"

enum { DAYS = 30, CHANGES = 8, TEXT_MAX = 1 << 20 };
static const double SAVES_LEAST_USD = 5;

struct settings {
	struct cli_alert_settings alert;
	bool json, send;
};

/* clang-format off */
static const struct cli_option options[] = {
	{"send", 0, NULL, "send it to the sinks of --alert, if there is news", cli_set_flag, offsetof(struct settings, send)},
	{"json", 0, NULL, "as JSON", cli_set_flag, offsetof(struct settings, json)},
	CLI_ALERT_OPTIONS(struct settings, alert),
	{NULL, 0, NULL, NULL, NULL, 0},
};
static const struct cli_option settable[] = {
	CLI_ALERT_OPTIONS(struct settings, alert),
	{NULL, 0, NULL, NULL, NULL, 0},
};
static const struct cli_option internal[] = {
	CLI_ALERT_INTERNAL(struct settings, alert),
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* clang-format on */
static const struct cli_command configured = {.name = "digest", .options = settable};

struct digest {
	const struct trk_fleet_rows *rows;
	const struct trk_fleet_overview *o;
	const struct trk_alert_book *book;
	double now_s;
};

/* A change that is worth a line. */
static bool is_worth(const struct trk_fleet_job *job)
{
	return job->saves_usd_month >= SAVES_LEAST_USD;
}

static size_t count_changes(const struct digest *d)
{
	size_t n = 0;

	while (n < d->o->changes && n < CHANGES && is_worth(d->o->change[n]))
		n++;
	return n;
}

/* ---- as a message ---- */

static void add_alerts(const struct digest *d, struct trk_alert_message *m)
{
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
			(void) trk__alert_message_add(m, "%s: %s: %s", e->rule, e->job, e->text);
			if (e->fix[0])
				(void) trk__alert_message_add(m, "$ %s", e->fix);
		}
}

static void add_changes(const struct digest *d, struct trk_alert_message *m)
{
	size_t n = count_changes(d);
	char lead[TRK_FLEET_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		const struct trk_fleet_job *job = d->o->change[i];
		const char *name = trk__fleet_text(d->rows, job->name->name);

		if (i == 0)
			(void) trk__alert_message_add(m, "# What to change, most saved first");
		trk__fleet_job_lead(job, lead);
		(void) trk__alert_message_add(m, "%s: %s", name, lead);
		(void) trk__alert_message_add(m, "$ resource-tracker recommend '%s'", name);
	}
}

/* False where it would be empty. */
static bool write_message(const struct digest *d, struct trk_alert_message *m)
{
	memset(m, 0, sizeof(*m));
	(void) snprintf(m->rule, sizeof(m->rule), "digest");
	(void) snprintf(m->severity, sizeof(m->severity), "info");
	m->firing = true;
	m->value = m->limit = NAN;
	m->wall_ns = (uint64_t) (d->now_s * 1e3) * TRK_NS_PER_MS;
	(void) snprintf(m->text, sizeof(m->text), "%s%s%s", d->o->headline,
			d->o->lead[0] ? " " : "", d->o->lead);
	add_alerts(d, m);
	add_changes(d, m);
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

static void write_json(const struct digest *d, struct trk_buf *b)
{
	char text[TRK_FLEET_TEXT_SIZE];
	size_t n = count_changes(d);
	struct trk_json j;

	trk__json_init(&j, b, 1);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", "resource-tracker.digest/1");
	trk__json_key_double(&j, "as_of", d->now_s);
	trk__json_key_text(&j, "headline", d->o->headline);
	trk__json_key_text(&j, "lead", d->o->lead);
	trk__json_key(&j, "alerts");
	trk__json_open(&j, '[');
	for (size_t i = 0; i < d->book->count; i++) {
		const struct trk_alert_entry *e = &d->book->entry[i];

		if (!trk__alert_book_in_digest(d->book, e, d->now_s))
			continue;
		trk__json_open(&j, '{');
		trk__json_key_text(&j, "id", e->id);
		trk__json_key_text(&j, "rule", e->rule);
		trk__json_key_text(&j, "job", e->job);
		trk__json_key_text(&j, "text", e->text);
		trk__json_key_text(&j, "fix", e->fix[0] ? e->fix : NULL);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	trk__json_key(&j, "changes");
	trk__json_open(&j, '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(&j, '{');
		trk__json_key_text(&j, "job",
				   trk__fleet_text(d->rows, d->o->change[i]->name->name));
		trk__fleet_why(d->o->change[i], text);
		trk__json_key_text(&j, "why", text);
		trk__fleet_job_lead(d->o->change[i], text);
		trk__json_key_text(&j, "lead", text);
		trk__json_key_double(&j, "saves_usd_month", d->o->change[i]->saves_usd_month);
		trk__json_key_double(&j, "cores", d->o->change[i]->ask_cores);
		trk__json_key_double(&j, "memory_mib", d->o->change[i]->ask_mib);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

/* ---- sending ---- */

/* Changes alone are news once in four weeks. */
static bool has_news(const struct digest *d, const struct trk_alert_route *route)
{
	double last_s = trk__alert_book_digest_at(d->book, route);

	return trk__alert_book_digest_has_news(d->book, route, d->now_s) ||
	       (count_changes(d) > 0 && !(d->now_s - last_s < 27 * 86400.0));
}

static int queue_for_sinks(const struct settings *s, const struct digest *d,
			   struct trk_alert_book *book, const struct trk_alert_message *m,
			   struct trk_alert_queue *queue)
{
	const struct trk_alert_hooks *h = &s->alert.hooks;
	int r = 0;

	for (size_t i = 0; i < h->count && r == 0; i++) {
		struct trk_alert_route route;

		/* An Alertmanager has no use for it. */
		if (!h->list[i].sink || h->list[i].rule >= 0 ||
		    !strncmp(h->list[i].sink, "alertmanager:", 13))
			continue;
		r = cli_alert_status(trk__alert_route(queue->sender, h->list[i].sink, &route));
		if (r != 0 || !has_news(d, &route) ||
		    !trk__alert_book_digest_due(book, &route, d->now_s))
			continue;
		trk__alert_book_digest_told(book, &route, d->now_s);
		trk__alert_queue_add(queue, h->list[i].sink, m);
	}
	return r;
}

static int give(const struct settings *s, const struct trk_alert_sender *sender,
		const struct digest *d, struct trk_alert_store *b)
{
	struct trk_alert_message *m = malloc(sizeof(*m));
	struct trk_alert_queue queue = {.sender = sender};
	struct trk_buf out;
	int r = m ? 0 : EXIT_ERROR, closed, sent;

	trk__buf_init(&out, TEXT_MAX);
	if (r == 0 && write_message(d, m) && s->send)
		r = queue_for_sinks(s, d, &b->book, m, &queue);
	if (s->json)
		write_json(d, &out);
	else if (m && !s->send)
		write_text(m, &out);
	closed = cli_alert_status(trk__alert_store_close(sender, b, true));
	sent = cli_alert_status(trk__alert_queue_send(&queue));
	if (out.len)
		(void) cli_write(STDOUT_FILENO, &out, "stdout");
	trk__buf_release(&out);
	free(m);
	return r ? r : closed ? closed : sent;
}

/* The overview of the rows; all of it is released by the caller, on success only. */
struct views {
	struct trk_fleet_jobs jobs;
	struct trk_fleet_machines machines;
	struct trk_fleet_overview overview;
};

static int views_make(const struct trk_fleet_rows *rows, struct views *ret)
{
	double since_s = rows->now_s - DAYS * 86400.0;
	int r = trk__fleet_jobs_make(rows, since_s, &ret->jobs);

	if (r < 0)
		return r;
	r = trk__fleet_machines_make(rows, since_s, &ret->machines);
	if (r == 0) {
		r = trk__fleet_overview_make(rows, &ret->jobs, &ret->machines, &ret->overview);
		if (r < 0)
			trk__fleet_machines_release(&ret->machines);
	}
	if (r < 0)
		trk__fleet_jobs_release(&ret->jobs);
	return r;
}

static int answer(const struct settings *s, const struct trk_alert_sender *sender,
		  const struct trk_fleet_rows *rows)
{
	struct digest d = {.rows = rows, .now_s = rows->now_s};
	struct trk_alert_store b;
	struct views v;
	int r;

	if (views_make(rows, &v) < 0) {
		cli_complain("digest: out of memory");
		return EXIT_ERROR;
	}
	r = cli_alert_status(trk__alert_store_open(sender, &b));
	if (r == 0) {
		d.o = &v.overview;
		d.book = &b.book;
		if (trk__alerts_judge(rows, SIZE_MAX, &b.book, NULL, NULL) < 0)
			cli_complain("digest: out of memory");
		r = give(s, sender, &d, &b);
	}
	trk__fleet_overview_release(&v.overview);
	trk__fleet_machines_release(&v.machines);
	trk__fleet_jobs_release(&v.jobs);
	return r;
}

static int run(int argc, char **argv)
{
	struct settings s = {.json = false};
	struct trk_error error = {.code = 0};
	struct trk_fleet_rows rows;
	struct trk_alert_sender sender;
	struct trk_alerts_when when;
	size_t job;
	int at = cli_alert_configure(&configured, argc, argv, &s) == 0
			 ? cli_options(&cli_digest, argc, argv, &s)
			 : -EXIT_USAGE;
	int r;

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at < argc) {
		cli_complain("digest: %s: not expected", argv[at]);
		return EXIT_USAGE;
	}
	if (s.send && s.alert.hooks.count == 0) {
		cli_complain("digest: --send: no sink. Try: --alert mail:ann@example.org");
		return EXIT_USAGE;
	}
	sender = cli_alert_sender(&s.alert);
	when = (struct trk_alerts_when){sender.now_s, sender.utc_offset_s};
	r = trk__alerts_rows(&sender.service, NULL, &when, &rows, &job, &error);
	if (r < 0)
		return cli_fail("digest", r, &error);
	r = rows.count ? answer(&s, &sender, &rows) : EXIT_NODATA;
	if (r == EXIT_NODATA && !rows.count)
		cli_complain("digest: no runs in the history yet");
	trk__fleet_rows_release(&rows);
	return r;
}

const struct cli_command cli_digest = {
	.name = "digest",
	.usage = "digest [OPTIONS]",
	.summary = "Write the weekly digest: what will fail, and what to change.",
	.details = "For cron or a systemd timer: digest --send --alert mail:ann@example.org sends "
		   "it if there is\nnews, at most once in 6 days. docs/alerts.md has the lines.",
	.options = options,
	.internal = internal,
	.run = run,
};
