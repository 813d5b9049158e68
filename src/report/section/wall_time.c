/* Where the wall time went. */
#include "report/section/section.h"
#include "report/shared_terms.h"

static void add_on_cpu(void *data, double cores, double seconds)
{
	double *sum = data;

	*sum += (cores < 1 ? cores : 1) * seconds;
}

/* Whether the job did at least half of the machine's work: only then are the machine's waits
 * evidence about the job. */
static bool is_mainly_the_job(const struct trk_record *record)
{
	return trk__stats_get(record->stats, TRK_PROCESS_CPU_USAGE).mean >=
	       0.5 * trk__stats_get(record->stats, TRK_SYSTEM_CPU_USAGE).mean;
}

/* Upper bounds from the samples: the time in which a task of the job ran, and how long tasks of the
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

	facts->wall_s = (double) record->outcome.duration_ns / 1e9;
	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		facts->item_s[i] = NAN;
	if (!isnan(trk__stats_get(record->stats, TRK_PROCESS_CPU_USAGE).mean)) {
		facts->item_s[TRK_WALL_ON_CPU] = 0;
		trk__stats_each(record->stats, TRK_PROCESS_CPU_USAGE, add_on_cpu,
				&facts->item_s[TRK_WALL_ON_CPU]);
	}
	for (size_t i = 0; is_mainly_the_job(record) && i < sizeof(waits) / sizeof(waits[0]); i++)
		facts->item_s[waits[i].item] = trk__stats_get(record->stats, waits[i].column).sum;
	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		if (facts->item_s[i] > facts->wall_s)
			facts->item_s[i] = facts->wall_s;
}

/* The parts of `seconds` that are known. */
static void add_parts(struct trk_doc *d, struct trk_doc_section *s,
		      const struct trk_wall_split *split, double seconds)
{
	static const char *const keys[TRK_WALL_ITEMS] = {"on_cpu",       "gpu",      "disk",
							 "memory_stall", "cpu_wait", "other"};
	struct trk_doc_part *part = trk__doc_alloc(d, TRK_WALL_ITEMS * sizeof(*part));
	size_t n = 0;

	for (int i = 0; part && i < TRK_WALL_ITEMS; i++) {
		double share = split->share[i];

		if (!(share > 0 || (share == 0 && i == TRK_WALL_ON_CPU)))
			continue;
		part[n++] = (struct trk_doc_part){
			.key = keys[i],
			.name = trk__wall_name((enum trk_wall) i),
			.share = share,
			.seconds = share * seconds,
			.text = trk__doc_print(
				d, "%s, %s", trk__doc_value(d, trk__human_percent, share),
				trk__doc_value(d, trk__human_seconds, share * seconds)),
		};
	}
	trk__doc_list(d, s, TRK_BLOCK_PARTS, part, n);
}

/* ---- phase by phase ---- */

enum { PHASE_COLUMNS = 3 + TRK_WALL_ITEMS };

#define LEAST_SHARE 0.005 /* minimum in a phase for a column */

static bool is_in_any_phase(const struct trk_time_breakdown *c, int item)
{
	for (size_t i = 0; i < c->phase_count; i++)
		if (c->phase[i].split.share[item] >= LEAST_SHARE)
			return true;
	return false;
}

static void add_phase(struct trk_doc *d, struct trk_doc_table *t,
		      const struct trk_time_breakdown *c, size_t i)
{
	const struct trk_run_phase *p = &c->phase[i];
	double seconds = p->end_s - p->start_s;
	struct trk_doc_cell *row = trk__doc_row(d, t);
	char title[TRK_RUN_PHASE_NAME];

	row[0] = trk__doc_tone(
		trk__doc_cell(trk__doc_safe(d, trk__phase_title(c, i, title), 80), NAN),
		TRK_TONE_STRONG);
	row[1] = trk__doc_figure(d, trk__human_seconds, seconds);
	row[2] = trk__doc_figure(d, trk__human_percent, seconds / c->seconds);
	row[2].second = row[2].value;
	for (int k = 0; k < TRK_WALL_ITEMS; k++)
		if (is_in_any_phase(c, k))
			row[3 + k] = trk__doc_figure(d, trk__human_percent, p->split.share[k]);
}

