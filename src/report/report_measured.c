/* How this was measured, and how sure we are. */
#include <string.h>

#include "report/report_rows.h"

static const struct trk_report_column total_columns[] = {
	{"figure", "Figure", TRK_CELL_TEXT},        {"value", "Value", TRK_CELL_NUMBER},
	{"quality", "Quality", TRK_CELL_TEXT},      {"source", "Source", TRK_CELL_TEXT},
	{"reason", "Why not exact", TRK_CELL_TEXT},
};

static const struct trk_report_column source_columns[] = {{"name", "What", TRK_CELL_TEXT},
							  {"source", "Source", TRK_CELL_TEXT}};

typedef const char *words_fn(struct trk_report *r, double value);

static const char *count_words(struct trk_report *r, double value)
{
	return value < 1e15 ? trk__report_print(r, "%.0f", value) : trk__report_number(r, value);
}

static const char *joule_words(struct trk_report *r, double value)
{
	return trk__report_print(r, "%s J", trk__report_number(r, value));
}

static const char *quality_words(enum trk_quality quality)
{
	static const char *const words[] = {"not known", "exact", "at least", "at most",
					    "estimated"};

	return words[quality <= TRK_QUALITY_ESTIMATED ? quality : 0];
}

static void add_quantity(struct trk_report *r, struct trk_report_table *t, const char *name,
			 const struct trk_quantity *q, words_fn *words)
{
	struct trk_report_cell *row = trk__report_row(r, t);

	if (!row)
		return;
	row[0] = trk__report_tone(trk__report_cell(name, NAN), TRK_TONE_STRONG);
	if (!isnan(q->value))
		row[1] = trk__report_cell(words(r, q->value), q->value);
	row[2].text = quality_words(q->quality);
	row[3].text = q->source[0] ? trk__report_safe(r, q->source, 160) : NULL;
	row[4].text = q->reason[0] ? trk__report_safe(r, q->reason, 200) : NULL;
}

static const struct {
	const char *name;
	words_fn *words;
} totals[TRK_TOTALS] = {
	[TRK_TOTAL_CPU_S] = {"CPU time", trk__report_seconds},
	[TRK_TOTAL_CPU_USER_S] = {"of it in user mode", trk__report_seconds},
	[TRK_TOTAL_CPU_SYSTEM_S] = {"of it in the kernel", trk__report_seconds},
	[TRK_TOTAL_PEAK_MEMORY_MIB] = {"Peak memory", trk__report_memory},
	[TRK_TOTAL_PEAK_PROCESSES] = {"Most processes at once", count_words},
	[TRK_TOTAL_DISK_READ_BYTES] = {"Disk read", trk__report_bytes},
	[TRK_TOTAL_DISK_WRITE_BYTES] = {"Disk written", trk__report_bytes},
	[TRK_TOTAL_MAJOR_FAULTS] = {"Page faults from disk", count_words},
	[TRK_TOTAL_CONTEXT_SWITCHES] = {"Context switches", count_words},
	[TRK_TOTAL_GPU_ENERGY_J] = {"Energy of GPUs", joule_words},
};

static void add_network(struct trk_report *r, struct trk_report_table *t, const char *name,
			int column, const struct trk_record *record)
{
	struct trk_quantity q;
	struct trk_column_stats stats;

	trk__quantities_clear(&q, 1);
	trk__stats_get(record->stats, column, &stats);
	if (!isnan(stats.sum))
		trk__quantity_set(&q, stats.sum, TRK_QUALITY_AT_MOST, "network devices",
				  "the whole machine's: others may have a part in it");
	add_quantity(r, t, name, &q, trk__report_bytes);
}

static void add_totals(struct trk_report *r, const struct trk_record *record,
		       struct trk_report_section *s)
{
	struct trk_report_table *t = trk__report_table(s, "totals", NULL, total_columns, 5);

	for (int i = 0; i < TRK_TOTALS; i++)
		if (totals[i].name && (i != TRK_TOTAL_GPU_ENERGY_J || record->gpus.count))
			add_quantity(r, t, totals[i].name, &record->outcome.total[i],
				     totals[i].words);
	add_network(r, t, "Network in", TRK_SYSTEM_NET_RECV, record);
	add_network(r, t, "Network out", TRK_SYSTEM_NET_SENT, record);
	add_quantity(r, t, "CPU requested, cores", &record->run.request[TRK_REQUEST_CPU],
		     trk__report_amount);
	add_quantity(r, t, "CPU limit, cores", &record->run.limit[TRK_LIMIT_CPU],
		     trk__report_amount);
	add_quantity(r, t, "Memory requested", &record->run.request[TRK_REQUEST_MEMORY_MIB],
		     trk__report_memory);
	add_quantity(r, t, "Memory limit", &record->run.limit[TRK_LIMIT_MEMORY_MIB],
		     trk__report_memory);
	t->title = "Totals and limits, each with its source";
	t->folded = true;
}

