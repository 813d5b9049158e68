/* The job that a run belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "track/job_identity.h"

static const char *const *environment; /* NAME=value, NULL-terminated */

static const char *get(const char *name)
{
	size_t len = strlen(name);

	for (const char *const *v = environment; v && *v; v++)
		if (!strncmp(*v, name, len) && (*v)[len] == '=')
			return *v + len + 1;
	return NULL;
}

static struct trk_identity find(const char *const *env, enum trk_redaction redact,
				const char *directory, const char *words)
{
	static char text[2048];
	char *argv[8], *rest = text;
	struct trk_identity_facts facts = {get, argv, redact, directory};
	struct trk_identity ret;
	size_t n = 0;

	(void) snprintf(text, sizeof(text), "%s", words);
	while (n < 7 && (argv[n] = strsep(&rest, "|")))
		n++;
	argv[n] = NULL;

	environment = env;
	trk__identity_find(&facts, &ret);
	return ret;
}

/* Words of a command, with bars between them. */
#define ENV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define TRAIN    "/usr/bin/python3|-u|src/train.py|x.csv"

static void check(const char *const *env, const char *job, const char *scope)
{
	struct trk_identity i = find(env, TRK_REDACT_NOTHING, "/home/me/a", TRAIN);

	assert_string_equal(i.job, job);
	assert_string_equal(i.scope, scope);
}

static void without_an_engine_it_is_program_script_and_directory(void **state)
{
	struct trk_identity i;

	check(NULL, "python3 train.py", "/home/me/a");
	i = find(NULL, TRK_REDACT_ALL, "/d", TRAIN);
	assert_string_equal(i.job, "python3");
	i = find(NULL, TRK_REDACT_NOTHING, "/d", "sh|-c|echo a.b c");
	assert_string_equal(i.job, "sh");
	i = find(NULL, TRK_REDACT_NOTHING, NULL, "true");
	assert_string_equal(i.scope, "");
}

static void workflow_engines_name_the_task(void **state)
{
	check(ENV("METAFLOW_FLOW_NAME=Forest", "METAFLOW_STEP_NAME=fit", "SLURM_JOB_ID=1",
		  "SLURM_JOB_NAME=x"),
	      "Forest/fit", "python3 train.py");
	check(ENV("AIRFLOW_CTX_DAG_ID=daily", "AIRFLOW_CTX_TASK_ID=load"), "daily/load",
	      "python3 train.py");
	check(ENV("ARGO_TEMPLATE={\"inputs\":{},\"name\":\"train\"}"), "train", "python3 train.py");
	check(ENV("GITHUB_ACTIONS=true", "GITHUB_REPOSITORY=o/r", "GITHUB_WORKFLOW=CI",
		  "GITHUB_JOB=test"),
	      "o/r CI/test", "python3 train.py");
	check(ENV("GITLAB_CI=true", "CI_PROJECT_PATH=g/p", "CI_JOB_NAME=test 1/3"), "g/p test 1/3",
	      "python3 train.py");
	/* Half a name, or none that can be read, is none. */
	check(ENV("METAFLOW_FLOW_NAME=Forest"), "python3 train.py", "/home/me/a");
	check(ENV("ARGO_TEMPLATE={\"name\":"), "python3 train.py", "/home/me/a");
	check(ENV("GITHUB_REPOSITORY=o/r", "GITHUB_WORKFLOW=CI", "GITHUB_JOB=test"),
	      "python3 train.py", "/home/me/a");
	check(ENV("AIRFLOW_CTX_DAG_ID=", "AIRFLOW_CTX_TASK_ID=load"), "python3 train.py",
	      "/home/me/a");
}

#define GITHUB                                                                                     \
	"GITHUB_ACTIONS=true", "GITHUB_REPOSITORY=o/r", "GITHUB_WORKFLOW=CI", "GITHUB_JOB=test"

static void check_command(const char *const *env, const char *words, const char *job,
			  const char *scope)
{
	struct trk_identity i = find(env, TRK_REDACT_NOTHING, "/d", words);

	assert_string_equal(i.job, job);
	assert_string_equal(i.scope, scope);
}

