/* Replays memory requests as `recommend` sees them: every attempt with too little memory enters the
 * history as a run that was killed at its limit, before the retry is requested. A table cell has
 * memory-hours paid / used, runs that failed at least once in %, failed attempts in % of runs. */
#include "replay.h"

#include "answer/advice.h"

enum {
	RUNS_MIN = 3, /* shortest history of a step that is replayed */
	ATTEMPTS_MAX = 60,
	EXECUTIONS = 10, /* of each cws workflow */
};

/* --- one job
 * ----------------------------------------------------------------------------------- */

/* The history of one job, oldest first. */
struct past_log {
	struct trk_past_run *row;
	size_t count, cap;
};

static struct trk_past_run row_of(const struct past *p, double limit_mib, bool killed)
{
	struct trk_past_run row =
		past_run_of((killed ? limit_mib : p->y) * MIB, p->t, ours.input ? p->x * MIB : NAN,
			    limit_mib * MIB, killed ? TRK_PAST_OUT_OF_MEMORY : TRK_PAST_SUCCEEDED);

	if (p->tag && ours.group)
		row.tags = p->tag;
	return row;
}

static void log_add(struct past_log *log, struct trk_past_run row)
{
	if (log->count == log->cap) {
		log->cap = log->cap ? 2 * log->cap : 256;
		log->row = realloc(log->row, log->cap * sizeof(*log->row));
	}
	log->row[log->count++] = row;
}

/* The answer of `recommend` before this run, in MiB; *ret_chance: that the run needs more. */
static double advised(const struct past_log *log, const struct past *next, double *ret_chance)
{
	size_t n = log->count < ours.rows_max ? log->count : ours.rows_max;
	struct trk_memory_options options = {.risk = ours.risk,
					     .input_bytes = ours.input ? next->x * MIB : NAN,
					     .machine_bytes = NAN,
					     .tuning = &ours.tuning};
	struct trk_past_run like = row_of(next, NAN, false);
	struct trk_memory_advice advice;
	struct trk_alike alike;

	if (trk__advice_memory(log->row + log->count - n, n, ours.group ? like.tags : NULL,
			       &options, &alike, &advice) < 0)
		exit(3);
	*ret_chance = advice.chance_exceed;
	return advice.request_bytes / MIB;
}

/* --- the stated chance --- */

/* Runs by the number of runs before them, and by their input over the largest before them. */
enum { YOUNG_RUNS = 9, INPUTS = 6 };
static const double input_most[INPUTS] = {1.05, 1.2, 1.5, 2, 4, INFINITY};
static struct chance_class {
	size_t runs, failed;
	double said;
} chance_class[2][INPUTS + 1]; /* the last one: the input is not known */
static bool counts_chance;

static void count_chance(const struct past_log *log, const struct past *next, double said,
			 bool failed)
{
	size_t good = 0, class = 0;
	struct chance_class *c;
	double most = 0;

	if (!counts_chance)
		return;
	for (size_t i = 0; i < log->count; i++) {
		good += log->row[i].end == TRK_PAST_SUCCEEDED;
		if (log->row[i].input_bytes > most)
			most = log->row[i].input_bytes;
	}
	while (class < INPUTS && !(next->x * MIB <= most * input_most[class]))
		class ++;
	c = &chance_class[good >= YOUNG_RUNS][class];
	c->runs++;
	c->failed += failed;
	c->said += said;
}

void feedback_step(struct score *sum, const struct step *s, size_t first, size_t last)
{
	struct past_log log = {.count = 0};

	if (s->count < RUNS_MIN)
		return;
	log_add(&log, row_of(&s->past[0], NAN, false));
	for (size_t i = 1; i < s->count && i <= last; i++) {
		const struct past *p = &s->past[i];
		struct score one = {.runs = 1, .used = p->y * p->t};
		double said, later, request = advised(&log, p, &said);

		count_chance(&log, p, said, request < p->y);
		for (int attempt = 0; request < p->y && attempt < ATTEMPTS_MAX; attempt++) {
			one.fails++;
			one.paid += request * p->t;
			log_add(&log, row_of(p, request, true));
			request = advised(&log, p, &later);
		}
		one.paid += request * p->t;
		log_add(&log, row_of(p, request, false));
		if (i < first)
			continue;
		sum->runs++;
		sum->used += one.used;
		sum->paid += one.paid;
		sum->fails += one.fails;
		sum->failed_runs += one.fails > 0;
	}
	free(log.row);
}

