/* The earlier runs of a job. The summary, `show`, `recommend`, `compare`, the page and the C API
 * all use these functions, so that their results agree. */
#ifndef TRK_SERVICE_RUNS_H
#define TRK_SERVICE_RUNS_H

#include "fleet/rows.h"
#include "lines/change.h"
#include "answer/advice.h"
#include "answer/change.h"
#include "answer/usual_course.h"
#include "service/service.h"

/* Open the history of the service and add at most `max_new` new recordings (0: all). If the
 * database of a team cannot be reached, a note says so, and the local history is used. 0, or an
 * error of trk__history_open_at. The caller frees *ret. */
int trk__runs_history(const struct trk_service *s, size_t max_new, struct trk_history **ret,
		      struct trk_error *reterr);
/* The same without a note: *ret_team says, with host and database, why the database of a team is
 * not used; its code is 0 where it is used, or none is set. */
int trk__runs_history_of(const struct trk_service *s, size_t max_new, struct trk_history **ret,
			 struct trk_error *ret_team, struct trk_error *reterr);

/* ---- the runs of a job up to one of them ---- */

struct trk_job_runs {
	struct trk_past_run *run; /* owned; oldest first, the run itself last */
	size_t count;
	struct trk_texts texts;  /* owned; of the runs */
	struct trk_cpu_use *use; /* owned; of the newest comparable run that has samples */
	const char *tags;        /* of the next run, borrowed; NULL: as those of the run itself */
	int history_error;       /* 0, or why the history could not be read: no earlier runs */
};

/* The earlier runs of the record's job: those of `earlier` (JSON, trk__history_runs_from_json), or
 * (NULL) of the history h; NULL: none. The CPU use of an earlier run is read from its recording
 * where this one has no samples. 0 or -ENOMEM. The caller releases, on success only. */
int trk__job_runs_read(const struct trk_service *s, struct trk_history *h, const char *earlier,
		       const struct trk_record *record, struct trk_job_runs *ret);
void trk__job_runs_release(struct trk_job_runs *runs);
/* Set the tags of the next run, as trk__history_tags makes them (borrowed), and read the CPU use of
 * a similar run. 0 or -ENOMEM. */
int trk__job_runs_for(struct trk_job_runs *runs, const struct trk_service *s,
		      const struct trk_record *record, const char *tags);

/* Input for trk__advice_make; it points into `runs` and the record. */
struct trk_advice_input trk__job_runs_question(const struct trk_job_runs *runs,
					       const struct trk_record *record);

/* What changed in the run since the earlier ones; without phases. */
void trk__job_runs_change(const struct trk_job_runs *runs, struct trk_change *ret);
/* Name the phases of a notable change, from the recordings of the newest earlier runs that ended
 * well. */
void trk__job_runs_phases(const struct trk_job_runs *runs, const struct trk_service *s,
			  const struct trk_record *record, struct trk_change *c);

/* Which lines of the program used more or less than in the newest earlier run that ended well and
 * has stacks. ret_run[TRK_RUN_ID_SIZE]: that run; "": there is none. 0 or -ENOMEM. */
int trk__job_runs_lines(const struct trk_job_runs *runs, const struct trk_service *s,
			const struct trk_record *record, struct trk_lines_change *ret,
			char *ret_run);

/* The usual course of the job over time. *ret is owned (free); NULL if too few runs are known. 0 or
 * -ENOMEM. */
int trk__job_runs_usual(const struct trk_job_runs *runs, const struct trk_service *s,
			const struct trk_record *record, struct trk_usual_course **ret);

/* ---- jobs that a user names ---- */

/* A job by its name, or by "NAME in SCOPE", of which "." is the working directory. */
struct trk_named_job {
	char job[TRK_RUN_TEXT_SIZE], scope[TRK_RUN_TEXT_SIZE];
	bool has_scope;
	size_t namesakes;             /* jobs of that name, at least 1 */
	char other[TRK_LABEL_SIZE];   /* label of the newest namesake; "": none */
	char newest[TRK_RUN_ID_SIZE]; /* run of it */
};

/* False if no job has that name. Of several jobs, the one of the working directory is returned,
 * else the one that ran last. */
bool trk__named_job_find(struct trk_history *h, const char *reference, struct trk_named_job *ret);
struct trk_job_key trk__named_job_key(const struct trk_named_job *job);

/* ---- lists ---- */

struct trk_run_list {
	struct trk_past_run *run; /* owned; newest first */
	size_t count, cap;
	struct trk_texts texts; /* owned; of the runs */
	int error;              /* of memory, while it is read */
};

/* The newest `max` runs (0: all) of a job (NULL: of all); unlisted: also those of --no-history. 0
 * or a negative error. The caller releases. */
int trk__run_list_read(struct trk_history *h, const struct trk_job_key *job, size_t max,
		       bool unlisted, struct trk_run_list *ret, struct trk_error *reterr);
void trk__run_list_release(struct trk_run_list *list);

/* ---- rows of the views over many jobs ---- */

/* Read all runs into `ret`, which the caller initialised with its time, and sort them. If there are
 * more than 50,000 runs, those older than 120 days, or than twice `days`, are left out. 0, or a
 * negative error with *reterr; the caller releases in each case. */
int trk__fleet_rows_read(struct trk_history *h, double days, struct trk_fleet_rows *ret,
			 struct trk_error *reterr);
/* The same for the runs of one job, the newest 220 of them. */
int trk__fleet_rows_read_job(struct trk_history *h, const struct trk_job_key *job,
			     struct trk_fleet_rows *ret, struct trk_error *reterr);

#endif
