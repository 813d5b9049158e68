#include "cli/past_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/libc.h"
#include "record/identity.h"
#include "record/reader.h"
#include "record/store.h"
#include "report/course.h"

enum {
	CHANGE_PATIENCE_MS = 300, /* at the end of a run */
	CHANGE_NEW_MAX = 64,      /* recordings that are taken into the history then */
	SEND_PATIENCE_S = 60,
	NAMESAKES_MAX = 64,
	SCOPES_SEEN_MAX = 2000, /* newest runs of a name that are looked at */
};

const char *cli_history_url(void)
{
	const char *url = getenv("RESOURCE_TRACKER_HISTORY");

	return url && *url ? url : NULL;
}

struct trk_history *cli_history_open(const char *dir, int *ret_status)
{
	struct trk_error error = {.code = 0};
	struct trk_history *h;
	char text[4096];

	dir = cli_state_dir(dir, text, sizeof(text));
	h = trk__history_open_at(cli_history_url(), dir, 0, &error);
	/* What this machine has recorded can be told without the others. */
	if (!h && cli_history_url()) {
		cli_complain("%s; this machine's runs alone follow", error.message);
		h = trk__history_open(dir, &error);
	}
	if (!h) {
		cli_complain("%s", error.message);
		*ret_status = error.code == -TRK_E_NODATA ? EXIT_NODATA : EXIT_ERROR;
		return NULL;
	}
	if (*trk__history_note(h))
		cli_complain("%s", trk__history_note(h));
	return h;
}

static int keep(void *data, const struct trk_past *run)
{
	struct cli_past *p = data;

	if (p->count == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 32;
		struct trk_past *bigger = realloc(p->run, cap * sizeof(*bigger));

		if (!bigger)
			return 1;
		p->run = bigger;
		p->cap = cap;
	}
	p->run[p->count++] = *run;
	return 0;
}

/* ---- jobs ---- */

/* The scopes of a name, in the order of their newest runs. */
struct scopes {
	char of[NAMESAKES_MAX][TRK_RUN_TEXT_SIZE], newest[NAMESAKES_MAX][TRK_RUN_ID_SIZE];
	char first[TRK_RUN_ID_SIZE]; /* the newest run, whatever its scope */
	size_t count;
};

static int take_scope(void *data, const struct trk_past *run)
{
	struct scopes *s = data;

	if (!s->first[0])
		(void) snprintf(s->first, sizeof(s->first), "%s", run->id);
	if (!run->has_scope)
		return 0;
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->of[i], run->scope))
			return 0;
	(void) snprintf(s->of[s->count], TRK_RUN_TEXT_SIZE, "%s", run->scope);
	(void) snprintf(s->newest[s->count], TRK_RUN_ID_SIZE, "%s", run->id);
	return ++s->count == NAMESAKES_MAX;
}

static void here(char text[TRK_RUN_TEXT_SIZE])
{
	char directory[4096];

	if (!getcwd(directory, sizeof(directory)))
		directory[0] = '\0';
	trk__identity_scope(directory, text);
}

static bool find_by_name(struct trk_history *h, const char *name, const char *scope,
			 struct cli_job *ret)
{
	struct trk_job_key key = {name, NULL};
	struct scopes *s = calloc(1, sizeof(*s));
	char preferred[TRK_RUN_TEXT_SIZE];
	size_t at = 0;
	bool found;

	if (!s || trk__history_list(h, &key, SCOPES_SEEN_MAX, false, take_scope, s, NULL) < 0)
		s = (free(s), NULL);
	if (!s)
		return false;
	here(preferred);
	if (scope && strcmp(scope, ".") != 0)
		(void) snprintf(preferred, sizeof(preferred), "%s", scope);
	while (at < s->count && strcmp(s->of[at], preferred) != 0)
		at++;
	found = scope ? at < s->count : s->first[0] != '\0';
	at = at < s->count ? at : 0;
	*ret = (struct cli_job){.has_scope = s->count > 0,
				.namesakes = s->count > 0 ? s->count : 1};
	(void) snprintf(ret->job, sizeof(ret->job), "%s", name);
	(void) snprintf(ret->scope, sizeof(ret->scope), "%s", s->of[at]);
	(void) snprintf(ret->newest, sizeof(ret->newest), "%s",
			s->count > 1 ? s->newest[at] : s->first);
	free(s);
	return found;
}

