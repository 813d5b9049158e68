/* Starting the commands of alerts while a job runs. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alert/hook.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/os.h"

/* An Alertmanager ends an alert that it has not received for a day (sinks.c). */
static const double LIFE_S = 60, POSTED_AGAIN_S = 8 * 3600;
enum { VARIABLES = 16, VARIABLE_SIZE = 1024, PATH_SIZE = 4096, DRAIN_READS = 32 };

/* ---- what is to be started ---- */

static void queue(struct trk_alert_hooks *h, const struct trk_alert *alert, bool again)
{
	for (size_t i = 0; i < h->count; i++)
		if ((h->list[i].rule < 0 || h->list[i].rule == (int) alert->rule) &&
		    (!again || trk__alert_hook_is_alertmanager(&h->list[i])) &&
		    h->waits < TRK_ALERT_HOOKS_WAITING)
			h->waiting[h->waits++] = (struct trk_alert_hook_call){&h->list[i], *alert};
}

void trk__alert_hooks_call(struct trk_alert_hooks *h, const struct trk_alert *alert)
{
	h->newest[alert->rule].alert = *alert;
	h->newest[alert->rule].posted_s = NAN;
	queue(h, alert, false);
}

static void queue_again(struct trk_alert_hooks *h, double elapsed_s)
{
	for (int i = 0; i < TRK_ALERT_RULES; i++) {
		if (!h->newest[i].alert.firing ||
		    elapsed_s - h->newest[i].posted_s < POSTED_AGAIN_S)
			continue;
		if (!isnan(h->newest[i].posted_s))
			queue(h, &h->newest[i].alert, true);
		h->newest[i].posted_s = elapsed_s;
	}
}

/* ---- starting ---- */

struct variables {
	char text[VARIABLES][VARIABLE_SIZE];
	size_t count;
};

static void put(struct variables *v, const char *name, const char *value)
{
	(void) snprintf(v->text[v->count++], VARIABLE_SIZE, "%s=%s", name, value);
}

static void put_number(struct variables *v, const char *name, double value)
{
	char text[32] = "";

	if (!isnan(value))
		(void) snprintf(text, sizeof(text), "%.10g", value);
	put(v, name, text);
}

void trk__alert_json(struct trk_buf *b, const struct trk_record *record, const struct trk_alert *a)
{
	struct trk_json j;

	trk__json_init(&j, b, 0);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "rule", trk__alert_rules[a->rule].name);
	trk__json_key_text(&j, "severity",
			   trk__alert_severity_name(trk__alert_rules[a->rule].severity));
	trk__json_key_text(&j, "state", a->firing ? "firing" : "resolved");
	trk__json_key_text(&j, "text", a->text);
	trk__json_key_text(&j, "fix", a->fix[0] ? a->fix : NULL);
	trk__json_key_double(&j, "value", a->value);
	trk__json_key_double(&j, "limit", a->limit);
	trk__json_key_double(&j, "pid", record->run.pid);
	trk__json_key_text(&j, "job", record->run.job);
	trk__json_key_text(&j, "run", record->run.id);
	trk__json_close(&j, '}');
}

static void put_json(struct variables *v, const struct trk_record *record,
		     const struct trk_alert *a)
{
	TRK_BUF_LOCAL(b, VARIABLE_SIZE - 16);

	trk__alert_json(&b, record, a);
	trk__buf_putc(&b, '\0');
	put(v, "RT_JSON", b.error ? "" : b.data);
}

static void fill(struct variables *v, const struct trk_record *record, const struct trk_alert *a)
{
	char dir[PATH_SIZE];

	put(v, "RT_RULE", trk__alert_rules[a->rule].name);
	put(v, "RT_SEVERITY", trk__alert_severity_name(trk__alert_rules[a->rule].severity));
	put(v, "RT_STATE", a->firing ? "firing" : "resolved");
	put(v, "RT_TEXT", a->text);
	put(v, "RT_FIX", a->fix);
	put_number(v, "RT_VALUE", a->value);
	put_number(v, "RT_LIMIT", a->limit);
	put_number(v, "RT_PID", record->run.pid > 0 ? (double) record->run.pid : NAN);
	put(v, "RT_JOB", record->run.job);
	put(v, "RT_RUN", record->run.id);
	put_json(v, record, a);
	put(v, "RT_DIR", getcwd(dir, sizeof(dir)) && strlen(dir) < VARIABLE_SIZE - 8 ? dir : "/");
}

static bool is_ours(const struct variables *v, const char *variable)
{
	for (size_t i = 0; i < v->count; i++)
		if (!strncmp(variable, v->text[i], strcspn(v->text[i], "=") + 1))
			return true;
	return false;
}

static char **environment_of(struct variables *v)
{
	char **const all = trk__os_environment();
	size_t n = 0, k = 0;
	char **list;

	while (all[n])
		n++;
	list = calloc(n + VARIABLES + 1, sizeof(*list));
	for (size_t i = 0; list && i < n; i++)
		if (!is_ours(v, all[i]))
			list[k++] = all[i];
	for (size_t i = 0; list && i < v->count; i++)
		list[k++] = v->text[i];
	return list;
}

