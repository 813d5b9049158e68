/* How the run ended, what that means for its figures, and the verdict in one sentence. */
#include <string.h>

#include "base/libc.h"
#include "report/report_private.h"

#define B TRK_REPORT_STRONG
#define E TRK_REPORT_PLAIN

/* ---- the state ---- */

static const char *signal_name(int number)
{
	const char *name = trk__signal_name(number);

	return name ? name : "unknown";
}

static void set_state(struct trk_report *r, const char *key, const char *symbol, const char *text,
		      enum trk_report_tone tone)
{
	r->state_key = key;
	r->state = trk__report_print(r, "%s %s", symbol, text);
	r->state_tone = tone;
}

static void exited(struct trk_report *r, const struct trk_outcome *o)
{
	if (o->code < 0) {
		set_state(r, "ended", "\u25a0", "ended, exit code not known", TRK_TONE_PLAIN);
	} else if (o->code == 0) {
		set_state(r, "finished", "\u2713", "finished, exit 0", TRK_TONE_GOOD);
	} else {
		set_state(r, "failed", "\u2717", trk__report_print(r, "failed, exit %d", o->code),
			  TRK_TONE_BAD);
		r->trouble = trk__report_print(
			r,
			"The job failed with exit code %d. What it used until then may be less "
			"than "
			"it needs, so this run raises a request and never lowers it.",
			o->code);
	}
}

static void out_of_memory(struct trk_report *r, const struct trk_report_work *w)
{
	const struct trk_outcome *o = &w->in->record->outcome;
	const struct trk_process_info *biggest = NULL;
	const char *who = "";

	for (size_t i = 0; i < o->top_count; i++)
		if (!biggest || o->top[i].peak_bytes > biggest->peak_bytes)
			biggest = &o->top[i];
	if (biggest && biggest->peak_bytes)
		who = trk__report_print(r, " The largest process was %s with %s.",
					trk__report_safe(r, biggest->name, 60),
					trk__report_memory(r, (double) biggest->peak_bytes / MIB));
	set_state(r, "out_of_memory", "\u2717", "out of memory", TRK_TONE_BAD);
	r->trouble = trk__report_print(
		r,
		"The kernel killed the job for its memory, at a limit of %s; the largest sum that "
		"was seen is %s.%s It needs more than that: how much more is not known.",
		trk__report_memory(r, w->in->record->run.limit[TRK_LIMIT_MEMORY_MIB].value),
		trk__report_memory(r, w->memory_peak), who);
}

static void signalled(struct trk_report *r, const struct trk_outcome *o)
{
	set_state(
		r, "killed", "\u2717",
		trk__report_print(r, "killed by signal %d (%s)", o->signal, signal_name(o->signal)),
		TRK_TONE_BAD);
	r->trouble = trk__report_print(
		r,
		"Signal %d (%s) ended the job%s%s. The figures are those until then; this run "
		"raises a request and never lowers it.",
		o->signal, signal_name(o->signal), o->evidence[0] ? ": " : "",
		o->evidence[0] ? trk__report_safe(r, o->evidence, 160) : "");
}

static void ended_by_us(struct trk_report *r, const struct trk_outcome *o)
{
	bool timeout = o->verdict == TRK_VERDICT_TIMEOUT;

	set_state(r, timeout ? "timeout" : "memory_limit", "\u2717",
		  timeout ? "stopped at the time limit" : "stopped at the memory limit",
		  TRK_TONE_BAD);
	r->trouble = trk__report_print(
		r,
		"The job was still at work when the %s that was set for this run ended it%s%s. How "
		"much it needs in all is not known; this run raises a request and never lowers it.",
		timeout ? "time limit" : "memory limit", o->evidence[0] ? ": " : "",
		o->evidence[0] ? trk__report_safe(r, o->evidence, 160) : "");
}

static void vanished(struct trk_report *r)
{
	set_state(r, "vanished", "\u2717", "ended without a word", TRK_TONE_BAD);
	r->trouble =
		"The process ended without stopping its tracker, as it does when it is killed. "
		"The figures are those until then; this run raises a request and never lowers "
		"it.";
}

static void unfinished(struct trk_report *r, const struct trk_report_work *w)
{
	const struct trk_record *record = w->in->record;
	const char *last = trk__report_seconds(r, (double) record->last_elapsed_us / 1e6);

	if (record->outcome.verdict == TRK_VERDICT_RUNNING || record->writing) {
		set_state(r, "running", "\u2026", "still running", TRK_TONE_WARN);
		r->trouble = trk__report_print(
			r,
			"The job is still running: these figures are those up to %s after its "
			"start, as of %s, and they will change.",
			last, trk__report_second(r, (double) record->last_timestamp_ms / 1e3));
		r->live_s = w->in->live_s;
		r->last_s = (double) record->last_timestamp_ms / 1e3;
		return;
	}
	set_state(r, "tracker_died", "?", "no end recorded", TRK_TONE_WARN);
	r->trouble = trk__report_print(
		r,
		"The tracker was killed, or the machine went down, before the end was written. The "
		"samples are complete up to %s after the start; how the job ended is not known.",
		last);
}

