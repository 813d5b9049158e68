/* Money first, one statement a line, sentences wrapped, tables cut to the columns that fit. */
#include "report/fleet_text.h"

#include <math.h>
#include <string.h>

#include "fleet/words.h"
#include "report/write/spark.h"

struct page {
	struct trk_terminal t;
	const struct trk_fleet_rows *rows;
	struct trk_doc d; /* memory of the texts */
};

enum { NAME_MAX_CHARS = 39, RUNS_SHOWN = 10, TILE_TEXT = 26 };

/* Columns of a table: their titles, by which they are known here alone. */
#define TEXT(title)                                                                                \
	{                                                                                          \
		NULL, title, TRK_CELL_TEXT                                                         \
	}
#define NUMBER(title)                                                                              \
	{                                                                                          \
		NULL, title, TRK_CELL_NUMBER                                                       \
	}
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Figures as text in the memory of the page. */
#define WORDS(name)                                                                                \
	static const char *name(struct page *p, double value)                                      \
	{                                                                                          \
		return trk__doc_value(&p->d, trk__fleet_##name, value);                            \
	}
WORDS(usd)
WORDS(memory)
WORDS(cores)
WORDS(percent)
WORDS(change)
WORDS(duration)
#undef WORDS

static const char *count(struct page *p, size_t count)
{
	char text[TRK_FLEET_WORD_SIZE];

	return trk__doc_print(&p->d, "%s", trk__fleet_count(text, count));
}

/* What is known of the cost of these runs; NaN: nothing. */
static double known_usd(const struct trk_fleet_sum *sum, double usd)
{
	return sum->priced + sum->estimated > 0 ? usd : (double) NAN;
}

static const char *name_of(struct page *p, const char *name)
{
	return trk__doc_safe(&p->d, name, NAME_MAX_CHARS);
}

static void say(struct page *p, const char *text)
{
	trk__terminal_line(&p->t, text, 0);
}

/* ---- overview ---- */

static void lead_text(struct page *p, const struct trk_fleet_overview *o)
{
	trk__terminal_mark(&p->t, "\u25b2", o->headline, TRK_TONE_WARN);
	say(p, o->lead);
	trk__terminal_mark(&p->t, "\u25c6", o->warning, TRK_TONE_BAD);
	say(p, o->basis);
	say(p, "");
}

static void tile(struct page *p, const char *name, const char *value, const char *text)
{
	trk__terminal_put(&p->t, trk__doc_print(&p->d, "%-11s %12s  ", name, value));
	trk__terminal_line(&p->t, text, TILE_TEXT);
}

static const char *beside(struct page *p, const struct trk_fleet_overview *o, double now,
			  double before)
{
	if (!o->has_before || !(before > 0))
		return "no earlier period";
	return trk__doc_print(&p->d, "%s on the %d day%s before", change(p, now / before - 1),
			      o->days, trk__fleet_plural((size_t) o->days));
}

static void share_tile(struct page *p, const struct trk_fleet_overview *o, const char *name,
		       double (*share_of)(const struct trk_fleet_sum *sum), double median)
{
	double before = o->has_before ? share_of(&o->before) : (double) NAN;
	const char *was =
		isnan(before) ? "" : trk__doc_print(&p->d, " was %s,", percent(p, before));

	tile(p, name, percent(p, share_of(&o->sum)),
	     trk__doc_print(&p->d, "of what the jobs had;%s median job %s", was,
			    percent(p, median)));
}

static void tiles_text(struct page *p, const struct trk_fleet_overview *o)
{
	double waste = trk__fleet_waste_usd(&o->sum), was = trk__fleet_waste_usd(&o->before);
	double spent = known_usd(&o->sum, o->sum.usd);

	tile(p, "spend", usd(p, spent), beside(p, o, o->sum.usd, o->before.usd));
	tile(p, "wasted", usd(p, known_usd(&o->sum, waste)),
	     isnan(spent) ? "no run has a known cost"
			  : trk__doc_print(&p->d, "%s of it; %s", percent(p, waste / spent),
					   beside(p, o, waste, was)));
	share_tile(p, o, "cores used", trk__fleet_cores_share, o->median_cores_share);
	share_tile(p, o, "memory used", trk__fleet_memory_share, o->median_memory_share);
	tile(p, "failed runs", count(p, o->sum.failed),
	     trk__doc_print(&p->d, "of %s; %zu out of memory", count(p, o->sum.runs),
			    o->sum.out_of_memory));
	if (o->running)
		tile(p, "running now", count(p, o->running),
		     trk__doc_print(&p->d, "job%s", trk__fleet_plural(o->running)));
}

static void changes_text(struct page *p, const struct trk_fleet_overview *o)
{
	static const struct trk_doc_column columns[] = {
		TEXT("job"),       NUMBER("saves a month"), NUMBER("of it"),  NUMBER("cores"),
		NUMBER("ask for"), NUMBER("memory"),        NUMBER("ask for")};
	static const uint8_t ranks[COUNT(columns)] = {0, 0, 4, 2, 0, 3, 0};
	struct trk_doc_table t = {.column = columns, .columns = COUNT(columns), .rank = ranks};

	if (!o->changes) {
		trk__terminal_title(&p->t, "Change these first",
				    "nothing to save: no job requests too much");
		return;
	}
	trk__terminal_title(&p->t, "Change these first",
			    trk__doc_print(&p->d, "%zu of %zu job%s, %s a month in all", o->changes,
					   o->changes_all, trk__fleet_plural(o->changes_all),
					   usd(p, o->saves_all_usd_month)));
	for (size_t i = 0; i < o->changes; i++) {
		const struct trk_fleet_job *job = o->change[i];
		struct trk_doc_cell *row = trk__doc_row(&p->d, &t);

		row[0].text = name_of(p, job->name->name);
		row[1].text = usd(p, job->saves_usd_month);
		row[2].text = percent(p, job->saves_usd_month / job->month.usd);
		row[3].text = cores(p, job->asked_cores);
		row[4].text = cores(p, job->ask_cores);
		row[5].text = memory(p, job->asked_bytes);
		row[6].text = memory(p, job->ask_bytes);
	}
	trk__terminal_table(&p->t, &t);
	say(p, "Why, and lines to paste: resource-tracker fleet --job NAME, "
	       "resource-tracker recommend NAME --for slurm");
}

static void findings_text(struct page *p, const struct trk_fleet_overview *o)
{
	static const struct {
		const char *mark;
		enum trk_tone tone;
	} marks[TRK_FLEET_FINDING_KINDS] = {
		[TRK_FLEET_WILL_FAIL] = {"\u25c6", TRK_TONE_BAD},
		[TRK_FLEET_FAILING] = {"\u2716", TRK_TONE_BAD},
		[TRK_FLEET_SLOWER] = {"\u25b2", TRK_TONE_WARN},
		[TRK_FLEET_FASTER] = {"\u25bc", TRK_TONE_GOOD},
		[TRK_FLEET_SLOW_MACHINE] = {"\u25b2", TRK_TONE_WARN},
		[TRK_FLEET_GPU_UNUSED] = {"\u25b2", TRK_TONE_WARN},
		[TRK_FLEET_GPU_TOO_BIG] = {"\u25b2", TRK_TONE_WARN},
	};

	trk__terminal_title(&p->t, "Before it fails",
			    o->findings ? "and what has changed"
					: "nothing grows to its limit, nothing has changed");
	for (size_t i = 0; i < o->findings; i++) {
		const struct trk_fleet_finding *f = &o->finding[i];

		trk__terminal_mark(&p->t, marks[f->kind].mark,
				   trk__doc_print(&p->d, "%s %s", f->head, f->text),
				   marks[f->kind].tone);
	}
}

/* A bar a day, blank without spend; the last one is today. */
static void spend_bars(struct page *p, const struct trk_fleet_days *d)
{
	size_t room = p->t.width - 20; /* "  most under $0.001" */
	size_t n = d->count < room ? d->count : room;
	const struct trk_fleet_day *day = &d->day[d->count - n];
	uint16_t steps[TRK_FLEET_DAYS_MAX];
	char date[TRK_FLEET_WORD_SIZE];
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = day[i].sum.usd > most ? day[i].sum.usd : most;
	if (!(most > 0))
		return;
	for (size_t i = 0; i < n; i++)
		steps[i] = day[i].sum.usd > 0 ? trk__doc_steps(day[i].sum.usd / most) : TRK_DOC_GAP;
	trk__spark_steps(p->t.b, steps, steps, n, n, p->t.utf8);
	p->t.at += n;
	trk__terminal_put(&p->t, "  most ");
	say(p, usd(p, most));
	say(p, trk__doc_print(&p->d, "%s to today, which is incomplete",
			      trk__fleet_date(date, day->day)));
}

static void spend_text(struct page *p, const struct trk_fleet_overview *o)
{
	const struct trk_fleet_forecast *f = &o->spend.forecast;
	char text[TRK_FLEET_TEXT_SIZE];

	if (!(o->sum.usd > 0))
		return;
	trk__terminal_title(&p->t, "Spend a day", "");
	spend_bars(p, &o->spend);
	for (size_t i = 0; i < o->spend.odd_count; i++) {
		trk__fleet_odd_day_text(p->rows, &o->spend.odd[i], text);
		say(p, text);
	}
	if (f->known)
		say(p, trk__doc_print(&p->d,
				      "Expected in the next 30 days if nothing changes: %s +- %s, "
				      "9 of 10 times; %s with the advice. From %zu days.",
				      usd(p, f->month_usd), usd(p, f->month_band_usd),
				      usd(p, f->month_usd_advised), f->days));
	else
		say(p, "A forecast needs 4 weeks of spend.");
}

static void groups_text(struct page *p, const struct trk_fleet_overview *o, int trait)
{
	const struct trk_doc_column columns[] = {TEXT(trk__fleet_trait_names[trait]),
						 NUMBER("spend"), NUMBER("wasted"), NUMBER("runs"),
						 NUMBER("failed")};
	static const uint8_t ranks[COUNT(columns)] = {0, 0, 1, 0, 0};
	struct trk_doc_table t = {.column = columns, .columns = COUNT(columns), .rank = ranks};

	trk__terminal_title(&p->t, "Who spends it", trk__fleet_trait_names[trait]);
	for (size_t i = 0; i < o->groups[trait]; i++) {
		const struct trk_fleet_group *g = &o->group[trait][i];
		struct trk_doc_cell *row = trk__doc_row(&p->d, &t);

		row[0].text = g->name ? name_of(p, trk__fleet_text(p->rows, g->name)) : "not known";
		row[1].text = usd(p, known_usd(&g->sum, g->sum.usd));
		row[2].text = percent(p, trk__fleet_waste_usd(&g->sum) / g->sum.usd);
		row[3].text = count(p, g->sum.runs);
		row[4].text = count(p, g->sum.failed);
	}
	trk__terminal_table(&p->t, &t);
}

static void overview_text(struct page *p, const struct trk_fleet_overview *o)
{
	lead_text(p, o);
	tiles_text(p, o);
	changes_text(p, o);
	findings_text(p, o);
	spend_text(p, o);
	for (int i = 0; i < TRK_FLEET_TRAITS; i++)
		if (o->groups[i])
			groups_text(p, o, i);
}

/* ---- jobs ---- */

static void jobs_text(struct page *p, const struct trk_fleet_jobs *jobs)
{
	static const struct trk_doc_column columns[] = {
		TEXT("job"),      TEXT("verdict"),  NUMBER("run time"),
		NUMBER("change"), NUMBER("memory"), NUMBER("cores"),
		NUMBER("failed"), NUMBER("spend"),  NUMBER("saves a month")};
	static const uint8_t ranks[COUNT(columns)] = {0, 3, 4, 5, 6, 7, 2, 1, 0};
	struct trk_doc_table t = {.column = columns, .columns = COUNT(columns), .rank = ranks};

	for (size_t i = 0; i < jobs->count; i++) {
		const struct trk_fleet_job *job = &jobs->job[i];
		struct trk_doc_cell *row = trk__doc_row(&p->d, &t);

		row[0].text = name_of(p, job->name->name);
		row[1].text = trk__fleet_rating_names[job->rating];
		row[2].text = duration(p, job->duration_s);
		row[3].text = job->drift.known ? change(p, job->drift.change) : "usual";
		row[4].text = trk__doc_print(&p->d, "%s of %s", memory(p, job->peak_bytes),
					     memory(p, job->asked_bytes));
		row[5].text = trk__doc_print(&p->d, "%s of %s", cores(p, job->cores),
					     cores(p, job->asked_cores));
		row[6].text =
			trk__doc_print(&p->d, "%zu of %zu", job->period.failed, job->period.runs);
		row[7].text = usd(p, known_usd(&job->period, job->period.usd));
		row[8].text = usd(p, job->saves_usd_month);
	}
	trk__terminal_table(&p->t, &t);
}

/* ---- one job ---- */

static void add_request(struct trk_doc *d, struct trk_doc_table *t, const char *name,
			const char *now, const char *used, const char *ask)
{
	struct trk_doc_cell *row = trk__doc_row(d, t);

	row[0].text = name;
	row[1].text = now;
	row[2].text = used;
	row[3].text = ask;
}

static void request_text(struct page *p, const struct trk_fleet_job *job)
{
	static const struct trk_doc_column columns[] = {TEXT(""), NUMBER("now"),
							NUMBER("used, p95"), NUMBER("ask for")};
	struct trk_doc_table t = {.column = columns, .columns = COUNT(columns)};

	trk__terminal_title(&p->t, "Next request", "");
	add_request(&p->d, &t, "cores", cores(p, job->asked_cores), cores(p, job->cores_p95),
		    cores(p, job->ask_cores));
	add_request(&p->d, &t, "memory", memory(p, job->asked_bytes),
		    memory(p, job->peak_p95_bytes), memory(p, job->ask_bytes));
	add_request(&p->d, &t, "a run", usd(p, job->usd), "", usd(p, job->ask_usd));
	trk__terminal_table(&p->t, &t);
	if (!isnan(job->ask_bytes))
		say(p, trk__doc_print(
			       &p->d, "Chance that the next run needs more than %s: %s.",
			       memory(p, job->ask_bytes),
			       percent(p, trk__fleet_job_chance(p->rows, job, job->ask_bytes))));
	say(p, "Lines to paste: resource-tracker recommend JOB --for slurm");
}

static void newest_text(struct page *p, const struct trk_fleet_job *job)
{
	static const struct trk_doc_column columns[] = {
		TEXT("run"),        TEXT("started"),  TEXT("end"),     NUMBER("time"),
		NUMBER("to usual"), NUMBER("memory"), NUMBER("cores"), NUMBER("cost")};
	static const uint8_t ranks[COUNT(columns)] = {0, 2, 0, 0, 1, 3, 4, 5};
	struct trk_doc_table t = {.column = columns, .columns = COUNT(columns), .rank = ranks};
	size_t end = job->name->first + job->name->count;

	trk__terminal_title(&p->t, "Newest runs", "");
	for (size_t i = 0; i < RUNS_SHOWN && i < job->name->count; i++) {
		const struct trk_fleet_run *run = &p->rows->run[end - 1 - i];
		struct trk_doc_cell *row = trk__doc_row(&p->d, &t);
		struct trk_anomaly odd;

		trk__fleet_judge(p->rows, job, run, &odd);
		row[0].text = run->past.id;
		row[1].text = trk__doc_local(&p->d, run->past.start_s);
		row[2].text = trk__fleet_end_names[run->end];
		row[3].text = duration(p, run->past.duration_s);
		row[4].text = trk__doc_print(&p->d, "%s%s", change(p, odd.change),
					     odd.kind > TRK_ANOMALY_NO ? " odd" : "");
		row[5].text = memory(p, run->past.memory.bytes);
		row[6].text = cores(p, run->cores);
		row[7].text = usd(p, run->usd);
	}
	trk__terminal_table(&p->t, &t);
}

static void job_text(struct page *p, const struct trk_fleet_job *job)
{
	char text[TRK_FLEET_TEXT_SIZE];

	trk__terminal_put(&p->t, trk__doc_print(&p->d, "%s  ", job->name->name));
	say(p, trk__fleet_rating_names[job->rating]);
	if (job->name->scope[0])
		say(p, trk__doc_print(&p->d, "in %s", job->name->scope));
	trk__fleet_job_lead(job, text);
	say(p, text);
	trk__fleet_job_basis(job, text);
	say(p, text);
	request_text(p, job);
	trk__terminal_title(&p->t, "What has happened", "");
	if (job->growth.rising) {
		trk__fleet_growth_text(job, text);
		say(p, trk__doc_print(&p->d, "It %s", text));
	}
	if (job->drift.known) {
		trk__fleet_drift_text(p->rows, job, text);
		say(p, trk__doc_print(&p->d, "It %s", text));
	}
	say(p, trk__doc_print(&p->d,
			      "%zu odd run%s and %zu of %zu failed in the period; usual noise of "
			      "the run time %s.",
			      job->odd, trk__fleet_plural(job->odd), job->period.failed,
			      job->period.runs, percent(p, job->noise_share)));
	newest_text(p, job);
}

/* ---- runs ---- */

static int runs_text(struct page *p, const struct trk_fleet_run_filter *filter)
{
	static const struct trk_doc_column columns[] = {
		TEXT("run"),    TEXT("job"),      TEXT("started"), TEXT("end"),
		NUMBER("time"), NUMBER("memory"), NUMBER("cores"), NUMBER("cost")};
	static const uint8_t ranks[COUNT(columns)] = {0, 0, 2, 0, 0, 3, 4, 5};
	struct trk_doc_table t = {.column = columns, .columns = COUNT(columns), .rank = ranks};
	struct trk_fleet_run_page page;
	int r = trk__fleet_run_page_make(p->rows, filter, &page);

	if (r < 0)
		return r;
	for (size_t i = 0; i < page.count; i++) {
		const struct trk_fleet_run *run = page.run[i];
		struct trk_doc_cell *row = trk__doc_row(&p->d, &t);

		row[0].text = run->past.id;
		row[1].text = name_of(p, p->rows->job[run->job].name);
		row[2].text = trk__doc_local(&p->d, run->past.start_s);
		row[3].text = trk__fleet_end_names[run->end];
		row[4].text = duration(p, run->past.duration_s);
		row[5].text = memory(p, run->past.memory.bytes);
		row[6].text = cores(p, run->cores);
		row[7].text = usd(p, run->usd);
	}
	trk__terminal_table(&p->t, &t);
	if (page.more)
		say(p, trk__doc_print(&p->d, "The newest %zu of %zu.", page.count, page.matched));
	trk__fleet_run_page_release(&page);
	return 0;
}

/* ---- machines ---- */

static void places_text(struct page *p, const char *title, const struct trk_fleet_place *place,
			size_t places)
{
	const struct trk_doc_column columns[] = {
		TEXT(title),          NUMBER("runs"), NUMBER("hours"),          NUMBER("an hour"),
		NUMBER("cores busy"), NUMBER("idle"), NUMBER("failed of 1000"), NUMBER("run time")};
	static const uint8_t ranks[COUNT(columns)] = {0, 0, 4, 3, 2, 1, 5, 0};
	struct trk_doc_table t = {.column = columns, .columns = COUNT(columns), .rank = ranks};

	for (; places > 0; place++, places--) {
		const struct trk_fleet_sum *sum = &place->sum;
		struct trk_doc_cell *row = trk__doc_row(&p->d, &t);

		row[0].text =
			place->name ? name_of(p, trk__fleet_text(p->rows, place->name))
				    : trk__doc_print(&p->d, "%s cores, %s", cores(p, place->cores),
						     memory(p, place->bytes));
		row[1].text = count(p, sum->runs);
		row[2].text = trk__doc_print(&p->d, "%.1f", sum->run_s / 3600);
		row[3].text = usd(p, place->usd_hour);
		row[4].text = percent(p, trk__fleet_cores_share(sum));
		row[5].text = usd(p, sum->usd > 0 ? sum->idle_cores_usd + sum->idle_memory_usd
						  : (double) NAN);
		row[6].text = trk__doc_print(&p->d, "%.0f",
					     1000 * (double) sum->failed / (double) sum->runs);
		row[7].text = trk__doc_print(&p->d, "%s%s", change(p, place->ratio - 1),
					     place->slow ? " slow" : "");
	}
	trk__terminal_table(&p->t, &t);
}

static void machines_text(struct page *p, const struct trk_fleet_machines *m)
{
	if (!m->servers && !m->machines)
		say(p,
		    "No run says where it ran. Try: resource-tracker run --tag server=TYPE --tag "
		    "node=NAME");
	places_text(p, "server type", m->server, m->servers);
	if (m->servers && m->machines)
		say(p, "");
	places_text(p, "machine", m->machine, m->machines);
	if (m->unknown)
		say(p, trk__doc_print(&p->d, "The server of %zu run%s is not known.", m->unknown,
				      trk__fleet_plural(m->unknown)));
}

int trk__fleet_text_write(const struct trk_fleet_rows *rows, const struct trk_fleet_views *v,
			  const struct trk_fleet_question *q,
			  const struct trk_terminal_style *style, struct trk_buf *b)
{
	struct page p = {.t = trk__terminal_start(b, style), .rows = rows};
	int r = 0;

	if (q->view == TRK_FLEET_VIEW_JOB)
		job_text(&p, trk__fleet_job_at(&v->jobs, q->job));
	else if (q->view == TRK_FLEET_VIEW_JOBS)
		jobs_text(&p, &v->jobs);
	else if (q->view == TRK_FLEET_VIEW_MACHINES)
		machines_text(&p, &v->machines);
	else if (q->view == TRK_FLEET_VIEW_RUNS)
		r = runs_text(&p, &q->runs);
	else
		overview_text(&p, &v->overview);
	r = r < 0 ? r : p.d.error;
	trk__terminal_finish(&p.t);
	trk__doc_release(&p.d);
	return r;
}