bool cli_job_find(struct trk_history *h, const char *reference, struct cli_job *ret)
{
	char name[TRK_RUN_TEXT_SIZE], whole[TRK_RUN_TEXT_SIZE];

	if (!h)
		return false;
	(void) snprintf(whole, sizeof(whole), "%s", reference); /* as it was cut when it was kept */
	if (find_by_name(h, whole, NULL, ret))
		return true;
	/* A name may hold the word, too. */
	for (const char *at = strstr(reference, " in "); at; at = strstr(at + 1, " in ")) {
		(void) snprintf(name, sizeof(name), "%.*s", (int) (at - reference), reference);
		if (at - reference < TRK_RUN_TEXT_SIZE && find_by_name(h, name, at + 4, ret)) {
			ret->namesakes = 1;
			return true;
		}
	}
	return false;
}

struct trk_job_key cli_job_key(const struct cli_job *job)
{
	return (struct trk_job_key){job->job, job->has_scope ? job->scope : NULL};
}

void cli_job_tell(struct trk_history *h, const struct cli_job *job, const char *verb)
{
	struct trk_job_key key = {job->job, NULL};
	struct scopes *s = calloc(1, sizeof(*s));
	char label[TRK_LABEL_SIZE] = "";

	if (s && job->namesakes > 1)
		(void) trk__history_list(h, &key, SCOPES_SEEN_MAX, false, take_scope, s, NULL);
	for (size_t i = 0; s && i < s->count && !label[0]; i++)
		if (strcmp(s->of[i], job->scope) != 0)
			trk__identity_label(job->job, s->of[i], label);
	if (label[0] && verb)
		cli_complain("%zu jobs are called %s: this is the one%s%s. Try: resource-tracker "
			     "%s '%s'",
			     job->namesakes, job->job,
			     job->scope[0] ? " in " : " of that name alone", job->scope, verb,
			     label);
	else if (label[0])
		cli_complain(
			"%zu jobs are called %s, and all follow. Try: resource-tracker history "
			"'%s'",
			job->namesakes, job->job, label);
	free(s);
}

const char *cli_newest_of(struct trk_history *h, const char *reference, const char *verb,
			  char id[TRK_RUN_ID_SIZE])
{
	struct cli_job job;

	if (!cli_job_find(h, reference, &job))
		return reference;
	cli_job_tell(h, &job, verb);
	(void) snprintf(id, TRK_RUN_ID_SIZE, "%s", job.newest);
	return id;
}

int cli_past_load(struct trk_history *h, const struct trk_job_key *job, size_t max, bool unlisted,
		  struct cli_past *ret)
{
	struct trk_error error = {.code = 0};
	struct cli_past p = {.count = 0};

	if (trk__history_list(h, job, max, unlisted, keep, &p, &error) < 0) {
		cli_complain("%s", error.message);
		cli_past_release(&p);
		return EXIT_ERROR;
	}
	*ret = p;
	return 0;
}

void cli_past_release(struct cli_past *p)
{
	free(p->run);
	*p = (struct cli_past){.count = 0};
}

/* ---- what changed ---- */

/* The course of a run from its recording; false where there is none any more. */
static bool read_course(int runs_fd, const char *file, struct trk_course *ret)
{
	struct trk_record *record = calloc(1, sizeof(*record));
	bool there =
		record && *file && trk__record_read(runs_fd, file, record, NULL, NULL, NULL) == 0;
	bool good = there && trk__course_of(record, ret) == 0 && ret->phase_count > 0;

	if (there)
		trk__record_release(record);
	free(record);
	return good;
}

void cli_change_phases(const char *dir, const struct trk_record *record,
		       const struct cli_past *past, struct trk_change *c)
{
	struct trk_course *courses = NULL, *now;
	double start_s = (double) record->run.start_ns / 1e9;
	TRK_FD_CLEANUP int runs_fd = -1;
	size_t n = 0, tried = 0;
	char text[4096];

	if (!trk__change_is_notable(c, TRK_CHANGE_DURATION) &&
	    !trk__change_is_notable(c, TRK_CHANGE_PEAK_MEMORY))
		return;
	courses = calloc(TRK_CHANGE_PHASE_RUNS + 1, sizeof(*courses));
	runs_fd = trk__store_open(cli_state_dir(dir, text, sizeof(text)), false, NULL);
	now = courses ? &courses[TRK_CHANGE_PHASE_RUNS] : NULL;
	if (!now || runs_fd < 0 || trk__course_of(record, now) < 0 || now->phase_count == 0)
		past = NULL;
	for (size_t i = 0; past && i < past->count && n < TRK_CHANGE_PHASE_RUNS &&
			   tried < 2 * TRK_CHANGE_PHASE_RUNS;
	     i++) {
		const struct trk_past *run = &past->run[i];

		if (run->start_s >= start_s || run->code > 0 || !strcmp(run->id, record->run.id))
			continue;
		tried++;
		n += read_course(runs_fd, run->file, &courses[n]);
	}
	if (past)
		trk__change_find_phases(c, now, courses, n);
	free(courses);
}

