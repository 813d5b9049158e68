/* What may block or load a library runs in child processes: the page of the running job
 * (live_page.c), the times of earlier runs for an alert, and the summary with what the earlier runs
 * say. A child answers through a pipe with text. */
#include "service/run_engine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/detach.h"
#include "base/file.h"
#include "base/maths.h"
#include "base/os.h"
#include "probe/helper_process.h"
#include "probe/reader.h"
#include "recording/format.h"
#include "service/conclusion.h"
#include "service/live_page.h"
#include "track/control.h"
#include "track/job_identity.h"

enum {
	TEXT_MAX = 4 * 1024 * 1024,
	PATIENCE_MS = 300, /* at the end of a run */
	CHANGE_RUN_MIN_MS = 100,
	NEW_MAX = 64, /* recordings that a child takes into the history */
	LONG_PATIENCE_MS = 60000,
	EARLIER_RUNS = 100,      /* newest runs of the job whose times are read */
	EARLIER_TEXT_MAX = 2048, /* fits into a pipe */
};
static const double EARLIER_ASKED_S = 30, EARLIER_ASKED_SHARE = 0.1;

struct engine {
	const struct trk_run_engine *options;
	struct trk_run_end *end;
	struct trk_live_page page;
	struct trk_alert_live alerts;
	struct trk_alert_hooks hooks;
	/* The child that reads the times of the earlier runs. */
	struct trk_helper_process earlier;
	int earlier_fd; /* pipe from it; -1: none */
	bool has_asked;
};

/* End this child by a signal, whatever it does then. The tracker blocks that signal. */
static void end_after(unsigned int ms)
{
	const struct itimerval time = {.it_value = {ms / 1000, ms % 1000 * 1000}};
	sigset_t alarm_set;

	(void) sigemptyset(&alarm_set);
	(void) sigaddset(&alarm_set, SIGALRM);
	(void) signal(SIGALRM, SIG_DFL);
	(void) sigprocmask(SIG_UNBLOCK, &alarm_set, NULL);
	(void) setitimer(ITIMER_REAL, &time, NULL);
}

/* ---- times of earlier runs, for the alert `time-limit` ---- */

struct times {
	struct trk_buf text;
	size_t count;
};

static int add_time(void *data, const struct trk_past_run *run)
{
	struct times *t = data;

	if (run->ended && run->code == 0 && run->signal == 0 && run->duration_s > 0) {
		trk__buf_printf(&t->text, "%.9g ", run->duration_s);
		t->count++;
	}
	return t->count == TRK_ALERT_EARLIER_MAX;
}

/* Runs in the child. Without a history it writes nothing. */
static _Noreturn void write_times(const struct engine *e, const struct trk_record *record, int fd)
{
	struct trk_job_key key = trk__job_key(&record->run);
	struct trk_service quiet = e->options->service;
	struct times t = {.text = {.max = EARLIER_TEXT_MAX}};
	struct trk_history *h;

	trk__service_child(e->options->track.control_fd);
	end_after(LONG_PATIENCE_MS);
	quiet.note = NULL;
	if (trk__runs_history(&quiet, NEW_MAX, &h, NULL) == 0 &&
	    trk__history_list(h, &key, EARLIER_RUNS, false, add_time, &t, NULL) == 0)
		(void) trk__write_all(fd, t.text.data, t.text.len);
	_exit(0);
}

static void ask_for_times(struct engine *e, const struct trk_record *record)
{
	int ends[2];
	pid_t pid;

	e->has_asked = true;
	if (trk__os_pipe(ends) < 0)
		return;
	pid = trk__helper_process_fork(&e->earlier);
	if (pid == 0)
		write_times(e, record, ends[1]);
	trk__close(ends[1]);
	if (pid > 0)
		e->earlier_fd = ends[0];
	else
		trk__close(ends[0]);
}

