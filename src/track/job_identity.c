#include "track/job_identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/json_read.h"

enum {
	UUID_SIZE = 36,
	MKTEMP_SIZE = 10,     /* of mktemp(1) without a template */
	TEMPLATE_SIZE = 6,    /* least of mktemp(3) */
	PYTHON_TEMP_SIZE = 8, /* of the module tempfile */
};

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A path that is too long is replaced by the checksum of the whole and its end. */
void trk__identity_scope(const char *text, char scope[TRK_RUN_TEXT_SIZE])
{
	size_t len = strlen(text), kept = TRK_RUN_TEXT_SIZE - 16;

	if (len < TRK_RUN_TEXT_SIZE)
		(void) snprintf(scope, TRK_RUN_TEXT_SIZE, "%s", text);
	else
		(void) snprintf(scope, TRK_RUN_TEXT_SIZE, "%08x:%s",
				(unsigned int) trk__crc32c(0, text, len), text + len - kept);
}

/* A text without secrets is unchanged by masking. A text that is too long to mask counts as
 * secret. */
static bool has_secret(struct trk_mask *mask, const char *arg)
{
	char masked[TRK_RUN_TEXT_SIZE];

	(void) trk__mask_argument(mask, arg, masked, sizeof(masked));
	return strcmp(masked, arg) != 0;
}

static const char *value_of(const struct trk_identity_facts *f, const char *name)
{
	const char *value = f->get ? f->get(name) : NULL;

	return value && *value ? value : NULL;
}

static bool is_uuid(const char *text, size_t len)
{
	for (size_t i = 0; len == UUID_SIZE && i < len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !strchr("0123456789abcdefABCDEF", text[i]))
			return false;
	}
	return len == UUID_SIZE;
}

static bool is_in_temporary_folder(const struct trk_identity_facts *f, const char *path)
{
	const char *folders[] = {"/tmp", "/var/tmp", "/dev/shm", value_of(f, "TMPDIR")};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t len = folders[i] ? strlen(folders[i]) : 0;

		while (len > 0 && folders[i][len - 1] == '/') /* as on macOS */
			len--;
		if (len && !strncmp(path, folders[i], len) && path[len] == '/')
			return true;
	}
	return false;
}

/* Is the name of a script file another one in each run? GitHub Actions calls its scripts UUID.sh,
 * Jenkins durable-HEX/script.sh, mktemp tmp.XXXXXXXXXX or NAME.XXXXXX, Python tmpXXXXXXXX.EXT. */
