/* The sentences of the views, the same for the terminal, the page and the JSON. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "advise/cpu.h"
#include "fleet/overview.h"
#include "fleet/words.h"

#define WORD(name) char name[TRK_FLEET_WORD_SIZE]

/* Append to a text that has room for TRK_FLEET_TEXT_SIZE. */
__attribute__((format(printf, 2, 3))) static void say(char *text, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	(void) vsnprintf(text + used, TRK_FLEET_TEXT_SIZE - used, format, args);
	va_end(args);
}

/* What the use is compared with. */
static const char *of_what(bool stated)
{
	return stated ? "the request" : "the machine";
}

void trk__fleet_why(const struct trk_fleet_job *job, char text[TRK_FLEET_TEXT_SIZE])
{
	WORD(a);
	WORD(b);
	bool cores = job->cores / job->asked_cores < 0.75;

	text[0] = '\0';
	if (cores && job->cores_p95 <= 1.1 && job->asked_cores >= 2)
		say(text, "one core busy of %s: serial code",
		    trk__fleet_cores(a, job->asked_cores));
	else if (cores)
		say(text, "%s of %s cores busy", trk__fleet_cores(a, job->cores),
		    trk__fleet_cores(b, job->asked_cores));
	if (job->peak_bytes / job->asked_bytes >= 0)
		say(text, "%speak %s, %s of %s", cores ? "; " : "",
		    trk__fleet_memory(a, job->peak_bytes),
		    trk__fleet_percent(b, job->peak_bytes / job->asked_bytes),
		    of_what(job->stated_memory));
}

/* "8 CPUs, 20 GiB"; only what changes. */
static void say_request(const struct trk_fleet_job *job, char *text)
{
	WORD(a);
	bool cores = job->ask_cores < job->asked_cores, memory = job->ask_bytes != job->asked_bytes;

	if (cores)
		say(text, "%s CPU%s", trk__fleet_cores(a, job->ask_cores),
		    job->ask_cores == 1 ? "" : "s");
	if (memory && !isnan(job->ask_bytes))
		say(text, "%s%s", cores ? ", " : "", trk__fleet_memory(a, job->ask_bytes));
}

static void say_use(const struct trk_fleet_job *job, char *text)
{
	WORD(a);
	WORD(b);

	say(text, "The last %zu good run%s used at most %s", job->recent,
	    trk__fleet_plural(job->recent), trk__fleet_memory(a, job->peak_bytes));
	if (!isnan(job->asked_bytes))
		say(text, " of %s", trk__fleet_memory(a, job->asked_bytes));
	say(text, " and %s", trk__fleet_cores(a, job->cores));
	if (!isnan(job->asked_cores))
		say(text, " of %s", trk__fleet_cores(b, job->asked_cores));
	say(text, " cores on average. ");
}

void trk__fleet_job_lead(const struct trk_fleet_job *job, char text[TRK_FLEET_TEXT_SIZE])
{
	bool changes = job->ask_cores < job->asked_cores ||
		       (!isnan(job->ask_bytes) && job->ask_bytes != job->asked_bytes);
	WORD(a);
	WORD(b);

	text[0] = '\0';
	if (job->rating == TRK_FLEET_FEW) {
		say(text, "First estimate: %zu good run%s so far. ", job->recent,
		    trk__fleet_plural(job->recent));
		return;
	}
	if (job->recent)
		say_use(job, text);
	if (job->rating == TRK_FLEET_UNSTATED) {
		say(text, "Nothing was requested or limited. Request %s for the next run.",
		    trk__fleet_memory(a, job->ask_bytes));
		return;
	}
	if (!changes || job->rating == TRK_FLEET_RIGHT) {
		say(text, "Leave the request as it is.");
		return;
	}
	say(text, "Request ");
	say_request(job, text);
	say(text, " for the next run");
	if (!isnan(job->usd) && !isnan(job->ask_usd))
		say(text, ": %s -> %s a run", trk__fleet_usd(a, job->usd),
		    trk__fleet_usd(b, job->ask_usd));
	if (job->saves_usd_month >= 0.01)
		say(text, ", %s less a month", trk__fleet_usd(a, job->saves_usd_month));
	say(text, ".");
}

void trk__fleet_job_basis(const struct trk_fleet_job *job, char text[TRK_FLEET_TEXT_SIZE])
{
	WORD(a);

	text[0] = '\0';
	if (job->has_memory)
		say(text, "Memory: %zu run%s, %s, confidence %s. ", job->memory.runs_used,
		    trk__fleet_plural(job->memory.runs_used), job->memory.basis_text,
		    trk__confidence_name(job->memory.confidence));
	if (job->ask_cores < job->asked_cores)
		say(text,
		    "Cores: from the mean and the largest number of busy cores of each run; a run "
		    "takes %s%s. ",
		    job->longer_share < 0.0005 ? "as long"
					       : trk__fleet_percent(a, job->longer_share),
		    job->longer_share < 0.0005 ? "" : " longer at most");
	if (job->month.estimated)
		say(text, "Cost: estimated from the request at reference prices.");
	else if (job->month.priced)
		say(text, "Cost: as recorded at the end of each run.");
	else
		say(text, "Cost: not known; nothing was requested and no price was known.");
}