/* The text fits into the pipe, so that the child ends without being read. */
static void read_times(struct engine *e)
{
	char text[EARLIER_TEXT_MAX + 1], *at = text, *rest;
	double s[TRK_ALERT_EARLIER_MAX];
	ssize_t len = read(e->earlier_fd, text, EARLIER_TEXT_MAX);
	size_t n = 0;

	text[len > 0 ? len : 0] = '\0';
	for (; n < TRK_ALERT_EARLIER_MAX; n++, at = rest) {
		s[n] = strtod(at, &rest);
		if (rest == at)
			break;
	}
	if (n)
		trk__alert_live_earlier(&e->alerts, s, n);
	trk__close(e->earlier_fd);
	e->earlier_fd = -1;
}

/* The child is started when 30 s or a tenth of the requested time have passed, whichever is first;
 * never without a requested time. */
static void follow_times(struct engine *e, const struct trk_record *record, double elapsed_s)
{
	double wait_s = EARLIER_ASKED_SHARE * record->run.request[TRK_REQUEST_TIME_S].value;
	int status;

	if (e->earlier_fd >= 0 && trk__helper_process_ended(&e->earlier, &status))
		read_times(e);
	if (!e->has_asked && *e->options->service.dir && record->run.job[0] &&
	    elapsed_s >= (wait_s > EARLIER_ASKED_S ? EARLIER_ASKED_S : wait_s))
		ask_for_times(e, record);
}

static void end_times(struct engine *e)
{
	int status;

	if (e->earlier_fd < 0)
		return;
	trk__helper_process_kill(&e->earlier);
	(void) trk__helper_process_ended(&e->earlier, &status);
	trk__close(e->earlier_fd);
}

/* ---- while it runs ---- */

/* Send an alert to the library that started this program. */
static void pass_alert(int control_fd, const struct trk_record *record, const struct trk_alert *a)
{
	TRK_BUF_LOCAL(b, TRK_CONTROL_LINE - 16);

	trk__alert_json(&b, record, a);
	trk__buf_putc(&b, '\0');
	if (!b.error)
		(void) trk__control_send(control_fd, "alert", b.data);
}

static void on_alert(void *data, const struct trk_record *record, const struct trk_alert *alert)
{
	const struct trk_alert named = trk__alert_with_wait(alert, record), *a = &named;
	struct engine *e = data;
	const struct trk_run_engine *o = e->options;
	char text[2 * TRK_ALERT_TEXT_SIZE + 8];

	(void) snprintf(text, sizeof(text), "%s%s%s", a->text, a->fix[0] ? ". Try: " : "", a->fix);
	if (o->track.control_fd >= 0)
		pass_alert(o->track.control_fd, record, a);
	else if (a->firing)
		o->on_alert(o->data, trk__alert_rules[a->rule].name, text);
	trk__alert_hooks_call(&e->hooks, a);
}

static void judge_alerts(struct engine *e, const struct trk_record *record,
			 const struct trk_sample *row, const struct trk_gpu_reading *gpus)
{
	const struct trk_run_engine *o = e->options;
	struct trk_sample timed = *row;

	timed.value[TRK_ELAPSED] =
		trk__whole((double) row->value[TRK_ELAPSED] * o->alert_speed, 0, INT64_MAX);
	follow_times(e, record, trk__sample_get(&timed, TRK_ELAPSED));
	trk__alert_live_row(&e->alerts, record, &timed, gpus ? gpus->device : NULL,
			    gpus ? gpus->devices : 0, on_alert, e);
	trk__alert_hooks_turn(&e->hooks, record, trk__sample_get(row, TRK_ELAPSED), o->on_word,
			      o->data);
}

static void on_row(void *data, const struct trk_record *record, const struct trk_sample *row,
		   struct trk_sampler *sampler)
{
	struct engine *e = data;

	e->options->on_row(e->options->data, record, row, sampler);
	trk__live_page_row(&e->page, &record->run);
	if (e->options->judges_alerts || e->hooks.count)
		judge_alerts(e, record, row, trk__sampler_gpus(sampler));
}

static void on_status(void *data, const struct trk_record *record)
{
	const struct engine *e = data;

	e->options->on_status(e->options->data, record);
}