/* With what is known so far, and once more when the phases are known, if they are to be. */
typedef void tell_fn(void *data, const struct trk_change *c);

static int change_of(const char *dir, const struct trk_record *record, size_t max_new,
		     struct trk_change *ret, tell_fn *tell, void *data)
{
	struct trk_error error = {.code = 0};
	struct trk_past *now = calloc(1, sizeof(*now));
	struct trk_history *h = NULL;
	struct trk_job_key job = trk__job_key(&record->run);
	struct cli_past p = {.count = 0};
	char text[4096];
	int r = -ENOMEM;

	if (now)
		h = trk__history_open_at(cli_history_url(), cli_state_dir(dir, text, sizeof(text)),
					 max_new, &error);
	if (h)
		r = trk__history_list(h, &job, TRK_CHANGE_EARLIER_MAX + 50, false, keep, &p,
				      &error);
	if (r == 0) {
		trk__past_from(record, "", now);
		trk__change_from_history(now, p.run, p.count, ret);
		if (tell)
			tell(data, ret);
		cli_change_phases(dir, record, &p, ret);
		if (tell)
			tell(data, ret);
	}
	cli_past_release(&p);
	trk__history_free(h);
	free(now);
	return r;
}

int cli_change_of(const char *dir, const struct trk_record *record, size_t max_new,
		  struct trk_change *ret)
{
	return change_of(dir, record, max_new, ret, NULL, NULL);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* Read into *ret what the child writes, for so long. */
static bool hear(int fd, struct trk_change *ret)
{
	uint64_t end = now_ms() + CHANGE_PATIENCE_MS;
	struct trk_change next;
	bool heard = false;
	size_t len = 0;

	/* Twice: the second time with the phases. */
	for (uint64_t now = now_ms(); now < end; now = now_ms()) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (poll(&wait, 1, (int) (end - now)) != 1)
			break;
		n = read(fd, (char *) &next + len, sizeof(next) - len);
		if (n <= 0)
			break;
		len += (size_t) n;
		if (len < sizeof(next))
			continue;
		memcpy(ret, &next, sizeof(next));
		heard = true;
		len = 0;
	}
	return heard;
}

static void write_change(void *data, const struct trk_change *c)
{
	(void) trk__write_all(*(const int *) data, c, sizeof(*c));
}

bool cli_change_quickly(const char *dir, const struct trk_record *record, struct trk_change *ret)
{
	int ends[2];
	bool heard;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		struct trk_change change;

		_exit(change_of(dir, record, CHANGE_NEW_MAX, &change, write_change, &ends[1]) ? 1
											      : 0);
	}
	trk__close(ends[1]);
	heard = pid > 0 && hear(ends[0], ret);
	trk__close(ends[0]);
	if (pid > 0) {
		if (!heard)
			(void) kill(pid, SIGKILL);
		(void) waitpid(pid, NULL, 0);
	}
	return heard;
}

/* ---- sending ---- */

void cli_history_send(const char *dir)
{
	struct trk_error error = {.code = 0};
	char text[4096];
	pid_t pid;
	int null_fd;

	if (!cli_history_url())
		return;
	dir = cli_state_dir(dir, text, sizeof(text));
	pid = fork();
	if (pid > 0)
		(void) waitpid(pid, NULL, 0);
	if (pid != 0)
		return;
	if (setsid() < 0 || fork() != 0)
		_exit(0);
	/* It keeps nothing of the job's from ending, and goes away by itself. */
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3 && null_fd >= 0; fd++)
		(void) dup2(null_fd, fd);
	trk__close_range(3, ~0u);
	(void) alarm(SEND_PATIENCE_S);
	(void) trk__history_open_at(cli_history_url(), dir, 0, &error);
	_exit(0);
}
