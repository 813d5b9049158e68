#include "service/runs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "lines/native.h"
#include "recording/reader.h"
#include "recording/store.h"
#include "answer/cpu_use.h"
#include "answer/time_breakdown.h"
#include "track/job_identity.h"

enum {
	RUNS_MAX = 200,         /* newest runs of a job that are read */
	USES = 5,               /* runs whose CPU use is added up */
	READ_MAX = 20,          /* recordings that are read for them */
	NAMESAKES_MAX = 64,     /* jobs of one name */
	SCOPES_SEEN_MAX = 2000, /* newest runs of a name that are read */
};

static int open_recordings(const struct trk_service *s)
{
	return s->dir && *s->dir ? trk__store_open(s->dir, false, NULL) : -ENOENT;
}

/* Name host and database of the URL, without user, password and parameters. */
static void name_team(const char *url, const struct trk_error *error, struct trk_error *ret)
{
	const char *start = strstr(url, "://"), *host, *end, *port, *why = error->message;
	char shown[80];

	start = host = start ? start + 3 : "";
	end = start + strcspn(start, "?#");
	for (const char *at = start; at < end; at++)
		host = *at == '@' ? at + 1 : host;
	port = host[0] == '[' ? end : host + strcspn(host, ":");
	port += port < end ? 1 + strspn(port + 1, "0123456789") : 0;
	/* Without a host, what follows the colon is the password. */
	if (host == end || (host == start && strchr(url, '@')) ||
	    (port < end && !strchr(",/", *port)))
		host = "an unknown host", end = host + strlen(host);
	(void) snprintf(shown, sizeof(shown), "%.*s", (int) (end - host), host);
	(void) trk__error_set(ret, error->code, NULL, "history at %s: %s", shown,
			      strncmp(why, "history: ", 9) ? why : why + 9);
}

int trk__runs_history_of(const struct trk_service *s, size_t max_new, struct trk_history **ret,
			 struct trk_error *ret_team, struct trk_error *reterr)
{
	struct trk_error error = {.code = 0};
	const char *dir = s->dir ? s->dir : "";
	struct trk_history *h = trk__history_open_at(s->history_url, dir, max_new, &error);

	ret_team->code = 0;
	if (!h && s->history_url) {
		name_team(s->history_url, &error, ret_team);
		h = trk__history_open_at(NULL, dir, max_new, &error);
	}
	if (!h) {
		if (reterr)
			*reterr = error;
		return error.code < 0 ? error.code : -ENOMEM;
	}
	*ret = h;
	return 0;
}

int trk__runs_history(const struct trk_service *s, size_t max_new, struct trk_history **ret,
		      struct trk_error *reterr)
{
	struct trk_error team;
	int r = trk__runs_history_of(s, max_new, ret, &team, reterr);

	if (team.code)
		trk__service_note(s, "only the runs of this machine follow: %s", team.message);
	return r;
}

/* ---- the runs of a job ---- */

/* A recording of the store on the heap; NULL where it is gone. */
static struct trk_record *load_recording(int runs_fd, const char *file)
{
	struct trk_record *record = calloc(1, sizeof(*record));

	if (record && runs_fd >= 0 && trk__store_is_name(file) &&
	    trk__record_read(runs_fd, file, record, NULL, NULL, NULL) == 0)
		return record;
	free(record);
	return NULL;
}

static void free_recording(struct trk_record *record)
{
	if (record)
		trk__record_release(record);
	free(record);
}

/* False: the recording is gone, or has no samples. */
static bool read_use(int runs_fd, const char *file, struct trk_cpu_use *ret)
{
	struct trk_record *record = load_recording(runs_fd, file);
	bool there = record != NULL;

	if (there)
		trk__cpu_use_of(record, ret);
	free_recording(record);
	return there && trk__busy_seconds(&ret->busy) > 0;
}

/* Add the CPU use of a run. False: it has no samples, or cannot be read. */
static bool add_use(struct trk_job_runs *runs, size_t at, int runs_fd,
		    const struct trk_record *record, struct trk_cpu_use *one, bool is_first)
{
	if (at < runs->count - 1) {
		if (!read_use(runs_fd, runs->run[at].file, one))
			return false;
	} else {
		trk__cpu_use_of(record, one);
		if (!(trk__busy_seconds(&one->busy) > 0))
			return false;
	}
	/* A known queue replaces an unknown one. */
	if (is_first ||
	    (runs->use->queue.cause == TRK_QUEUE_UNKNOWN && one->queue.cause != TRK_QUEUE_UNKNOWN))
		*runs->use = *one;
	else
		(void) trk__cpu_use_merge(runs->use, one);
	return true;
}