void trk__report_state(struct trk_report *r, const struct trk_report_work *w)
{
	const struct trk_record *record = w->in->record;
	const struct trk_outcome *o = &record->outcome;

	switch (o->verdict) {
	case TRK_VERDICT_EXITED:
		exited(r, o);
		break;
	case TRK_VERDICT_SIGNALLED:
		signalled(r, o);
		break;
	case TRK_VERDICT_OUT_OF_MEMORY:
		out_of_memory(r, w);
		break;
	case TRK_VERDICT_TIMEOUT:
	case TRK_VERDICT_MEMORY_LIMIT:
		ended_by_us(r, o);
		break;
	case TRK_VERDICT_VANISHED:
		vanished(r);
		break;
	case TRK_VERDICT_STOPPED:
		set_state(r, "stopped", "\u25a0", "tracking was stopped", TRK_TONE_PLAIN);
		break;
	default:
		unfinished(r, w);
		break;
	}
	if (record->damaged)
		r->trouble = trk__report_print(
			r,
			"%s%sThis recording was damaged: %llu place%s in it could not be read and "
			"%s left out; the rest is as it was written.",
			r->trouble ? r->trouble : "", r->trouble ? " " : "",
			(unsigned long long) record->damaged, record->damaged == 1 ? "" : "s",
			record->damaged == 1 ? "was" : "were");
}

/* ---- the verdict ---- */

static const char *used_words(struct trk_report *r, const struct trk_report_work *w)
{
	const char *cpu, *memory;

	if (isnan(w->cpu_peak) && isnan(w->memory_peak))
		return "";
	cpu = isnan(w->cpu_limit)
		      ? trk__report_print(r, "%s cores", trk__report_number(r, w->cpu_peak))
		      : trk__report_print(r, "%s of %s cores", trk__report_number(r, w->cpu_peak),
					  trk__report_amount(r, w->cpu_limit));
	memory = isnan(w->memory_limit)
			 ? trk__report_memory(r, w->memory_peak)
			 : trk__report_print(r, "%s of %s", trk__report_memory(r, w->memory_peak),
					     trk__report_memory(r, w->memory_limit));
	return trk__report_print(r, " Used at most %s and %s of memory.", cpu, memory);
}

static const char *request_words(struct trk_report *r, const struct trk_report_work *w)
{
	const struct trk_advice *a = &w->advice;
	const char *cpu = "", *gpu = "", *memory = "";

	if (!isnan(a->cores))
		cpu = trk__report_print(r, "%.4g CPU", a->cores);
	if (!isnan(a->memory_mib))
		memory = trk__report_print(r, "%s%s", *cpu ? ", " : "",
					   trk__report_memory(r, a->memory_mib));
	if (a->gpus > 0)
		gpu = trk__report_print(r, ", %.4g GPU", a->gpus);
	return trk__report_print(r, B "%s%s%s" E, cpu, memory, gpu);
}

/* "A run costs about $9.77 instead of $17.14 (-43 %) on aws m7i.2xlarge, run time 24 h 14 m."; of one that
 * did not end well only what it did is known. */
static const char *cost_words(struct trk_report *r, const struct trk_report_work *w)
{
	const struct trk_server_estimate *best = w->has_servers ? &w->servers.list[0] : NULL;
	const struct trk_catalog *c = w->in->catalog;
	const char *instead = "",
		   *what = w->ended_well ? "A run costs" : "As far as it came, it costs";
	size_t n;

	if (!best || !best->speed_known)
		return "";
	if (w->has_paid)
		instead = trk__report_print(
			r, " instead of " B "%s" E " (%s)", trk__report_usd(r, w->paid.usd),
			trk__report_change(r, best->cost_usd / w->paid.usd - 1));
	return trk__report_print(
		r, " %s about " B "%s" E "%s on %s %s, run time %s.", what,
		trk__report_usd(r, best->cost_usd), instead,
		trk__catalog_vendor_id(c, trk__catalog_servers(c, &n)[best->offer.server].vendor),
		trk__catalog_server_name(c, best->offer.server),
		trk__report_seconds(r, best->run_s));
}

static const char *basis_words(struct trk_report *r, const struct trk_report_work *w)
{
	const struct trk_memory_advice *m = &w->advice.memory;
	const char *chance = "", *price = "";

	if (!w->has_advice || !w->advice.has_memory)
		return "";
	if (!isnan(m->chance_exceed))
		chance = trk__report_print(r, ", chance of needing more %s",
					   trk__report_percent(r, m->chance_exceed));
	if (w->has_servers)
		price = " On-demand list prices; without storage, traffic and discounts.";
	return trk__report_print(r, "Basis: %zu run%s, memory by the %s (confidence: %s)%s.%s",
				 m->runs_used, m->runs_used == 1 ? "" : "s",
				 trk__basis_name(m->basis), trk__confidence_name(m->confidence),
				 chance, price);
}