static void steps_of_ci_services_are_told_apart_without_their_scripts(void **state)
{
	const char *script = "/usr/bin/bash|-e|/home/runner/work/_temp/"
			     "0f8fad5b-d9cb-469f-a165-70867728950e.sh";

	check_command(ENV(GITHUB, "GITHUB_ACTION=__run_2"), script, "o/r CI/test",
		      "bash, step __run_2");
	check_command(ENV(GITHUB, "GITHUB_ACTION=build"), script, "o/r CI/test",
		      "bash, step build");
	check_command(ENV(GITHUB), script, "o/r CI/test", "bash");
	/* A program that a step calls keeps its scope wherever the step moves. */
	check_command(ENV(GITHUB, "GITHUB_ACTION=__run"), TRAIN, "o/r CI/test", "python3 train.py");
	check_command(ENV("GITLAB_CI=true", "CI_PROJECT_PATH=g/p", "CI_JOB_NAME=test"),
		      "bash|/tmp/tmp.Ab3dEf6hIj", "g/p test", "bash");
	check_command(ENV("JENKINS_URL=http://ci/", "JOB_NAME=team/app/main", "STAGE_NAME=Test"),
		      "sh|-xe|/var/lib/jenkins/workspace/app@tmp/durable-1a2b3c4d/script.sh",
		      "team/app/main/Test", "sh");
	check_command(ENV("JENKINS_URL=http://ci/", "JOB_NAME=app"), TRAIN, "app",
		      "python3 train.py");
}

/* A process that sets its own title has one argument. */
static void no_secret_is_in_the_name(void **state)
{
	struct trk_identity i = find(NULL, TRK_REDACT_SECRETS, "/d", "worker --password hunter2.x");

	assert_string_equal(i.job, "worker --password [SECRET]");
	i = find(NULL, TRK_REDACT_ALL, "/d", "worker --password hunter2.x");
	assert_string_equal(i.job, "worker");
	i = find(NULL, TRK_REDACT_SECRETS, "/d", "java|--token|hunter2.x|app.jar");
	assert_string_equal(i.job, "java app.jar");
	i = find(NULL, TRK_REDACT_SECRETS, "/d",
		 "aws|configure|set|aws_secret_access_key|hun.ter2");
	assert_string_equal(i.job, "aws");
}

static void a_script_with_another_name_in_each_run_is_no_part_of_the_name(void **state)
{
	check_command(NULL, "bash|/tmp/tmp.Ab3dEf6hIj", "bash", "/d");
	check_command(NULL, "bash|work/tmp.Ab3dEf6hIj.sh", "bash", "/d");
	check_command(NULL, "python3|/tmp/tmpk3_x9a0b.py", "python3", "/d");
	check_command(NULL, "sh|/var/tmp/job.Xa81bC", "sh", "/d");
	check_command(ENV("TMPDIR=/scratch/7"), "sh|/scratch/7/job.Xa81bC", "sh", "/d");
	check_command(ENV("TMPDIR=/scratch/7/"), "sh|/scratch/7/job.Xa81bC", "sh", "/d");
	check_command(NULL, "/tmp/tmp.Ab3dEf6hIj|x.csv", "script", "/d");
	check_command(NULL, "/w/0F8FAD5B-d9cb-469f-a165-70867728950e|x.csv", "script", "/d");
	/* Names that somebody gave. */
	check_command(NULL, "sh|/tmp/tmp.sh", "sh tmp.sh", "/d");
	check_command(NULL, "python3|tmp_process.py", "python3 tmp_process.py", "/d");
	check_command(NULL, "sh|/tmpfs/job.Xa81bC", "sh job.Xa81bC", "/d");
	check_command(NULL, "sh|0f8fad5b-d9cb-469f-a165.sh", "sh 0f8fad5b-d9cb-469f-a165.sh", "/d");
}