/* The CPU use of the newest runs with samples that ended well, among those similar to the next one;
 * of this run if there are none. */
static int find_use(struct trk_job_runs *runs, int runs_fd, const struct trk_record *record)
{
	bool *kept = calloc(runs->count, sizeof(*kept));
	struct trk_cpu_use *one = malloc(sizeof(*one));
	struct trk_alike alike;
	size_t found = 0, tried = 0;

	if (kept && one)
		trk__alike_find(runs->run, runs->count, runs->tags, kept, &alike);
	for (size_t i = runs->count; kept && one && found < USES && tried < READ_MAX && i-- > 0;) {
		if (!kept[i] || runs->run[i].end != TRK_PAST_SUCCEEDED)
			continue;
		tried++;
		found += add_use(runs, i, runs_fd, record, one, found == 0);
	}
	if (found == 0)
		trk__cpu_use_of(record, runs->use);
	free(kept);
	free(one);
	return kept && one ? 0 : -ENOMEM;
}

/* The earlier runs of the history, oldest first. 0 or a negative error. */
static int list_earlier(struct trk_history *h, const struct trk_record *record,
			struct trk_job_runs *runs)
{
	struct trk_job_key job = trk__job_key(&record->run);
	double until_s = (double) record->run.start_ns / 1e9 + 1e-3;
	struct trk_run_list list;
	int r = trk__run_list_read(h, &job, RUNS_MAX, false, &list, NULL);

	if (r < 0)
		return r;
	for (size_t i = list.count; i-- > 0;)
		if (list.run[i].start_s <= until_s && strcmp(list.run[i].id, record->run.id) != 0)
			runs->run[runs->count++] = list.run[i];
	runs->texts = list.texts; /* taken */
	free(list.run);
	return 0;
}

static int add_this(struct trk_job_runs *runs, const struct trk_record *record)
{
	struct trk_history_row row;

	trk__history_run_from(record, "", &row);
	runs->run[runs->count] = row.run;
	return trk__past_run_keep(&runs->run[runs->count++], &runs->texts);
}

int trk__job_runs_read(const struct trk_service *s, struct trk_history *h, const char *earlier,
		       const struct trk_record *record, struct trk_job_runs *ret)
{
	TRK_FD_CLEANUP int runs_fd = earlier ? -1 : open_recordings(s);
	struct trk_job_runs runs = {.use = calloc(1, sizeof(*runs.use))};
	size_t max = h && !earlier ? RUNS_MAX : 0;
	int r = -ENOMEM;

	for (const char *at = earlier; at && *at && max < RUNS_MAX; at++)
		max += *at == '{';
	runs.run = calloc(max + 1, sizeof(*runs.run));
	if (runs.run && earlier && max)
		runs.count = trk__history_runs_from_json(earlier, strlen(earlier), runs.run, max);
	else if (runs.run && max)
		runs.history_error = list_earlier(h, record, &runs);
	if (runs.run && runs.use)
		r = add_this(&runs, record);
	if (r == 0)
		r = find_use(&runs, runs_fd, record);
	if (r < 0)
		trk__job_runs_release(&runs);
	else
		*ret = runs;
	return r;
}

int trk__job_runs_for(struct trk_job_runs *runs, const struct trk_service *s,
		      const struct trk_record *record, const char *tags)
{
	TRK_FD_CLEANUP int runs_fd = open_recordings(s);

	runs->tags = tags;
	return find_use(runs, runs_fd, record);
}

void trk__job_runs_release(struct trk_job_runs *runs)
{
	free(runs->run);
	trk__texts_release(&runs->texts);
	free(runs->use);
	*runs = (struct trk_job_runs){.count = 0};
}

struct trk_advice_input trk__job_runs_question(const struct trk_job_runs *runs,
					       const struct trk_record *record)
{
	return (struct trk_advice_input){.record = record,
					 .use = runs->use,
					 .runs = runs->run,
					 .count = runs->count,
					 .input_bytes = NAN,
					 .tags = runs->tags};
}

/* ---- what changed ---- */

void trk__job_runs_change(const struct trk_job_runs *runs, struct trk_change *ret)
{
	trk__change_from_history(&runs->run[runs->count - 1], runs->run, runs->count - 1, ret);
}

