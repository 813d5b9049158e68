/* Where the wall time went, what changed since earlier runs, and the top processes. */
#include <stdlib.h>
#include <string.h>

#include "advise/odd.h"
#include "report/report_private.h"

/* ---- wall time ---- */

static void add_on_cpu(void *data, double cores, double seconds)
{
	double *sum = data;

	*sum += (cores < 1 ? cores : 1) * seconds;
}

/* Whether the job did at least half of what the machine did: only then do the machine's waits say
 * something about the job. */
static bool is_mainly_the_job(const struct trk_record *record)
{
	struct trk_column_stats job, machine;

	trk__stats_get(record->stats, TRK_PROCESS_CPU_USAGE, &job);
	trk__stats_get(record->stats, TRK_SYSTEM_CPU_USAGE, &machine);
	return job.mean >= 0.5 * machine.mean;
}

/* What the samples tell: at most the time in which a task of the job ran, and how long tasks of the
 * whole machine waited. */
static void wall_of_samples(const struct trk_record *record, struct trk_wall_facts *facts)
{
	static const struct {
		enum trk_wall item;
		int column;
	} waits[] = {
		{TRK_WALL_DISK, TRK_SYSTEM_PRESSURE_IO_SOME},
		{TRK_WALL_MEMORY_STALL, TRK_SYSTEM_PRESSURE_MEMORY_SOME},
		{TRK_WALL_CPU_WAIT, TRK_SYSTEM_PRESSURE_CPU_SOME},
	};
	struct trk_column_stats cpu;

	facts->wall_s = (double) record->outcome.duration_ns / 1e9;
	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		facts->item_s[i] = NAN;
	trk__stats_get(record->stats, TRK_PROCESS_CPU_USAGE, &cpu);
	if (!isnan(cpu.mean)) {
		facts->item_s[TRK_WALL_ON_CPU] = 0;
		trk__stats_each(record->stats, TRK_PROCESS_CPU_USAGE, add_on_cpu,
				&facts->item_s[TRK_WALL_ON_CPU]);
	}
	for (size_t i = 0; is_mainly_the_job(record) && i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct trk_column_stats s;

		trk__stats_get(record->stats, waits[i].column, &s);
		facts->item_s[waits[i].item] = s.sum;
	}
	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		if (facts->item_s[i] > facts->wall_s)
			facts->item_s[i] = facts->wall_s;
}

static void add_wall(struct trk_report *r, const struct trk_wall_split *split, double wall_s, int i)
{
	static const char *const keys[TRK_WALL_ITEMS] = {"on_cpu",       "gpu",      "disk",
							 "memory_stall", "cpu_wait", "other"};
	struct trk_report_wall *item = &r->wall[r->walls++];

	*item = (struct trk_report_wall){
		.key = keys[i],
		.name = trk__wall_name((enum trk_wall) i),
		.share = split->share[i],
		.seconds = split->share[i] * wall_s,
		.known = !isnan(split->share[i]),
	};
	item->text = item->known
			     ? trk__report_print(r, "%s, %s", trk__report_percent(r, item->share),
						 trk__report_seconds(r, item->seconds))
			     : "not known";
}

/* The parts that each sample was divided into. */
static void wall_of_course(struct trk_report *r, const struct trk_report_work *w,
			   struct trk_report_section *s)
{
	const struct trk_course *c = &w->course;

	if (c->bound != TRK_BOUND_UNKNOWN)
		trk__report_line(s, trk__report_print(r, "The run %s %s.",
						      c->bound == TRK_BOUND_MIXED ? "had" : "was",
						      c->bottleneck));
	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		if (!isnan(c->wall.share[i]) && (c->wall.share[i] > 0 || i == TRK_WALL_ON_CPU))
			add_wall(r, &c->wall, c->seconds, i);
	if (c->has_split && c->split.pays)
		trk__report_note(s, trk__report_print(r, "%s", c->split.hint));
	trk__report_note(s, "On CPU: what the job's CPU time fills. The waits are estimated, from "
			    "pressure-stall information of its control group or the machine and "
			    "from the kernel's run queue.");
	if (c->wall.other_holds_unknown && c->wall.share[TRK_WALL_OTHER] > 0)
		trk__report_note(s, "Other holds what could not be told apart: network, sleep, "
				    "locks, and waits that were not measured.");
}