/* --- jobs
 * -------------------------------------------------------------------------------------- */

/* The steps: settings are chosen on one half, results are reported for the other. */
enum half { ALL_STEPS, CHOSEN_ON, REPORTED };

static bool is_in(const struct step *s, enum half half)
{
	uint32_t hash = 2166136261u;

	for (const char *c = s->dataset; *c; c++)
		hash = (hash ^ (unsigned char) *c) * 16777619u;
	for (const char *c = s->task; *c; c++)
		hash = (hash ^ (unsigned char) *c) * 16777619u;
	hash ^= hash >> 15;
	return half == ALL_STEPS || (hash & 1) == (half == REPORTED);
}

static struct score score_of(const struct family *f, enum half half, size_t first, size_t last)
{
	struct score sum = {0};

	for (size_t i = 0; i < f->count; i++)
		if (is_in(&f->step[i], half))
			feedback_step(&sum, &f->step[i], first, last);
	return sum;
}

static uint64_t seed;

/* 0 to 1. */
static double chance(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double) (seed >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(chance() + 1e-300)) * cos(2 * M_PI * chance());
}

/* Synthetic jobs of nine kinds, whose peaks vary by more than a factor of three. Their distribution
 * is known, and they have no input size. */
static double wide_peak(int kind, size_t i, double level, double *state)
{
	switch (kind) {
	case 0: /* logarithm uniform */
		return level * exp(2.5 * chance());
	case 1: /* logarithm normal */
		return level * exp(0.8 * normal());
	case 2: /* two modes */
		return level * (chance() < 0.3 ? 6 : 1) * exp(0.05 * normal());
	case 3: /* three modes, one of them rare */
		return level *
		       (chance() < 0.05  ? 12
			: chance() < 0.4 ? 4
					 : 1) *
		       exp(0.1 * normal());
	case 4: /* a heavy tail */
		return level / pow(chance() * 0.999 + 0.001, 0.6);
	case 5: /* runs that resemble the last one */
		*state = 0.9 * *state + 0.35 * normal();
		return level * exp(*state);
	case 6: /* steady, with rare outliers */
		return level * (chance() < 0.03 ? 5 + 5 * chance() : 1) * exp(0.03 * normal());
	case 7: /* a period of seven runs */
		return level * (i % 7 == 6 ? 5 : 1) * exp(0.15 * normal());
	default: /* growing, with noise */
		return level * exp(0.012 * (double) i + 0.4 * normal());
	}
}

static void wide_make(struct family *f)
{
	enum { KINDS = 9, JOBS = 16, RUNS = 120 };

	*f = (struct family){.name = "wide", .count = KINDS * JOBS};
	f->step = calloc(f->count, sizeof(*f->step));
	for (size_t j = 0; j < f->count; j++) {
		struct step *s = &f->step[j];
		double state = 0, level;

		seed = 7919 * (j + 1);
		(void) chance();
		level = 400 * exp(3 * chance());
		(void) snprintf(s->task, sizeof(s->task), "%zu", j);
		s->count = RUNS;
		s->past = calloc(RUNS, sizeof(*s->past));
		for (size_t i = 0; i < RUNS; i++)
			s->past[i] =
				(struct past){.y = wide_peak((int) (j % KINDS), i, level, &state),
					      .t = 100 * exp(0.5 * normal()),
					      .x = NAN,
					      .user = NAN};
	}
}

