/* What changed since the earlier runs of the job. */
#include <string.h>

#include "advise/anomaly.h"
#include "report/section/section.h"

enum { EARLIER_MAX = 50, LISTED = 10 };

static const struct trk_doc_column change_columns[] = {
	{"metric", "Metric", TRK_CELL_TEXT, NULL},
	{"now", "This run", TRK_CELL_NUMBER, NULL},
	{"previous", "Previous", TRK_CELL_NUMBER, NULL},
	{"median", "Median", TRK_CELL_NUMBER, NULL},
	{"change", "Change", TRK_CELL_NUMBER, "share"},
	{"reading", "Reading", TRK_CELL_TEXT, NULL},
};

static const struct trk_doc_column run_columns[] = {
	{"id", "Run", TRK_CELL_CODE, NULL},
	{"start", "Started", TRK_CELL_TEXT, NULL},
	{"end", "End", TRK_CELL_TEXT, NULL},
	{"duration_s", "Duration", TRK_CELL_NUMBER, "s"},
	{"cpu_s", "CPU time", TRK_CELL_NUMBER, "s"},
	{"peak_memory_mib", "Peak memory", TRK_CELL_NUMBER, "MiB"},
};

static const struct figure {
	const char *title;
	size_t offset;
	double floor_share;
	trk_human_fn *words;
} figures[] = {
	{"Duration", offsetof(struct trk_history_run, duration_s), TRK_ANOMALY_FLOOR_TIME,
	 trk__human_seconds},
	{"CPU time", offsetof(struct trk_history_run, cpu_s), TRK_ANOMALY_FLOOR_TIME,
	 trk__human_seconds},
	{"Cores busy", offsetof(struct trk_history_run, cpu_mean), TRK_ANOMALY_FLOOR_TIME,
	 trk__human_number},
	{"Peak memory", offsetof(struct trk_history_run, peak_memory_mib), TRK_ANOMALY_FLOOR_MEMORY,
	 trk__human_memory},
	{"Disk read", offsetof(struct trk_history_run, disk_read_bytes), TRK_ANOMALY_FLOOR_TIME,
	 trk__human_bytes},
	{"Disk written", offsetof(struct trk_history_run, disk_write_bytes), TRK_ANOMALY_FLOOR_TIME,
	 trk__human_bytes},
};

static double value_of(const struct trk_history_run *run, const struct figure *figure)
{
	double value;

	memcpy(&value, (const char *) run + figure->offset, sizeof(value));
	return value;
}

static const char *reading_of(struct trk_doc *d, const struct trk_anomaly *odd)
{
	const char *usual = isnan(odd->noise_share) ? ""
						    : trk__doc_print(d, " (usual \u00b1%.1f %%)",
								     odd->noise_share * 100);

	switch (odd->verdict) {
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

static void add_change(struct trk_doc *d, const struct trk_report_work *w,
		       const struct figure *figure, struct trk_doc_table *t)
{
	const struct trk_report_input *in = w->in;
	double earlier[EARLIER_MAX], now = value_of(&in->runs[in->count - 1], figure);
	struct trk_anomaly odd = {TRK_ANOMALY_TOO_FEW, NAN, NAN, NAN, NAN, 0};
	struct trk_doc_cell *row = trk__doc_row(d, t);
	size_t n = 0, first = in->count - 1 > EARLIER_MAX ? in->count - 1 - EARLIER_MAX : 0;
	double change;

	if (!row)
		return;
	for (size_t i = first; i + 1 < in->count; i++)
		if (in->runs[i].code <= 0)
			earlier[n++] = value_of(&in->runs[i], figure);
	(void) trk__anomaly_judge(earlier, n, now, figure->floor_share, &odd);
	change = odd.median > 0 ? now / odd.median - 1 : (double) NAN;
	row[0] = trk__doc_tone(trk__doc_cell(figure->title, NAN), TRK_TONE_STRONG);
	row[1] = trk__doc_figure(d, figure->words, now);
	row[2] = trk__doc_figure(d, figure->words, value_of(&in->runs[in->count - 2], figure));
	row[3] = trk__doc_figure(d, figure->words, odd.median);
	row[4] = trk__doc_figure(d, trk__human_change, change);
	if (odd.verdict == TRK_ANOMALY_HIGH)
		row[4].tone = TRK_TONE_BAD;
	row[5].text = reading_of(d, &odd);
}

static void list_runs(struct trk_doc *d, const struct trk_report_work *w, struct trk_doc_section *s)
{
	const struct trk_report_input *in = w->in;
	struct trk_doc_table *t =
		trk__doc_table(d, s, "runs", "The newest runs of this job", run_columns, 6);

	for (size_t i = in->count; i-- > 0 && i + LISTED >= in->count;) {
		const struct trk_history_run *run = &in->runs[i];
		struct trk_doc_cell *row = trk__doc_row(d, t);
		char end[TRK_END_WORDS_SIZE];

		if (!row)
			return;
		row[0].text = trk__doc_safe(d, run->id, TRK_RUN_ID_SIZE);
		row[1] = trk__doc_figure(d, trk__human_moment, run->start_s);
		row[2].text = trk__doc_safe(d, trk__history_run_end_words(run, end), sizeof(end));
		row[3] = trk__doc_figure(d, trk__human_seconds, run->duration_s);
		row[4] = trk__doc_figure(d, trk__human_seconds, run->cpu_s);
		row[5] = trk__doc_figure(d, trk__human_memory, run->peak_memory_mib);
	}
}

static void tell_phase(struct trk_doc *d, struct trk_doc_section *s, const char *what,
		       const struct trk_change_phase *p, trk_human_fn *words)
{
	const char *name = p->name[0] ? trk__doc_safe(d, p->name, TRK_MARK_NAME_SIZE)
				      : trk__doc_print(d, "phase %zu", p->number);

	if (p->runs)
		trk__doc_text(d, s,
			      trk__doc_print(d, "%s changed in %s: %s before, %s now.", what, name,
					     trk__doc_value(d, words, p->before),
					     trk__doc_value(d, words, p->now)));
}

void trk__section_changed(struct trk_doc *d, struct trk_doc_section *s,
			  const struct trk_report_work *w)
{
	struct trk_doc_table *t;

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
	t = trk__doc_table(d, s, "figures", NULL, change_columns, 6);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		add_change(d, w, &figures[i], t);
	list_runs(d, w, s);
	trk__doc_note(d, s,
		      trk__doc_print(d,
				     "Median and usual spread (median absolute deviation) "
				     "of the earlier runs that ended well, %d at most.",
				     EARLIER_MAX));
}