void trk__report_wall_time(struct trk_report *r, const struct trk_report_work *w)
{
	struct trk_report_section *s = &r->part[TRK_PART_WALL];
	struct trk_wall_facts own;
	const struct trk_wall_facts *facts = w->in->wall;
	struct trk_wall_split split;

	if (!facts && w->has_course && w->course.has_wall) {
		wall_of_course(r, w, s);
		return;
	}
	if (!facts) {
		wall_of_samples(w->in->record, &own);
		facts = &own;
	}
	if (!w->in->record->samples || trk__wall_divide(facts, &split) < 0 ||
	    isnan(split.share[TRK_WALL_ON_CPU])) {
		trk__report_empty(s, "Not known: no sample tells what the job waited on.");
		return;
	}
	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		if (!isnan(split.share[i]) && (split.share[i] > 0 || i == TRK_WALL_ON_CPU))
			add_wall(r, &split, facts->wall_s, i);
	if (!w->in->wall)
		trk__report_note(
			s,
			is_mainly_the_job(w->in->record)
				? "Estimated: on CPU is at most the time in which a task of the "
				  "job ran; waits are the whole machine's where the job was not "
				  "on a CPU."
				: "Estimated: on CPU is at most the time in which a task of the "
				  "job ran. Others did more on this machine than the job, so its "
				  "waits are not told apart.");
	if (split.other_holds_unknown && split.share[TRK_WALL_OTHER] > 0)
		trk__report_note(s, "Other holds what could not be told apart: network, sleep, "
				    "locks, and waits that were not measured.");
}

/* ---- what changed ---- */

enum { EARLIER_MAX = 50, LISTED = 10 };

static const struct trk_report_column change_columns[] = {
	{"metric", "Metric", TRK_CELL_TEXT},       {"now", "This run", TRK_CELL_NUMBER},
	{"previous", "Previous", TRK_CELL_NUMBER}, {"median", "Median", TRK_CELL_NUMBER},
	{"change", "Change", TRK_CELL_NUMBER},     {"reading", "Reading", TRK_CELL_TEXT},
};

static const struct trk_report_column run_columns[] = {
	{"id", "Run", TRK_CELL_CODE},           {"start", "Started", TRK_CELL_TEXT},
	{"end", "End", TRK_CELL_TEXT},          {"duration_s", "Duration", TRK_CELL_NUMBER},
	{"cpu_s", "CPU time", TRK_CELL_NUMBER}, {"peak_memory_mib", "Peak memory", TRK_CELL_NUMBER},
};

static const struct figure {
	const char *title;
	size_t offset;
	double floor_share;
	const char *(*words)(struct trk_report *r, double value);
} figures[] = {
	{"Duration", offsetof(struct trk_past, duration_s), TRK_ODD_FLOOR_TIME,
	 trk__report_seconds},
	{"CPU time", offsetof(struct trk_past, cpu_s), TRK_ODD_FLOOR_TIME, trk__report_seconds},
	{"Cores busy", offsetof(struct trk_past, cpu_mean), TRK_ODD_FLOOR_TIME, trk__report_number},
	{"Peak memory", offsetof(struct trk_past, peak_memory_mib), TRK_ODD_FLOOR_MEMORY,
	 trk__report_memory},
	{"Disk read", offsetof(struct trk_past, disk_read_bytes), TRK_ODD_FLOOR_TIME,
	 trk__report_bytes},
	{"Disk written", offsetof(struct trk_past, disk_write_bytes), TRK_ODD_FLOOR_TIME,
	 trk__report_bytes},
};

static double value_of(const struct trk_past *run, const struct figure *figure)
{
	double value;

	memcpy(&value, (const char *) run + figure->offset, sizeof(value));
	return value;
}