static void batch_systems_name_the_job_and_arrays_are_one(void **state)
{
	check(ENV("SLURM_JOB_ID=7", "SLURM_JOB_NAME=nightly"), "nightly", "python3 train.py");
	check(ENV("SLURM_JOB_ID=8", "SLURM_ARRAY_JOB_ID=7", "SLURM_ARRAY_TASK_ID=1",
		  "SLURM_JOB_NAME=nightly"),
	      "nightly", "python3 train.py");
	check(ENV("PBS_JOBID=7.x", "PBS_JOBNAME=align"), "align", "python3 train.py");
	check(ENV("LSB_JOBID=7", "LSB_JOBNAME=align"), "align", "python3 train.py");
	check(ENV("JOB_ID=7", "JOB_NAME=align"), "align", "python3 train.py");
	/* Jenkins has a JOB_NAME, too. */
	check(ENV("JOB_NAME=align"), "python3 train.py", "/home/me/a");
	/* Names that nobody gave. */
	check(ENV("SLURM_JOB_ID=7", "SLURM_JOB_NAME=wrap"), "python3 train.py", "/home/me/a");
	check(ENV("PBS_JOBID=7", "PBS_JOBNAME=STDIN"), "python3 train.py", "/home/me/a");
	check(ENV("SLURM_JOB_ID=7", "SLURM_JOB_NAME=0f8fad5b-d9cb-469f-a165-70867728950e"),
	      "python3 train.py", "/home/me/a");
	/* The script's file: whose it is tells the directory that it was sent from. */
	check(ENV("SLURM_JOB_ID=7", "SLURM_JOB_NAME=job.sh", "SLURM_SUBMIT_DIR=/home/me/b"),
	      "job.sh", "python3 train.py in /home/me/b");
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void nextflow_names_the_task_in_its_script(void **state)
{
	char folder[] = "/tmp/trk-identity-XXXXXX", path[64], variable[64];

	assert_non_null(mkdtemp(folder));
	(void) snprintf(path, sizeof(path), "%s/.command.run", folder);
	(void) snprintf(variable, sizeof(variable), "NXF_TASK_WORKDIR=%s", folder);
	check(ENV(variable), "python3 train.py", "/home/me/a");
	write_text(path, "#!/bin/bash\n### ---\n### name: 'NF:ALIGN (sample (7))'\n### ...\n");
	check(ENV(variable), "NF:ALIGN", "python3 train.py");
	write_text(path, "#!/bin/bash\n# NEXTFLOW TASK: sayHello (1)\nset -e\n");
	check(ENV(variable), "sayHello", "python3 train.py");
	write_text(path, "#!/bin/bash\n# NEXTFLOW TASK: plain\n");
	check(ENV(variable), "plain", "python3 train.py");
	write_text(path, "#!/bin/bash\n");
	check(ENV(variable), "python3 train.py", "/home/me/a");
	(void) unlink(path);
	(void) rmdir(folder);
}

static void long_texts_stay_apart(void **state)
{
	char one[1000], other[1000], name[400];
	struct trk_identity a, b;

	memset(one, 'd', sizeof(one));
	one[0] = '/';
	one[sizeof(one) - 1] = '\0';
	memcpy(other, one, sizeof(one));
	other[1] = 'e'; /* differs in what is cut */
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	a = find(NULL, TRK_REDACT_NOTHING, one, name);
	b = find(NULL, TRK_REDACT_NOTHING, other, name);
	assert_int_equal(strlen(a.job), TRK_RUN_TEXT_SIZE - 1);
	assert_true(strlen(a.scope) < TRK_RUN_TEXT_SIZE);
	assert_string_not_equal(a.scope, b.scope);
	assert_string_equal(a.scope + strlen(a.scope) - 5, "ddddd");
}

static void a_label_is_name_and_scope(void **state)
{
	char label[TRK_LABEL_SIZE];

	trk__run_label("a", "", label);
	assert_string_equal(label, "a");
	trk__run_label("a b", "/c", label);
	assert_string_equal(label, "a b in /c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_an_engine_it_is_program_script_and_directory),
		cmocka_unit_test(workflow_engines_name_the_task),
		cmocka_unit_test(steps_of_ci_services_are_told_apart_without_their_scripts),
		cmocka_unit_test(no_secret_is_in_the_name),
		cmocka_unit_test(a_script_with_another_name_in_each_run_is_no_part_of_the_name),
		cmocka_unit_test(batch_systems_name_the_job_and_arrays_are_one),
		cmocka_unit_test(nextflow_names_the_task_in_its_script),
		cmocka_unit_test(long_texts_stay_apart),
		cmocka_unit_test(a_label_is_name_and_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