static int by_place(const void *a, const void *b)
{
	double x = ((const struct past *) a)->place, y = ((const struct past *) b)->place;

	return (x > y) - (x < y);
}

enum { PROGRAMS = 5 };

/* The steps of a data set from `first` on, which are adjacent in the file. */
static size_t steps_of_dataset(const struct family *f, size_t first)
{
	size_t n = 1;

	while (first + n < f->count &&
	       strcmp(f->step[first].dataset, f->step[first + n].dataset) == 0)
		n++;
	return n;
}

/* The runs of five steps, interleaved evenly. The tag of each is the name of its step. */
static void mix(const struct step *const from[PROGRAMS], struct step *ret)
{
	size_t at = 0;

	for (int k = 0; k < PROGRAMS; k++)
		ret->count += from[k]->count;
	ret->past = calloc(ret->count, sizeof(*ret->past));
	for (int k = 0; k < PROGRAMS; k++)
		for (size_t n = 0; n < from[k]->count; n++) {
			struct past *p = &ret->past[at++];

			*p = from[k]->past[n];
			p->tag = from[k]->task;
			p->place = ((double) n + 0.5) / (double) from[k]->count + 1e-6 * k;
		}
	qsort(ret->past, ret->count, sizeof(*ret->past), by_place);
}

/* Five steps under one name: neighbours in the file, which are often parts of one program, or steps
 * that are as far apart as the data set, or the family, allows. */
enum mixture { NEIGHBOURS, FAR, FAR_IN_FAMILY, MIXTURES };

static void pool_make(const struct family *f, enum mixture how, struct family *ret)
{
	size_t n;

	*ret = (struct family){.name = f->name};
	ret->step = calloc(f->count, sizeof(*ret->step));
	for (size_t first = 0; first < f->count; first += n) {
		size_t pools;

		n = how == FAR_IN_FAMILY ? f->count : steps_of_dataset(f, first);
		pools = n / PROGRAMS;
		for (size_t i = 0; i < pools; i++) {
			const struct step *from[PROGRAMS];

			for (size_t k = 0; k < PROGRAMS; k++)
				from[k] = &f->step[first + (how == NEIGHBOURS ? i * PROGRAMS + k
									      : i + k * pools)];
			mix(from, &ret->step[ret->count++]);
		}
	}
}

/* --- tables
 * ------------------------------------------------------------------------------------ */

enum { JOBS = FAMILIES + 1, YOUNG_LAST = 9 };

static void cell(struct score s)
{
	printf(" %.3f / %.1f / %.1f |", s.paid / s.used,
	       100 * (double) s.failed_runs / (double) s.runs,
	       100 * (double) s.fails / (double) s.runs);
	(void) fflush(stdout);
}

struct setting {
	const char *name;
	void (*set)(void);
};

static void set_default(void)
{
}

static void set_cheap(void)
{
	ours.risk = TRK_RISK_CHEAP;
}

static void set_safe(void)
{
	ours.risk = TRK_RISK_SAFE;
}

static void set_no_input(void)
{
	ours.input = false;
}

static void set_charge(double charge)
{
	for (int risk = 0; risk <= TRK_RISK_SAFE; risk++)
		ours.tuning.failing_charge[risk] = charge;
}

static void set_no_charge(void)
{
	set_charge(0);
}

static void set_charge_8(void)
{
	set_charge(8);
}

static const struct setting settings[] = {
	{"**default**", set_default},    {"cheap", set_cheap},         {"safe", set_safe},
	{"no input size", set_no_input}, {"no charge", set_no_charge}, {"charge 8", set_charge_8},
};
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static void table(const char *title, const struct family *f, enum half half, size_t last)
{
	printf("\n%s\n\n| rule | cws | kseg | tovar | wfc | wide, made up |\n"
	       "|---|---|---|---|---|---|\n",
	       title);
	for (size_t i = 0; i < SETTINGS; i++) {
		ours_reset();
		settings[i].set();
		printf("| %s |", settings[i].name);
		for (int k = 0; k < JOBS; k++)
			cell(score_of(&f[k], half, 1, last));
		printf("\n");
	}
	ours_reset();
}

