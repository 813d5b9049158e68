#include "cli/alert_check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alert/end.h"
#include "alert/live.h"
#include "base/detach.h"
#include "base/file.h"
#include "base/os.h"
#include "cli/environment.h"
#include "service/alerts.h"

enum { NEWS_MAX = 256, NICE = 10, COMMAND_S = 60, ARGUMENTS_MAX = 2 * TRK_ALERT_HOOKS_MAX + 16 };

struct checking {
	const struct cli_alert_settings *settings;
	struct trk_alert_sender sender;
	struct trk_alert_queue queue;
	struct trk_alert_store b;
	struct trk_buf out;
	/* For commands: they run when the book is free again. */
	struct trk_alert_message *news[NEWS_MAX];
	size_t count;
};

/* ---- news ---- */

static void print_news(struct trk_buf *b, const struct trk_alert_message *m)
{
	struct trk_buf line;

	trk__buf_init(&line, 4096);
	if (cli_is_github()) {
		trk__buf_printf(&line, "%s%s%s%s%s", m->job, m->job[0] ? ": " : "", m->text,
				m->fix[0] ? ". Try: " : "", m->fix);
		if (m->firing && line.data)
			cli_alert_github(b, m->rule, line.data);
	} else {
		trk__alert_message_line(m, b);
		trk__buf_printf(b, "%s%s\n", m->fix[0] && m->firing ? ". Try: " : "",
				m->firing ? m->fix : "");
	}
	trk__buf_release(&line);
}

/* Queue the end of an alert for each Alertmanager that received the alert. */
static void send_end(struct checking *c, const struct trk_alert_entry *e)
{
	struct trk_alert_message *m = malloc(sizeof(*m));
	const struct trk_alert_hooks *h = &c->settings->hooks;

	for (size_t i = 0; m && i < h->count; i++) {
		struct trk_alert_route route;

		if (!trk__alert_hook_is_alertmanager(&h->list[i]) ||
		    trk__alert_route(&c->sender, h->list[i].sink, &route) < 0 ||
		    !trk__alert_book_was_told(e, &route))
			continue;
		trk__alert_entry_message(e, c->sender.now_s, m);
		trk__alert_queue_add(&c->queue, h->list[i].sink, m);
	}
	free(m);
}

static void take_news(void *data, const struct trk_alert_news *news,
		      const struct trk_alert_entry *e, bool opened)
{
	struct checking *c = data;
	struct trk_alert_message *m = c->count < NEWS_MAX ? malloc(sizeof(*m)) : NULL;

	(void) news;
	if (!opened)
		send_end(c, e);
	if (!m)
		return;
	trk__alert_entry_message(e, c->sender.now_s, m);
	print_news(&c->out, m);
	c->news[c->count++] = m;
}

/* The run is over, and with it what was open about it. */
static void end_run(struct checking *c, const char *run)
{
	struct trk_alert_book *b = &c->b.book;
	struct trk_alert_entry ended;

	for (size_t i = 0; i < b->count; i++) {
		if (!isnan(b->entry[i].ended_s) || strcmp(b->entry[i].run, run) != 0 ||
		    trk__alert_end_find(b->entry[i].rule, strlen(b->entry[i].rule)) >= 0)
			continue;
		ended = b->entry[i];
		ended.ended_s = c->sender.now_s;
		send_end(c, &ended);
	}
	(void) trk__alert_book_end_run(b, run, c->sender.now_s);
}

/* ---- commands ---- */

static void put_variable(const char *name, const char *value)
{
	(void) setenv(name, value, 1);
}

static void put_number(const char *name, double value)
{
	char text[32] = "";

	if (!isnan(value))
		(void) snprintf(text, sizeof(text), "%.10g", value);
	put_variable(name, text);
}

