#include "alert/end_rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "advise/anomaly.h"
#include "base/bytes.h"
#include "base/human.h"
#include "base/maths.h"
#include "base/shell_word.h"
#include "fleet/clusters.h"
#include "fleet/days.h"
#include "fleet/overview.h"
#include "fleet/words.h"

static const double DAY_S = 86400, SOON_DAYS = 14, SOON_RUNS = 10, FRESH_DAYS = 7,
		    SLOWER_LEAST = 0.08, BIGGER_LEAST = 0.1, RISE_LEAST = 0.13,
		    FAILING_CHANCE = 1e-4, USUAL_LEAST = 0.02;
enum {
	IN_A_ROW = 3,
	WINDOW = 10,
	WINDOW_FAILED = 4,
	USUAL_RUNS = 20,
	LEVEL_RUNS = 90,
	FRESH_RUNS = 3,
	BEFORE_RUNS = 20,
	LARGEST_JOBS = 3,
};

const struct trk_alert_end_info trk__alert_end_rules[TRK_ALERT_END_RULES] = {
#define X(id, name, severity, again_h, text) {name, severity, again_h, text},
	TRK_ALERT_END_RULE_LIST(X)
#undef X
};

int trk__alert_end_find(const char *name, size_t len)
{
	for (int i = 0; i < TRK_ALERT_END_RULES; i++)
		if (strlen(trk__alert_end_rules[i].name) == len &&
		    !memcmp(trk__alert_end_rules[i].name, name, len))
			return i;
	return -1;
}

static struct trk_alert_end nothing(enum trk_alert_end_rule rule)
{
	return (struct trk_alert_end){.rule = rule, .value = NAN, .limit = NAN, .new_s = NAN};
}

/* A job with its runs that have ended, oldest first. */
struct judging {
	const struct trk_fleet_rows *rows;
	const struct trk_fleet_job *job;
	const struct trk_fleet_run *run;  /* all */
	const struct trk_fleet_run *last; /* that has ended; NULL: none */
	size_t count;                     /* up to the last one */
};

static double end_of(const struct trk_fleet_run *run)
{
	return run->past.duration_s > 0 ? run->past.start_s + run->past.duration_s
					: run->past.start_s;
}

/* ---- the line to change ---- */

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (; *text; text++) {
		size_t i = 0;

		while (i < len && (text[i] | 0x20) == word[i])
			i++;
		if (i == len)
			return true;
	}
	return false;
}

/* In the form of the scheduler, where a tag names it. */
static void put_request(const struct judging *j, double bytes, char *fix)
{
	const char *where = trk__fleet_text(j->rows, j->job->trait[TRK_FLEET_WHERE]);
	double mib = bytes / TRK_MIB, step = mib > 16384 ? 1024 : 128;
	char text[TRK_HUMAN_SIZE], job[TRK_ALERT_SENTENCE_SIZE - 40];

	if (!(mib > 0) || mib > 1e12) {
		(void) trk__shell_word(job, sizeof(job), j->job->name->name);
		(void) snprintf(fix, TRK_ALERT_SENTENCE_SIZE, "resource-tracker recommend %s",
				job[0] ? job : j->last->past.id);
		return;
	}
	mib = trk__ceil(mib / step) * step;
	(void) snprintf(fix, TRK_ALERT_SENTENCE_SIZE, "request %s of memory for the next run",
			trk__human_request(text, mib));
	fix += strlen(fix);
	if (has_word(where, "slurm"))
		(void) snprintf(fix, 64, ": #SBATCH --mem=%.0fM", mib);
	else if (has_word(where, "kube") || has_word(where, "k8s"))
		(void) snprintf(fix, 64, ": memory: %.0fMi", mib);
	else if (has_word(where, "docker"))
		(void) snprintf(fix, 64, ": --memory=%.0fm", mib);
	else if (has_word(where, "metaflow"))
		(void) snprintf(fix, 64, ": @resources(memory=%.0f)", mib);
}

static double larger(double a, double b)
{
	return a > b || isnan(b) ? a : b;
}

/* ---- out of memory ---- */