static void add_sources(struct trk_report *r, const struct trk_record *record,
			struct trk_report_section *s)
{
	const struct trk_outcome *o = &record->outcome;
	struct trk_report_table *t;

	if (!o->source_count)
		return;
	t = trk__report_table(s, "sources", "Where the samples come from", source_columns, 2);
	for (size_t i = 0; i < o->source_count; i++) {
		struct trk_report_cell *row = trk__report_row(r, t);

		if (!row)
			return;
		row[0] = trk__report_tone(
			trk__report_cell(trk__report_safe(r, o->sources[i][0], 60), NAN),
			TRK_TONE_STRONG);
		row[1].text = trk__report_safe(r, o->sources[i][1], 160);
	}
}

/* Tags as "key=value". */
static void add_tags(struct trk_report *r, const struct trk_run *run, struct trk_report_section *s)
{
	static const struct trk_report_column columns[] = {{"tag", "Tag", TRK_CELL_TEXT}};
	const char *at = run->tags, *end = run->tags + run->tags_len;
	struct trk_report_table *t;

	if (at >= end)
		return;
	t = trk__report_table(s, "tags", "Remembered with the run", columns, 1);
	while (at < end) {
		size_t len = strnlen(at, (size_t) (end - at));
		struct trk_report_cell *row = trk__report_row(r, t);

		if (!row)
			return;
		row[0].text = trk__report_safe_n(r, at, len, 200);
		at += len + 1;
	}
}

static void say_samples(struct trk_report *r, const struct trk_report_work *w,
			struct trk_report_section *s)
{
	const struct trk_record *record = w->in->record;
	const struct trk_outcome *o = &record->outcome;
	struct trk_report_gaps gaps = {0, 0, 0};

	if (w->in->rows)
		gaps = trk__report_rows_gaps(w->in->rows);
	trk__report_line(
		s, trk__report_print(
			   r,
			   TRK_REPORT_STRONG "%llu" TRK_REPORT_PLAIN
					     " sample%s taken of %llu expected, one every "
					     "%s; %llu late, %zu gap%s.",
			   (unsigned long long) record->samples, record->samples == 1 ? "" : "s",
			   (unsigned long long) record->samples + (unsigned long long) o->missed,
			   trk__report_seconds(r, (double) record->run.interval_ns / 1e9),
			   (unsigned long long) o->late, gaps.gaps, gaps.gaps == 1 ? "" : "s"));
}

static void say_tracker(struct trk_report *r, const struct trk_report_work *w,
			struct trk_report_section *s)
{
	const struct trk_record *record = w->in->record;
	const struct trk_outcome *o = &record->outcome;
	double cpu_s = (double) o->tracker_cpu_ns / 1e9;
	double duration_s = (double) o->duration_ns / 1e9;

	if (!o->tracker_cpu_ns) {
		trk__report_line(s, "What the tracker itself used is not known.");
		return;
	}
	trk__report_line(
		s, trk__report_print(
			   r,
			   "The tracker itself used %s of CPU time (%.3f %% of a core) and %s of "
			   "memory.",
			   trk__report_seconds(r, cpu_s),
			   duration_s > 0 ? cpu_s / duration_s * 100 : 0,
			   o->tracker_rss_bytes
				   ? trk__report_memory(r, (double) o->tracker_rss_bytes / MIB)
				   : "an unknown amount"));
}

void trk__report_measured(struct trk_report *r, const struct trk_report_work *w)
{
	struct trk_report_section *s = &r->part[TRK_PART_MEASURED];
	const struct trk_record *record = w->in->record;
	const struct trk_advice *a = &w->advice;

	say_samples(r, w, s);
	say_tracker(r, w, s);
	if (w->has_advice && a->has_memory)
		trk__report_line(s,
				 trk__report_print(
					 r, "Confidence of the memory request: %s, from %zu run%s.",
					 trk__confidence_name(a->memory.confidence),
					 a->memory.runs_used, a->memory.runs_used == 1 ? "" : "s"));
	if (record->outcome.left_behind)
		trk__report_line(
			s, trk__report_print(
				   r, "%zu process%s of the job still ran when the run ended.",
				   record->outcome.left_behind,
				   record->outcome.left_behind == 1 ? "" : "es"));
	trk__report_line(s, trk__report_print(r, "Recorded by resource-tracker %s.",
					      trk__report_safe(r, record->run.version, 32)));
	trk__report_gpus(r, record, s);
	add_totals(r, record, s);
	add_sources(r, record, s);
	add_tags(r, &record->run, s);
}
