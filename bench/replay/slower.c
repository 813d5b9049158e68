/* Tests the alert rule `slower` on recorded run times. It uses the structs of src/fleet and the
 * list of sent alerts, in the way `alerts check` checks a job after each of its runs. */
#include "replay.h"

#include "alert/end_rules.h"
#include "fleet/job.h"

#define HOUR_S 3600.0
enum { FIRST_JUDGED = 20, CHANGED = 45, SOON = 3, FACTORS = 3 };

struct slower_score {
	size_t seen, judged, wrong;
};

static void add_run(struct trk_fleet_rows *rows, const struct repetitions *r, size_t at,
		    double factor)
{
	struct trk_past_run run = past_run_of(r->value[1][at] * MIB, factor * r->value[0][at], NAN,
					      NAN, TRK_PAST_SUCCEEDED);

	run.start_s = (double) (at + 1) * 6 * HOUR_S;
	run.samples = 100;
	run.ended = true;
	run.job = "job";
	run.end_name = "exited";
	(void) snprintf(run.id, sizeof(run.id), "r-%zu", at);
	rows->now_s = run.start_s + run.duration_s;
	if (trk__fleet_rows_add(rows, &run) < 0 || trk__fleet_rows_sort(rows) < 0)
		exit(3);
}

/* Whether the rule fires at the newest run. */
static bool opens(const struct trk_fleet_rows *rows, struct trk_alert_book *book)
{
	struct trk_alert_end end[TRK_ALERT_END_RULES];
	const struct trk_alert_entry *e;
	struct trk_alert_news news;
	struct trk_fleet_job job;

	if (trk__fleet_job_make(rows, 0, 0, &job) < 0)
		exit(3);
	trk__alert_end_judge(rows, &job, end);
	news = trk__alert_end_news(rows, &job, &end[TRK_ALERT_END_SLOWER]);
	e = trk__alert_book_take(book, &news, rows->now_s);
	return e && news.firing && e->opened_s == rows->now_s;
}

/* One history, whose run times are multiplied by the factor from run 45 on; 1: unchanged. */
static void play(const struct repetitions *r, double factor, struct slower_score *sum)
{
	struct trk_fleet_rows rows;
	struct trk_alert_book book;
	bool seen = false;

	if (trk__alert_book_init(&book) < 0)
		exit(3);
	trk__fleet_rows_init(&rows, 0, 0);
	for (size_t at = 0; at < (factor > 1 ? CHANGED + SOON : ODD_RUNS); at++) {
		bool now;

		add_run(&rows, r, at, at < CHANGED ? 1 : factor);
		now = opens(&rows, &book);
		seen = seen || (now && at >= CHANGED);
		sum->judged += factor <= 1 && at >= FIRST_JUDGED;
		sum->wrong += factor <= 1 && at >= FIRST_JUDGED && now;
	}
	sum->seen += seen;
	trk__fleet_rows_release(&rows);
	trk__alert_book_release(&book);
}

bool bench_slower(const char *folder)
{
	static const double factors[FACTORS] = {1, 1.1, 1.2};
	struct repetitions *r = malloc(sizeof(*r));
	struct slower_score score[FACTORS] = {{0}};
	struct family f;
	size_t steps = 0;

	family_read(folder, CWS, 0, SIZE_MAX, &f);
	for (size_t i = 0; i < f.count && r; i++) {
		if (!repetitions_take(&f.step[i], r))
			continue;
		steps++;
		for (int k = 0; k < FACTORS; k++)
			play(r, factors[k], &score[k]);
	}
	free(r);
	printf("\nslower, %zu steps of %d s and more, a new level of run time from run %d on\n\n"
	       "| false alerts, %% of runs | +10 %% within %d runs, %% of steps | +20 %% |\n"
	       "|---|---|---|\n| %.1f | %.0f | %.0f |\n",
	       steps, ODD_SECONDS, CHANGED, SOON,
	       100 * (double) score[0].wrong / (double) score[0].judged,
	       100 * (double) score[1].seen / (double) steps,
	       100 * (double) score[2].seen / (double) steps);
	return score[2].seen * 100 >= 85 * steps && score[0].wrong * 100 <= 3 * score[0].judged;
}