static void judge_oom(const struct judging *j, struct trk_alert_end *e)
{
	const struct trk_fleet_run *first = j->last;
	char a[TRK_FLEET_WORD_SIZE], b[TRK_FLEET_WORD_SIZE];
	double limit = j->last->past.limit_memory_bytes;

	e->firing = j->last->end == TRK_FLEET_OUT_OF_MEMORY;
	if (!e->firing)
		return;
	limit = isnan(limit) ? j->last->asked_bytes : limit;
	e->value = j->last->past.memory.bytes / TRK_MIB;
	e->limit = limit / TRK_MIB;
	/* Kills under another limit do not count. */
	while (first > j->run && first[-1].end == TRK_FLEET_OUT_OF_MEMORY &&
	       first[-1].asked_bytes == first->asked_bytes)
		first--;
	e->new_s = end_of(first);
	if (e->value > 0 && e->limit > 0)
		(void) snprintf(e->text, sizeof(e->text), "out of memory: peak %s of %s",
				trk__fleet_memory(a, j->last->past.memory.bytes),
				trk__fleet_memory(b, limit));
	else
		(void) snprintf(e->text, sizeof(e->text), "out of memory");
	put_request(j, larger(limit * 1.25, j->job->ask_bytes), e->fix);
}

/* ---- failing again ---- */

/* Chance of at least `hits` failures in n runs that fail with this share each. */
static double binomial_tail(size_t hits, size_t n, double share)
{
	double term = 1, sum = 0;

	for (size_t i = 0; i < n; i++)
		term *= 1 - share;
	for (size_t k = 0; k <= n; k++) {
		if (k >= hits)
			sum += term;
		term *= (double) (n - k) / (double) (k + 1) * share / (1 - share);
	}
	return sum;
}

static size_t count_failed(const struct trk_fleet_run *run, size_t n)
{
	size_t failed = 0;

	for (size_t i = 0; i < n; i++)
		failed += trk__fleet_is_failure((enum trk_fleet_end) run[i].end);
	return failed;
}

static bool fails_more(const struct judging *j, struct trk_alert_end *e)
{
	size_t failed, before = j->count > WINDOW ? j->count - WINDOW : 0;
	double usual;

	if (before < USUAL_RUNS)
		return false;
	failed = count_failed(j->run + before, WINDOW);
	usual = (double) count_failed(j->run, before) / (double) before;
	usual = usual > USUAL_LEAST ? usual : USUAL_LEAST;
	if (failed < WINDOW_FAILED || usual > 0.5 ||
	    binomial_tail(failed, WINDOW, usual) > FAILING_CHANCE ||
	    !trk__fleet_is_failure((enum trk_fleet_end) j->last->end))
		return false;
	e->value = (double) failed;
	e->limit = WINDOW;
	(void) snprintf(e->text, sizeof(e->text),
			"%zu of the newest %d runs failed, and %.0f %% of the runs before", failed,
			WINDOW, 100 * (double) count_failed(j->run, before) / (double) before);
	return true;
}

/* Add what the failures have in common, if a cluster lists this job first. */
static void add_common(const struct judging *j, char *text)
{
	const struct trk_fleet_clusters *c = trk__fleet_clusters(j->rows);
	char head[96], words[TRK_FLEET_TEXT_SIZE];

	for (size_t i = 0; c && i < c->count; i++) {
		size_t used = strlen(text);

		if (c->cluster[i].by >= TRK_FLEET_BY_JOB || c->cluster[i].jobs == 0 ||
		    c->cluster[i].job[0] != j->job->index)
			continue;
		trk__fleet_cluster_text(j->rows, &c->cluster[i], head, words);
		(void) snprintf(text + used, TRK_ALERT_SENTENCE_SIZE - used, ". %s %s", head,
				words);
		return;
	}
}

static void put_failures(const struct judging *j, char *text)
{
	int end = trk__end_find(j->last->past.end_name);
	size_t n = j->job->failing_in_row;
	char words[TRK_END_WORDS_SIZE];

	if (j->last->end == TRK_FLEET_TIME_LIMIT)
		(void) snprintf(text, TRK_ALERT_SENTENCE_SIZE,
				"the newest %zu runs reached their time limit", n);
	else
		(void) snprintf(text, TRK_ALERT_SENTENCE_SIZE,
				"the newest %zu runs failed; the last one: %s", n,
				trk__end_words(end < 0 ? TRK_END_FAILED : (enum trk_end) end,
					       j->last->past.code, j->last->past.signal, words));
}

