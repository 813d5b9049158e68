/* How the run ended, what that means for its figures, and the verdict on its size in one sentence. */
#include <string.h>

#include "base/libc.h"
#include "report/section/section.h"
#include "report/shared_terms.h"

#define B TRK_DOC_STRONG
#define E TRK_DOC_PLAIN

/* ---- the state ---- */

/* Append a sentence. */
static void add_trouble(struct trk_doc *d, const char *text)
{
	d->trouble = d->trouble ? trk__doc_print(d, "%s %s", d->trouble, text) : text;
}

static void out_of_memory(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_outcome *o = &w->in->record->outcome;
	const struct trk_process_info *biggest = trk__outcome_biggest(o);
	const char *who = "";

	if (biggest)
		who = trk__doc_print(d, " The largest process was %s with %s.",
				     trk__doc_safe(d, biggest->name, 60),
				     trk__doc_value(d, trk__human_memory,
						    (double) biggest->peak_bytes / TRK_MIB));
	d->trouble = trk__doc_print(
		d,
		"%s killed the job because it ran out of memory, at a limit of %s; the largest use "
		"that was seen is %s.%s The job needs more than that; how much more is not "
		"known.%s",
		o->is_inferred ? "The recording has no end: most likely the kernel" : "The kernel",
		trk__doc_value(d, trk__human_memory,
			       w->in->record->run.limit[TRK_LIMIT_MEMORY_MIB].value),
		trk__doc_value(d, trk__human_memory, trk__outcome_peak_mib(o)), who,
		trk__kill_line_words(d, w->in->record));
}

static void signalled(struct trk_doc *d, const struct trk_record *r)
{
	const struct trk_outcome *o = &r->outcome;
	const char *name = trk__signal_name(o->signal);

	d->trouble = trk__doc_print(
		d,
		"Signal %d (%s) ended the job%s%s. The figures are those until then; this run "
		"raises a request and never lowers it.",
		o->signal, name ? name : "unknown", o->evidence[0] ? ": " : "",
		o->evidence[0] ? trk__doc_safe(d, o->evidence, 160) : "");
}

static void ended_by_us(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_outcome *o = &w->in->record->outcome;
	bool timeout = o->end == TRK_END_TIMEOUT;

	d->trouble = trk__doc_print(
		d,
		"The job was still running when the %s of this run ended it%s%s. How much it needs "
		"in all is not known; this run raises a request and never lowers "
		"it.%s",
		timeout ? "time limit" : "memory limit", o->evidence[0] ? ": " : "",
		o->evidence[0] ? trk__doc_safe(d, o->evidence, 160) : "",
		trk__kill_line_words(d, w->in->record));
}

static void unfinished(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_record *record = w->in->record;
	const char *last =
		trk__doc_value(d, trk__human_seconds, (double) record->last_elapsed_us / 1e6);

	if (record->outcome.end == TRK_END_RUNNING || record->writing) {
		d->trouble = trk__doc_print(
			d,
			"The job is still running: these figures are those up to %s after its "
			"start, as of %s, and they will change.",
			last,
			trk__doc_value(d, trk__human_moment_s,
				       (double) record->last_timestamp_ms / 1e3));
		d->live_s = w->in->live_s;
		d->last_s = (double) record->last_timestamp_ms / 1e3;
		return;
	}
	d->trouble = trk__doc_print(
		d,
		"The tracker was killed, or the machine went down, before the end was written. The "
		"samples are complete up to %s after the start; how the job ended is not "
		"known.%s%s%s",
		last, record->outcome.evidence[0] ? " What the kernel's counts say: " : "",
		trk__doc_safe(d, record->outcome.evidence, TRK_RUN_TEXT_SIZE),
		record->outcome.evidence[0] ? "." : "");
}

static void tell_state(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_record *record = w->in->record;
	const struct trk_outcome *o = &record->outcome;

	trk__tell_state(d, record, "\u2026");
	switch (o->end) {
	case TRK_END_STOPPED:
		break;
	case TRK_END_EXITED:
		if (o->code > 0)
			d->trouble = trk__doc_print(
				d,
				"The job failed with exit code %d. What it used until then may be "
				"less than it needs, so this run raises a request and never lowers "
				"it.",
				o->code);
		break;
	case TRK_END_SIGNALLED:
		signalled(d, record);
		break;
	case TRK_END_OUT_OF_MEMORY:
		out_of_memory(d, w);
		break;
	case TRK_END_TIMEOUT:
	case TRK_END_MEMORY_LIMIT:
		ended_by_us(d, w);
		break;
	case TRK_END_VANISHED:
		d->trouble =
			"The process ended without stopping its tracker, as it does when it is "
			"killed. The figures are those until then; this run raises a request and "
			"never lowers it.";
		break;
	case TRK_END_FAILED:
		d->trouble =
			"The job failed. What it used until then may be less than it needs, so "
			"this run raises a request and never lowers it.";
		break;
	default:
		unfinished(d, w);
		break;
	}
	if (o->memory_kills)
		add_trouble(d, trk__doc_print(d, "%s.", trk__memory_kill_words(d, o)));
	if (record->damaged)
		add_trouble(d,
			    trk__doc_print(d,
					   "This recording was damaged: %llu place%s in it could "
					   "not be read and %s left out; the rest is as it was "
					   "written.",
					   (unsigned long long) record->damaged,
					   record->damaged == 1 ? "" : "s",
					   record->damaged == 1 ? "was" : "were"));
}

