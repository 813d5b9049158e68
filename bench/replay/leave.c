/* Chooses parameters on three families and scores them on the fourth.
 *
 * The score is the price that the method minimises at the default risk: the memory-hours paid, plus
 * the memory-hours of a run for each of its failures, per memory-hour used. It is the mean of the
 * scores of all runs and of runs 2 to 10. The first of equally good settings is chosen. */
#include "replay.h"

enum { SETTINGS_MAX = 40, SAME = 10000 }; /* equal to the fourth decimal */

struct setting {
	char name[64];
	double price[FAMILIES];
};

struct leave {
	const char *what;
	struct family family[FAMILIES];
	struct setting setting[SETTINGS_MAX];
	size_t count;
};

static double price_of(struct score s)
{
	return (s.paid + s.lost) / s.used;
}

/* Score our rule with the current settings, and restore the defaults. */
static void take_setting(struct leave *l, const char *name)
{
	const struct rule *rule = &rules[rule_count - 1];
	struct setting *s = &l->setting[l->count++];

	(void) snprintf(s->name, sizeof(s->name), "%s", name);
	printf("| %s |", s->name);
	for (int k = 0; k < FAMILIES; k++) {
		double all = price_of(score_family(&l->family[k], rule, 1, SIZE_MAX, false));
		double young = price_of(score_family(&l->family[k], rule, 1, 9, false));

		s->price[k] = (all + young) / 2;
		printf(" %.4f / %.4f |", all, young);
	}
	printf("\n");
	(void) fflush(stdout);
	ours_reset();
}

static void begin(struct leave *l, const char *what)
{
	l->what = what;
	l->count = 0;
	printf("\n| %s |", what);
	for (int k = 0; k < FAMILIES; k++)
		printf(" %s, all / runs 2 to 10 |", l->family[k].name);
	printf("\n|---|---|---|---|---|\n");
}

/* The best of the settings for all families except `left`. */
static const struct setting *chosen(const struct leave *l, int left)
{
	const struct setting *best = &l->setting[0];
	double least = INFINITY;

	for (size_t i = 0; i < l->count; i++) {
		double sum = 0;

		for (int k = 0; k < FAMILIES; k++)
			sum += k == left ? 0 : l->setting[i].price[k];
		sum = round(sum * SAME);
		if (sum < least) {
			least = sum;
			best = &l->setting[i];
		}
	}
	return best;
}

static void end(const struct leave *l)
{
	printf("\n");
	for (int left = 0; left < FAMILIES; left++) {
		const struct setting *s = chosen(l, left);

		printf("without %s: %s; there %.4f (the first line: %.4f)\n", family_names[left],
		       s->name, s->price[left], l->setting[0].price[left]);
	}
}

void bench_leave(const char *folder)
{
	static const double owns[] = {0, 0.25, 0.5, 0.75}, fars[] = {0, 0.05, 0.1, 0.2},
			    chances[] = {1, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05};
	static struct leave l;
	char name[64];

	for (int k = 0; k < FAMILIES; k++)
		family_read(folder, k, 10, 200, &l.family[k]);
	begin(&l, "law of records");
	for (size_t i = 0; i < sizeof(owns) / sizeof(owns[0]); i++)
		for (size_t k = 0; k < sizeof(fars) / sizeof(fars[0]); k++) {
			ours.tuning.record_own = owns[i];
			ours.tuning.record_far = fars[k];
			(void) snprintf(name, sizeof(name), "own gap %g, far %g", owns[i], fars[k]);
			take_setting(&l, name);
		}
	end(&l);
	begin(&l, "chance of exceeding at most");
	for (size_t i = 0; i < sizeof(chances) / sizeof(chances[0]); i++) {
		ours.tuning.chance_max = chances[i];
		(void) snprintf(name, sizeof(name), "%g", chances[i]);
		take_setting(&l, name);
	}
	end(&l);
}