static const struct {
	const char *symbol, *title;
	enum trk_report_tone tone;
} verdicts[] = {
	[TRK_SIZING_NOT_ENOUGH_DATA] = {"?", "Not enough data", TRK_TONE_PLAIN},
	[TRK_SIZING_RIGHT] = {"\u2713", "Right-sized", TRK_TONE_GOOD},
	[TRK_SIZING_OVER] = {"\u25b2", "Over-provisioned", TRK_TONE_WARN},
	[TRK_SIZING_UNDER] = {"\u25bc", "Under-provisioned", TRK_TONE_BAD},
};

/* What fewer or more cores do to the run time, where that is more than a hundredth. */
static const char *time_words(struct trk_report *r, const struct trk_report_work *w)
{
	const struct trk_advice *a = &w->advice;
	double change = a->run_time_s / a->cpu.run_time_now_s - 1;

	if (!a->has_cpu || !(change > 0.01 || change < -0.01))
		return "";
	return trk__report_print(r, " (run time %s)", trk__report_change(r, change));
}

static const char *ask_words(struct trk_report *r, const struct trk_report_work *w,
			     enum trk_sizing sizing)
{
	const char *request;

	if (!w->has_advice)
		return " No sample says how much the next run needs.";
	request = request_words(r, w);
	if (!w->ended_well)
		return trk__report_print(r, " Request at least %s next time.", request);
	if (sizing == TRK_SIZING_RIGHT)
		return trk__report_print(r, " A request of %s fits.", request);
	return trk__report_print(r, " Request %s next time%s.", request, time_words(r, w));
}

static const char *why_words(struct trk_report *r, const struct trk_report_work *w)
{
	uint64_t samples = w->in->record->samples;

	if (samples == 0)
		return " No sample was taken.";
	if (samples == 1)
		return " One sample was taken: it shows a moment, not a course.";
	if (w->has_advice && w->advice.sizing.reason_count && w->ended_well)
		return trk__report_print(r, " Because: %s.", w->advice.sizing.reason[0]);
	return "";
}

static void set_figures(struct trk_report *r, const struct trk_report_work *w)
{
	r->request_cpu = r->request_memory_mib = r->request_gpus = r->request_vram_mib = NAN;
	if (w->has_advice) {
		r->request_cpu = w->advice.cores;
		r->request_memory_mib = w->advice.memory_mib;
		r->request_gpus = w->advice.gpus;
		r->request_vram_mib = w->advice.vram_mib;
	}
	r->cost_usd = w->has_servers ? w->servers.list[0].cost_usd : (double) NAN;
	r->paid_usd = w->has_paid ? w->paid.usd : (double) NAN;
}

/* A run that had to wait for a CPU does not show how many cores it can use. */
static void tell_waiting(struct trk_report *r, const struct trk_report_work *w)
{
	double share = w->has_course && w->course.has_wall ? w->course.wall.share[TRK_WALL_CPU_WAIT]
							   : (double) NAN;

	if (!(share >= TRK_BOTTLENECK_CPU_WAIT) || !w->has_advice)
		return;
	r->trouble = trk__report_print(r,
				       "%s%sIt waited for a CPU %s of the time, behind other work "
				       "or a quota: left alone it "
				       "may use more cores than it used here, and be done sooner.",
				       r->trouble ? r->trouble : "", r->trouble ? " " : "",
				       trk__report_percent(r, share));
}

void trk__report_verdict(struct trk_report *r, const struct trk_report_work *w)
{
	enum trk_sizing sizing =
		w->has_advice ? w->advice.sizing.sizing : TRK_SIZING_NOT_ENOUGH_DATA;
	const char *why = sizing == TRK_SIZING_NOT_ENOUGH_DATA ? why_words(r, w) : "";

	r->sizing = trk__sizing_name(sizing);
	r->symbol = verdicts[sizing].symbol;
	r->verdict_tone = verdicts[sizing].tone;
	set_figures(r, w);
	if (!strcmp(w->in->record->run.kind, "system")) {
		r->lead = trk__report_print(
			r, B "The whole machine." E "%s There is no job here to size.",
			used_words(r, w));
		r->basis = "";
		return;
	}
	r->lead = trk__report_print(r, B "%s." E "%s%s%s%s", verdicts[sizing].title, why,
				    used_words(r, w), ask_words(r, w, sizing), cost_words(r, w));
	r->basis = basis_words(r, w);
	tell_waiting(r, w);
}
