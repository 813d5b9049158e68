/* What the live view shows about one moment of a run: the source of both the screen and the JSON,
 * so that they agree. Pure over data that was read before. */
#ifndef TRK_TOP_FACTS_H
#define TRK_TOP_FACTS_H

#include "answer/usual_course.h"
#include "base/json.h"
#include "top/processes.h"
#include "top/watch.h"

enum { TRK_FACTS_PROCESSES_MAX = TRK_PROCESSES_MAX };

enum trk_facts_sort { TRK_SORT_CPU, TRK_SORT_MEMORY, TRK_SORT_READ, TRK_SORT_TREE, TRK_SORTS };

/* Where the table of processes comes from. */
enum trk_facts_source {
	TRK_PROCESSES_NONE,     /* nothing is known */
	TRK_PROCESSES_LIVE,     /* /proc of this machine */
	TRK_PROCESSES_RECORDED, /* the top processes of the recording, at record_s */
};

struct trk_facts_input {
	struct trk_watch *watch;
	const struct trk_usual_course *usual;  /* NULL: none */
	const struct trk_processes *processes; /* NULL: not of this machine, or a replay */
	double t_s;                            /* the moment; infinite: the newest one */
	enum trk_facts_sort sort;
	const char *filter; /* part of a name; "": all */
};

struct trk_facts {
	const struct trk_record *record;
	double t_s, end_s;
	bool running; /* the job runs, and the moment is the newest one */
	double value[TRK_FIGURES_DRAWN];
	struct trk_capacity cores, memory_mib, time_s;
	double share[TRK_SPENTS], other; /* of the time up to the moment; NaN: not known */
	const struct trk_usual_course *usual;
	const struct trk_time_breakdown *times; /* NULL: none */
	size_t phase;                           /* of times->phase; SIZE_MAX: none */
	double memory_eta_s;                    /* see trk__watch_memory_eta; NaN: none */
	double time_left_s;                     /* to the time limit; NaN: there is none */
	const struct trk_watch_gpu_point *gpu;
	size_t gpus;
	enum trk_facts_source source;
	double source_s; /* when the recorded table was made */
	struct trk_process_row
		process[TRK_FACTS_PROCESSES_MAX]; /* recorded: means and peaks since the
							    * previous table; no tree */
	size_t processes;
};

/* What a process waits for: "disk", "CPU"; "stopped", "ended" or "". */
const char *trk__facts_waits(const struct trk_process_row *row);

/* *ret borrows from the input, and is valid until that changes. */
void trk__facts_of(const struct trk_facts_input *in, struct trk_facts *ret);

/* Facts from the newest row of a running run, without processes, phases and usual values: for a
 * status line. row: the newest one, NULL before the first. */
void trk__facts_of_row(const struct trk_record *record, const struct trk_sample *row,
		       struct trk_facts *ret);

/* Names of enum trk_facts_sort. */
extern const char *const trk__facts_sort_names[TRK_SORTS];
/* Names of enum trk_spent on the screen. */
extern const char *const trk__facts_spent_names[TRK_SPENTS];

/* One object with the schema "resource-tracker.top/1". */
void trk__facts_json(struct trk_json *j, const struct trk_facts *f);

#endif
