/* Find runs and jobs by the names that a user types. */
#include "cli/named_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/edits.h"
#include "base/file.h"
#include "base/shell_word.h"

enum { EARLIER_MAX = 1 << 20 /* bytes of a file of runs */ };

/* ---- runs ---- */

/* Warn about skipped recordings, once per process. */
static void warn_of_refused(const struct trk_store_refused *refused)
{
	static bool has_warned;

	if (has_warned || !refused->count)
		return;
	has_warned = true;
	if (refused->count > 1)
		cli_complain("%s: skipped, as are %zu more", refused->why.message,
			     refused->count - 1);
	else
		cli_complain("%s: passed over", refused->why.message);
}

/* An id as trk__store_new_id() makes it, or the start of one. */
static bool is_id(const char *text)
{
	return (text[0] == 'r' || text[0] == 'i') && text[1] == '-' &&
	       strspn(text + 2, "0123456789abcdef") == strlen(text + 2);
}

/* A job's name may contain a slash, too: "CI/test@-1". A word in the form of a run ("@2", an id) is
 * a run, even if the working directory has a file of that name. */
static bool is_path(const char *reference)
{
	bool has_slash = strchr(reference, '/') != NULL, has_at = strchr(reference, '@') != NULL;
	struct stat st;

	if (!has_slash && (*reference == '@' || is_id(reference)))
		return false;
	if (!has_slash && stat(reference, &st) == 0 && S_ISDIR(st.st_mode)) /* a job's name */
		return false;
	return access(reference, F_OK) == 0 || (has_slash && !has_at);
}

struct nearest {
	int runs_fd;
	const char *typed;
	size_t least;
	char job[TRK_RUN_TEXT_SIZE];
};

static int offer_job(void *data, const char *name)
{
	struct nearest *n = data;
	struct trk_run *run = malloc(sizeof(*run));
	size_t edits;

	if (run && trk__record_read_start(n->runs_fd, name, run) == 0 &&
	    (edits = trk__edits(n->typed, run->job)) < n->least && edits < strlen(n->typed)) {
		n->least = edits;
		memcpy(n->job, run->job, sizeof(n->job));
	}
	free(run);
	return 0;
}

/* Complain about a reference that names no run or several, with what may have been meant. */
static int reject(int runs_fd, const char *reference, int error, const struct trk_error *why)
{
	enum { EDITS_MAX = 2 };
	struct nearest n = {.runs_fd = runs_fd, .typed = reference, .least = EDITS_MAX + 1};

	if (error == -TRK_ERR_NORUN)
		(void) trk__store_each(runs_fd, offer_job, &n, NULL);
	if (n.job[0])
		cli_complain("%s. Did you mean: %s", why->message, n.job);
	else
		cli_complain("%s. Try: resource-tracker history", why->message);
	return error == -TRK_ERR_NORUN ? EXIT_NODATA : EXIT_ERROR;
}

int cli_run_find(const char *dir, const char *reference, struct cli_run_file *ret)
{
	struct trk_error error = {.code = 0};
	struct trk_store_refused refused = {.count = 0};
	int r;

	*ret = (struct cli_run_file){.dirfd = AT_FDCWD, .path = reference};
	if (is_path(reference))
		return 0;
	dir = cli_state_dir(dir);
	if (!*dir)
		return EXIT_NODATA;
	ret->dirfd = r = trk__store_open(dir, false, &error);
	if (r == -ENOENT)
		return cli_reject(
			EXIT_NODATA,
			"%s: no such run: no recordings in %s. Try: resource-tracker run -- "
			"CMD",
			reference, dir);
	r = r < 0 ? r : trk__store_find(r, reference, ret->name, &refused, &error);
	warn_of_refused(&refused);
	ret->path = ret->name;
	if (r == 0)
		return 0;
	r = r == -TRK_ERR_NORUN || r == -TRK_ERR_AMBIGUOUS
		    ? reject(ret->dirfd, reference, r, &error)
		    : cli_fail("", r == -EINVAL ? -EIO : r, &error);
	cli_run_close(ret);
	return r;
}

void cli_run_close(struct cli_run_file *run)
{
	if (run->dirfd >= 0)
		(void) close(run->dirfd);
	run->dirfd = -1;
}

int cli_load(const char *dir, const char *reference, struct trk_record *record, trk_row_fn *on_row,
	     void *data)
{
	struct trk_error error = {.code = 0};
	struct cli_run_file run;
	int r = cli_run_find(dir, reference, &run);

	if (r != 0)
		return r;
	r = record ? trk__record_read(run.dirfd, run.path, record, on_row, data, &error)
		   : trk__record_read_rows(run.dirfd, run.path, on_row, data, &error);
	cli_run_close(&run);
	return r < 0 ? cli_fail("", r == -EINVAL ? -EIO : r, &error) : 0;
}

/* ---- their history ---- */

struct trk_history *cli_history_open(const struct trk_service *s, int *ret_status)
{
	struct trk_error error = {.code = 0};
	struct trk_history *h = NULL;
	int r;

	*ret_status = EXIT_NODATA;
	if (!*s->dir && !s->history_url)
		return NULL;
	r = trk__runs_history(s, 0, &h, &error);
	if (r < 0) {
		*ret_status = cli_fail("", r == -EINVAL ? -EIO : r, &error);
		return NULL;
	}
	warn_of_refused(trk__history_refused(h));
	if (*trk__history_note(h))
		cli_complain("%s", trk__history_note(h));
	return h;
}

const char *cli_earlier_runs(const char *path)
{
	static char *text;

	free(text);
	text = NULL;
	return trk__read_all_at(AT_FDCWD, path, EARLIER_MAX, &text) > 0 ? text : "";
}

/* ---- jobs ---- */

void cli_job_note(const struct trk_named_job *job, const char *verb)
{
	char other[2 * TRK_SHELL_WORD_SIZE];

	if (!job->other[0] || job->namesakes < 2)
		return;
	(void) trk__shell_word(other, sizeof(other), job->other);
	if (verb)
		cli_complain("%zu jobs are called %s: this is the one%s%s. Try: resource-tracker "
			     "%s %s",
			     job->namesakes, job->job,
			     job->scope[0] ? " in " : " of that name alone", job->scope, verb,
			     other);
	else
		cli_complain(
			"%zu jobs are called %s, and all follow. Try: resource-tracker history "
			"%s",
			job->namesakes, job->job, other);
}

const char *cli_newest_of(struct trk_history *h, const char *reference, const char *verb,
			  char id[TRK_RUN_ID_SIZE])
{
	struct trk_named_job job;

	if (!h || !trk__named_job_find(h, reference, &job))
		return reference;
	cli_job_note(&job, verb);
	(void) snprintf(id, TRK_RUN_ID_SIZE, "%s", job.newest);
	return id;
}