static const char *reading_of(struct trk_report *r, const struct trk_odd *odd)
{
	const char *usual = isnan(odd->noise_share) ? ""
						    : trk__report_print(r, " (usual \u00b1%.1f %%)",
									odd->noise_share * 100);

	switch (odd->verdict) {
	case TRK_ODD_HIGH:
		return trk__report_print(r, "higher than usual%s", usual);
	case TRK_ODD_LOW:
		return trk__report_print(r, "lower than usual%s", usual);
	case TRK_ODD_NO:
		return trk__report_print(r, "within noise%s", usual);
	default:
		return trk__report_print(r, "too few runs to tell (%d needed)", TRK_ODD_RUNS_MIN);
	}
}

static struct trk_report_cell figure_cell(struct trk_report *r, const struct figure *figure,
					  double value)
{
	return isnan(value) ? trk__report_cell(NULL, NAN)
			    : trk__report_cell(figure->words(r, value), value);
}

static void add_change(struct trk_report *r, const struct trk_report_work *w,
		       const struct figure *figure, struct trk_report_table *t)
{
	const struct trk_report_input *in = w->in;
	double earlier[EARLIER_MAX], now = value_of(&in->runs[in->count - 1], figure);
	struct trk_odd odd = {TRK_ODD_TOO_FEW, NAN, NAN, NAN, NAN, 0};
	struct trk_report_cell *row = trk__report_row(r, t);
	size_t n = 0, first = in->count - 1 > EARLIER_MAX ? in->count - 1 - EARLIER_MAX : 0;
	double change;

	if (!row)
		return;
	for (size_t i = first; i + 1 < in->count; i++)
		if (in->runs[i].code <= 0)
			earlier[n++] = value_of(&in->runs[i], figure);
	(void) trk__odd_judge(earlier, n, now, figure->floor_share, &odd);
	change = odd.median > 0 ? now / odd.median - 1 : (double) NAN;
	row[0] = trk__report_tone(trk__report_cell(figure->title, NAN), TRK_TONE_STRONG);
	row[1] = figure_cell(r, figure, now);
	row[2] = figure_cell(r, figure, value_of(&in->runs[in->count - 2], figure));
	row[3] = figure_cell(r, figure, odd.median);
	row[4] = isnan(change) ? trk__report_cell(NULL, NAN)
			       : trk__report_cell(trk__report_change(r, change), change);
	if (odd.verdict == TRK_ODD_HIGH)
		row[4].tone = TRK_TONE_BAD;
	row[5].text = reading_of(r, &odd);
}

static void list_runs(struct trk_report *r, const struct trk_report_work *w,
		      struct trk_report_section *s)
{
	const struct trk_report_input *in = w->in;
	struct trk_report_table *t =
		trk__report_table(s, "runs", "The newest runs of this job", run_columns, 6);

	for (size_t i = in->count; i-- > 0 && i + LISTED >= in->count;) {
		const struct trk_past *run = &in->runs[i];
		struct trk_report_cell *row = trk__report_row(r, t);

		if (!row)
			return;
		row[0].text = trk__report_safe(r, run->id, TRK_RUN_ID_SIZE);
		row[1] = trk__report_cell(trk__report_moment(r, run->start_s), run->start_s);
		row[2].text = run->code > 0 ? trk__report_print(r, "exit %d", run->code)
					    : trk__report_safe(r, run->verdict, 24);
		row[3] = trk__report_cell(trk__report_seconds(r, run->duration_s), run->duration_s);
		row[4] = trk__report_cell(trk__report_seconds(r, run->cpu_s), run->cpu_s);
		row[5] = trk__report_cell(trk__report_memory(r, run->peak_memory_mib),
					  run->peak_memory_mib);
	}
}

static void tell_phase(struct trk_report *r, struct trk_report_section *s, const char *what,
		       const struct trk_change_phase *p,
		       const char *(*words)(struct trk_report *r, double value))
{
	const char *name = p->name[0] ? trk__report_safe(r, p->name, TRK_MARK_NAME_SIZE)
				      : trk__report_print(r, "phase %zu", p->number);

	if (p->runs)
		trk__report_line(s,
				 trk__report_print(r, "%s changed in %s: %s before, %s now.", what,
						   name, words(r, p->before), words(r, p->now)));
}