/* Prints also the geometric mean of the groups' ratios, because the largest steps dominate the
 * sum. */
static void group_cell(const struct family *pool)
{
	struct score sum = {0};
	double ln_sum = 0;

	for (size_t i = 0; i < pool->count; i++) {
		struct score one = {0};

		feedback_step(&one, &pool->step[i], 1, SIZE_MAX);
		ln_sum += log(one.paid / one.used);
		sum.paid += one.paid;
		sum.used += one.used;
		sum.runs += one.runs;
		sum.failed_runs += one.failed_runs;
	}
	printf(" %.3f / %.3f / %.1f |", sum.paid / sum.used, exp(ln_sum / (double) pool->count),
	       100 * (double) sum.failed_runs / (double) sum.runs);
	(void) fflush(stdout);
}

static void groups_of(const struct family *f, enum mixture how, bool input, bool group)
{
	static const char *const names[] = {"neighbours", "far", "far, of all data sets"};

	printf("| %s | %s | %s |", names[how], input ? "known" : "-",
	       group ? "same tag first" : "all");
	for (int k = 0; k < FAMILIES; k++) {
		struct family pool;

		if (k == TOVAR)
			continue; /* two data sets of three steps */
		pool_make(&f[k], how, &pool);
		ours.input = input;
		ours.group = group;
		group_cell(&pool);
	}
	printf("\n");
	ours_reset();
}

static void groups(const struct family *f)
{
	printf("\nFive programs under one name: paid / used, geometric mean of it over the groups, "
	       "runs that failed %%\n\n| steps | input size | history | cws | kseg | wfc "
	       "|\n|---|---|---|---|---|---|\n");
	for (int how = 0; how < 4 * MIXTURES; how++)
		groups_of(f, (enum mixture)(how / 4), !(how & 2), how & 1);
}

/* --- shift of level
 * ---------------------------------------------------------------------------- */

static void shift(const struct family *f)
{
	enum { BEFORE = 40, AFTER = 20 };
	static const double factors[] = {0.5, 1.3, 2};

	printf("\nPeak times a factor from run %d on, the next %d runs scored; without input "
	       "size\n\n"
	       "| factor | all | chosen on | reported |\n|---|---|---|---|\n",
	       BEFORE + 1, AFTER - 1);
	for (int k = 0; k < 3; k++) {
		printf("| x %g |", factors[k]);
		for (int half = ALL_STEPS; half <= REPORTED; half++) {
			struct score sum = {0};

			for (size_t i = 0; i < f->count; i++) {
				struct step s = f->step[i];

				if (s.count < BEFORE + AFTER || !is_in(&s, (enum half) half))
					continue;
				s.count = BEFORE + AFTER;
				s.past = malloc(s.count * sizeof(*s.past));
				memcpy(s.past, f->step[i].past, s.count * sizeof(*s.past));
				for (size_t n = 0; n < s.count; n++) {
					s.past[n].x = NAN;
					s.past[n].y *= n >= BEFORE ? factors[k] : 1;
				}
				feedback_step(&sum, &s, BEFORE + 1, SIZE_MAX);
				free(s.past);
			}
			cell(sum);
		}
		printf("\n");
	}
}

/* --- goals
 * ------------------------------------------------------------------------------------- */

/* Goals of the default method, for all runs and for runs 2 to 10: paid / used, failed runs in %.
 * They are the results when the method was chosen, plus 0.005. */
static const struct goal {
	double paid, failed, young_paid, young_failed;
} goals[JOBS] = {
	[CWS] = {1.207, 0.5, 1.286, 1.2},       [KSEG] = {1.063, 0.7, 1.191, 1.9},
	[TOVAR] = {1.202, 0.5, 1.415, 5.6},     [WFC] = {1.181, 1.0, 1.339, 0.9},
	[FAMILIES] = {2.742, 5.5, 2.918, 13.6}, /* wide, made up */
};