/* The course of a run from its recording; false where that is gone. */
static bool read_course(int runs_fd, const char *file, struct trk_time_breakdown *ret)
{
	struct trk_record *record = load_recording(runs_fd, file);
	bool good = record && trk__time_breakdown_of(record, ret) == 0 && ret->phase_count > 0;

	free_recording(record);
	return good;
}

void trk__job_runs_phases(const struct trk_job_runs *runs, const struct trk_service *s,
			  const struct trk_record *record, struct trk_change *c)
{
	const struct trk_past_run *this_run = &runs->run[runs->count - 1];
	TRK_FD_CLEANUP int runs_fd = open_recordings(s);
	struct trk_time_breakdown *courses, *now;
	size_t n = 0, tried = 0;

	if (runs_fd < 0 || (!trk__change_is_notable(c, TRK_CHANGE_DURATION) &&
			    !trk__change_is_notable(c, TRK_CHANGE_PEAK_MEMORY)))
		return;
	courses = calloc(TRK_CHANGE_PHASE_RUNS + 1, sizeof(*courses));
	now = courses ? &courses[TRK_CHANGE_PHASE_RUNS] : NULL;
	if (!now || trk__time_breakdown_of(record, now) < 0 || now->phase_count == 0) {
		free(courses);
		return;
	}
	for (size_t i = runs->count - 1;
	     i-- > 0 && n < TRK_CHANGE_PHASE_RUNS && tried < 2 * TRK_CHANGE_PHASE_RUNS;) {
		const struct trk_past_run *run = &runs->run[i];

		if (run->start_s >= this_run->start_s || run->code > 0)
			continue;
		tried++;
		n += read_course(runs_fd, run->file, &courses[n]);
	}
	trk__change_find_phases(c, now, courses, n);
	free(courses);
}

int trk__job_runs_lines(const struct trk_job_runs *runs, const struct trk_service *s,
			const struct trk_record *record, struct trk_lines_change *ret,
			char *ret_run)
{
	const struct trk_past_run *this_run = &runs->run[runs->count - 1];
	TRK_FD_CLEANUP int runs_fd = open_recordings(s);
	size_t tried = 0;
	int r = 0;

	ret_run[0] = '\0';
	for (size_t i = runs->count - 1; r == 0 && record->lines && runs_fd >= 0 && !ret_run[0] &&
					 tried < TRK_CHANGE_PHASE_RUNS && i-- > 0;) {
		const struct trk_past_run *run = &runs->run[i];
		struct trk_record *before;

		if (run->start_s >= this_run->start_s || run->code > 0)
			continue;
		tried++;
		before = load_recording(runs_fd, run->file);
		if (before && before->lines) {
			(void) trk__lines_look_up(&before->lines,
						  (double) before->run.start_ns / 1e9);
			r = trk__lines_change_of(before->lines, record->lines, ret);
			(void) snprintf(ret_run, TRK_RUN_ID_SIZE, "%s", run->id);
		}
		free_recording(before);
	}
	return r;
}

/* ---- the usual course ---- */

int trk__job_runs_usual(const struct trk_job_runs *runs, const struct trk_service *s,
			const struct trk_record *record, struct trk_usual_course **ret)
{
	TRK_FD_CLEANUP int runs_fd = open_recordings(s);
	struct trk_usual_course *u;

	*ret = NULL;
	if (runs_fd < 0 || runs->count <= TRK_USUAL_RUNS_MIN)
		return 0;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	for (size_t i = runs->count - 1; i-- > 0;)
		if (trk__usual_course_read(u, record, runs_fd, &runs->run[i]))
			break;
	if (trk__usual_course_settle(u))
		*ret = u;
	else
		free(u);
	return 0;
}

/* ---- jobs that a person names ---- */

/* The scopes of a name, in the order of their newest runs. */
struct scopes {
	char of[NAMESAKES_MAX][TRK_RUN_TEXT_SIZE], newest[NAMESAKES_MAX][TRK_RUN_ID_SIZE];
	char first[TRK_RUN_ID_SIZE]; /* the newest run, whatever its scope */
	size_t count;
};

static int add_scope(void *data, const struct trk_past_run *run)
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

static void working_scope(char text[TRK_RUN_TEXT_SIZE])
{
	char directory[4096];

	if (!getcwd(directory, sizeof(directory)))
		directory[0] = '\0';
	trk__identity_scope(directory, text);
}