static bool is_temporary(const struct trk_identity_facts *f, const char *path)
{
	static const char letters[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *base = base_of(path), *dot = strrchr(base, '.');
	size_t stem = strcspn(base, ".");

	if (is_uuid(base, stem) || strstr(path, "/durable-"))
		return true;
	if (!strncmp(base, "tmp.", 4) && strspn(base + 4, letters) == MKTEMP_SIZE)
		return true;
	if (!is_in_temporary_folder(f, path))
		return false;
	return (!strncmp(base, "tmp", 3) && stem == 3 + PYTHON_TEMP_SIZE) ||
	       (dot && strlen(dot + 1) >= TEMPLATE_SIZE && !dot[1 + strspn(dot + 1, letters)]);
}

/* The first argument that looks like a file: options of an interpreter are passed over. NULL: none.
 */
static const char *script_of(const struct trk_identity_facts *facts)
{
	struct trk_mask mask = {.strict = facts->redaction == TRK_REDACT_STRICT};

	for (char *const *arg = facts->argv; *arg; arg++) {
		/* Mask every argument, as a program and --password make later ones secret. */
		bool is_secret = facts->redaction != TRK_REDACT_NOTHING && has_secret(&mask, *arg);

		if (arg != facts->argv && !is_secret && (*arg)[0] != '-' && strchr(*arg, '.') &&
		    !strpbrk(*arg, " \n"))
			return *arg;
	}
	return NULL;
}

/* Writes the name of the program. A process that sets its own title has all of it, arguments and
 * secrets, as its first argument. */
static size_t put_program(const struct trk_identity_facts *facts, char text[TRK_RUN_TEXT_SIZE])
{
	struct trk_mask mask = {.strict = facts->redaction == TRK_REDACT_STRICT};
	const char *name = facts->argv[0];
	char masked[4096];

	if (facts->redaction != TRK_REDACT_NOTHING) {
		(void) trk__mask_argument(&mask, name, masked, sizeof(masked));
		if (facts->redaction == TRK_REDACT_ALL)
			masked[strcspn(masked, " ")] = '\0';
		name = masked;
	}
	return (size_t) snprintf(text, TRK_RUN_TEXT_SIZE, "%s", base_of(name));
}

/* "/usr/bin/python -u ./train.py" -> "python train.py". True: the script is temporary, and not in
 * the text. */
static bool program_of(const struct trk_identity_facts *facts, char text[TRK_RUN_TEXT_SIZE])
{
	bool is_script = is_temporary(facts, facts->argv[0]);
	const char *script = is_script ? NULL : script_of(facts);
	size_t n = is_script ? (size_t) snprintf(text, TRK_RUN_TEXT_SIZE, "script")
			     : put_program(facts, text);

	if (!script)
		return is_script;
	if (is_temporary(facts, script))
		return true;
	if (facts->redaction != TRK_REDACT_ALL && n < TRK_RUN_TEXT_SIZE)
		(void) snprintf(text + n, TRK_RUN_TEXT_SIZE - n, " %s", base_of(script));
	return false;
}

/* ---- workflow engines: one task, one job ---- */

static bool put_two(char *job, const char *first, const char *between, const char *second)
{
	if (!first || !second)
		return false;
	(void) snprintf(job, TRK_RUN_TEXT_SIZE, "%s%s%s", first, between, second);
	return true;
}

static bool from_two(const struct trk_identity_facts *f, char *job, const char *first,
		     const char *between, const char *second)
{
	return put_two(job, value_of(f, first), between, value_of(f, second));
}

/* "ALIGN (sample 7)" -> "ALIGN": the tag distinguishes tasks of one process. */
static void put_process(char *job, const char *name, size_t len)
{
	const char *tag = len > 0 && name[len - 1] == ')' ? memchr(name, '(', len) : NULL;

	if (tag && tag > name + 1 && tag[-1] == ' ')
		len = (size_t) (tag - 1 - name);
	(void) snprintf(job, TRK_RUN_TEXT_SIZE, "%.*s",
			(int) (len < TRK_RUN_TEXT_SIZE ? len : TRK_RUN_TEXT_SIZE), name);
}

bool trk__identity_task(const char *text, char job[TRK_RUN_TEXT_SIZE])
{
	static const char *const heads[] = {"### name: '", "# NEXTFLOW TASK: "};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const char *at = strstr(text, heads[i]);
		size_t size;

		if (!at || (at > text && at[-1] != '\n'))
			continue;
		at += strlen(heads[i]);
		size = strcspn(at, "\n");
		while (size > 0 && i == 0 && (at[size - 1] == '\'' || at[size - 1] == '\r'))
			size--;
		if (size == 0)
			return false;
		put_process(job, at, size);
		return true;
	}
	return false;
}