static void judge_failing(const struct judging *j, struct trk_alert_end *e)
{
	enum trk_fleet_end end = (enum trk_fleet_end) j->last->end;

	/* Out of memory has a rule of its own. */
	if (end == TRK_FLEET_OUT_OF_MEMORY)
		return;
	e->firing = j->job->failing_in_row >= IN_A_ROW;
	if (e->firing) {
		e->value = (double) j->job->failing_in_row;
		e->limit = IN_A_ROW;
		put_failures(j, e->text);
	} else {
		e->firing = fails_more(j, e);
	}
	if (!e->firing)
		return;
	add_common(j, e->text);
	(void) snprintf(e->fix, sizeof(e->fix), "see the last one: resource-tracker report %s",
			j->last->past.id);
}

/* ---- will fail ---- */

static void judge_growth(const struct judging *j, struct trk_alert_end *e)
{
	const struct trk_fleet_growth *g = &j->job->growth;
	double need;
	char *ask;

	e->firing = g->rising && (g->days_left < SOON_DAYS || g->runs_left < SOON_RUNS);
	if (!e->firing)
		return;
	e->value = g->now_bytes / TRK_MIB;
	e->limit = j->job->asked_bytes / TRK_MIB;
	trk__fleet_growth_text(j->job, e->text);
	/* The line to change says it. */
	ask = strstr(e->text, ". Request ");
	if (ask)
		*ask = '\0';
	need = g->now_bytes * trk__exp(g->a_day * TRK_FLEET_MONTH_DAYS) * 1.1;
	put_request(j, larger(need, j->job->ask_bytes), e->fix);
}

/* ---- new levels ---- */

static bool is_level(const struct trk_fleet_run *run, bool memory)
{
	double v = memory ? run->past.memory.bytes / TRK_MIB : run->past.duration_s;

	return run->end == TRK_FLEET_OK && v > 0 && v < 1e300;
}

/* The values of the newest good runs, oldest first, and the runs. */
static size_t gather(const struct judging *j, bool memory, double value[LEVEL_RUNS],
		     const struct trk_fleet_run *run[LEVEL_RUNS])
{
	size_t n = 0, first = j->count;

	for (size_t k = 0; first > 0 && k < LEVEL_RUNS;)
		k += is_level(&j->run[--first], memory);
	for (size_t i = first; i < j->count; i++) {
		if (!is_level(&j->run[i], memory))
			continue;
		value[n] =
			memory ? j->run[i].past.memory.bytes / TRK_MIB : j->run[i].past.duration_s;
		run[n++] = &j->run[i];
	}
	return n;
}

static void put_compare(const struct trk_fleet_run *before, const struct trk_fleet_run *since,
			char *fix)
{
	(void) snprintf(fix, TRK_ALERT_SENTENCE_SIZE,
			"see what changed: resource-tracker compare %s %s", before->past.id,
			since->past.id);
}

/* Whether each of the newest two is far above the runs before it. */
static bool is_odd_twice(const double *value, size_t n, double floor_share, double least,
			 double *ret_change)
{
	struct trk_anomaly a, b;

	if (n < TRK_ANOMALY_RUNS_MIN + 2 ||
	    trk__anomaly_judge(value, n - 2, value[n - 1], floor_share, &a) < 0 ||
	    trk__anomaly_judge(value, n - 2, value[n - 2], floor_share, &b) < 0)
		return false;
	*ret_change = a.change < b.change ? a.change : b.change;
	return a.kind == TRK_ANOMALY_HIGH && b.kind == TRK_ANOMALY_HIGH && *ret_change >= least;
}

static double median_of(const double *value, size_t n)
{
	double v[LEVEL_RUNS];

	memcpy(v, value, n * sizeof(*v));
	return trk__median(v, n);
}

static bool is_fresh(const struct judging *j, double told_s, size_t runs_since)
{
	return told_s >= j->rows->now_s - FRESH_DAYS * DAY_S || runs_since <= FRESH_RUNS;
}

/* The newest change of level that the cumulative sum shows, which is earlier than a test of the whole
 * new level can. Returns the change of the runs since, from *ret_at on; NaN: none, or with too few runs
 * before it. */
