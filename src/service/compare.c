#include "service/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "lines/native.h"
#include "answer/time_breakdown.h"

/* Without memory for the names, native code stays unnamed. */
static void name_lines(struct trk_record *record)
{
	(void) trk__lines_look_up(&record->lines, (double) record->run.start_ns / 1e9);
}

static void start(const struct trk_record *record, struct trk_comparison *ret)
{
	*ret = (struct trk_comparison){.failed = {false}};
	memcpy(ret->run, record->run.id, sizeof(ret->run));
	memcpy(ret->job, record->run.job, sizeof(ret->job));
}

int trk__compare_run(struct trk_record *record, struct trk_record *before,
		     struct trk_comparison *ret)
{
	struct trk_time_breakdown *times = calloc(2, sizeof(*times));
	struct trk_history_row now, then;
	int r = times ? trk__time_breakdown_of(record, &times[0]) : -ENOMEM;

	if (r == 0)
		r = trk__time_breakdown_of(before, &times[1]);
	if (r == 0) {
		start(record, ret);
		trk__history_run_from(record, "", &now);
		trk__history_run_from(before, "", &then);
		(void) snprintf(ret->with, sizeof(ret->with), "%s of %s", then.run.id,
				then.run.job);
		trk__change_from_run(&now.run, &then.run, &ret->change);
		trk__change_find_phases(&ret->change, &times[0], &times[1], 1);
		name_lines(record);
		name_lines(before);
		r = trk__lines_change_of(before->lines, record->lines, &ret->lines);
		if (ret->lines.known)
			(void) snprintf(ret->lines_with, sizeof(ret->lines_with), "%s",
					then.run.id);
	}
	free(times);
	return r;
}

/* Lines of a figure that is as usual are left out as normal variation. */
static int compare_lines(const struct trk_service *s, const struct trk_job_runs *runs,
			 struct trk_record *record, struct trk_comparison *ret)
{
	int r;

	name_lines(record);
	r = trk__job_runs_lines(runs, s, record, &ret->lines, ret->lines_with);

	if (!trk__change_is_notable(&ret->change, TRK_CHANGE_DURATION) &&
	    !trk__change_is_notable(&ret->change, TRK_CHANGE_CPU))
		ret->lines.cpus = 0;
	if (!trk__change_is_notable(&ret->change, TRK_CHANGE_PEAK_MEMORY))
		ret->lines.memories = 0;
	return r;
}

int trk__compare_job(const struct trk_service *s, struct trk_history *h, struct trk_record *record,
		     struct trk_comparison *ret, struct trk_error *reterr)
{
	struct trk_job_runs runs;
	int r = trk__job_runs_read(s, h, NULL, record, &runs);
	size_t n;

	if (r < 0)
		return r;
	start(record, ret);
	trk__job_runs_change(&runs, &ret->change);
	n = ret->change.runs;
	(void) snprintf(ret->with, sizeof(ret->with), "the median of %zu earlier run%s of its job",
			n, n == 1 ? "" : "s");
	if (n == 0)
		ret->with[0] = '\0';
	if (runs.history_error < 0)
		r = trk__error_set(reterr, runs.history_error, NULL,
				   "%s: the earlier runs cannot be read: %s", ret->run,
				   trk__strerror(runs.history_error));
	else if (n == 0)
		r = trk__error_set(reterr, -TRK_ERR_NODATA, NULL,
				   "%s: the first run of %s: nothing to compare it with", ret->run,
				   ret->job);
	if (r == 0) {
		trk__job_runs_phases(&runs, s, record, &ret->change);
		r = compare_lines(s, &runs, record, ret);
	}
	trk__job_runs_release(&runs);
	return r;
}

/* ---- rules ---- */

struct rule {
	size_t figure;
	bool above;
	double share;
};

/* "duration>+5%" */
static int read_rule(const char *text, size_t len, struct rule *ret)
{
	char one[64], *end;
	size_t name, i = 0;

	(void) snprintf(one, sizeof(one), "%.*s", (int) (len < 63 ? len : 63), text);
	name = strcspn(one, "<>");
	while (i < TRK_CHANGE_FIGURES && (strlen(trk__change_names[i].key) != name ||
					  strncmp(trk__change_names[i].key, one, name) != 0))
		i++;
	if (i == TRK_CHANGE_FIGURES || !one[name])
		return -EINVAL;
	*ret = (struct rule){.figure = i, .above = one[name] == '>'};
	ret->share = strtod(one + name + 1, &end) / 100;
	if (end == one + name + 1 || strcmp(end, "%") != 0 || isnan(ret->share) ||
	    isinf(ret->share))
		return -EINVAL;
	return 0;
}

int trk__comparison_judge(struct trk_comparison *c, const char *rules, struct trk_error *reterr)
{
	int failed = 0;

	while (rules && *rules) {
		size_t len = strcspn(rules, ",");
		struct rule rule;
		double change;

		if (read_rule(rules, len, &rule) < 0)
			return trk__error_set(
				reterr, -EINVAL, NULL,
				"--fail-on %s: not of the form NAME>+PERCENT%% or "
				"NAME<-PERCENT%%, with duration, cpu, cpu_mean, peak_mem, "
				"disk_read or disk_write",
				rules);
		change = c->change.figure[rule.figure].share;
		if (!isnan(change) && (rule.above ? change > rule.share : change < rule.share)) {
			c->failed[rule.figure] = true;
			failed++;
		}
		rules += len;
		rules += *rules == ',';
	}
	return failed;
}

/* ---- output ---- */

const char *trk__comparison_words(const struct trk_comparison *c, size_t figure)
{
	if (c->failed[figure])
		return "over the bound";
	return trk__change_words(&c->change, (enum trk_change_figure) figure);
}

void trk__comparison_json(struct trk_buf *b, const struct trk_comparison *c)
{
	struct trk_json j;

	trk__json_begin(&j, b, 1, "resource-tracker.compare/1");
	trk__json_key_text(&j, "run", c->run);
	trk__json_key_or_null(&j, "with", c->with);
	trk__json_key_or_null(&j, "no_comparison_reason",
			      c->with[0] ? "" : "the first run of its job");
	trk__json_key_open(&j, "figures", '{');
	for (size_t i = 0; i < TRK_CHANGE_FIGURES; i++) {
		const char *words = trk__comparison_words(c, i);

		trk__json_key_open(&j, trk__change_names[i].key, '{');
		trk__json_key_double(&j, "before", c->change.figure[i].before);
		trk__json_key_double(&j, "now", c->change.figure[i].now);
		trk__json_key_double(&j, "change", c->change.figure[i].share);
		trk__json_key_double(&j, "noise", c->change.figure[i].noise_share);
		trk__json_key_or_null(&j, "words", words);
		trk__json_key_bool(&j, "failed", c->failed[i]);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, '}');
	trk__change_phases_json(&j, &c->change);
	trk__lines_change_json(&j, &c->lines);
	trk__json_key_or_null(&j, "lines_with", c->lines_with);
	trk__json_end(&j);
}
