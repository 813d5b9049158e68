/* Commands that an alert starts: `--on-alert oom-risk='kill -USR1 $RT_PID'`.
 *
 * A command is run by /bin/sh, in the tracker's working directory, with the tracker's environment and
 *   RT_RULE, RT_SEVERITY, RT_STATE (firing, resolved), RT_TEXT, RT_FIX, RT_VALUE, RT_LIMIT,
 *   RT_PID (the job's first process), RT_JOB, RT_RUN, RT_JSON (all of these as one object).
 * An unknown value is empty. The command is not part of the job. It is ended after 60 s, or with
 * the run. At most two commands run at a time; others wait. */
#ifndef TRK_ALERT_HOOK_H
#define TRK_ALERT_HOOK_H

#include "alert/live.h"
#include "base/buf.h"
#include "probe/helper_process.h"

enum { TRK_ALERT_HOOKS_MAX = 16, TRK_ALERT_HOOKS_RUNNING = 2, TRK_ALERT_HOOKS_WAITING = 16 };

/* rule: enum trk_alert_rule; TRK_ALERT_RULES + enum trk_alert_end_rule for a rule that is judged
 * after the run, for which the tracker starts no command; -1: all. */
struct trk_alert_hook {
	int rule;
	const char *command; /* borrowed; NULL: a sink is set */
	const char *sink;    /* borrowed; `alerts send` is started for it */
};

struct trk_alert_hook_run {
	const struct trk_alert_hook *hook; /* NULL: none */
	struct trk_helper_process process;
	double started_s;
};

struct trk_alert_hook_call {
	const struct trk_alert_hook *hook;
	struct trk_alert alert;
};

struct trk_alert_hooks {
	struct trk_alert_hook list[TRK_ALERT_HOOKS_MAX];
	size_t count;
	struct {
		struct trk_alert alert;
		double posted_s;   /* NaN: not yet */
	} newest[TRK_ALERT_RULES]; /* per rule; firing alerts are posted again to an Alertmanager */
	struct trk_alert_hook_run running[TRK_ALERT_HOOKS_RUNNING];
	struct trk_alert_hook_call waiting[TRK_ALERT_HOOKS_WAITING];
	size_t waits;
	const char *dir; /* option of `alerts send`, borrowed; NULL: its default */
};

/* A line about a command that could not be started, failed, or took too long. */
typedef void trk_alert_word_fn(void *data, const char *text);

/* Add "RULE=COMMAND"; RULE may be "all". Returns 0, also for a duplicate; -EINVAL: no such rule, or
 * no command; -ENOSPC. */
int trk__alert_hooks_add(struct trk_alert_hooks *h, const char *text);
/* Add "SINK" or "RULE=SINK", SINK as for `alerts send`. Returns as above; -EINVAL also for an
 * unknown kind. */
int trk__alert_hooks_add_sink(struct trk_alert_hooks *h, const char *text);
/* "all", or the rule's name. */
const char *trk__alert_hook_rule(int rule);
/* Whether its sink is an Alertmanager, which takes alerts one by one and ends them by itself. */
bool trk__alert_hook_is_alertmanager(const struct trk_alert_hook *hook);
/* Whether any hook is for rules that are judged after the run. */
bool trk__alert_hooks_want_end(const struct trk_alert_hooks *h);
/* An alert fires or is resolved: its commands are started at the next turn. A firing alert is
 * posted again to an Alertmanager every 8 hours. */
void trk__alert_hooks_call(struct trk_alert_hooks *h, const struct trk_alert *alert);
/* Start waiting commands and check running ones. Call with each row. */
void trk__alert_hooks_turn(struct trk_alert_hooks *h, const struct trk_record *record,
			   double elapsed_s, trk_alert_word_fn *on_word, void *data);
/* An alert of the record's run as one JSON object: rule, severity, state, text, fix, value, limit,
 * pid, job, run; null where a value is not known. */
void trk__alert_json(struct trk_buf *b, const struct trk_record *record, const struct trk_alert *a);
/* End the running commands. */
void trk__alert_hooks_release(struct trk_alert_hooks *h);

#endif
