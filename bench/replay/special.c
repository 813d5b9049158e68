/* The true time to failure, injected shifts of level, odd runs, speed. */
#include "replay.h"

#include "advise/odd.h"

/* --- true time to failure ---------------------------------------------------------------------- */

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
		/* The peaks carry no key of the series: the first run of that peak without one. */
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

/* --- shift of level ---------------------------------------------------------------------------- */

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

/* --- odd runs ---------------------------------------------------------------------------------- */

/* Whether the first `count` runs are one of each execution: the same work again and again. */
static bool repeats(const struct step *s, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(s->past[i].run, s->past[k].run) == 0)
				return false;
	return true;
}

void bench_odd(const char *folder)
{
	enum { RUNS = 60, WINDOW = 20, INJECTED = 45, STEPS = 74 };
	struct family f;
	size_t steps = 0, judged[2] = {0}, alarms[2] = {0}, seen[2] = {0};

	family_read(folder, CWS, 0, 200, &f);
	for (size_t i = 0; i < f.count && steps < STEPS; i++) {
		const struct step *s = &f.step[i];

		if (s->count < RUNS || !repeats(s, RUNS))
			continue;
		steps++;
		for (int what = 0; what < 2; what++) {
			double v[RUNS];
			struct trk_odd odd;

			for (size_t k = 0; k < RUNS; k++)
				v[k] = what ? s->past[k].y : s->past[k].t;
			for (size_t k = WINDOW; k < RUNS; k++) {
				double floor = what ? TRK_ODD_FLOOR_MEMORY : TRK_ODD_FLOOR_TIME;

				if (trk__odd_judge(v + k - WINDOW, WINDOW, v[k], floor, &odd) < 0)
					exit(3);
				judged[what]++;
				alarms[what] += odd.verdict != TRK_ODD_NO;
				if (k != INJECTED)
					continue;
				if (trk__odd_judge(v + k - WINDOW, WINDOW, 1.2 * v[k], floor,
						   &odd) < 0)
					exit(3);
				seen[what] += odd.verdict == TRK_ODD_HIGH;
			}
		}
	}
	printf("\nOdd runs, %zu steps, window %d: run time / peak\n\n"
	       "| false alarms %% | +20 %% seen at once %% |\n|---|---|\n| %.1f / %.1f | %.0f / "
	       "%.0f |\n",
	       steps, WINDOW, 100 * (double) alarms[0] / (double) judged[0],
	       100 * (double) alarms[1] / (double) judged[1],
	       100 * (double) seen[0] / (double) steps, 100 * (double) seen[1] / (double) steps);
}

/* --- speed ------------------------------------------------------------------------------------- */

void bench_speed(void)
{
	enum { RUNS = 200, CALLS = 200 };
	struct trk_past_run runs[RUNS];
	struct trk_memory_options options = {.input_bytes = 123e6, .machine_bytes = NAN};
	struct trk_memory_advice advice;
	double start, worst = 0, sum = 0;

	for (int i = 0; i < RUNS; i++)
		runs[i] = (struct trk_past_run){1e9 + 1e6 * (i * 7919 % 211), 60,
						1e8 + 1e6 * (i % 97), NAN,
						i % 9 ? TRK_PAST_SUCCEEDED : TRK_PAST_FAILED};
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
