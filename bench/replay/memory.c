/* Replays memory requests of all rules for all families. */
#include "replay.h"

static const struct rule *our_rule(void)
{
	return &rules[rule_count - 1];
}

static void cell(struct score s)
{
	if (s.runs == 0)
		printf(" - |");
	else
		printf(" %.3f / %.1f |", s.paid / s.used, 100 * (double) s.fails / (double) s.runs);
	(void) fflush(stdout);
}

void bench_memory(const char *folder, bool young)
{
	struct family f[FAMILIES];
	size_t last = young ? 9 : SIZE_MAX;

	printf("\n%s: memory-hours paid / used, failed attempts in %% of runs\n\n| rule |",
	       young ? "Runs 2 to 10" : "All runs from the second");
	for (int k = 0; k < FAMILIES; k++) {
		size_t runs = 0;

		family_read(folder, k, 10, 200, &f[k]);
		for (size_t i = 0; i < f[k].count; i++)
			runs += f[k].step[i].count;
		printf(" %s (%zu runs, %zu steps) |", f[k].name, runs, f[k].count);
	}
	printf("\n|---|---|---|---|---|\n");
	for (size_t r = 0; r < rule_count; r++) {
		printf("| %s |", rules[r].name);
		for (int k = 0; k < FAMILIES; k++)
			cell(score_family(&f[k], &rules[r], 1, last, false));
		printf("\n");
	}
}

/* --- the parameters, by leaving one family out
 * ------------------------------------------------- */

static void show_setting(const char *name, struct family *f)
{
	printf("| %s |", name);
	for (int k = 0; k < FAMILIES; k++) {
		cell(score_family(&f[k], our_rule(), 1, SIZE_MAX, false));
		cell(score_family(&f[k], our_rule(), 1, 9, false));
	}
	printf("\n");
}

void bench_choice(const char *folder)
{
	static const size_t joins[] = {1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 20};
	static const double lives[] = {30, 60, 120, 240, 1000};
	struct family f[FAMILIES];
	char name[64];

	printf("\nParameters: all runs, then runs 2 to 10, a family\n\n");
	for (int k = 0; k < FAMILIES; k++)
		family_read(folder, k, 10, 200, &f[k]);
	for (size_t i = 0; i < sizeof(joins) / sizeof(joins[0]); i++) {
		ours_reset();
		ours.tuning.join_after = joins[i];
		(void) snprintf(name, sizeof(name), "join after %zu", joins[i]);
		show_setting(name, f);
	}
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
		ours_reset();
		ours.tuning.half_life_runs = lives[i];
		(void) snprintf(name, sizeof(name), "half-life %g", lives[i]);
		show_setting(name, f);
	}
	for (unsigned int set = 0; set < 8; set++) {
		ours_reset();
		ours.tuning.predictors = set << 1;
		(void) snprintf(name, sizeof(name), "max%s%s%s", set & 1 ? "+average" : "",
				set & 2 ? "+line" : "", set & 4 ? "+alike" : "");
		show_setting(name, f);
	}
	ours_reset();
}
