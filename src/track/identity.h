/* Which job a run is of: a name, and what distinguishes it from other jobs of that name.
 *
 * A name that was given stands alone. Else the batch system's or workflow engine's name for the
 * work, with the program and script, since one such job may call several; else program and
 * script, with the working directory. Both are texts; a recording of an older version,
 * and one that was imported, has no second one: it belongs to every job of its name. */
#ifndef TRK_TRACK_IDENTITY_H
#define TRK_TRACK_IDENTITY_H

#include <stdbool.h>

#include "base/mask.h"
#include "model/run.h"

struct trk_identity_facts {
	const char *(*get)(const char *name); /* getenv; NULL: no environment */
	char *const *argv;                    /* of the command, NULL-terminated; not empty */
	enum trk_redaction redaction;         /* of the name that comes from the command line */
	const char *directory;                /* in which it runs; NULL or "": not known */
};

struct trk_identity {
	char job[TRK_RUN_TEXT_SIZE];
	char scope[TRK_RUN_TEXT_SIZE];
};

/* Of the environment: Metaflow (METAFLOW_FLOW_NAME, _STEP_NAME), Nextflow (the name that the task's
 * .command.run in NXF_TASK_WORKDIR states, without its tag), Airflow (AIRFLOW_CTX_DAG_ID,
 * _TASK_ID), Argo (the name in ARGO_TEMPLATE), Slurm, PBS, LSF and Grid Engine (the job's name,
 * which all tasks of an array share), GitHub Actions and GitLab (repository and job). A name that a
 * batch system makes up by itself ("wrap", "STDIN", a UUID) is none; one that looks like a script's
 * file differs from others in the directory of submission, too. */
void trk__identity_find(const struct trk_identity_facts *facts, struct trk_identity *ret);

/* The process of a Nextflow task, by the head of the script that starts it. False, and *job
 * untouched, where it is missing or empty. */
bool trk__identity_task(const char *text, char job[TRK_RUN_TEXT_SIZE]);

/* The scope that a directory is: its path, cut if it is very long. */
void trk__identity_scope(const char *directory, char scope[TRK_RUN_TEXT_SIZE]);

#endif