static bool is_met(const char *name, const char *what, struct score s, double paid, double failed)
{
	double is_paid = s.paid / s.used,
	       is_failed = 100 * (double) s.failed_runs / (double) s.runs;
	bool met = is_paid <= paid && is_failed < failed + 0.05;

	printf("| %s, %s | %.3f / %.1f | %.3f / %.1f | %s |\n", name, what, paid, failed, is_paid,
	       is_failed, met ? "met" : "MISSED");
	return met;
}

static bool check_goals(const struct family *f)
{
	bool met = true;

	printf("\n| goal | paid / used, runs that failed %% | reached | |\n|---|---|---|---|\n");
	for (int k = 0; k < JOBS; k++) {
		met &= is_met(f[k].name, "all runs", score_of(&f[k], ALL_STEPS, 1, SIZE_MAX),
			      goals[k].paid, goals[k].failed);
		met &= is_met(f[k].name, "runs 2 to 10", score_of(&f[k], ALL_STEPS, 1, YOUNG_LAST),
			      goals[k].young_paid, goals[k].young_failed);
	}
	return met;
}

static void chance_row(const char *name)
{
	for (int old = 0; old < 2; old++) {
		printf("| %s, %s |", name, old ? "older" : "runs 2 to 9");
		for (int i = 0; i <= INPUTS; i++) {
			const struct chance_class *c = &chance_class[old][i];
			double runs = (double) c->runs;

			if (c->runs == 0)
				printf(" - |");
			else
				printf(" %.1f, %.1f (%zu) |", 100 * c->said / runs,
				       100 * (double) c->failed / runs, c->runs);
		}
		printf("\n");
	}
	memset(chance_class, 0, sizeof(chance_class));
}

void bench_chance(const char *folder)
{
	struct family f;

	printf("\nChance of needing more: stated %%, met %% (runs), by the next input over the "
	       "largest "
	       "so far\n\n| jobs | up to 1.05 | to 1.2 | to 1.5 | to 2 | to 4 | above | not known "
	       "|\n|---|---|---|---|---|---|---|---|\n");
	counts_chance = true;
	for (int k = 0; k < JOBS; k++) {
		struct score sum;

		if (k < FAMILIES)
			family_read(folder, k, EXECUTIONS, 200, &f);
		else
			wide_make(&f);
		sum = score_of(&f, ALL_STEPS, 1, SIZE_MAX);
		chance_row(f.name);
		(void) fprintf(stderr, "%s %.4f / %.2f\n", f.name, sum.paid / sum.used,
			       100 * (double) sum.failed_runs / (double) sum.runs);
	}
	counts_chance = false;
}

void bench_groups(const char *folder)
{
	static struct family f[FAMILIES];

	for (int k = 0; k < FAMILIES; k++)
		family_read(folder, k, EXECUTIONS, 200, &f[k]);
	groups(f);
}

bool bench_feedback(const char *folder)
{
	static struct family f[JOBS];

	for (int k = 0; k < FAMILIES; k++)
		family_read(folder, k, EXECUTIONS, 200, &f[k]);
	wide_make(&f[FAMILIES]);
	printf("\n## Failures fed back\n");
	table("All runs from the second", f, ALL_STEPS, SIZE_MAX);
	table("Runs 2 to 10", f, ALL_STEPS, YOUNG_LAST);
	table("Steps to choose on, all runs", f, CHOSEN_ON, SIZE_MAX);
	table("Steps to report on, all runs", f, REPORTED, SIZE_MAX);
	table("Steps to choose on, runs 2 to 10", f, CHOSEN_ON, YOUNG_LAST);
	table("Steps to report on, runs 2 to 10", f, REPORTED, YOUNG_LAST);
	groups(f);
	shift(&f[CWS]);
	return check_goals(f);
}