void trk__fleet_growth_text(const struct trk_fleet_job *job, char text[TRK_FLEET_TEXT_SIZE])
{
	const struct trk_fleet_growth *g = &job->growth;
	WORD(a);
	WORD(b);
	WORD(c);

	text[0] = '\0';
	if (g->days_left <= 0)
		say(text, "is at its %s", trk__fleet_memory(a, job->asked_bytes));
	else if (g->runs_left >= 1)
		say(text, "reaches its %s in about %.0f run%s (%.0f day%s)",
		    trk__fleet_memory(a, job->asked_bytes), g->runs_left,
		    g->runs_left < 1.5 ? "" : "s", g->days_left, g->days_left < 1.5 ? "" : "s");
	else
		say(text, "reaches its %s with the next run",
		    trk__fleet_memory(a, job->asked_bytes));
	say(text, ": the peak grows %s a week, %s now. Request %s.",
	    trk__fleet_percent(a, g->a_day * 7), trk__fleet_memory(b, g->now_bytes),
	    trk__fleet_memory(c, job->ask_bytes));
}

void trk__fleet_drift_text(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			   char text[TRK_FLEET_TEXT_SIZE])
{
	const struct trk_fleet_drift *d = &job->drift;
	WORD(a);
	WORD(b);

	text[0] = '\0';
	say(text, "has become %s: %s run time since %s, outside its own noise.",
	    d->change > 0 ? "slower" : "faster", trk__fleet_change(a, d->change),
	    trk__fleet_date(b, trk__fleet_day(rows, d->from_s)));
	for (size_t i = 0; i < d->ways; i++) {
		const struct trk_fleet_way *way = &d->way[i];

		say(text, "%s%s %.40s -> %.40s",
		    i ? ", " : " At the same time: ", trk__fleet_trait_names[way->trait],
		    trk__fleet_text(rows, way->before), trk__fleet_text(rows, way->since));
	}
	if (d->ways)
		say(text, "%s.", d->machine_same ? "; the machine is the same" : "");
	else
		say(text, " No other recorded property changed.");
	if (fabs(d->usd_month) >= 0.01)
		say(text, " %s a month%s.", trk__fleet_usd(a, fabs(d->usd_month)),
		    d->change > 0 ? "" : " less");
}

void trk__fleet_gpu_text(bool unused, double hours, double share, double vram_bytes, size_t runs,
			 char text[TRK_FLEET_TEXT_SIZE])
{
	WORD(a);
	WORD(b);

	text[0] = '\0';
	if (unused)
		say(text,
		    "requested GPUs for %.0f GPU-hours in %zu runs and used none of them. "
		    "Request no GPU for it.",
		    hours, runs);
	else
		say(text,
		    "used %s of %.0f GPU-hours in %zu runs, and at most %s of GPU memory. A "
		    "smaller GPU, or a share of one, is enough.",
		    trk__fleet_percent(a, share), hours, runs, trk__fleet_memory(b, vram_bytes));
}

static void say_value(const struct trk_fleet_rows *rows, const struct trk_fleet_cluster *c,
		      char *text)
{
	if (c->by == TRK_FLEET_BY_HOUR)
		say(text, "started between %02u:00 and %02u:59", c->value, c->value);
	else if (c->by == TRK_FLEET_BY_JOB)
		say(text, "the job");
	else
		say(text, "%s %.60s", trk__fleet_trait_names[c->by],
		    trk__fleet_text(rows, c->value));
}

void trk__fleet_cluster_text(const struct trk_fleet_rows *rows, const struct trk_fleet_cluster *c,
			     char head[96], char text[TRK_FLEET_TEXT_SIZE])
{
	static const char *const words[TRK_FLEET_ENDS] = {
		[TRK_FLEET_FAILED] = "failed",
		[TRK_FLEET_OUT_OF_MEMORY] = "ran out of memory",
		[TRK_FLEET_TIME_LIMIT] = "reached their time limit",
	};
	WORD(a);

	(void) snprintf(head, 96, "%zu runs %s since %s", c->failed, words[c->cause],
			trk__fleet_date(a, trk__fleet_day(rows, c->since_s)));
	text[0] = '\0';
	say(text, "in %zu job%s: ", c->jobs, trk__fleet_plural(c->jobs));
	for (size_t i = 0; i < c->jobs && i < 3; i++)
		say(text, "%s%.60s", i ? ", " : "", rows->job[c->job[i]].name);
	say(text, c->jobs > 3 ? ", and %zu more." : ".", c->jobs - 3);
	if (c->by != TRK_FLEET_BY_JOB) {
		say(text, " In common: ");
		say_value(rows, c, text);
		say(text, ", %zu of %zu runs; without it %zu of %zu.", c->failed, c->runs,
		    c->failed_without, c->runs_without);
	} else {
		say(text, " %zu of its %zu runs in %d days.", c->failed, c->runs,
		    TRK_FLEET_CLUSTER_DAYS);
	}
	if (c->instead)
		say(text,
		    c->instead_runs == 1 ? " The %zu run on %.60s succeeded."
					 : " All %zu runs on %.60s succeeded.",
		    c->instead_runs, trk__fleet_text(rows, c->instead));
	if (c->cause == TRK_FLEET_OUT_OF_MEMORY)
		say(text, " Request more memory%s.", c->instead ? ", or use that one again" : "");
}