static bool from_nextflow(const struct trk_identity_facts *f, char *job)
{
	const char *folder = value_of(f, "NXF_TASK_WORKDIR");
	char path[4096], text[2048];
	TRK_FD_CLEANUP int fd = -1;
	ssize_t len;

	if (!folder ||
	    snprintf(path, sizeof(path), "%s/.command.run", folder) >= (int) sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return false;
	text[len] = '\0';
	return trk__identity_task(text, job);
}

static bool from_argo(const struct trk_identity_facts *f, char *job)
{
	TRK_JSON_DOC_CLEANUP struct trk_json_doc doc = {.values = NULL};
	const char *text = value_of(f, "ARGO_TEMPLATE"), *name;

	if (!text || trk__json_read(text, strlen(text), NULL, "", &doc, NULL) < 0)
		return false;
	name = trk__json_get_text(&doc, trk__json_root(&doc), "name");
	if (!name || !*name)
		return false;
	(void) snprintf(job, TRK_RUN_TEXT_SIZE, "%s", name);
	return true;
}

static bool from_github(const struct trk_identity_facts *f, char *job)
{
	const char *repository = value_of(f, "GITHUB_REPOSITORY");
	const char *workflow = value_of(f, "GITHUB_WORKFLOW");
	char both[TRK_RUN_TEXT_SIZE];

	return value_of(f, "GITHUB_ACTIONS") && put_two(both, repository, " ", workflow) &&
	       put_two(job, both, "/", value_of(f, "GITHUB_JOB"));
}

/* "folder/project", with the stage of a pipeline after it. */
static bool from_jenkins(const struct trk_identity_facts *f, char *job)
{
	const char *name = value_of(f, "JOB_NAME");

	if (!value_of(f, "JENKINS_URL") || !name)
		return false;
	if (!put_two(job, name, "/", value_of(f, "STAGE_NAME")))
		(void) snprintf(job, TRK_RUN_TEXT_SIZE, "%s", name);
	return true;
}

/* ---- batch systems ---- */

/* Default names of jobs in batch systems. */
static bool is_made_up(const char *name)
{
	static const char *const names[] = {"wrap", "sbatch", "interactive", "STDIN", "bash", "sh"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return is_uuid(name, strlen(name)); /* Snakemake's, one for all rules of an execution */
}

static bool from_batch(const struct trk_identity_facts *f, char *job, const char **ret_directory)
{
	static const struct {
		const char *id, *name, *directory;
	} systems[] = {
		{"SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_SUBMIT_DIR"},
		{"PBS_JOBID", "PBS_JOBNAME", "PBS_O_WORKDIR"},
		{"LSB_JOBID", "LSB_JOBNAME", "LS_SUBCWD"},
		{"JOB_ID", "JOB_NAME", "SGE_O_WORKDIR"},
	};

	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		const char *name = value_of(f, systems[i].name);

		if (!value_of(f, systems[i].id) || !name || is_made_up(name))
			continue;
		(void) snprintf(job, TRK_RUN_TEXT_SIZE, "%s", name);
		*ret_directory = strpbrk(name, "./ ") ? value_of(f, systems[i].directory) : NULL;
		return true;
	}
	return false;
}

/* ---- all of it ---- */

static bool from_environment(const struct trk_identity_facts *f, char *job,
			     const char **ret_directory)
{
	return from_two(f, job, "METAFLOW_FLOW_NAME", "/", "METAFLOW_STEP_NAME") ||
	       from_nextflow(f, job) ||
	       from_two(f, job, "AIRFLOW_CTX_DAG_ID", "/", "AIRFLOW_CTX_TASK_ID") ||
	       from_argo(f, job) || from_batch(f, job, ret_directory) || from_github(f, job) ||
	       (value_of(f, "GITLAB_CI") &&
		from_two(f, job, "CI_PROJECT_PATH", " ", "CI_JOB_NAME")) ||
	       from_jenkins(f, job);
}

void trk__identity_find(const struct trk_identity_facts *facts, struct trk_identity *ret)
{
	const char *directory = NULL, *step = NULL;
	char program[TRK_RUN_TEXT_SIZE], scope[4096 + 2 * TRK_RUN_TEXT_SIZE];

	memset(ret, 0, sizeof(*ret));
	if (program_of(facts, program))
		step = value_of(facts, "GITHUB_ACTION");
	if (facts->get && from_environment(facts, ret->job, &directory)) {
		(void) snprintf(scope, sizeof(scope), "%s%s%.*s%s%.4096s", program,
				step ? ", step " : "", TRK_RUN_TEXT_SIZE, step ? step : "",
				directory ? " in " : "", directory ? directory : "");
		trk__identity_scope(scope, ret->scope);
		return;
	}
	memcpy(ret->job, program, sizeof(ret->job));
	trk__identity_scope(facts->directory ? facts->directory : "", ret->scope);
}