void trk__report_changes(struct trk_report *r, const struct trk_report_work *w)
{
	struct trk_report_section *s = &r->part[TRK_PART_CHANGED];
	struct trk_report_table *t;

	if (w->in->count < 2) {
		trk__report_empty(s, "This is the first run of the job that is known here: nothing "
				     "to compare it with.");
		return;
	}
	if (w->in->change) {
		tell_phase(r, s, "Duration", &w->in->change->time_phase, trk__report_seconds);
		tell_phase(r, s, "Peak memory", &w->in->change->memory_phase, trk__report_memory);
	}
	t = trk__report_table(s, "figures", NULL, change_columns, 6);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		add_change(r, w, &figures[i], t);
	list_runs(r, w, s);
	trk__report_note(s, trk__report_print(r,
					      "Median and usual spread (median absolute deviation) "
					      "of the earlier runs that ended well, %d at most.",
					      EARLIER_MAX));
}

/* ---- processes ---- */

static const struct trk_report_column process_columns[] = {
	{"process", "Process", TRK_CELL_CODE},
	{"pid", "PID", TRK_CELL_NUMBER},
	{"cpu_s", "CPU time", TRK_CELL_NUMBER},
	{"cpu_share", "Share of CPU", TRK_CELL_BAR},
	{"peak_memory_mib", "Peak memory", TRK_CELL_NUMBER},
	{"disk_read_bytes", "Disk read", TRK_CELL_NUMBER},
	{"disk_write_bytes", "Disk written", TRK_CELL_NUMBER},
};

static void add_process(struct trk_report *r, const struct trk_process_info *p, double cpu_s,
			struct trk_report_table *t)
{
	struct trk_report_cell *row = trk__report_row(r, t);
	double own_s = (double) p->cpu_ns / 1e9;
	double share = cpu_s > 0 ? own_s / cpu_s : (double) NAN;

	if (!row)
		return;
	row[0].text = trk__report_safe(r, p->command[0] ? p->command : p->name, 100);
	row[1] = trk__report_cell(trk__report_print(r, "%d", (int) p->pid), p->pid);
	row[2] = trk__report_cell(trk__report_seconds(r, own_s), own_s);
	if (!isnan(share))
		row[3] = trk__report_cell(trk__report_percent(r, share), share);
	row[3].second = share;
	if (p->peak_bytes)
		row[4] = trk__report_cell(trk__report_memory(r, (double) p->peak_bytes / MIB),
					  (double) p->peak_bytes / MIB);
	row[5] = trk__report_cell(trk__report_bytes(r, (double) p->read_bytes),
				  (double) p->read_bytes);
	row[6] = trk__report_cell(trk__report_bytes(r, (double) p->write_bytes),
				  (double) p->write_bytes);
}

void trk__report_processes(struct trk_report *r, const struct trk_report_work *w)
{
	struct trk_report_section *s = &r->part[TRK_PART_PROCESSES];
	const struct trk_outcome *o = &w->in->record->outcome;
	bool taken[TRK_TOP_MAX] = {false};
	struct trk_report_table *t;

	if (!o->top_count) {
		trk__report_empty(s, "No process is listed in this recording.");
		return;
	}
	t = trk__report_table(s, "processes", NULL, process_columns, 7);
	for (size_t n = 0; n < o->top_count; n++) {
		size_t best = o->top_count;

		for (size_t i = 0; i < o->top_count; i++)
			if (!taken[i] &&
			    (best == o->top_count || o->top[i].cpu_ns > o->top[best].cpu_ns))
				best = i;
		taken[best] = true;
		add_process(r, &o->top[best], o->total[TRK_TOTAL_CPU_S].value, t);
	}
	trk__report_note(s, "The processes with the most CPU time or memory; a process' own "
			    "threads, without its children. Its peak counts shared pages in full.");
}
