/* Putting the report together: what is common to its parts, and their order. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_private.h"

static const struct {
	const char *key, *title;
} titles[TRK_PARTS] = {
	[TRK_PART_SIZING] = {"sizing", "Right-sizing"},
	[TRK_PART_WALL] = {"wall_time", "Where the wall time went"},
	[TRK_PART_TIMELINE] = {"timeline", "Timeline"},
	[TRK_PART_CHANGED] = {"changed", "What changed since earlier runs"},
	[TRK_PART_PROCESSES] = {"processes", "Top processes"},
	[TRK_PART_SERVERS] = {"servers", "Cheapest servers that fit"},
	[TRK_PART_MACHINE] = {"machine", "Server and cloud"},
	[TRK_PART_MEASURED] = {"measured", "How this was measured, and how sure we are"},
};

/* What was asked for, or the limit that it ran under. */
static double requested(const struct trk_run *run, enum trk_request request, enum trk_limit limit)
{
	double value = run->request[request].value;

	return isnan(value) ? run->limit[limit].value : value;
}

static const char in_this_machine[] = "in this machine";

static const char *name_of(const struct trk_run *run, enum trk_request request,
			   enum trk_limit limit)
{
	const struct trk_quantity *r = &run->request[request], *l = &run->limit[limit];

	if (!isnan(r->value))
		return r->quality == TRK_QUALITY_ESTIMATED ? "limit" : "requested";
	return !strcmp(l->source, "MemTotal") || !strcmp(l->source, "online CPUs") ? in_this_machine
										   : "limit";
}

static void add_busy(void *data, double cores, double seconds)
{
	trk__busy_add(data, cores, seconds);
}

static void advise(struct trk_report_work *w)
{
	const struct trk_report_input *in = w->in;
	struct trk_busy *own = calloc(1, sizeof(*own));
	struct trk_past *past = calloc(1, sizeof(*past));
	struct trk_advice_input ask = {.record = in->record,
				       .busy = in->busy ? in->busy : own,
				       .runs = in->count ? in->runs : past,
				       .count = in->count ? in->count : 1,
				       .input_bytes = NAN};

	if (own && past && strcmp(in->record->run.kind, "system") != 0) {
		trk__past_from(in->record, "", past);
		trk__stats_each(in->record->stats, TRK_PROCESS_CPU_USAGE, add_busy, own);
		w->has_advice = trk__advice_make(&ask, &w->advice) == 0;
	}
	free(own);
	free(past);
}

/* The amount to ask for after a run that had `now`. The machine's own size is nobody's request. */
static bool hold(double *next, double now, const char *name)
{
	if (!(*next < now) || !strcmp(name, in_this_machine))
		return false;
	*next = now;
	return true;
}

/* A run that did not end well may have needed more than it came to use: it raises a request and never
 * lowers it. */
static void hold_requests(struct trk_report_work *w)
{
	struct trk_advice *a = &w->advice;

	if (!w->has_advice || w->ended_well)
		return;
	w->held_cpu = hold(&a->cores, w->cpu_limit, w->cpu_limit_name);
	w->held_memory = hold(&a->memory_mib, w->memory_limit, w->memory_limit_name);
	if (w->held_cpu)
		a->run_time_s = NAN;
	if (a->sizing.sizing == TRK_SIZING_OVER || a->sizing.sizing == TRK_SIZING_RIGHT)
		a->sizing.sizing = TRK_SIZING_NOT_ENOUGH_DATA;
}

