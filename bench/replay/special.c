/* Further tests: the true time to failure, injected shifts of level, odd runs, and speed. */
#include "replay.h"

#include "advise/anomaly.h"

/* --- true time to failure
 * ---------------------------------------------------------------------- */

struct series {
	struct family *f;
	size_t step, run;
};

static void take_series(void *data, char *line)
{
	struct series *x = data;
	char *field[6], name[64];
	double peak = 0;

	if (fields_of(line, field, 6) < 6 || field[3][0] != 'm')
		return;
	(void) snprintf(name, sizeof(name), "kseg-%s", field[0]);
	for (const char *at = strchr(field[5], ':'); at; at = strchr(at + 1, ':'))
		peak = fmax(peak, strtod(at + 1, NULL));
	for (size_t i = 0; i < x->f->count; i++) {
		struct step *s = &x->f->step[i];

		if (strcmp(s->dataset, name) != 0 || strcmp(s->task, field[1]) != 0)
			continue;
		/* The peaks do not name the series: assign it to the first run of that peak that
		 * has none. */
		for (size_t k = 0; k < s->count; k++)
			if (!s->past[k].curve && fabs(s->past[k].y - peak) < 0.006) {
				s->past[k].curve = strdup(field[5]);
				x->run++;
				return;
			}
	}
}

void bench_failure(const char *folder)
{
	static const char *const datasets[] = {"kseg-eager", "kseg-sarek"};
	struct family f;
	struct series x = {.f = &f};

	family_read(folder, KSEG, 0, 200, &f);
	each_line(folder, "kseg_series.csv.gz", take_series, &x);
	printf("\nTrue time to failure (series found for %zu runs)\n\n| rule | eager | sarek |\n"
	       "|---|---|---|\n",
	       x.run);
	for (size_t r = 0; r < rule_count; r++) {
		printf("| %s |", rules[r].name);
		for (int d = 0; d < 2; d++) {
			struct score sum = {0};

			for (size_t i = 0; i < f.count; i++)
				if (strcmp(f.step[i].dataset, datasets[d]) == 0)
					score_step(&sum, &f.step[i], &rules[r], 1, SIZE_MAX, true);
			printf(" %.3f / %.1f |", sum.paid / sum.used,
			       100 * (double) sum.fails / (double) sum.runs);
		}
		printf("\n");
	}
}

/* --- shift of level
 * ---------------------------------------------------------------------------- */

void bench_shift(const char *folder)
{
	enum { BEFORE = 40, AFTER = 20, STEPS = 90 };
	static const double factors[] = {0.5, 2};
	struct family f;
	size_t steps = 0;

	family_read(folder, CWS, 0, 200, &f);
	printf("\nPeak times a factor from run %d on, the next %d runs scored; without input "
	       "size\n\n",
	       BEFORE + 1, AFTER);
	printf("| rule | x 0.5 | x 2 |\n|---|---|---|\n");
	for (size_t r = 0; r < rule_count; r++) {
		if (rules[r].needs_user)
			continue;
		printf("| %s |", rules[r].name);
		for (int k = 0; k < 2; k++) {
			struct score sum = {0};

			steps = 0;
			for (size_t i = 0; i < f.count && steps < STEPS; i++) {
				struct step s = f.step[i];

				if (s.count < BEFORE + AFTER)
					continue;
				steps++;
				s.count = BEFORE + AFTER;
				s.past = malloc(s.count * sizeof(*s.past));
				memcpy(s.past, f.step[i].past, s.count * sizeof(*s.past));
				for (size_t n = 0; n < s.count; n++) {
					s.past[n].x = NAN;
					s.past[n].user = NAN;
					s.past[n].y *= n >= BEFORE ? factors[k] : 1;
				}
				score_step(&sum, &s, &rules[r], BEFORE, SIZE_MAX, false);
				free(s.past);
			}
			printf(" %.3f / %.1f |", sum.paid / sum.used,
			       100 * (double) sum.fails / (double) sum.runs);
		}
		printf("\n");
	}
	printf("\n%zu steps\n", steps);
}

/* --- odd runs
 * ---------------------------------------------------------------------------------- */

enum { ODD_WINDOW = 20, ODD_INJECTED = 45, ODD_SOON = 3 };

static void repetitions_of(const struct step *s, struct repetitions *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < s->count; i++) {
		const struct past *p = &s->past[i];
		size_t at = 0;

		while (at < ret->count && strcmp(ret->run[at], p->run) != 0)
			at++;
		if (at == ODD_RUNS)
			continue; /* a later execution */
		if (at == ret->count)
			(void) snprintf(ret->run[ret->count++], sizeof(ret->run[0]), "%s", p->run);
		ret->value[0][at] += (p->t - ret->value[0][at]) / (double) ++ret->tasks[at];
		ret->value[1][at] = fmax(ret->value[1][at], p->y);
	}
}

