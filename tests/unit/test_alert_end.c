/* The rules that are checked after a run, on a synthetic site: 200 jobs of 23 users over 90 days,
 * with planted faults. Each run is checked when it has ended; users receive alerts as the program
 * sends them, and a digest each Monday. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "alert/end_rules.h"

#include "fleet_synthetic.h"
#include "skip.h"

enum {
	JOBS = 200,
	USERS = 23,
	DAYS = 90,
	GROWING = 14, /* 0 .. 13: reach their request at some day */
	STEPS = 64,   /* 14 .. 63: take 20 % longer from some run on */
	BROKEN = 70,  /* 64 .. 69: fail for good from some day on */
	FULL = 110,   /* 70 .. 109: use all that they ask for */
	STARTS_MAX = 400,
};
#define DAY 86400.0

static double begin_s(void)
{
	return SYNTHETIC_NOW - DAYS * DAY;
}

/* One user: what is known, what was sent. */
struct user {
	struct trk_alert_book book;
	struct trk_alert_route route;
	double sent[STARTS_MAX];
	size_t count;
};

/* One job, and what it has come to. */
struct site_job {
	struct synthetic_job is;
	struct trk_fleet_rows rows;
	double next_s, every_s, fault_day;
	double told_s, first_oom_s; /* NaN: not yet */
	size_t runs, step_at;       /* runs; the first of the new level */
	bool seen_slow;
	size_t false_slow;
};

static struct user users[USERS];
static struct site_job jobs[JOBS];
static struct synthetic random_state;
static uint64_t seed;
static size_t full_told;

/* Each job runs; where memory is checked, each third, of a third of the users. */
static size_t step(void)
{
	return checks_memory() ? 3 : 1;
}

static bool runs_here(size_t at)
{
	return at % step() == 0;
}

/* How many of the jobs `from` to `to` run. */
static size_t running(size_t from, size_t to)
{
	size_t n = 0;

	for (size_t at = from; at < to; at++)
		n += runs_here(at);
	return n;
}

static void take_job(size_t at)
{
	const struct truth plain = {.seed = 1};
	struct site_job *j = &jobs[at];

	synthetic_job_make(&random_state, at + 100, &plain, &j->is);
	trk__fleet_rows_init(&j->rows, begin_s(), 0);
	j->every_s = DAY * (0.6 + 0.8 * synthetic_uniform(&random_state));
	j->next_s = begin_s() + j->every_s * synthetic_uniform(&random_state);
	if (!runs_here(at))
		j->next_s = INFINITY;
	j->told_s = j->first_oom_s = NAN;
	j->fault_day = 40 + 48 * synthetic_uniform(&random_state);
	if (at >= GROWING && at < STEPS)
		j->step_at = 25 + (size_t) (35 * synthetic_uniform(&random_state));
}

/* The next run of a job, as its recording would have it. */
static void fill_run(size_t at, struct trk_past_run *run)
{
	const struct truth plain = {.failing_share = 0.01};
	struct site_job *j = &jobs[at];
	double day = (j->next_s - begin_s()) / DAY, mib;
	static struct synthetic one;

	one.count = 0;
	one.state = random_state.state;
	synthetic_run(&one, at + 100, j->next_s, &plain, &j->is);
	random_state.state = one.state;
	*run = one.run[0];
	run->job = synthetic_text(&one, "job-%03zu", at);
	(void) snprintf(run->id, sizeof(run->id), "r-%03zu-%zu", at, j->runs);
	if (at < GROWING) {
		mib = j->is.asked_mib * exp(0.0065 * (day - j->fault_day)) *
		      exp(0.006 * synthetic_normal(&random_state));
		run->memory.bytes = fmin(mib, j->is.asked_mib) * TRK_MIB;
		if (mib >= j->is.asked_mib) {
			run->end_name = "out_of_memory";
			run->code = -1;
		}
	}
	if (j->step_at && j->runs >= j->step_at)
		run->duration_s *= 1.2;
	if (at >= STEPS && at < BROKEN && day > j->fault_day)
		run->code = 3;
	if (at >= BROKEN && at < FULL)
		run->memory.bytes = TRK_MIB * j->is.asked_mib *
				    (0.97 + 0.01 * synthetic_uniform(&random_state));
	run->end = trk__past_run_end(run);
}