/* The breakdown of time within each phase. */
static void add_phases(struct trk_doc *d, struct trk_doc_section *s,
		       const struct trk_time_breakdown *c)
{
	static const struct trk_doc_column columns[PHASE_COLUMNS] = {
		{"phase", "Phase", TRK_CELL_TEXT},
		{"seconds", "Took", TRK_CELL_NUMBER},
		{"share", "Of the run", TRK_CELL_BAR},
		{"on_cpu", "On CPU", TRK_CELL_NUMBER},
		{"gpu", "GPU busy", TRK_CELL_NUMBER},
		{"disk", "Disk", TRK_CELL_NUMBER},
		{"memory_stall", "Memory stall", TRK_CELL_NUMBER},
		{"cpu_wait", "Waiting for a CPU", TRK_CELL_NUMBER},
		{"other", "Other", TRK_CELL_NUMBER},
	};
	struct trk_doc_table *t;

	if (c->phase_count < 2 || !(c->seconds > 0))
		return;
	t = trk__doc_table(d, s, "by_phase", NULL, columns, PHASE_COLUMNS);
	t->essential = 4;
	for (size_t i = 0; i < c->phase_count; i++)
		add_phase(d, t, c, i);
}

static void explain_other(struct trk_doc *d, struct trk_doc_section *s,
			  const struct trk_wall_split *split)
{
	if (split->other_holds_unknown && split->share[TRK_WALL_OTHER] > 0)
		trk__doc_note(d, s,
			      "Other is the rest, which cannot be divided: network, sleep, "
			      "locks, and waits that were not measured.");
}

/* Where to split the job into steps with separate requests, if that pays. */
static void add_split(struct trk_doc *d, struct trk_doc_section *s,
		      const struct trk_time_breakdown *c)
{
	if (c->has_split && c->split.pays)
		trk__doc_note(d, s, "%s", trk__split_words(d, c));
}

/* The parts that each sample was divided into. */
static void wall_of_course(struct trk_doc *d, const struct trk_report_work *w,
			   struct trk_doc_section *s)
{
	const struct trk_time_breakdown *c = &w->course;

	if (c->bound != TRK_BOUND_UNKNOWN)
		trk__doc_text(d, s, "The run %s %s.", c->bound == TRK_BOUND_MIXED ? "had" : "was",
			      c->bottleneck);
	add_parts(d, s, &c->wall, c->seconds);
	add_phases(d, s, c);
	add_split(d, s, c);
	trk__doc_note(d, s,
		      "On CPU is the part of the run that the CPU time of the job fills. The waits "
		      "are estimated, from "
		      "pressure-stall information of its control group or the machine and "
		      "from the kernel's run queue.");
	explain_other(d, s, &c->wall);
}

static const char *estimate_words(const struct trk_record *record)
{
	if (isnan(trk__stats_get(record->stats, TRK_SYSTEM_CPU_USAGE).mean))
		return "Estimated: on CPU is at most the time in which a task of the job ran. What "
		       "else the machine did is not known, so the waits are not divided.";
	return is_mainly_the_job(record)
		       ? "Estimated: on CPU is at most the time in which a task of the job ran; "
			 "waits are the whole machine's where the job was not on a CPU."
		       : "Estimated: on CPU is at most the time in which a task of the job ran. "
			 "Other processes did more on this machine than the job, so its waits are "
			 "not divided.";
}

void trk__section_wall_time(struct trk_doc *d, struct trk_doc_section *s,
			    const struct trk_report_work *w)
{
	struct trk_wall_facts facts;
	struct trk_wall_split split;

	if (w->has_course && w->course.has_wall) {
		wall_of_course(d, w, s);
		return;
	}
	wall_of_samples(w->in->record, &facts);
	if (!w->in->record->samples || trk__wall_divide(&facts, &split) < 0 ||
	    isnan(split.share[TRK_WALL_ON_CPU])) {
		trk__doc_empty(d, s, "Not known: no sample shows what the job waited for.");
		return;
	}
	add_parts(d, s, &split, facts.wall_s);
	if (w->has_course)
		add_split(d, s, &w->course);
	trk__doc_note(d, s, "%s", estimate_words(w->in->record));
	explain_other(d, s, &split);
}