/* In a child: the variables of --on-alert, and /bin/sh. */
static void become(const char *command, const struct trk_alert_message *m)
{
	struct trk_buf json;

	trk__buf_init(&json, 1 << 16);
	trk__alert_message_write(m, &json);
	put_variable("RT_RULE", m->rule);
	put_variable("RT_SEVERITY", m->severity);
	put_variable("RT_STATE", m->firing ? "firing" : "resolved");
	put_variable("RT_TEXT", m->text);
	put_variable("RT_FIX", m->fix);
	put_number("RT_VALUE", m->value);
	put_number("RT_LIMIT", m->limit);
	put_variable("RT_PID", "");
	put_variable("RT_JOB", m->job);
	put_variable("RT_RUN", m->run);
	put_variable("RT_JSON", json.data ? json.data : "");
	(void) alarm(COMMAND_S);
	(void) execl("/bin/sh", "sh", "-c", command, (char *) NULL);
	_exit(127);
}

static int run_command(const struct trk_alert_hook *hook, const struct trk_alert_message *m)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		become(hook->command, m);
	if (pid < 0) {
		cli_complain("--on-alert %s: cannot start: %s", trk__alert_hook_rule(hook->rule),
			     trk__strerror(errno));
		return EXIT_ERROR;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0)
		return 0;
	if (WIFSIGNALED(status))
		cli_complain("--on-alert %s: ended by signal %d", trk__alert_hook_rule(hook->rule),
			     WTERMSIG(status));
	else
		cli_complain("--on-alert %s: exit status %d", trk__alert_hook_rule(hook->rule),
			     WEXITSTATUS(status));
	return EXIT_ERROR;
}

static int run_commands(const struct checking *c)
{
	const struct trk_alert_hooks *h = &c->settings->hooks;
	int worst = 0;

	for (size_t i = 0; i < c->count; i++) {
		int rule = TRK_ALERT_RULES +
			   trk__alert_end_find(c->news[i]->rule, strlen(c->news[i]->rule));

		for (size_t k = 0; k < h->count; k++)
			if (h->list[k].command &&
			    (h->list[k].rule < 0 || h->list[k].rule == rule) &&
			    run_command(&h->list[k], c->news[i]) != 0)
				worst = EXIT_ERROR;
	}
	return worst;
}

/* ---- all of it ---- */

/* With the book open: queue what may be sent now, close the book, then send. job: that the sinks are
 * of; NULL: all. */
static int close_and_send(struct checking *c, const char *job)
{
	const struct trk_alert_hooks *h = &c->settings->hooks;
	int worst = 0, r;

	for (size_t i = 0; i < h->count; i++) {
		struct trk_alert_route route;

		if (!h->list[i].sink)
			continue;
		r = cli_alert_status(trk__alert_route(&c->sender, h->list[i].sink, &route));
		worst = r > worst ? r : worst;
		if (r != 0)
			continue;
		if (h->list[i].rule >= 0)
			route.rule = trk__alert_hook_rule(h->list[i].rule);
		route.job = job;
		trk__alert_queue_collect(&c->queue, &c->b.book, h->list[i].sink, &route);
	}
	r = cli_alert_status(trk__alert_store_close(&c->sender, &c->b, true));
	worst = r > worst ? r : worst;
	r = cli_alert_status(trk__alert_queue_send(&c->queue));
	worst = r > worst ? r : worst;
	r = cli_alert_status(trk__alert_outbox_flush(&c->sender));
	return r > worst ? r : worst;
}