static void note_told(struct user *u, double at_s)
{
	for (size_t i = 0; i < u->book.count; i++) {
		const struct trk_alert_entry *e = &u->book.entry[i];
		size_t at = (size_t) strtoul(e->job + 4, NULL, 10);

		if (e->told[0].at_s != at_s)
			continue;
		if (!strcmp(e->rule, "will-fail") && isnan(jobs[at].told_s))
			jobs[at].told_s = at_s;
		/* That run times make no false alarms is another test. */
		full_told += at >= BROKEN && at < FULL && strcmp(e->rule, "slower") != 0;
	}
	assert_true(u->count < STARTS_MAX);
	u->sent[u->count++] = at_s;
}

static void judge_run(size_t at, double now_s)
{
	struct user *u = &users[at / step() % (USERS / step())];
	struct site_job *j = &jobs[at];
	struct trk_alert_end ends[TRK_ALERT_END_RULES];
	static struct trk_alert_message m;
	struct trk_fleet_job made;

	j->rows.now_s = now_s;
	assert_int_equal(trk__fleet_rows_sort(&j->rows), 0);
	assert_int_equal(trk__fleet_job_make(&j->rows, 0, now_s - 30 * DAY, &made), 0);
	trk__alert_end_judge(&j->rows, &made, ends);
	for (int i = 0; i < TRK_ALERT_END_RULES; i++) {
		struct trk_alert_news news = trk__alert_end_news(&j->rows, &made, &ends[i]);
		const struct trk_alert_entry *e = trk__alert_book_take(&u->book, &news, now_s);

		if (i != TRK_ALERT_END_SLOWER || !e || !news.firing || e->opened_s != now_s)
			continue;
		if (j->step_at && j->runs >= j->step_at && j->runs < j->step_at + 3)
			j->seen_slow = true;
		else if (!j->step_at || j->runs < j->step_at)
			j->false_slow++;
	}
	if (trk__alert_book_collect(&u->book, &u->route, true, now_s, &m))
		note_told(u, now_s);
}

static void send_digests(double now_s)
{
	for (size_t i = 0; i < USERS; i++) {
		struct user *u = &users[i];

		if (!trk__alert_book_digest_has_news(&u->book, &u->route, now_s) ||
		    !trk__alert_book_digest_due(&u->book, &u->route, now_s))
			continue;
		trk__alert_book_digest_told(&u->book, &u->route, NULL, now_s);
		note_told(u, now_s);
	}
}

static size_t soonest(void)
{
	size_t at = 0;

	for (size_t i = 1; i < JOBS; i++)
		if (jobs[i].next_s < jobs[at].next_s)
			at = i;
	return at;
}

static int play(void **state)
{
	double digest_s = begin_s() + 1.33 * DAY; /* a Monday, 8:00 */

	random_state = (struct synthetic){.state = seed};
	full_told = 0;
	memset(users, 0, sizeof(users));
	memset(jobs, 0, sizeof(jobs));
	for (size_t i = 0; i < USERS; i++) {
		users[i].route = (struct trk_alert_route){.kind = "mail", .key = (uint32_t) i};
		assert_int_equal(trk__alert_book_init(&users[i].book), 0);
	}
	for (size_t i = 0; i < JOBS; i++)
		take_job(i);
	for (size_t at; at = soonest(), jobs[at].next_s < SYNTHETIC_NOW;) {
		struct site_job *j = &jobs[at];
		static struct trk_past_run run;

		for (; digest_s < j->next_s; digest_s += 7 * DAY)
			send_digests(digest_s);
		fill_run(at, &run);
		j->rows.now_s = run.start_s + run.duration_s;
		assert_int_equal(trk__fleet_rows_add(&j->rows, &run), 0);
		if (at < GROWING && run.code < 0 && isnan(j->first_oom_s))
			j->first_oom_s = run.start_s;
		judge_run(at, run.start_s + run.duration_s);
		j->runs++;
		j->next_s += j->every_s * (0.7 + 0.6 * synthetic_uniform(&random_state));
	}
	return 0;
}