static void describe(const struct scopes *s, const char *name, size_t at, struct trk_named_job *ret)
{
	*ret = (struct trk_named_job){.has_scope = s->count > 0,
				      .namesakes = s->count > 0 ? s->count : 1};
	(void) snprintf(ret->job, sizeof(ret->job), "%s", name);
	(void) snprintf(ret->scope, sizeof(ret->scope), "%s", s->of[at]);
	(void) snprintf(ret->newest, sizeof(ret->newest), "%s",
			s->count > 1 ? s->newest[at] : s->first);
	if (s->count > 1)
		trk__run_label(name, s->of[at == 0], ret->other);
}

static bool find_by_name(struct trk_history *h, const char *name, const char *scope,
			 struct trk_named_job *ret)
{
	struct trk_job_key key = {name, NULL};
	struct scopes *s = calloc(1, sizeof(*s));
	char preferred[TRK_RUN_TEXT_SIZE];
	bool found = false;
	size_t at = 0;

	if (s && trk__history_list(h, &key, SCOPES_SEEN_MAX, false, add_scope, s, NULL) == 0) {
		working_scope(preferred);
		if (scope && strcmp(scope, ".") != 0)
			(void) snprintf(preferred, sizeof(preferred), "%s", scope);
		while (at < s->count && strcmp(s->of[at], preferred) != 0)
			at++;
		found = scope ? at < s->count : s->first[0] != '\0';
		describe(s, name, at < s->count ? at : 0, ret);
	}
	free(s);
	return found;
}

bool trk__named_job_find(struct trk_history *h, const char *reference, struct trk_named_job *ret)
{
	char name[TRK_RUN_TEXT_SIZE], whole[TRK_RUN_TEXT_SIZE];

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

struct trk_job_key trk__named_job_key(const struct trk_named_job *job)
{
	return (struct trk_job_key){job->job, job->has_scope ? job->scope : NULL};
}

/* ---- lists ---- */

static int add_run(void *data, const struct trk_past_run *run)
{
	struct trk_run_list *p = data;

	p->error = trk__array_reserve(&p->run, &p->cap, p->count + 1, sizeof(*p->run));
	if (p->error < 0)
		return p->error;
	p->run[p->count] = *run;
	p->error = trk__past_run_keep(&p->run[p->count], &p->texts);
	p->count += p->error == 0;
	return p->error;
}

int trk__run_list_read(struct trk_history *h, const struct trk_job_key *job, size_t max,
		       bool unlisted, struct trk_run_list *ret, struct trk_error *reterr)
{
	struct trk_run_list list = {.count = 0};
	int r = trk__history_list(h, job, max, unlisted, add_run, &list, reterr);

	if (r >= 0 && list.error < 0)
		r = trk__error_set(reterr, list.error, NULL, "out of memory");
	if (r < 0)
		trk__run_list_release(&list);
	else
		*ret = list;
	return r;
}

void trk__run_list_release(struct trk_run_list *list)
{
	free(list->run);
	trk__texts_release(&list->texts);
	*list = (struct trk_run_list){.count = 0};
}

/* ---- rows of the views over many jobs ---- */

enum { ROWS_ALWAYS = 50000, ROWS_DAYS = 120, JOB_RUNS_MAX = 220 };

struct loading {
	struct trk_fleet_rows *rows;
	double cut_s;
	int error;
};

static int add_row(void *data, const struct trk_past_run *run)
{
	struct loading *l = data;

	if (l->rows->count >= ROWS_ALWAYS && run->start_s < l->cut_s)
		return 1;
	l->error = trk__fleet_rows_add(l->rows, run);
	return l->error;
}

static int read_rows(struct trk_history *h, const struct trk_job_key *job, size_t max,
		     struct loading *l, struct trk_error *reterr)
{
	int r = trk__history_list(h, job, max, false, add_row, l, reterr);

	if (r >= 0)
		r = l->error < 0 ? l->error : trk__fleet_rows_sort(l->rows);
	if (r == -ENOMEM)
		return trk__error_set(reterr, r, NULL, "out of memory");
	return r < 0 ? r : 0;
}

int trk__fleet_rows_read(struct trk_history *h, double days, struct trk_fleet_rows *ret,
			 struct trk_error *reterr)
{
	double kept_days = 2 * days > ROWS_DAYS ? 2 * days : ROWS_DAYS;
	struct loading l = {.rows = ret, .cut_s = ret->now_s - kept_days * 86400};

	return read_rows(h, NULL, 0, &l, reterr);
}

int trk__fleet_rows_read_job(struct trk_history *h, const struct trk_job_key *job,
			     struct trk_fleet_rows *ret, struct trk_error *reterr)
{
	struct loading l = {.rows = ret, .cut_s = -INFINITY};

	return read_rows(h, job, JOB_RUNS_MAX, &l, reterr);
}
