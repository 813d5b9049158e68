/* Replays time limits as `recommend` sees them: an attempt that reaches its limit enters the
 * history as a run that a time limit ended, before the retry is requested. */
#include "replay.h"

#include "advise/time.h"

enum { RUNS_MIN = 3, RUNS_MAX = 200, ATTEMPTS_MAX = 60 };

static const double minute_s = 60, long_s = 300;

struct sum {
	size_t runs, killed, long_runs, long_killed;
	double limit_s, used_s, said;
};

static struct trk_past_run row_of(const struct past *p, double limit_s, bool killed)
{
	struct trk_past_run row = past_run_of(NAN, killed ? limit_s : p->t, p->x * MIB, NAN,
					      killed ? TRK_PAST_STOPPED : TRK_PAST_SUCCEEDED);

	row.end_name = killed ? "timeout" : "exited";
	row.capacity[TRK_RESOURCE_TIME_S].value = limit_s;
	return row;
}

/* A rule: the limit before it is rounded up to whole minutes, and the stated chance. */
typedef double rule_fn(const struct trk_past_run *rows, size_t count, double input_bytes,
		       double *ret_chance);

static double newest_twice(const struct trk_past_run *rows, size_t count, double input_bytes,
			   double *ret_chance)
{
	(void) input_bytes;
	*ret_chance = NAN;
	return 2 * rows[count - 1].duration_s;
}

static double longest_twice(const struct trk_past_run *rows, size_t count, double input_bytes,
			    double *ret_chance)
{
	double most = 0;

	(void) input_bytes;
	*ret_chance = NAN;
	for (size_t i = 0; i < count; i++)
		if (rows[i].duration_s > most)
			most = rows[i].duration_s;
	return 2 * most;
}

static double of_advice(const struct trk_past_run *rows, size_t count, double input_bytes,
			double *ret_chance)
{
	struct trk_time_advice a;

	if (trk__time_advise(rows, count, input_bytes, &a) < 0)
		exit(3);
	*ret_chance = a.chance_exceed;
	return a.exact_s;
}

static double rounded(double limit_s)
{
	return ceil(limit_s / minute_s) * minute_s;
}

/* The runs of one step, from the second on. */
static void replay_step(struct sum *sum, const struct step *s, rule_fn *rule, bool input)
{
	struct trk_past_run *rows = calloc(s->count * ATTEMPTS_MAX, sizeof(*rows));
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct past p = s->past[i];
		double chance = NAN, limit_s = INFINITY;

		if (!input)
			p.x = NAN;
		for (int attempt = 0; i > 0 && attempt < ATTEMPTS_MAX - 1; attempt++) {
			double said;
			size_t shown = n < RUNS_MAX ? n : RUNS_MAX;

			limit_s = rule(rows + n - shown, shown, p.x * MIB, &said);
			if (attempt == 0) {
				chance = said;
				sum->limit_s += limit_s;
			}
			if (rounded(limit_s) >= p.t)
				break;
			if (attempt == 0) {
				sum->killed++;
				sum->long_killed += p.t >= long_s;
			}
			rows[n++] = row_of(&p, rounded(limit_s), true);
		}
		rows[n++] = row_of(&p, limit_s, false);
		if (i == 0)
			continue;
		sum->runs++;
		sum->long_runs += p.t >= long_s;
		sum->used_s += p.t;
		sum->said += chance;
	}
	free(rows);
}

static struct sum replay(const struct family *f, rule_fn *rule, bool input)
{
	struct sum sum = {0};

	for (size_t i = 0; i < f->count; i++)
		if (f->step[i].count >= RUNS_MIN)
			replay_step(&sum, &f->step[i], rule, input);
	return sum;
}

static double percent(size_t part, size_t all)
{
	return all ? 100 * (double) part / (double) all : NAN;
}

bool bench_time(const char *folder)
{
	static const struct {
		const char *name;
		rule_fn *rule;
		bool input, is_judged;
	} rules_of_time[] = {
		{"twice the newest run", newest_twice, false, false},
		{"twice the longest run", longest_twice, false, false},
		{"ours, no input size", of_advice, false, false},
		{"**ours**", of_advice, true, true},
	};
	static const double killed_most = 0.5, limit_most = 2.5; /* the goal */
	bool met = true;

	printf("\n## Time limits\n\nLimit / time used before rounding to whole minutes; runs "
	       "killed %%, those of 5 minutes and more %%; stated chance %%\n\n"
	       "| rule | cws | kseg | tovar | wfc |\n|---|---|---|---|---|\n");
	for (size_t k = 0; k < sizeof(rules_of_time) / sizeof(rules_of_time[0]); k++) {
		printf("| %s |", rules_of_time[k].name);
		for (int i = 0; i < FAMILIES; i++) {
			struct family f;
			struct sum s;

			family_read(folder, i, 10, RUNS_MAX, &f);
			s = replay(&f, rules_of_time[k].rule, rules_of_time[k].input);
			printf(" %.2f; %.2f, %.2f; %.2f |", s.limit_s / s.used_s,
			       percent(s.killed, s.runs), percent(s.long_killed, s.long_runs),
			       100 * s.said / (double) s.runs);
			if (rules_of_time[k].is_judged)
				met &= s.limit_s <= limit_most * s.used_s &&
				       percent(s.killed, s.runs) <= killed_most;
		}
		printf("\n");
	}
	printf("\nGoal: at most %.1f %% killed at %.1f times the time used: %s\n", killed_most,
	       limit_most, met ? "met" : "MISSED");
	return met;
}