static double newest_change(const double *value, size_t n, double floor_share, size_t *ret_at)
{
	size_t told[LEVEL_RUNS], tells = trk__anomaly_drifts(value, n, floor_share, told);
	size_t at = tells ? told[tells - 1] : 0;
	size_t from = at > BEFORE_RUNS + 2 ? at - BEFORE_RUNS - 2 : 0;

	*ret_at = at;
	if (at < TRK_ANOMALY_RUNS_MIN + 2)
		return NAN;
	return median_of(value + at, n - at) / median_of(value + from, at - 2 - from) - 1;
}

static void judge_slower(const struct judging *j, struct trk_alert_end *e)
{
	const struct trk_fleet_drift *d = &j->job->drift;
	const struct trk_fleet_run *run[LEVEL_RUNS] = {NULL};
	double value[LEVEL_RUNS], change = NAN;
	size_t n = gather(j, false, value, run), before = 0;
	char by[TRK_FLEET_WORD_SIZE];

	if (d->known && d->change >= SLOWER_LEAST && is_fresh(j, d->told_s, d->runs_since)) {
		trk__fleet_drift_text(j->rows, j->job, e->text);
		change = d->change;
		e->new_s = d->told_s;
		while (before + 1 < n && run[before + 1]->past.start_s < d->from_s)
			before++;
	} else if (is_odd_twice(value, n, TRK_ANOMALY_FLOOR_TIME, SLOWER_LEAST, &change)) {
		(void) snprintf(e->text, sizeof(e->text),
				"the newest two runs took much longer: run time at least %s",
				trk__fleet_change(by, change));
		before = n - 3;
	} else {
		change = newest_change(value, n, TRK_ANOMALY_FLOOR_TIME, &before);
		if (!(change >= RISE_LEAST) || n - before > FRESH_RUNS)
			return;
		before -= 2;
		(void) snprintf(e->text, sizeof(e->text),
				"the newest runs take longer: %s run time",
				trk__fleet_change(by, change));
	}
	e->firing = true;
	e->value = change;
	put_compare(run[before], run[n - 1], e->fix);
}

static void judge_bigger(const struct judging *j, struct trk_alert_end *e)
{
	const struct trk_fleet_run *run[LEVEL_RUNS] = {NULL};
	double value[LEVEL_RUNS], change;
	size_t n = gather(j, true, value, run), at;
	char by[TRK_FLEET_WORD_SIZE], peak[TRK_FLEET_WORD_SIZE];

	/* Steady growth is reported by will-fail. */
	if (n < TRK_ANOMALY_RUNS_MIN + 2 || j->job->growth.rising)
		return;
	change = newest_change(value, n, TRK_ANOMALY_FLOOR_MEMORY, &at);
	if (at + 1 >= n || !is_fresh(j, run[at]->past.start_s, n - at))
		change = NAN;
	if (change >= BIGGER_LEAST)
		e->new_s = run[at]->past.start_s;
	else if (!is_odd_twice(value, n, TRK_ANOMALY_FLOOR_MEMORY, BIGGER_LEAST, &change))
		return;
	e->firing = true;
	e->value = value[n - 1];
	e->limit = j->job->asked_bytes / TRK_MIB;
	(void) snprintf(e->text, sizeof(e->text), "has become bigger: %s peak memory, %s now",
			trk__fleet_change(by, change),
			trk__fleet_memory(peak, value[n - 1] * TRK_MIB));
	put_compare(run[change >= BIGGER_LEAST && at > 2 ? at - 2 : n - 3], run[n - 1], e->fix);
}

/* ---- all of them ---- */

void trk__alert_end_judge(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			  struct trk_alert_end ret[TRK_ALERT_END_RULES])
{
	static void (*const judge[TRK_ALERT_END_RULES])(const struct judging *,
							struct trk_alert_end *) = {
		[TRK_ALERT_END_OOM_KILLED] = judge_oom,
		[TRK_ALERT_END_FAILING_AGAIN] = judge_failing,
		[TRK_ALERT_END_WILL_FAIL] = judge_growth,
		[TRK_ALERT_END_SLOWER] = judge_slower,
		[TRK_ALERT_END_BIGGER] = judge_bigger,
	};
	struct judging j = {.rows = rows,
			    .job = job,
			    .run = rows->run + job->name->first,
			    .count = job->name->count};

	while (j.count && j.run[j.count - 1].end == TRK_FLEET_RUNNING)
		j.count--;
	j.last = j.count ? &j.run[j.count - 1] : NULL;
	for (int i = 0; i < TRK_ALERT_END_RULES; i++) {
		ret[i] = nothing((enum trk_alert_end_rule) i);
		if (j.last && judge[i])
			judge[i](&j, &ret[i]);
	}
}