static void prepare(struct trk_report_work *w)
{
	const struct trk_record *record = w->in->record;
	const struct trk_outcome *o = &record->outcome;
	bool machine = record->run.pid == 0;

	w->cpu_limit = requested(&record->run, TRK_REQUEST_CPU, TRK_LIMIT_CPU);
	w->memory_limit = requested(&record->run, TRK_REQUEST_MEMORY_MIB, TRK_LIMIT_MEMORY_MIB);
	w->cpu_limit_name = name_of(&record->run, TRK_REQUEST_CPU, TRK_LIMIT_CPU);
	w->memory_limit_name = name_of(&record->run, TRK_REQUEST_MEMORY_MIB, TRK_LIMIT_MEMORY_MIB);
	trk__stats_get(record->stats, machine ? TRK_SYSTEM_CPU_USAGE : TRK_PROCESS_CPU_USAGE,
		       &w->cpu);
	trk__stats_get(record->stats, machine ? TRK_SYSTEM_MEMORY_USED : TRK_PROCESS_MEMORY,
		       &w->memory);
	w->cpu_peak = w->cpu.max;
	w->memory_peak = o->total[TRK_TOTAL_PEAK_MEMORY_MIB].value;
	if (!(w->memory_peak >= w->memory.max))
		w->memory_peak = w->memory.max;
	w->ended_well = (o->verdict == TRK_VERDICT_EXITED && o->code <= 0) ||
			o->verdict == TRK_VERDICT_STOPPED;
	w->here = -1;
	advise(w);
	hold_requests(w);
	trk__report_find_servers(w);
}

static const char *place_words(struct trk_report *r, const struct trk_report_place *p)
{
	const char *server, *region;

	if (!p || !p->vendor)
		return "";
	server = p->server ? trk__report_safe(r, p->server, 40) : "";
	region = p->region ? trk__report_safe(r, p->region, 40) : "";
	return trk__report_print(r, " \u00b7 %s %s %s", trk__report_safe(r, p->vendor, 40), server,
				 region);
}

static void head(struct trk_report *r, const struct trk_report_work *w)
{
	const struct trk_run *run = &w->in->record->run;
	size_t len = run->command_len ? run->command_len - 1 : 0;
	char *command = trk__report_alloc(r, len + 1);

	for (size_t i = 0; command && i < len; i++)
		command[i] = run->command[i] ? run->command[i] : ' ';
	r->command = command && len ? trk__report_safe_n(r, command, len, 240) : NULL;
	r->job = trk__report_safe(r,
				  run->job[0]                    ? run->job
				  : !strcmp(run->kind, "system") ? "system"
								 : "job",
				  80);
	r->id = trk__report_safe(r, run->id, TRK_RUN_ID_SIZE);
	r->facts = trk__report_print(
		r, "%s \u00b7 %s%s",
		trk__report_seconds(r, (double) w->in->record->outcome.duration_ns / 1e9),
		trk__report_moment(r, (double) run->start_ns / 1e9), place_words(r, w->in->place));
}

int trk__report_make(const struct trk_report_input *in, struct trk_report *ret)
{
	struct trk_report_work *w = calloc(1, sizeof(*w));
	struct trk_report_input full = *in;
	struct trk_report_place place;
	struct trk_report *r = ret;

	if (!w)
		return -ENOMEM;
	*r = (struct trk_report){.raw = in->raw, .raw_len = in->raw_len};
	for (int i = 0; i < TRK_PARTS; i++) {
		r->part[i].key = titles[i].key;
		r->part[i].title = titles[i].title;
	}
	trk__report_place_of(r, &full, &place);
	w->in = &full;
	w->has_course = in->record->run.pid != 0 && trk__course_of(in->record, &w->course) == 0;
	prepare(w);
	head(r, w);
	trk__report_state(r, w);
	trk__report_verdict(r, w);
	trk__report_sizing(r, w);
	trk__report_wall_time(r, w);
	trk__report_timeline(r, w);
	trk__report_changes(r, w);
	trk__report_processes(r, w);
	trk__report_servers(r, w);
	trk__report_machine(r, w);
	trk__report_measured(r, w);
	trk__server_advice_release(&w->servers);
	free(w);
	if (r->error) {
		int error = r->error;

		trk__report_release(r);
		return error;
	}
	return 0;
}

int trk__report_write(struct trk_buf *b, const struct trk_report *r, const char *format)
{
	if (!strcmp(format, "html"))
		trk__report_html(b, r);
	else if (!strcmp(format, "md"))
		trk__report_markdown(b, r);
	else if (!strcmp(format, "json"))
		trk__report_json(b, r);
	else
		return -EINVAL;
	return b->error;
}