/* ---- the summary ---- */

/* Whether a request can be advised from this run only. A short run suffices if it was killed for
 * memory or time. */
static bool names_a_request(const struct trk_record *r)
{
	struct trk_advice *a = malloc(sizeof(*a));
	bool names = a && trk__advice_of_run(r, a) == 0 &&
		     a->sizing.sizing != TRK_SIZING_NOT_ENOUGH_DATA;

	free(a);
	return names;
}

static bool is_long(const struct trk_record *r)
{
	return r->outcome.duration_ns >= CHANGE_RUN_MIN_MS * TRK_NS_PER_MS;
}

/* Whether the end of the run shows a request, a server or a change. Most short runs show none on a
 * terminal; the history is not read then. */
static bool is_history_wanted(const struct trk_run_engine *o, const struct trk_record *r)
{
	bool server = r->place.has_cloud && r->place.cloud.vendor[0] &&
		      (double) r->outcome.duration_ns >= TRK_RUN_SHORTEST_S * 1e9;

	return *o->service.dir && r->run.pid && r->run.job[0] &&
	       (server || o->wants_json || (o->wants_text && (is_long(r) || names_a_request(r))));
}

static bool is_unrecorded(const struct trk_run_engine *o, const struct trk_track_result *result)
{
	return !*o->service.dir || result->recording_error == -EBUSY ||
	       (result->recording_error && !result->recording_lost);
}

/* c: NULL where the history was not read, or not in time. */
static void write_summary(const struct engine *e, const struct trk_record *record,
			  const struct trk_conclusion *c, struct trk_buf *text,
			  struct trk_buf *json)
{
	const struct trk_run_engine *o = e->options;
	struct trk_summary_style style = o->style(o->data);

	style.not_recorded = is_unrecorded(o, &e->end->track);
	style.alone = !c && !o->track.unlisted && is_history_wanted(o, record);
	if (c && c->has_advice)
		style.advice = &c->advice;
	if (c && c->has_change && !o->track.unlisted && is_long(record))
		style.change = &c->change;
	if (o->wants_text)
		trk__summary_text(text, record, &style);
	if (o->wants_json)
		trk__summary_json(json, record, style.change, style.advice);
}

struct sending {
	const struct engine *e;
	struct trk_record *record;
	int fd;
	bool has_cost;
};

static void add_place(struct trk_buf *b, const struct trk_place *place, enum trk_place_part part)
{
	TRK_BUF_LOCAL(fields, TEXT_MAX);

	trk__place_format(&fields, place, part);
	trk__buf_bytes(b, fields.data, fields.len);
}

/* In the child: the cost, which the recording gets, and the summary. */
static void send_summary(void *data, const struct trk_conclusion *c)
{
	struct sending *t = data;
	const struct trk_advice *advice = c->has_advice ? &c->advice : NULL;
	TRK_BUF_LOCAL(text, TEXT_MAX);
	TRK_BUF_LOCAL(json, TEXT_MAX);
	TRK_BUF_LOCAL(b, 3 * TEXT_MAX);

	if (!t->has_cost)
		trk__prices_cost(&t->e->options->service.layers, t->record, advice,
				 advice ? &c->busy : NULL);
	t->has_cost = true;
	write_summary(t->e, t->record, c, &text, &json);
	trk__buf_text(&b, c->unsent);
	add_place(&b, &t->record->place, TRK_PLACE_CLOUD);
	add_place(&b, &t->record->place, TRK_PLACE_COST);
	trk__buf_bytes(&b, text.data, text.len);
	trk__buf_bytes(&b, json.data, json.len);
	if (!b.error && !text.error && !json.error)
		(void) trk__write_all(t->fd, b.data, b.len);
}

static _Noreturn void conclude(const struct engine *e, struct trk_record *record, int fd)
{
	struct sending t = {.e = e, .record = record, .fd = fd};
	struct trk_conclusion *c = malloc(sizeof(*c));

	end_after(PATIENCE_MS);
	_exit(!c || trk__conclude(&e->options->service, record, NEW_MAX, c, send_summary, &t) != 0);
}

