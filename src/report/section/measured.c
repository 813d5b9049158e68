/* How this was measured, and how certain it is. */
#include <string.h>

#include "report/chart_rows.h"
#include "report/section/section.h"

static const struct trk_doc_column total_columns[] = {
	{"figure", "Figure", TRK_CELL_TEXT},        {"value", "Value", TRK_CELL_NUMBER},
	{"quality", "Quality", TRK_CELL_TEXT},      {"source", "Source", TRK_CELL_TEXT},
	{"reason", "Why not exact", TRK_CELL_TEXT},
};

static const struct trk_doc_column source_columns[] = {{"name", "What", TRK_CELL_TEXT},
						       {"source", "Source", TRK_CELL_TEXT}};

static const char *quality_words(enum trk_quality quality)
{
	static const char *const words[] = {"not known", "exact", "at least", "at most",
					    "estimated"};

	return words[quality <= TRK_QUALITY_ESTIMATED ? quality : 0];
}

static void add_quantity(struct trk_doc *d, struct trk_doc_table *t, const char *name,
			 const struct trk_quantity *q, trk_human_fn *words)
{
	struct trk_doc_cell *row = trk__doc_row(d, t);

	row[0] = trk__doc_tone(trk__doc_cell(name, NAN), TRK_TONE_STRONG);
	row[1] = trk__doc_figure(d, words, q->value);
	row[2].text = quality_words(q->quality);
	row[3].text = q->source[0] ? trk__doc_safe(d, q->source, 160) : NULL;
	row[4].text = q->reason[0] ? trk__doc_safe(d, q->reason, 200) : NULL;
}

static const struct {
	const char *name;
	trk_human_fn *words;
} totals[TRK_TOTALS] = {
	[TRK_TOTAL_CPU_S] = {"CPU time", trk__human_seconds},
	[TRK_TOTAL_CPU_USER_S] = {"of it in user mode", trk__human_seconds},
	[TRK_TOTAL_CPU_SYSTEM_S] = {"of it in the kernel", trk__human_seconds},
	[TRK_TOTAL_PEAK_MEMORY_MIB] = {"Peak memory", trk__human_memory},
	[TRK_TOTAL_PEAK_MEMORY_AT_LEAST_MIB] = {"Peak memory, at least", trk__human_memory},
	[TRK_TOTAL_PEAK_MEMORY_AT_MOST_MIB] = {"Peak memory, at most", trk__human_memory},
	[TRK_TOTAL_PEAK_GROUP_MEMORY_MIB] = {"Peak of the control group", trk__human_memory},
	[TRK_TOTAL_PEAK_SHARED_FILES_MIB] = {"Shared files in memory", trk__human_memory},
	[TRK_TOTAL_PEAK_SWAP_MIB] = {"Most swapped out", trk__human_memory},
	[TRK_TOTAL_PEAK_HUGE_PAGES_MIB] = {"Most in huge pages", trk__human_memory},
	[TRK_TOTAL_PEAK_NEEDED_MIB] = {"Memory needed, with both", trk__human_memory},
	[TRK_TOTAL_PEAK_FILE_PAGES_MIB] = {"of it pages of files, at most", trk__human_memory},
	[TRK_TOTAL_PEAK_COMMIT_MIB] = {"Peak of committed memory", trk__human_memory},
	[TRK_TOTAL_FORKS_REFUSED] = {"Forks refused by the limit of processes", trk__human_count},
	[TRK_TOTAL_PEAK_PROCESSES] = {"Most processes at once", trk__human_count},
	[TRK_TOTAL_DISK_READ_BYTES] = {"Disk read", trk__human_bytes},
	[TRK_TOTAL_DISK_WRITE_BYTES] = {"Disk written", trk__human_bytes},
	[TRK_TOTAL_MAJOR_FAULTS] = {"Page faults from disk", trk__human_count},
	[TRK_TOTAL_CONTEXT_SWITCHES] = {"Context switches", trk__human_count},
	[TRK_TOTAL_GPU_ENERGY_J] = {"Energy of GPUs", trk__human_energy},
};

