#include "cli/alert_check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alert/end.h"
#include "base/detach.h"
#include "base/file.h"
#include "base/os.h"
#include "cli/environment.h"
#include "service/alert_check.h"

enum { COMMAND_S = 60, ARGUMENTS_MAX = 2 * TRK_ALERT_HOOKS_MAX + 16 };

/* ---- news ---- */

static void print_news(struct trk_buf *b, const struct trk_alert_message *m)
{
	TRK_BUF_LOCAL(line, 4096);

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

static void put_variables(const struct trk_alert_message *m)
{
	TRK_BUF_LOCAL(json, 1 << 16);

	trk__alert_message_write(m, &json);
	trk__buf_putc(&json, '\0');
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
	put_variable("RT_JSON", json.error ? "" : json.data);
	trk__buf_release(&json);
}

static int run_command(const struct trk_alert_hook *hook, const struct trk_alert_message *m)
{
	const char *rule = trk__alert_hook_rule(hook->rule);
	int status = 0, r;

	put_variables(m);
	r = trk__shell_command(hook->command, COMMAND_S, &status);
	if (r == -ETIMEDOUT)
		return cli_reject(EXIT_ERROR, "--on-alert %s: ended after %d s", rule, COMMAND_S);
	if (r < 0)
		return cli_reject(EXIT_ERROR, "--on-alert %s: cannot start: %s", rule,
				  trk__strerror(r));
	if (status == 0)
		return 0;
	if (WIFSIGNALED(status))
		cli_complain("--on-alert %s: ended by signal %d", rule, WTERMSIG(status));
	else
		cli_complain("--on-alert %s: exit status %d", rule, WEXITSTATUS(status));
	return EXIT_ERROR;
}

static int run_commands(const struct trk_alert_hooks *h, const struct trk_alert_message *m)
{
	int rule = TRK_ALERT_RULES + trk__alert_end_find(m->rule, strlen(m->rule)), worst = 0;

	for (size_t k = 0; k < h->count; k++)
		if (h->list[k].command && (h->list[k].rule < 0 || h->list[k].rule == rule) &&
		    run_command(&h->list[k], m) != 0)
			worst = EXIT_ERROR;
	return worst;
}

/* ---- the verb ---- */

int cli_alert_check(const struct cli_alert_settings *s, const char *run)
{
	const struct trk_alert_sender sender = cli_alert_sender(s);
	struct trk_error error = {.code = 0};
	struct trk_alert_checked checked;
	TRK_BUF_LOCAL(out, 1 << 20);
	int r = trk__alert_check(&sender, &s->hooks, run, &checked, &error);
	int worst = error.message[0] ? cli_fail("alerts", r, &error) : cli_alert_status(r);

	for (size_t i = 0; i < checked.count; i++)
		print_news(&out, checked.news[i]);
	r = out.len ? cli_print(&out) : 0;
	worst = r > worst ? r : worst;
	for (size_t i = 0; i < checked.count; i++) {
		r = run_commands(&s->hooks, checked.news[i]);
		worst = r > worst ? r : worst;
	}
	trk__alert_checked_release(&checked);
	return worst;
}

/* ---- in the background ---- */

/* Sinks are passed in the environment, as an address may be a secret. */
static void pass_sinks(const struct trk_alert_hooks *h)
{
	TRK_BUF_LOCAL(b, 1 << 16);

	for (size_t i = 0; i < h->count; i++)
		if (h->list[i].sink)
			trk__buf_printf(&b, "%s=%s\n", trk__alert_hook_rule(h->list[i].rule),
					h->list[i].sink);
	if (b.len)
		(void) setenv("TRACKER_ALERT", b.data, 1);
}

void cli_alert_check_later(const struct cli_alert_settings *s, const char *run)
{
	char *commands[TRK_ALERT_HOOKS_MAX] = {NULL};
	const char *argv[ARGUMENTS_MAX] = {"resource-tracker", "internal", "alerts", "check",
					   "--no-config",      "--run",    run};
	size_t n = 7, k = 0;

	if (!trk__alert_hooks_want_end(&s->hooks))
		return;
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
	trk__detach_program(trk__os_own_file(), (char *const *) (uintptr_t) argv, true);
	while (k > 0)
		free(commands[--k]);
}
