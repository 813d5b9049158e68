#include "track/outcome.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/clock.h"

/* Share of the limit that the job must have held. The kernel kills the largest process in a group:
 * a process with less than 10 % is hardly that. If the job itself was not killed, or the count is
 * that of the machine, it must have held as much as all others together. */
static const double LEAST_SHARE = 0.1, MOST_OF_IT = 0.5;
/* A job that fails because one of its processes was killed may take this long to clean up. */
#define FAILING_NS (10 * TRK_NS_PER_S)

__attribute__((format(printf, 2, 3))) static void set_evidence(struct trk_outcome *o,
							       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void) vsnprintf(o->evidence, sizeof(o->evidence), format, args);
	va_end(args);
}

/* True also if either is not known. */
static bool held_at_least(const struct trk_outcome_facts *f, double share)
{
	return !(f->held_mib < share * f->limit_mib);
}

/* May a process of the job have been the victim? */
static bool kill_fits(const struct trk_outcome_facts *f, bool is_killed)
{
	const struct trk_kills *k = &f->kills;
	bool is_small = f->limit_is_own && !held_at_least(f, LEAST_SHARE);

	if (k->in_group == 0 || !k->member_ended)
		return false;
	if ((f->is_alone && !k->is_shared) || (is_killed && k->at_end))
		return !is_small;
	return held_at_least(f, MOST_OF_IT);
}

/* The same for the groups that processes of the job entered. */
static bool entered_kill_fits(const struct trk_outcome_facts *f, bool is_killed)
{
	double share = is_killed ? LEAST_SHARE : MOST_OF_IT;

	return f->entered && f->entered[0] && !(f->held_mib < share * f->entered_limit_mib);
}

static bool is_machine_kill(const struct trk_outcome_facts *f, bool is_killed)
{
	return is_killed && f->kills.in_group == 0 && f->kills.on_machine > 0 &&
	       f->held_mib >= MOST_OF_IT * f->limit_mib;
}

static void explain_group_kill(struct trk_outcome *o, const struct trk_outcome_facts *f,
			       const char *rest)
{
	set_evidence(o, "oom_kill of the job's control group rose by %llu%s",
		     (unsigned long long) f->kills.in_group, rest);
}

static void explain_machine_kill(struct trk_outcome *o, const struct trk_outcome_facts *f)
{
	set_evidence(o, "oom_kill of the machine rose by %llu, and the job held %.0f of %.0f MiB",
		     (unsigned long long) f->kills.on_machine, f->held_mib, f->limit_mib);
}

/* Explain kills that were not the end of the job. */
static void explain_neighbours(struct trk_outcome *o, const struct trk_outcome_facts *f,
			       const char *begin)
{
	const struct trk_kills *k = &f->kills;

	if (k->in_group)
		set_evidence(o,
			     "%sthe kernel killed another process in the job's control group, out "
			     "of memory; "
			     "the job held %.0f of %.0f MiB",
			     begin, f->held_mib, f->limit_mib);
	else if (k->above)
		set_evidence(o,
			     "%sthe kernel killed a process in another group below %.100s, out of "
			     "memory",
			     begin, k->above_path);
}

static void judge_status(const struct trk_outcome_facts *f, struct trk_outcome *o)
{
	int status = f->wait_status;

	if (WIFSIGNALED(status)) {
		o->end = TRK_END_SIGNALLED;
		o->signal = WTERMSIG(status);
		o->code = 128 + WTERMSIG(status);
	} else {
		o->end = TRK_END_EXITED;
		o->code = WEXITSTATUS(status);
	}
}

/* Is the end of the job what the last kill in its group led to? A shell reports a kill of its child as
 * 137 whenever that was. */
static bool ends_by_kill(const struct trk_kills *k, const struct trk_outcome *o)
{
	bool is_soon = k->at_end || k->over_ns <= k->rose_ns + FAILING_NS;

	if (o->signal)
		return o->signal == SIGKILL && k->at_end;
	return o->code == 128 + SIGKILL || (o->code != 0 && is_soon);
}