static void keep(struct trk_buf *to, const char *text, size_t len)
{
	trk__buf_clear(to);
	trk__buf_add(to, text, len);
}

/* Take the last complete one of the messages: the first lacks the phases of the change. */
static bool read_messages(struct engine *e, struct trk_record *record, const char *text, size_t len)
{
	struct trk_cursor c = {(const unsigned char *) text, (const unsigned char *) text + len, 0};
	bool any = false;

	while (c.at < c.end) {
		const char *part[5];
		size_t size[5];

		for (int i = 0; i < 5; i++)
			part[i] = trk__cursor_bytes(&c, &size[i]);
		if (c.bad)
			break;
		any = true;
		(void) snprintf(e->end->unsent, sizeof(e->end->unsent), "%.*s", (int) size[0],
				part[0]);
		(void) trk__place_parse(part[1], size[1], &record->place);
		(void) trk__place_parse(part[2], size[2], &record->place);
		keep(&e->end->text, part[3], size[3]);
		keep(&e->end->json, part[4], size[4]);
	}
	return any;
}

/* Ask a child process, which ends by a signal after 0.3 s, so that a locked or remote database does
 * not hold up the end and SQLite is not loaded into the tracker. False: no answer. */
static bool conclude_quickly(struct engine *e, struct trk_record *record)
{
	char *text = NULL;
	bool has_answered;
	ssize_t len = -1;
	int ends[2];
	pid_t pid;

	if (trk__os_pipe(ends) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		conclude(e, record, ends[1]);
	trk__close(ends[1]);
	if (pid > 0) {
		len = trk__read_all_fd(ends[0], 6 * TEXT_MAX, &text);
		(void) waitpid(pid, NULL, 0);
	}
	trk__close(ends[0]);
	has_answered = len > 0 && read_messages(e, record, text, (size_t) len);
	free(text);
	return has_answered;
}

/* Runs before the recording is closed, as the cost and the best server are written into it. */
static void on_cost(void *data, struct trk_record *record)
{
	struct engine *e = data;

	if (!is_history_wanted(e->options, record) || !conclude_quickly(e, record))
		trk__prices_cost(&e->options->service.layers, record, NULL, NULL);
}

/* Send the runs that the team's history lacks, from a process in the background that ends after a
 * minute at most. */
static void send_later(const struct trk_service *s)
{
	struct trk_error error = {.code = 0};

	if (!*s->dir || !s->history_url || !trk__detach())
		return;
	end_after(LONG_PATIENCE_MS);
	(void) trk__history_open_at(s->history_url, s->dir, 0, &error);
	_exit(0);
}

/* ---- the start ---- */

/* The command line of an attached process, in `text`; an empty argv[0] where it is hidden. */
static void read_command(const struct trk_env *env, int pid, char *text, size_t size, char **argv,
			 size_t max)
{
	struct trk_reader *reader = trk__reader_new(env, false);
	uint64_t cost_ns;
	size_t n = 0;
	ssize_t len =
		trk__reader_read(reader, env, 0, TRK_PATH("%d/cmdline", pid), text, size, &cost_ns);
	bool is_cut = len == -EFBIG;

	trk__reader_free(reader);
	if (is_cut)
		len = (ssize_t) size - 1;
	text[len > 0 ? len : 0] = '\0';
	for (char *at = text; at < text + len && n + 1 < max; at += strlen(at) + 1)
		argv[n++] = at;
	n -= is_cut && n > 1; /* the cut argument may hold half of a secret */
	argv[n] = NULL;
}

/* Derive the job's name from argv, or from the command line of the process. */
static void identify(const struct trk_run_engine *o, const struct trk_env *env,
		     struct trk_identity *ret)
{
	enum { WORDS_MAX = 64 };
	char *const *argv = o->track.argv;
	char words[4096], *theirs[WORDS_MAX] = {NULL}, directory[4096] = "", link[64];
	struct trk_identity_facts facts = {
		.get = argv ? o->variable : NULL, /* attach: unknown variables */
		.argv = argv ? argv : theirs,
		.redaction = o->track.redaction,
		.directory = directory,
	};
	pid_t pid = o->track.pid;
	ssize_t len;

	*ret = (struct trk_identity){.job = ""};
	if (!argv && pid > 0)
		read_command(env, pid, words, sizeof(words), theirs, WORDS_MAX);
	if (!argv && (pid <= 0 || !theirs[0]))
		return;
	if (argv) {
		if (!getcwd(directory, sizeof(directory)))
			directory[0] = '\0';
	} else {
		(void) snprintf(link, sizeof(link), "/proc/%d/cwd", (int) pid);
		len = readlink(link, directory, sizeof(directory) - 1);
		directory[len > 0 ? len : 0] = '\0';
	}
	trk__identity_find(&facts, ret);
}

static struct trk_track_options plan(struct engine *e, const struct trk_env *env,
				     struct trk_identity *identity)
{
	struct trk_track_options o = e->options->track;

	o.on_row = on_row;
	o.on_cost = on_cost;
	o.on_status = on_status;
	o.data = e;
	if (!o.argv && !o.pid && !o.job) {
		o.job = "system";
	} else if (!o.job || !*o.job) {
		identify(e->options, env, identity);
		o.job = identity->job;
		o.scope = identity->scope;
	}
	return o;
}

static void begin(struct engine *e, const struct trk_run_engine *o, struct trk_run_end *end)
{
	*e = (struct engine){.options = o,
			     .end = end,
			     .hooks = o->hooks,
			     .earlier = {.slot = -1, .fd = -1},
			     .earlier_fd = -1};
	trk__alert_live_init(&e->alerts);
	trk__live_page_init(&e->page, &(struct trk_live_page){
					      .service = o->service,
					      .request = o->page,
					      .path = o->page_path,
					      .via = o->page_via,
					      .every_ns = o->page_every_ns,
					      .control_fd = o->track.control_fd,
				      });
}

/* Send one line to the starter: what could not be tracked, and why. */
static void report_to_starter(const struct trk_track_options *o, bool exec_failed, int error)
{
	const char *reason = error == -ESRCH ? "no such process" : trk__strerror(error);
	char text[400];

	if (o->argv && exec_failed)
		(void) snprintf(text, sizeof(text), "%.300s: the command cannot be started: %s",
				o->argv[0], reason);
	else if (o->pid)
		(void) snprintf(text, sizeof(text), "pid %d: %s", (int) o->pid, reason);
	else
		(void) snprintf(text, sizeof(text), "%s", reason);
	(void) trk__control_send(o->control_fd, error == -ESRCH ? "gone" : "error", text);
}

int trk__run(const struct trk_env *env, const struct trk_run_engine *engine,
	     struct trk_run_end *ret)
{
	struct engine *e = malloc(sizeof(*e));
	struct trk_identity *identity = malloc(sizeof(*identity));
	struct trk_track_options options;
	int r = -ENOMEM;

	memset(ret, 0, sizeof(*ret));
	ret->text.max = ret->json.max = TEXT_MAX;
	if (e && identity) {
		begin(e, engine, ret);
		options = plan(e, env, identity);
		r = trk__track(env, &options, &ret->track);
		trk__live_page_end(&e->page);
		trk__alert_hooks_release(&e->hooks);
		end_times(e);
	}
	if (r < 0 && engine->track.control_fd >= 0)
		report_to_starter(&engine->track, ret->track.exec_failed, r);
	if (r >= 0) {
		if (!ret->text.len && !ret->json.len)
			write_summary(e, &ret->track.record, NULL, &ret->text, &ret->json);
		send_later(&engine->service);
	}
	ret->is_unrecorded = is_unrecorded(engine, &ret->track);
	free(identity);
	free(e);
	return r;
}

void trk__run_end_release(struct trk_run_end *end)
{
	trk__record_release(&end->track.record);
	trk__buf_release(&end->text);
	trk__buf_release(&end->json);
}