static void add_network(struct trk_doc *d, struct trk_doc_table *t, const char *name, int column,
			const struct trk_record *record)
{
	struct trk_quantity q;
	struct trk_column_stats stats;

	trk__quantities_clear(&q, 1);
	stats = trk__stats_get(record->stats, column);
	if (!isnan(stats.sum))
		trk__quantity_set(&q, stats.sum, TRK_QUALITY_AT_MOST, "network devices",
				  "of the whole machine: other processes may contribute");
	add_quantity(d, t, name, &q, trk__human_bytes);
}

/* Totals that few runs have are shown only if they are known. */
static bool is_worth_a_row(const struct trk_record *record, int total)
{
	switch (total) {
	case TRK_TOTAL_GPU_ENERGY_J:
		return record->gpus.count > 0;
	case TRK_TOTAL_PEAK_MEMORY_AT_LEAST_MIB:
	case TRK_TOTAL_PEAK_MEMORY_AT_MOST_MIB:
	case TRK_TOTAL_PEAK_GROUP_MEMORY_MIB:
	case TRK_TOTAL_PEAK_SHARED_FILES_MIB:
	case TRK_TOTAL_PEAK_COMMIT_MIB:
		return !isnan(record->outcome.total[total].value);
	case TRK_TOTAL_PEAK_SWAP_MIB:
	case TRK_TOTAL_PEAK_HUGE_PAGES_MIB:
	case TRK_TOTAL_PEAK_FILE_PAGES_MIB:
	case TRK_TOTAL_FORKS_REFUSED:
		return record->outcome.total[total].value > 0;
	case TRK_TOTAL_PEAK_NEEDED_MIB:
		return record->outcome.total[TRK_TOTAL_PEAK_SWAP_MIB].value > 0 ||
		       record->outcome.total[TRK_TOTAL_PEAK_HUGE_PAGES_MIB].value > 0;
	default:
		return true;
	}
}

static void add_totals(struct trk_doc *d, const struct trk_record *record,
		       struct trk_doc_section *s)
{
	struct trk_doc_table *t = trk__doc_table(d, s, "totals", NULL, total_columns, 5);

	for (int i = 0; i < TRK_TOTALS; i++)
		if (totals[i].name && is_worth_a_row(record, i))
			add_quantity(d, t, totals[i].name, &record->outcome.total[i],
				     totals[i].words);
	add_network(d, t, "Network in", TRK_SYSTEM_NET_RECV, record);
	add_network(d, t, "Network out", TRK_SYSTEM_NET_SENT, record);
	add_quantity(d, t, "CPU requested, cores", &record->run.request[TRK_REQUEST_CPU],
		     trk__human_amount);
	add_quantity(d, t, "CPU limit, cores", &record->run.limit[TRK_LIMIT_CPU],
		     trk__human_amount);
	add_quantity(d, t, "Memory requested", &record->run.request[TRK_REQUEST_MEMORY_MIB],
		     trk__human_memory);
	add_quantity(d, t, "Memory limit", &record->run.limit[TRK_LIMIT_MEMORY_MIB],
		     trk__human_memory);
	t->title = "Totals and limits, each with its source";
	t->folded = true;
}

static void add_sources(struct trk_doc *d, const struct trk_record *record,
			struct trk_doc_section *s)
{
	const struct trk_outcome *o = &record->outcome;
	struct trk_doc_table *t;

	if (!o->source_count)
		return;
	t = trk__doc_table(d, s, "sources", "Where the samples come from", source_columns, 2);
	for (size_t i = 0; i < o->source_count; i++) {
		struct trk_doc_cell *row = trk__doc_row(d, t);

		row[0] = trk__doc_tone(trk__doc_cell(trk__doc_safe(d, o->sources[i][0], 60), NAN),
				       TRK_TONE_STRONG);
		row[1].text = trk__doc_safe(d, o->sources[i][1], 160);
	}
}