/* ---- the budget ---- */

static double usd_of(const struct trk_fleet_rows *rows, const struct trk_fleet_name *job)
{
	double since_s = rows->now_s - TRK_FLEET_MONTH_DAYS * DAY_S, sum = 0;

	for (size_t i = job->first; i < job->first + job->count; i++)
		if (rows->run[i].past.start_s >= since_s && rows->run[i].usd > 0)
			sum += rows->run[i].usd;
	return sum;
}

/* Write the jobs that cost most, with their cost, to `text`. */
static void put_largest(const struct trk_fleet_rows *rows, char *text)
{
	size_t top[LARGEST_JOBS], n = 0;
	double usd[LARGEST_JOBS];

	for (size_t k = 0; k < rows->jobs; k++) {
		double sum = usd_of(rows, &rows->job[k]);
		size_t at;

		for (at = n; at > 0 && usd[at - 1] < sum; at--)
			if (at < LARGEST_JOBS) {
				usd[at] = usd[at - 1];
				top[at] = top[at - 1];
			}
		if (at == LARGEST_JOBS || !(sum > 0))
			continue;
		usd[at] = sum;
		top[at] = k;
		n += n < LARGEST_JOBS;
	}
	for (size_t i = 0; i < n; i++) {
		size_t used = strlen(text);
		char word[TRK_FLEET_WORD_SIZE];

		(void) snprintf(text + used, TRK_ALERT_SENTENCE_SIZE - used, "%s%.60s %s",
				i ? ", " : ". Most in 30 days: ", rows->job[top[i]].name,
				trk__fleet_usd(word, usd[i]));
	}
}

int trk__alert_end_budget(const struct trk_fleet_rows *rows, double budget_usd,
			  struct trk_alert_end *ret)
{
	char a[TRK_FLEET_WORD_SIZE], b[TRK_FLEET_WORD_SIZE], c[TRK_FLEET_WORD_SIZE];
	struct trk_fleet_month month;
	int r = trk__fleet_month_make(rows, &month);

	if (r < 0)
		return r;
	*ret = nothing(TRK_ALERT_END_BUDGET);
	ret->value = larger(month.spent_usd, month.expected_usd);
	ret->limit = budget_usd;
	ret->firing = ret->value > budget_usd;
	/* Once a month. */
	ret->new_s = (double) month.first_day * DAY_S - rows->utc_offset_s;
	if (!ret->firing)
		return 0;
	if (month.spent_usd > budget_usd)
		(void) snprintf(ret->text, sizeof(ret->text),
				"this month has cost %s, the budget is %s",
				trk__fleet_usd(a, month.spent_usd), trk__fleet_usd(b, budget_usd));
	else
		(void) snprintf(ret->text, sizeof(ret->text),
				"this month is expected to cost %s, the budget is %s; %s is spent",
				trk__fleet_usd(a, month.expected_usd),
				trk__fleet_usd(b, budget_usd), trk__fleet_usd(c, month.spent_usd));
	put_largest(rows, ret->text);
	(void) snprintf(ret->fix, sizeof(ret->fix), "resource-tracker fleet");
	return 0;
}

struct trk_alert_news trk__alert_end_news(const struct trk_fleet_rows *rows,
					  const struct trk_fleet_job *job,
					  const struct trk_alert_end *end)
{
	return (struct trk_alert_news){
		.rule = trk__alert_end_rules[end->rule].name,
		.severity = trk__alert_end_rules[end->rule].severity,
		.job = job ? job->name->name : "",
		.scope = job ? job->name->scope : "",
		.run = job ? job->last->past.id : "",
		.host = job ? trk__fleet_text(rows, job->trait[TRK_FLEET_MACHINE]) : "",
		.text = end->text,
		.fix = end->fix,
		.firing = end->firing,
		.value = end->value,
		.limit = end->limit,
		.new_s = end->new_s,
	};
}