/* ---- the verdict ---- */

/* Empty if neither is known, as in a run of less than 0.1 s, whose samples have no CPU rate. */
static const char *used_words(struct trk_doc *d, const struct trk_report_work *w)
{
	const char *cpu = "", *memory = "";

	if (!isnan(w->cpu_peak))
		cpu = isnan(w->cpu_had.value)
			      ? trk__doc_print(d, "%s cores",
					       trk__doc_value(d, trk__human_number, w->cpu_peak))
			      : trk__doc_print(
					d, "%s of %s cores",
					trk__doc_value(d, trk__human_number, w->cpu_peak),
					trk__doc_value(d, trk__human_amount, w->cpu_had.value));
	if (!isnan(w->memory_peak))
		memory = isnan(w->memory_had.value)
				 ? trk__doc_value(d, trk__human_memory, w->memory_peak)
				 : trk__doc_print(
					   d, "%s of %s",
					   trk__doc_value(d, trk__human_memory, w->memory_peak),
					   trk__doc_value(d, trk__human_request,
							  w->memory_had.value));
	if (!*cpu && !*memory)
		return "";
	return trk__doc_print(d, " Used at most %s%s%s%s.", cpu, *cpu && *memory ? " and " : "",
			      memory, *memory ? " of memory" : "");
}

static const char *request_words(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_advice *a = &w->advice;
	const char *cpu = "", *gpu = "", *memory = "";

	if (!isnan(a->cores))
		cpu = trk__doc_print(d, "%.4g CPU", a->cores);
	if (!isnan(a->memory_mib))
		memory = trk__doc_print(d, "%s%s", *cpu ? ", " : "",
					trk__doc_value(d, trk__human_request, a->memory_mib));
	if (a->gpus > 0)
		gpu = trk__doc_print(d, ", %.4g GPU", a->gpus);
	return trk__doc_print(d, B "%s%s%s" E, cpu, memory, gpu);
}

/* "A run costs about $9.77 instead of $17.14 (-43 %) on aws m7i.2xlarge, run time 24 h 14 m."; for
 * a failed run, the cost of what it did before its end. */
static const char *cost_words(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_server_estimate *best =
		w->has_servers ? &w->servers->offers.list[0] : NULL;
	const struct trk_catalog *c = w->in->catalog;
	const char *instead = "",
		   *what = w->advice.has_time ? "A run costs" : "The part that it completed costs";

	if (!best)
		return "";
	if (w->has_paid)
		instead = trk__doc_print(
			d, " instead of " B "%s" E " (%s)",
			trk__doc_value(d, trk__human_usd, w->paid.usd),
			trk__doc_value(d, trk__human_change, best->cost_usd / w->paid.usd - 1));
	return trk__doc_print(
		d, " %s about " B "%s" E "%s on %s %s, %s%s.", what,
		trk__doc_value(d, trk__human_usd, best->cost_usd), instead,
		trk__catalog_vendor_id(c, trk__catalog_servers(c, NULL)[best->offer.server].vendor),
		trk__catalog_server_name(c, best->offer.server),
		best->speed_known ? "run time " : "whose speed is not known",
		best->speed_known ? trk__doc_value(d, trk__human_seconds, best->run_s) : "");
}

static const char *basis_words(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_memory_advice *m = &w->advice.memory;
	const char *chance = "", *price = "";

	if (!w->has_advice || !w->advice.has_memory)
		return "";
	if (!isnan(m->chance_exceed))
		chance = trk__doc_print(d, ", chance of needing more %s",
					trk__doc_value(d, trk__human_percent, m->chance_exceed));
	if (w->has_servers)
		price = " On-demand list prices; without storage, traffic and discounts.";
	return trk__doc_print(d, "Basis: %zu run%s; memory: %s (confidence: %s)%s.%s", m->runs_used,
			      m->runs_used == 1 ? "" : "s", m->basis_text,
			      trk__confidence_name(m->confidence), chance, price);
}