static int judge(struct checking *c, const char *run)
{
	const struct trk_alerts_when when = {c->sender.now_s, c->sender.utc_offset_s};
	struct trk_error error = {.code = 0};
	struct trk_fleet_rows rows;
	size_t job;
	int r = trk__alerts_rows(&c->sender.service, run, &when, &rows, &job, &error);

	if (r < 0)
		return cli_fail("alerts", r, &error);
	r = cli_alert_status(trk__alert_store_open(&c->sender, &c->b));
	if (r == 0) {
		trk__alert_book_age(&c->b.book, c->sender.now_s);
		if (run)
			end_run(c, run);
		if (trk__alerts_judge(&rows, job, &c->b.book, take_news, c) < 0 ||
		    (job == SIZE_MAX && trk__alerts_judge_budget(&rows, c->sender.budget_usd,
								 &c->b.book, take_news, c) < 0))
			cli_complain("alerts: out of memory");
		r = close_and_send(c, job == SIZE_MAX ? NULL
						      : trk__fleet_text(&rows, rows.job[job].name));
	}
	trk__fleet_rows_release(&rows);
	return r;
}

static struct checking *checking_new(const struct cli_alert_settings *s)
{
	struct checking *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->settings = s;
	c->sender = cli_alert_sender(s);
	c->queue.sender = &c->sender;
	return c;
}

int cli_alert_check(const struct cli_alert_settings *s, const char *run)
{
	struct checking *c = checking_new(s);
	int r, worst;

	if (!c)
		return EXIT_ERROR;
	trk__buf_init(&c->out, 1 << 20);
	worst = judge(c, run);
	r = c->out.len ? cli_write(STDOUT_FILENO, &c->out, "stdout") : 0;
	worst = r > worst ? r : worst;
	r = run_commands(c);
	worst = r > worst ? r : worst;
	for (size_t i = 0; i < c->count; i++)
		free(c->news[i]);
	trk__buf_release(&c->out);
	free(c);
	return worst;
}

int cli_alert_flush(const struct cli_alert_settings *s)
{
	struct checking *c = checking_new(s);
	int r = c ? cli_alert_status(trk__alert_store_open(&c->sender, &c->b)) : EXIT_ERROR;

	if (r == 0) {
		trk__alert_book_age(&c->b.book, c->sender.now_s);
		r = close_and_send(c, NULL);
	}
	free(c);
	return r;
}

/* ---- in the background ---- */

/* Sinks go by the environment, as an address may be a secret. */
static void pass_sinks(const struct trk_alert_hooks *h)
{
	struct trk_buf b;

	trk__buf_init(&b, 1 << 16);
	for (size_t i = 0; i < h->count; i++)
		if (h->list[i].sink)
			trk__buf_printf(&b, "%s=%s\n", trk__alert_hook_rule(h->list[i].rule),
					h->list[i].sink);
	if (b.len)
		(void) setenv("TRACKER_ALERT", b.data, 1);
	trk__buf_release(&b);
}

static void become_check(const struct cli_alert_settings *s, const char *run)
{
	char *commands[TRK_ALERT_HOOKS_MAX] = {NULL};
	const char *argv[ARGUMENTS_MAX] = {"resource-tracker", "internal", "alerts", "check",
					   "--no-config",      "--run",    run};
	size_t n = 7, k = 0;

	if (s->dir) {
		argv[n++] = "--recording";
		argv[n++] = s->dir;
	}
	for (size_t i = 0; i < s->hooks.count; i++) {
		const struct trk_alert_hook *hook = &s->hooks.list[i];

		if (!hook->command || asprintf(&commands[k], "%s=%s",
					       trk__alert_hook_rule(hook->rule), hook->command) < 0)
			continue;
		argv[n++] = "--on-alert";
		argv[n++] = commands[k++];
	}
	argv[n] = NULL;
	pass_sinks(&s->hooks);
	(void) unsetenv("TRACKER_ON_ALERT"); /* it is among these */
	if (s->quiet_hours)
		(void) setenv("TRACKER_QUIET_HOURS", s->quiet_hours, 1);
	(void) execv(trk__os_own_file(), (char **) (uintptr_t) argv);
	_exit(127);
}

void cli_alert_check_later(const struct cli_alert_settings *s, const char *run)
{
	if (!trk__alert_hooks_want_end(&s->hooks) || !trk__detach())
		return;
	(void) setpriority(PRIO_PROCESS, 0, NICE);
	become_check(s, run);
}