static void note_earlier_kill(const struct trk_outcome_facts *f, struct trk_outcome *o)
{
	if (o->signal == SIGKILL)
		set_evidence(o, "killed from outside: the kernel's out-of-memory kill was earlier");
	else if (!o->signal)
		explain_group_kill(o, f,
				   o->code ? ", and the job went on" : ", yet the job ended well");
	o->memory_kills = f->kills.in_group;
	o->memory_kill_ms = (f->kills.first_ns - f->kills.begin_ns) / TRK_NS_PER_MS;
}

static void judge_reaped(const struct trk_outcome_facts *f, struct trk_outcome *o)
{
	bool is_killed, fits;

	judge_status(f, o);
	/* A shell reports the end of its child by SIGKILL as 137. */
	is_killed = o->signal == SIGKILL || o->code == 128 + SIGKILL;
	fits = kill_fits(f, is_killed);
	if (fits && ends_by_kill(&f->kills, o)) {
		o->end = TRK_END_OUT_OF_MEMORY;
		explain_group_kill(o, f, "");
	} else if (entered_kill_fits(f, is_killed) && o->code != 0) {
		o->end = TRK_END_OUT_OF_MEMORY;
		set_evidence(o, "%s", f->entered);
	} else if (is_machine_kill(f, is_killed)) {
		o->end = TRK_END_OUT_OF_MEMORY;
		explain_machine_kill(o, f);
	} else if (fits) {
		note_earlier_kill(f, o);
	} else if (entered_kill_fits(f, is_killed)) {
		set_evidence(o, "%s, yet the job ended well", f->entered);
	} else if (is_killed) {
		set_evidence(o, "killed from outside: the kernel counted no out-of-memory kill");
		explain_neighbours(o, f, "killed from outside; ");
	} else if (o->code != 0) {
		explain_neighbours(o, f, "");
	}
}

/* The exit code of an attached process is not known. If it was alone in its group, it was the
 * victim, even if all samples were small: a job may grow fast. */
static bool attached_is_out_of_memory(const struct trk_outcome_facts *f)
{
	return f->root_ended && f->kills.in_group && f->kills.at_end &&
	       ((f->is_alone && !f->kills.is_shared) || held_at_least(f, MOST_OF_IT));
}

static void judge_unreaped(const struct trk_outcome_facts *f, struct trk_outcome *o)
{
	o->code = f->stated ? f->stated_code : -1;
	if (f->lost) {
		o->end = TRK_END_VANISHED;
		set_evidence(o, "the job has ended, and another part of the tracker's process took "
				"its exit code");
	} else if (f->stated) {
		o->end = TRK_END_EXITED;
		set_evidence(o, "the exit code is the one that the job stated");
	} else if (attached_is_out_of_memory(f)) {
		o->end = TRK_END_OUT_OF_MEMORY;
		explain_group_kill(o, f, "");
	} else if (f->root_ended && entered_kill_fits(f, false)) {
		o->end = TRK_END_OUT_OF_MEMORY;
		set_evidence(o, "%s", f->entered);
	} else if (f->root_ended && f->abandoned) {
		o->end = TRK_END_VANISHED;
		set_evidence(o, "it ended without stopping its tracker, as after a kill");
	} else if (f->root_ended) {
		o->end = TRK_END_EXITED;
		set_evidence(o, "the process has ended; only its parent receives its exit code");
	} else {
		o->end = TRK_END_STOPPED;
		set_evidence(o, "tracking was ended");
	}
}

void trk__outcome_judge(const struct trk_outcome_facts *f, struct trk_outcome *ret)
{
	if (f->reaped)
		judge_reaped(f, ret);
	else
		judge_unreaped(f, ret);
	if (f->limit != TRK_END_RUNNING) {
		ret->end = f->limit;
		set_evidence(ret, "%s", f->limit_text);
	}
}
