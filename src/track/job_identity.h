/* The job that a run belongs to: its name, and a scope that distinguishes jobs of the same name.
 *
 * A name that the user gives has no scope. Else the name is that of the batch system or workflow
 * engine, and the scope is program and script, since one such job may call several; else the name
 * is program and script, and the scope is the working directory. Older and imported recordings have
 * no scope: they belong to every job of their name. */
#ifndef TRK_TRACK_JOB_IDENTITY_H
#define TRK_TRACK_JOB_IDENTITY_H

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

/* Reads the environment of Metaflow (METAFLOW_FLOW_NAME, _STEP_NAME), Nextflow (the name that the
 * task's .command.run in NXF_TASK_WORKDIR states, without its tag), Airflow (AIRFLOW_CTX_DAG_ID,
 * _TASK_ID), Argo (the name in ARGO_TEMPLATE), Slurm, PBS, LSF and Grid Engine (the job's name,
 * which all tasks of an array share), GitHub Actions and GitLab (repository and job), Jenkins (job
 * and stage). A script whose file has another name in each run, as CI services and mktemp make
 * them, is no part of name and scope; the step of GitHub Actions (GITHUB_ACTION) takes its place in
 * the scope. Default names of a batch system ("wrap", "STDIN", a UUID) are ignored; the scope of a
 * name that looks like a script file includes the directory of submission. */
void trk__identity_find(const struct trk_identity_facts *facts, struct trk_identity *ret);

/* The process name of a Nextflow task, from the head of its script. False, with *job untouched, if
 * it is missing or empty. */
bool trk__identity_task(const char *text, char job[TRK_RUN_TEXT_SIZE]);

/* The scope for a directory: its path, cut if it is very long. */
void trk__identity_scope(const char *directory, char scope[TRK_RUN_TEXT_SIZE]);

#endif
