/* The replay bench: it runs recorded jobs through the functions of src/advise and through rules of
 * other projects.
 *
 *     replay WHAT TRACES    WHAT: feedback, time, chance, groups, memory, young, failure, shift, choice, leave, law, split, odd,
 *                          slower, speed, all
 *
 * TRACES is a folder with *_peaks.csv.gz and the other files that docs/advice.md names. It is not
 * needed for building and testing. Sizes are in MiB, as in the files. */
#ifndef REPLAY_H
#define REPLAY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tests/unit/past_runs.h"
#include "advise/memory.h"

#define MIB 1048576.0

/* A step of a workflow, with its runs in the order of their start. */
struct step {
	char dataset[64], task[160];
	size_t count, cap;
	struct past {
		double y, t, x, user; /* peak, run time, input, request; NaN: not known */
		char run[64];
		int instance;      /* kseg: index of the series; else -1 */
		const char *curve; /* kseg: the memory series, "dt:value ..." */
		const char *tag;   /* the program, if several have one name; else NULL */
		double place;      /* position among these */
	} * past;
};

struct family {
	const char *name;
	size_t count, cap;
	struct step *step;
};

/* Called for each line of a gzipped CSV file except the first. */
typedef void line_fn(void *data, char *line);
void each_line(const char *folder, const char *file, line_fn *take, void *data);
/* Split a line at commas, in place. Returns the number of fields. */
size_t fields_of(char *line, char **field, size_t max);

/* The families cws (10 executions each), kseg, tovar, wfc; at most 200 runs a step. */
enum { CWS, KSEG, TOVAR, WFC, FAMILIES };
extern const char *const family_names[FAMILIES];
void family_read(const char *folder, int which, size_t executions_max, size_t runs_max,
		 struct family *ret);

/* A rule: the memory for run `at` of a step, from earlier runs and known properties of the run. */
struct rule {
	const char *name;
	double (*request)(const struct step *s, size_t at);
	double (*retry)(const struct step *s, size_t at, double failed); /* NULL: double */
	bool needs_user;
};
extern const struct rule rules[];
extern const size_t rule_count;

/* The rule of this project, with settings. */
struct ours {
	struct trk_memory_tuning tuning;
	enum trk_risk risk;
	bool input;      /* whether it sees input sizes */
	bool group;      /* whether it sees the tag of the next run */
	size_t rows_max; /* number of newest rows of the history that it sees */
};
extern struct ours ours;
void ours_reset(void);
double ours_request(const struct step *s, size_t at);
double ours_retry(const struct step *s, size_t at, double failed);

/* Paid and used memory-hours and failed attempts. */
struct score {
	double paid, used, lost; /* lost: for each failure, the memory-hours of the run */
	size_t runs, fails, failed_runs;
};
/* Scores runs first..last (0 is the first run) of each step. to_failure: with the true time to
 * failure. */
struct score score_family(const struct family *f, const struct rule *rule, size_t first,
			  size_t last, bool to_failure);
void score_step(struct score *sum, const struct step *s, const struct rule *rule, size_t first,
		size_t last, bool to_failure);

/* Scores runs first..last of a step, with failures in the history, as `recommend` sees them. */
void feedback_step(struct score *sum, const struct step *s, size_t first, size_t last);

/* Returns false if a goal is missed. */
bool bench_feedback(const char *folder);
bool bench_time(const char *folder);
/* How often a run needs more than the request, beside the stated chance. */
void bench_chance(const char *folder);
void bench_groups(const char *folder);
void bench_memory(const char *folder, bool young);
void bench_failure(const char *folder);
void bench_shift(const char *folder);
void bench_choice(const char *folder);
void bench_leave(const char *folder);
void bench_law(const char *folder);
void bench_split(const char *folder);
void bench_odd(const char *folder);
/* Returns false if the goal is missed: a step of +20 % is detected within 3 runs for 85 % of jobs,
 * with at most 3 % false alarms. */
bool bench_slower(const char *folder);

/* One value per execution of a workflow: the mean run time and the largest peak of the step, which
 * may have run for several samples. */
enum { ODD_RUNS = 60, ODD_SECONDS = 5 };
struct repetitions {
	char run[ODD_RUNS][64];
	double value[2][ODD_RUNS]; /* seconds, MiB */
	size_t tasks[ODD_RUNS], count, all;
};
/* Returns false if there are too few executions, or if they are too short on average. */
bool repetitions_take(const struct step *s, struct repetitions *ret);
void bench_speed(void);

double seconds_now(void);

#endif
