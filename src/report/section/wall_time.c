/* Where the wall time went. */
#include "report/section/section.h"

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
	trk__doc_parts(d, s, part, n);
}

/* The parts that each sample was divided into. */
static void wall_of_course(struct trk_doc *d, const struct trk_report_work *w,
			   struct trk_doc_section *s)
{
	const struct trk_time_breakdown *c = &w->course;

	if (c->bound != TRK_BOUND_UNKNOWN)
		trk__doc_text(d, s,
			      trk__doc_print(d, "The run %s %s.",
					     c->bound == TRK_BOUND_MIXED ? "had" : "was",
					     c->bottleneck));
	add_parts(d, s, &c->wall, c->seconds);
	if (c->has_split && c->split.pays)
		trk__doc_note(d, s, trk__doc_print(d, "%s", c->split.hint));
	trk__doc_note(d, s,
		      "On CPU: what the job's CPU time fills. The waits are estimated, from "
		      "pressure-stall information of its control group or the machine and "
		      "from the kernel's run queue.");
	if (c->wall.other_holds_unknown && c->wall.share[TRK_WALL_OTHER] > 0)
		trk__doc_note(d, s,
			      "Other holds what could not be told apart: network, sleep, "
			      "locks, and waits that were not measured.");
}

void trk__section_wall_time(struct trk_doc *d, struct trk_doc_section *s,
			    const struct trk_report_work *w)
{
	struct trk_wall_facts own;
	const struct trk_wall_facts *facts = w->in->wall;
	struct trk_wall_split split;

	if (!facts && w->has_course && w->course.has_wall) {
		wall_of_course(d, w, s);
		return;
	}
	if (!facts) {
		wall_of_samples(w->in->record, &own);
		facts = &own;
	}
	if (!w->in->record->samples || trk__wall_divide(facts, &split) < 0 ||
	    isnan(split.share[TRK_WALL_ON_CPU])) {
		trk__doc_empty(d, s, "Not known: no sample tells what the job waited on.");
		return;
	}
	add_parts(d, s, &split, facts->wall_s);
	if (!w->in->wall)
		trk__doc_note(
			d, s,
			is_mainly_the_job(w->in->record)
				? "Estimated: on CPU is at most the time in which a task of the "
				  "job ran; waits are the whole machine's where the job was not "
				  "on a CPU."
				: "Estimated: on CPU is at most the time in which a task of the "
				  "job ran. Others did more on this machine than the job, so its "
				  "waits are not told apart.");
	if (split.other_holds_unknown && split.share[TRK_WALL_OTHER] > 0)
		trk__doc_note(d, s,
			      "Other holds what could not be told apart: network, sleep, "
			      "locks, and waits that were not measured.");
}