static const struct {
	const char *symbol, *title;
	enum trk_tone tone;
} verdicts[] = {
	[TRK_SIZING_NOT_ENOUGH_DATA] = {"?", "Not enough data", TRK_TONE_PLAIN},
	[TRK_SIZING_RIGHT] = {"\u2713", "Right-sized", TRK_TONE_GOOD},
	[TRK_SIZING_OVER] = {"\u25b2", "Over-provisioned", TRK_TONE_WARN},
	[TRK_SIZING_UNDER] = {"\u25bc", "Under-provisioned", TRK_TONE_BAD},
	[TRK_SIZING_UNSTATED] = {"\u2192", NULL, TRK_TONE_PLAIN}, /* the request is the headline */
};

/* The effect of fewer or more cores on the run time, if it is more than 1 %. */
static const char *time_words(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_advice *a = &w->advice;
	double change = a->run_time_s / a->cpu.run_time_now_s - 1;

	if (a->has_cpu && a->cpu.queue.cause != TRK_QUEUE_NONE)
		return isnan(a->run_time_s) ? ""
					    : trk__doc_print(d, " (about %s without the queue)",
							     trk__doc_value(d, trk__human_seconds,
									    a->run_time_s));
	if (!a->has_cpu || !(change > 0.01 || change < -0.01))
		return "";
	return trk__doc_print(d, " (run time %s)", trk__doc_value(d, trk__human_change, change));
}

static const char *ask_words(struct trk_doc *d, const struct trk_report_work *w,
			     enum trk_sizing sizing)
{
	const char *request;

	if (!w->has_advice)
		return " No sample shows how much the next run needs.";
	if (sizing == TRK_SIZING_UNSTATED)
		return "";
	request = request_words(d, w);
	if (!w->ended_well)
		return trk__doc_print(d, " Request at least %s next time.", request);
	if (sizing == TRK_SIZING_RIGHT)
		return trk__doc_print(d, " A request of %s fits.", request);
	return trk__doc_print(d, " Request %s next time%s.", request, time_words(d, w));
}

static const char *why_words(struct trk_doc *d, const struct trk_report_work *w)
{
	uint64_t samples = w->in->record->samples;

	if (samples == 0)
		return " No sample was taken.";
	if (samples == 1)
		return " One sample was taken: it shows a moment, not a course.";
	if (w->has_advice && w->advice.sizing.reason_count && w->ended_well)
		return trk__doc_print(d, " Because: %s.", w->advice.sizing.reason[0]);
	return "";
}

/* A run that waited for a CPU took longer than on an idle machine. */
static void tell_waiting(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_cpu_advice *cpu = &w->advice.cpu;
	const char *what;

	if (!w->has_advice || !w->advice.has_cpu || cpu->queue.cause == TRK_QUEUE_NONE)
		return;
	if (cpu->queue.cause == TRK_QUEUE_UNKNOWN)
		what = "The machine was short of CPU, so it is not known how many cores the run "
		       "can use, nor how long it takes on them.";
	else
		what = trk__doc_print(d,
				      "Its threads waited for a CPU %s of the time that they "
				      "could run, %s.",
				      trk__doc_value(d, trk__human_percent, cpu->queue.share),
				      trk__queue_behind(cpu->queue.cause));
	add_trouble(d, what);
}

/* "Over-provisioned.", or the request itself. */
static const char *title_words(struct trk_doc *d, const struct trk_report_work *w,
			       enum trk_sizing sizing)
{
	if (sizing != TRK_SIZING_UNSTATED)
		return trk__doc_print(d, B "%s." E, verdicts[sizing].title);
	return trk__doc_print(d, "Next time request %s%s.", request_words(d, w), time_words(d, w));
}

static void tell_verdict(struct trk_doc *d, const struct trk_report_work *w)
{
	enum trk_sizing sizing =
		w->has_advice ? w->advice.sizing.sizing : TRK_SIZING_NOT_ENOUGH_DATA;
	const char *why = sizing == TRK_SIZING_NOT_ENOUGH_DATA ? why_words(d, w) : "";

	d->symbol = verdicts[sizing].symbol;
	d->lead_tone = verdicts[sizing].tone;
	if (!strcmp(w->in->record->run.kind, "system")) {
		d->lead = trk__doc_print(
			d, B "The whole machine." E "%s There is no job here to size.",
			used_words(d, w));
		d->basis = "";
		return;
	}
	if (sizing == TRK_SIZING_UNSTATED && trk__slept_words(d, w->in->record)) {
		d->lead = trk__doc_print(d, B "It slept:" E " %s.%s",
					 trk__slept_words(d, w->in->record), used_words(d, w));
		d->basis = "";
		return;
	}
	d->lead = trk__doc_print(d, "%s%s%s%s%s", title_words(d, w, sizing), why, used_words(d, w),
				 ask_words(d, w, sizing), cost_words(d, w));
	d->basis = basis_words(d, w);
	tell_waiting(d, w);
}

void trk__section_head(struct trk_doc *d, const struct trk_report_work *w)
{
	tell_state(d, w);
	tell_verdict(d, w);
}