static double mean_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum / (double) n;
}

bool repetitions_take(const struct step *s, struct repetitions *ret)
{
	repetitions_of(s, ret);
	return ret->count == ODD_RUNS && mean_of(ret->value[0], ODD_RUNS) >= ODD_SECONDS;
}

struct odd_score {
	size_t steps, judged[2], alarms[2], drifts[2], seen[2][2], soon[2][2];
};

static enum trk_anomaly_kind judge(const double *v, size_t at, double factor, double floor_share)
{
	struct trk_anomaly odd;

	if (trk__anomaly_judge(v + at - ODD_WINDOW, ODD_WINDOW, factor * v[at], floor_share, &odd) <
	    0)
		exit(3);
	return odd.kind;
}

/* Whether the injected shift of level is detected as an upward drift within three runs. */
static bool drifts(const double *v, double factor, double floor_share)
{
	double shifted[ODD_RUNS], drift;

	for (size_t k = 0; k < ODD_RUNS; k++)
		shifted[k] = v[k] * (k >= ODD_INJECTED ? factor : 1);
	for (size_t n = ODD_INJECTED + 1; n <= ODD_INJECTED + ODD_SOON; n++)
		if (trk__anomaly_drift(shifted, n, floor_share, &drift) == 0 && drift > 0)
			return true;
	return false;
}

static void score_odd(struct odd_score *sum, const double *v, int what)
{
	static const double factors[] = {1.1, 1.2};
	double floor_share = what ? TRK_ANOMALY_FLOOR_MEMORY : TRK_ANOMALY_FLOOR_TIME, drift;

	for (size_t k = ODD_WINDOW; k < ODD_RUNS; k++) {
		sum->judged[what]++;
		sum->alarms[what] += judge(v, k, 1, floor_share) != TRK_ANOMALY_NO;
		sum->drifts[what] +=
			trk__anomaly_drift(v, k + 1, floor_share, &drift) == 0 && drift != 0;
	}
	for (int f = 0; f < 2; f++) {
		sum->seen[what][f] +=
			judge(v, ODD_INJECTED, factors[f], floor_share) == TRK_ANOMALY_HIGH;
		sum->soon[what][f] += drifts(v, factors[f], floor_share);
	}
}

void bench_odd(const char *folder)
{
	struct family f;
	struct repetitions *r = malloc(sizeof(*r));
	struct odd_score s = {.steps = 0};

	family_read(folder, CWS, 0, SIZE_MAX, &f);
	for (size_t i = 0; i < f.count && r; i++) {
		if (!repetitions_take(&f.step[i], r))
			continue;
		s.steps++;
		for (int what = 0; what < 2; what++)
			score_odd(&s, r->value[what], what);
	}
	free(r);
	printf("\nOdd runs, %zu steps of %d s and more, window %d\n\n"
	       "| | false alarms %% | +10 %% seen at once | +20 %% | drift %% of runs | +10 %% "
	       "seen "
	       "as a drift within %d runs | +20 %% |\n|---|---|---|---|---|---|---|\n",
	       s.steps, ODD_SECONDS, ODD_WINDOW, ODD_SOON);
	for (int what = 0; what < 2; what++)
		printf("| %s | %.1f | %.0f | %.0f | %.1f | %.0f | %.0f |\n",
		       what ? "peak" : "run time",
		       100 * (double) s.alarms[what] / (double) s.judged[what],
		       100 * (double) s.seen[what][0] / (double) s.steps,
		       100 * (double) s.seen[what][1] / (double) s.steps,
		       100 * (double) s.drifts[what] / (double) s.judged[what],
		       100 * (double) s.soon[what][0] / (double) s.steps,
		       100 * (double) s.soon[what][1] / (double) s.steps);
}

/* --- speed
 * ------------------------------------------------------------------------------------- */

void bench_speed(void)
{
	enum { RUNS = 200, CALLS = 200 };
	struct trk_past_run runs[RUNS];
	struct trk_memory_options options = {.input_bytes = 123e6, .machine_bytes = NAN};
	struct trk_memory_advice advice;
	double start, worst = 0, sum = 0;

	for (int i = 0; i < RUNS; i++)
		runs[i] = past_run_of(1e9 + 1e6 * (i * 7919 % 211), 60, 1e8 + 1e6 * (i % 97), NAN,
				      i % 9 ? TRK_PAST_SUCCEEDED : TRK_PAST_FAILED);
	for (int i = 0; i < CALLS; i++) {
		double took;

		start = seconds_now();
		if (trk__memory_advise(runs, RUNS, &options, &advice) < 0)
			exit(3);
		took = seconds_now() - start;
		worst = fmax(worst, took);
		sum += took;
	}
	printf("\nOne call with %d runs, some of them failed: mean %.3f ms, worst of %d %.3f ms\n",
	       RUNS, 1e3 * sum / CALLS, CALLS, 1e3 * worst);
}