static int release(void **state)
{
	for (size_t i = 0; i < USERS; i++)
		trk__alert_book_release(&users[i].book);
	for (size_t i = 0; i < JOBS; i++)
		trk__fleet_rows_release(&jobs[i].rows);
	return 0;
}

static void a_growing_job_is_told_of_before_it_runs_out_of_memory(void **state)
{
	size_t killed = 0;
	double least = 1e9;

	for (size_t i = 0; i < GROWING; i++) {
		if (isnan(jobs[i].first_oom_s))
			continue;
		killed++;
		print_message("# job-%03zu out of memory %.1f days after it was told\n", i,
			      (jobs[i].first_oom_s - jobs[i].told_s) / DAY);
		assert_true(jobs[i].told_s < jobs[i].first_oom_s);
		least = fmin(least, jobs[i].first_oom_s - jobs[i].told_s);
	}
	assert_true(killed * GROWING >= 10 * running(0, GROWING));
	assert_true(least > DAY);
	/* And of no other is it said that it will fail. */
	for (size_t i = GROWING; i < JOBS; i++)
		assert_true(isnan(jobs[i].told_s));
}

static void cool_downs_keep_the_messages_of_a_user_few(void **state)
{
	size_t all = 0, most = 0;

	for (size_t i = 0; i < USERS; i++) {
		const struct user *u = &users[i];

		all += u->count;
		for (size_t k = 0; k < u->count; k++) {
			size_t n = 0;

			while (k + n < u->count && u->sent[k + n] < u->sent[k] + 7 * DAY)
				n++;
			most = n > most ? n : most;
		}
	}
	print_message("# %zu messages to %zu users in %d days, at most %zu a week\n", all,
		      USERS / step(), DAYS, most);
	assert_true(all >= 10);
	/* Without a limit of their number: one a week on average, and a few in a bad week. */
	assert_true(all <= USERS / step() * DAYS / 7);
	assert_true(most <= 4);
}

static void a_job_that_uses_what_it_asks_for_is_left_alone(void **state)
{
	assert_int_equal(full_told, 0);
}

static void a_fifth_more_run_time_is_told_within_three_runs(void **state)
{
	size_t seen = 0, wrong = 0, runs = 0, steps = running(GROWING, STEPS);

	for (size_t i = 0; i < JOBS; i++) {
		if (!runs_here(i))
			continue;
		seen += jobs[i].seen_slow;
		wrong += jobs[i].false_slow;
		runs += jobs[i].step_at ? jobs[i].step_at : jobs[i].runs;
	}
	print_message("# %zu of %zu steps seen, %zu false in %zu runs\n", seen, steps, wrong, runs);
	assert_true(seen * 100 >= 85 * steps);
	assert_true(wrong * 100 <= 3 * runs);
}

static void a_job_that_fails_for_good_is_told(void **state)
{
	size_t open = 0;

	for (size_t i = 0; i < USERS; i++)
		for (size_t k = 0; k < users[i].book.count; k++) {
			const struct trk_alert_entry *e = &users[i].book.entry[k];
			size_t at = (size_t) strtoul(e->job + 4, NULL, 10);

			if (!strcmp(e->rule, "failing-again") && at >= STEPS && at < BROKEN &&
			    isnan(e->ended_s) && e->told[0].sink[0])
				open++;
		}
	assert_int_equal(open, running(STEPS, BROKEN));
}

/* Two jobs that cost $7 and $3 each day, on so many days up to today, 22 November. */
static void make_month(size_t days, struct trk_fleet_rows *rows)
{
	static struct trk_past_run run;

	trk__fleet_rows_init(rows, SYNTHETIC_NOW + 8 * 3600, 0);
	for (size_t i = 0; i < 2 * days; i++) {
		past_run_init(&run);
		(void) snprintf(run.id, sizeof(run.id), "r-%zu", i);
		run.job = i % 2 ? "small" : "large";
		run.kind = "run";
		run.end_name = "exited";
		run.code = 0;
		run.ended = true;
		run.start_s = SYNTHETIC_NOW + 3600 - (double) (i / 2) * DAY;
		run.duration_s = 600;
		run.cost_usd = i % 2 ? 3 : 7;
		assert_int_equal(trk__fleet_rows_add(rows, &run), 0);
	}
	assert_int_equal(trk__fleet_rows_sort(rows), 0);
}