static void add_tags(struct trk_doc *d, const struct trk_run *run, struct trk_doc_section *s)
{
	static const struct trk_doc_column columns[] = {{"tag", "Tag", TRK_CELL_TEXT}};
	const char *at = run->tags, *end = run->tags + run->tags_len;
	struct trk_doc_table *t;

	if (at >= end)
		return;
	t = trk__doc_table(d, s, "tags", "Stored with the run", columns, 1);
	while (at < end) {
		size_t len = strnlen(at, (size_t) (end - at));
		struct trk_doc_cell *row = trk__doc_row(d, t);

		row[0].text = trk__doc_safe_n(d, at, len, 200);
		at += len + 1;
	}
}

/* "1.0 s", and that a command is sampled more often in its first seconds. */
static const char *interval_words(struct trk_doc *d, const struct trk_run *run)
{
	const char *interval =
		trk__doc_value(d, trk__human_seconds, (double) run->interval_ns / 1e9);

	if (strcmp(run->kind, "run") != 0 || run->interval_ns <= TRK_FAST_INTERVAL_NS)
		return interval;
	return trk__doc_print(d, "%s (every %llu ms in the first %llu s)", interval,
			      (unsigned long long) (TRK_FAST_INTERVAL_NS / TRK_NS_PER_MS),
			      (unsigned long long) (TRK_FAST_PHASE_NS / TRK_NS_PER_S));
}

static void say_samples(struct trk_doc *d, const struct trk_report_work *w,
			struct trk_doc_section *s)
{
	const struct trk_record *record = w->in->record;
	const struct trk_outcome *o = &record->outcome;
	struct trk_report_gaps gaps = {0, 0, 0};

	if (w->in->rows)
		gaps = w->in->rows->gaps;
	trk__doc_text(d, s,
		      TRK_DOC_STRONG "%llu" TRK_DOC_PLAIN
				     " sample%s taken of %llu expected, one every "
				     "%s; %llu late, %zu gap%s.",
		      (unsigned long long) record->samples, record->samples == 1 ? "" : "s",
		      (unsigned long long) record->samples + (unsigned long long) o->missed,
		      interval_words(d, &record->run), (unsigned long long) o->late, gaps.gaps,
		      gaps.gaps == 1 ? "" : "s");
}

static void say_tracker(struct trk_doc *d, const struct trk_report_work *w,
			struct trk_doc_section *s)
{
	const struct trk_record *record = w->in->record;
	const struct trk_outcome *o = &record->outcome;
	double cpu_s = (double) o->tracker_cpu_ns / 1e9;
	double duration_s = (double) o->duration_ns / 1e9;

	if (!o->tracker_cpu_ns) {
		trk__doc_text(d, s, "What the tracker itself used is not known.");
		return;
	}
	trk__doc_text(d, s,
		      "The tracker itself used %s of CPU time (%.3f %% of a core) and %s of "
		      "memory.",
		      trk__doc_value(d, trk__human_seconds, cpu_s),
		      duration_s > 0 ? cpu_s / duration_s * 100 : 0,
		      o->tracker_rss_bytes ? trk__doc_value(d, trk__human_memory,
							    (double) o->tracker_rss_bytes / TRK_MIB)
					   : "an unknown amount");
}

void trk__section_measured(struct trk_doc *d, struct trk_doc_section *s,
			   const struct trk_report_work *w)
{
	const struct trk_record *record = w->in->record;
	const struct trk_advice *a = &w->advice;

	say_samples(d, w, s);
	say_tracker(d, w, s);
	if (w->has_advice && a->has_memory)
		trk__doc_text(d, s, "Confidence of the memory request: %s, from %zu run%s.",
			      trk__confidence_name(a->memory.confidence), a->memory.runs_used,
			      a->memory.runs_used == 1 ? "" : "s");
	if (record->outcome.left_behind && record->outcome.end != TRK_END_RUNNING)
		trk__doc_text(d, s, "%zu process%s of the job still ran when the run ended.",
			      record->outcome.left_behind,
			      record->outcome.left_behind == 1 ? "" : "es");
	trk__doc_text(d, s, "Recorded by resource-tracker %s.",
		      trk__doc_safe(d, record->run.version, 32));
	add_totals(d, record, s);
	add_sources(d, record, s);
	add_tags(d, &record->run, s);
}
