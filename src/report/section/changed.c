/* What changed since the earlier runs of the job. */
#include "advise/anomaly.h"
#include "report/section/section.h"

enum { LISTED = 10 };

static const struct trk_doc_column change_columns[] = {
	{"metric", "Metric", TRK_CELL_TEXT},       {"now", "This run", TRK_CELL_NUMBER},
	{"previous", "Previous", TRK_CELL_NUMBER}, {"median", "Median", TRK_CELL_NUMBER},
	{"change", "Change", TRK_CELL_NUMBER},     {"reading", "Reading", TRK_CELL_TEXT},
};

static const struct trk_doc_column run_columns[] = {
	{"id", "Run", TRK_CELL_CODE},           {"start", "Started", TRK_CELL_TEXT},
	{"end", "End", TRK_CELL_TEXT},          {"duration_s", "Duration", TRK_CELL_NUMBER},
	{"cpu_s", "CPU time", TRK_CELL_NUMBER}, {"peak_memory_mib", "Peak memory", TRK_CELL_NUMBER},
};

static const char *reading_of(struct trk_doc *d, const struct trk_changed_figure *f)
{
	const char *usual = isnan(f->noise_share) ? ""
						  : trk__doc_print(d, " (usual \u00b1%.1f %%)",
								   f->noise_share * 100);

	switch (f->kind) {
	case TRK_ANOMALY_HIGH:
		return trk__doc_print(d, "higher than usual%s", usual);
	case TRK_ANOMALY_LOW:
		return trk__doc_print(d, "lower than usual%s", usual);
	case TRK_ANOMALY_NO:
		return trk__doc_print(d, "within noise%s", usual);
	default:
		return trk__doc_print(d, "too few runs to tell (%d needed)", TRK_ANOMALY_RUNS_MIN);
	}
}

static void add_change(struct trk_doc *d, struct trk_doc_table *t,
		       const struct trk_change_name *name, const struct trk_changed_figure *f,
		       double previous)
{
	struct trk_doc_cell *row = trk__doc_row(d, t);
	const char *title = name == &trk__change_names[TRK_CHANGE_DURATION]
				    ? "Duration"
				    : trk__doc_upper(d, name->title);

	row[0] = trk__doc_tone(trk__doc_cell(title, NAN), TRK_TONE_STRONG);
	row[1] = trk__doc_figure(d, name->words, f->now);
	row[2] = trk__doc_figure(d, name->words, previous);
	row[3] = trk__doc_figure(d, name->words, f->before);
	row[4] = trk__doc_figure(d, trk__human_change, f->share);
	if (f->kind == TRK_ANOMALY_HIGH)
		row[4].tone = TRK_TONE_BAD;
	row[5].text = reading_of(d, f);
}

/* The newest run beside the earlier ones, and beside the one before it. */
static void add_changes(struct trk_doc *d, const struct trk_past_run *runs, size_t count,
			struct trk_doc_table *t)
{
	struct trk_change usual, previous;

	trk__change_from_history(&runs[count - 1], runs, count - 1, &usual);
	trk__change_from_run(&runs[count - 1], &runs[count - 2], &previous);
	for (int i = 0; i < TRK_CHANGE_FIGURES; i++)
		add_change(d, t, &trk__change_names[i], &usual.figure[i],
			   previous.figure[i].before);
}

static void list_runs(struct trk_doc *d, const struct trk_report_work *w, struct trk_doc_section *s)
{
	const struct trk_report_input *in = w->in;
	struct trk_doc_table *t =
		trk__doc_table(d, s, "runs", "The newest runs of this job", run_columns, 6);

	for (size_t i = in->count; i-- > 0 && i + LISTED >= in->count;) {
		const struct trk_past_run *run = &in->runs[i];
		struct trk_doc_cell *row = trk__doc_row(d, t);
		char end[TRK_END_WORDS_SIZE];

		row[0].text = trk__doc_safe(d, run->id, TRK_RUN_ID_SIZE);
		row[1] = trk__doc_figure(d, trk__human_moment, run->start_s);
		row[2].text = trk__doc_safe(d, trk__past_run_end_words(run, end), sizeof(end));
		row[3] = trk__doc_figure(d, trk__human_seconds, run->duration_s);
		row[4] = trk__doc_figure(d, trk__human_seconds, run->cpu_s);
		row[5] = trk__doc_figure(d, trk__human_memory, run->memory.bytes / TRK_MIB);
	}
}

static void tell_phase(struct trk_doc *d, struct trk_doc_section *s, const char *what,
		       const struct trk_change_phase *p, trk_human_fn *words)
{
	const char *name = p->name[0] ? trk__doc_safe(d, p->name, TRK_MARK_NAME_SIZE)
				      : trk__doc_print(d, "phase %zu", p->number);

	if (p->runs)
		trk__doc_text(d, s, "%s changed in %s: %s before, %s now.", what, name,
			      trk__doc_value(d, words, p->before),
			      trk__doc_value(d, words, p->now));
}

void trk__section_changed(struct trk_doc *d, struct trk_doc_section *s,
			  const struct trk_report_work *w)
{
	if (w->in->count < 2) {
		trk__doc_empty(d, s,
			       "This is the first known run of the job, so there is nothing to "
			       "compare it with.");
		return;
	}
	if (w->in->change) {
		tell_phase(d, s, "Duration", &w->in->change->time_phase, trk__human_seconds);
		tell_phase(d, s, "Peak memory", &w->in->change->memory_phase, trk__human_memory);
	}
	add_changes(d, w->in->runs, w->in->count,
		    trk__doc_table(d, s, "figures", NULL, change_columns, 6));
	list_runs(d, w, s);
	trk__doc_note(d, s,
		      "Median and usual spread (median absolute deviation) "
		      "of the earlier runs that ended well, %d at most.",
		      TRK_CHANGE_EARLIER_MAX);
}