static void the_month_is_expected_to_go_on_as_its_days_do(void **state)
{
	struct trk_fleet_rows rows;
	struct trk_alert_end end;

	make_month(40, &rows);
	assert_int_equal(trk__alert_end_budget(&rows, 299, &end), 0);
	assert_true(end.firing);
	assert_float_equal(end.value, 300, 1e-6);
	assert_string_equal(end.text,
			    "this month is expected to cost $300, the budget is $299; $220 "
			    "is spent. Most in 30 days: large $210, small $90");
	assert_int_equal(trk__alert_end_budget(&rows, 301, &end), 0);
	assert_false(end.firing);
	assert_int_equal(trk__alert_end_budget(&rows, 200, &end), 0);
	assert_non_null(strstr(end.text, "this month has cost $220, the budget is $200. Most"));
	trk__fleet_rows_release(&rows);
}

static void less_than_two_weeks_are_no_forecast_but_what_is_spent_counts(void **state)
{
	struct trk_fleet_rows rows;
	struct trk_alert_end end;

	make_month(14, &rows); /* 13 whole ones, and today */
	assert_int_equal(trk__alert_end_budget(&rows, 141, &end), 0);
	assert_false(end.firing);
	assert_int_equal(trk__alert_end_budget(&rows, 139, &end), 0);
	assert_true(end.firing);
	trk__fleet_rows_release(&rows);
	make_month(15, &rows);
	assert_int_equal(trk__alert_end_budget(&rows, 229, &end), 0);
	assert_true(end.firing); /* 150 of it is spent */
	assert_float_equal(end.value, 230, 1e-6);
	trk__fleet_rows_release(&rows);
}

static void the_budget_is_told_once_a_month(void **state)
{
	const struct trk_alert_route mail = {.kind = "mail", .key = 1};
	struct trk_alert_book book;
	struct trk_fleet_rows rows;
	struct trk_alert_end end;
	struct trk_alert_news news;
	size_t told = 0;

	make_month(40, &rows);
	assert_int_equal(trk__alert_book_init(&book), 0);
	assert_int_equal(trk__alert_end_budget(&rows, 299, &end), 0);
	/* From 22 November to 31 December. */
	for (unsigned int day = 0; day < 40; day++) {
		double now_s = rows.now_s + day * DAY;
		struct trk_alert_entry *e;

		news = trk__alert_end_news(&rows, NULL, &end);
		news.new_s = day < 9 ? end.new_s : end.new_s + 30 * DAY;
		e = trk__alert_book_take(&book, &news, now_s);
		assert_non_null(e);
		if (!trk__alert_book_is_due(&book, e, &mail, now_s))
			continue;
		trk__alert_book_told(e, &mail, now_s);
		assert_true(day == 0 || day == 30);
		told++;
	}
	assert_int_equal(told, 2);
	assert_string_equal(book.entry[0].job, "");
	/* Without a budget nobody hears of it again. */
	trk__alert_book_age(&book, rows.now_s + 48 * DAY);
	assert_true(book.entry[0].ended_s > 0);
	trk__alert_book_release(&book);
	trk__fleet_rows_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_growing_job_is_told_of_before_it_runs_out_of_memory),
		cmocka_unit_test(cool_downs_keep_the_messages_of_a_user_few),
		cmocka_unit_test(a_job_that_uses_what_it_asks_for_is_left_alone),
		cmocka_unit_test(a_fifth_more_run_time_is_told_within_three_runs),
		cmocka_unit_test(a_job_that_fails_for_good_is_told),
	};
	const struct CMUnitTest budget[] = {
		cmocka_unit_test(the_month_is_expected_to_go_on_as_its_days_do),
		cmocka_unit_test(less_than_two_weeks_are_no_forecast_but_what_is_spent_counts),
		cmocka_unit_test(the_budget_is_told_once_a_month),
	};
	int failed = cmocka_run_group_tests(budget, NULL, NULL);

	/* Two sites, so that what holds does not hold by chance; one where memory is checked. */
	for (seed = 11; seed <= (checks_memory() ? 11 : 12); seed++)
		failed += cmocka_run_group_tests(tests, play, release);
	return failed;
}