void trk__fleet_odd_day_text(const struct trk_fleet_rows *rows, const struct trk_fleet_odd_day *odd,
			     char text[TRK_FLEET_TEXT_SIZE])
{
	WORD(a);
	WORD(b);

	text[0] = '\0';
	say(text, "%s", trk__fleet_date(a, odd->day));
	if (odd->last_day != odd->day)
		say(text, " to %s", trk__fleet_date(a, odd->last_day));
	say(text, ": %s on %s.", trk__fleet_change(a, odd->change),
	    odd->last_day != odd->day ? "what is usual" : "a usual");
	if (odd->last_day == odd->day) {
		text[strlen(text) - 1] = '\0';
		say(text, " %s.", trk__fleet_weekday(odd->day));
	}
	if (odd->job != SIZE_MAX)
		say(text, " %.60s took %s %s than usual.", rows->job[odd->job].name,
		    trk__fleet_usd(b, fabs(odd->job_usd)), odd->job_usd > 0 ? "more" : "less");
	else if (odd->change < 0)
		say(text, " %zu job%s ran less or not at all.", odd->jobs_less,
		    trk__fleet_plural(odd->jobs_less));
}

static void say_basis(struct trk_fleet_overview *o)
{
	const struct trk_fleet_sum *s = &o->sum;
	const char *runs = trk__fleet_plural(s->runs);
	WORD(a);
	WORD(b);

	o->basis[0] = '\0';
	if (s->priced)
		say(o->basis, "%s of %s run%s at the price recorded at the end. ",
		    trk__fleet_count(a, s->priced), trk__fleet_count(b, s->runs), runs);
	if (s->estimated)
		say(o->basis,
		    "%s of %s run%s estimated from the request, at $%g a core and $%g a GiB for "
		    "each hour. ",
		    trk__fleet_count(a, s->estimated), trk__fleet_count(b, s->runs), runs,
		    TRK_PRICE_CORE_HOUR, TRK_PRICE_GIB_HOUR);
	if (s->unpriced)
		say(o->basis,
		    "%s of %s run%s without a price: nothing was requested, and the server is not "
		    "known (--instance names it). ",
		    trk__fleet_count(a, s->unpriced), trk__fleet_count(b, s->runs), runs);
	say(o->basis, "Idle is what a run requested and did not use. A saving is computed for the "
		      "advised request, which includes a margin.");
}

void trk__fleet_overview_text(struct trk_fleet_overview *o)
{
	const struct trk_fleet_sum *s = &o->sum;
	const char *days = trk__fleet_plural((size_t) o->days);
	double waste = trk__fleet_waste_usd(s);
	WORD(a);
	WORD(b);
	WORD(c);

	o->lead[0] = o->warning[0] = o->headline[0] = '\0';
	say_basis(o);
	if (s->usd > 0)
		(void) snprintf(o->headline, sizeof(o->headline), "%s of the money was wasted.",
				trk__fleet_percent(a, waste / s->usd));
	say(o->lead, "%s run%s of %s job%s", trk__fleet_count(a, s->runs),
	    trk__fleet_plural(s->runs), trk__fleet_count(b, o->jobs), trk__fleet_plural(o->jobs));
	if (s->usd > 0)
		say(o->lead,
		    " cost %s in %d day%s, %s of it idle cores, idle memory and failed runs.",
		    trk__fleet_usd(a, s->usd), o->days, days, trk__fleet_usd(b, waste));
	else
		say(o->lead, " in %d day%s; the cost is not known.", o->days, days);
	if (o->changes == 1)
		say(o->lead, " The change below saves about %s a month.",
		    trk__fleet_usd(c, o->saves_usd_month));
	else if (o->changes)
		say(o->lead, " The %zu changes below save about %s a month.", o->changes,
		    trk__fleet_usd(c, o->saves_usd_month));
	if (o->will_fail)
		(void) snprintf(o->warning, sizeof(o->warning),
				"%zu job%s will run out of memory soon.", o->will_fail,
				trk__fleet_plural(o->will_fail));
}