/* Pass the sink to `alerts send` in variables, as a command line is public. */
static void fill_sink(struct variables *v, const struct trk_alert_hooks *h,
		      const struct trk_alert_hook *hook)
{
	char file[32];

	if (!hook->sink)
		return;
	put(v, "RT_SINK", hook->sink);
	/* The shell's own /proc/self is another one. */
	(void) snprintf(file, sizeof(file), "/proc/%d/exe", (int) getpid());
	put(v, "RT_PROGRAM", file);
	if (h->dir)
		put(v, "RESOURCE_TRACKER_DIR", h->dir);
}

static int start(struct trk_alert_hook_run *run, const struct trk_alert_hooks *h,
		 const struct trk_alert_hook_call *call, const struct trk_record *record)
{
	const char *command =
		call->hook->sink ? "exec \"$RT_PROGRAM\" alerts send" : call->hook->command;
	struct variables *v = calloc(1, sizeof(*v));
	char **environment = NULL;
	int r = -ENOMEM;

	if (v) {
		fill(v, record, &call->alert);
		fill_sink(v, h, call->hook);
		environment = environment_of(v);
	}
	if (environment)
		r = trk__helper_process_shell(&run->process, command, environment);
	free(environment);
	free(v);
	return r;
}

/* ---- turns ---- */

__attribute__((format(printf, 4, 5))) static void say(const struct trk_alert_hook *hook,
						      trk_alert_word_fn *on_word, void *data,
						      const char *format, ...)
{
	char text[256], what[160];
	va_list args;

	va_start(args, format);
	(void) vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	(void) snprintf(text, sizeof(text), "--%s %s: %s", hook->sink ? "alert" : "on-alert",
			trk__alert_hook_rule(hook->rule), what);
	on_word(data, text);
}

static void forget(struct trk_alert_hook_run *run)
{
	trk__close(run->process.fd);
	run->hook = NULL;
}

/* Read its output and keep the last line, the reason of a failure. Read at most the size of a pipe
 * at a time: a command may write endlessly, faster than it is read. */
static void drain(const struct trk_alert_hook_run *run, char last[120])
{
	char text[4096];
	ssize_t len, kept = 0;

	for (int i = 0; i < DRAIN_READS &&
			(len = trk__helper_process_read(&run->process, text, sizeof(text) - 1)) > 0;
	     i++)
		kept = len;
	last[0] = '\0';
	if (kept <= 0)
		return;
	while (kept > 0 && (text[kept - 1] == '\n' || text[kept - 1] == '\r'))
		kept--;
	text[kept] = '\0';
	(void) snprintf(last, 120, ": %s", strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text);
}

static void look(struct trk_alert_hook_run *run, double elapsed_s, trk_alert_word_fn *on_word,
		 void *data)
{
	char last[120];
	int status;

	drain(run, last);
	if (trk__helper_process_ended(&run->process, &status)) {
		if (WIFSIGNALED(status))
			say(run->hook, on_word, data, "ended by signal %d%s", WTERMSIG(status),
			    last);
		else if (WEXITSTATUS(status))
			say(run->hook, on_word, data, "exit status %d%s", WEXITSTATUS(status),
			    last);
		forget(run);
	} else if (elapsed_s > run->started_s + LIFE_S) {
		trk__helper_process_kill(&run->process);
		run->started_s = INFINITY;
		say(run->hook, on_word, data, "killed after %.0f s", LIFE_S);
	}
}

void trk__alert_hooks_turn(struct trk_alert_hooks *h, const struct trk_record *record,
			   double elapsed_s, trk_alert_word_fn *on_word, void *data)
{
	queue_again(h, elapsed_s);
	for (size_t i = 0; i < TRK_ALERT_HOOKS_RUNNING; i++) {
		struct trk_alert_hook_run *run = &h->running[i];
		int r;

		if (run->hook)
			look(run, elapsed_s, on_word, data);
		if (run->hook || !h->waits)
			continue;
		r = start(run, h, &h->waiting[0], record);
		if (r < 0)
			say(h->waiting[0].hook, on_word, data, "cannot start: %s",
			    trk__strerror(r));
		else
			run->hook = h->waiting[0].hook;
		run->started_s = elapsed_s;
		memmove(&h->waiting[0], &h->waiting[1], --h->waits * sizeof(h->waiting[0]));
	}
}

void trk__alert_hooks_release(struct trk_alert_hooks *h)
{
	int status;

	for (size_t i = 0; i < TRK_ALERT_HOOKS_RUNNING; i++) {
		if (!h->running[i].hook)
			continue;
		trk__helper_process_kill(&h->running[i].process);
		(void) trk__helper_process_ended(&h->running[i].process, &status);
		forget(&h->running[i]);
	}
	h->waits = 0;
}
