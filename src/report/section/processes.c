/* Programs and processes: their lanes on the axis of time, the programs as a table, and the
 * processes with the most CPU time or memory. */
#include "report/section/lanes.h"

#define LOOK_MOST_S 1.0 /* maximum interval between samples of the processes */

static const struct trk_doc_column process_columns[] = {
	{"process", "Process", TRK_CELL_CODE},
	{"pid", "PID", TRK_CELL_NUMBER},
	{"cpu_s", "CPU time", TRK_CELL_NUMBER},
	{"cpu_share", "Share of CPU", TRK_CELL_BAR},
	{"peak_memory_mib", "Peak memory", TRK_CELL_NUMBER},
	{"disk_read_bytes", "Disk read", TRK_CELL_NUMBER},
	{"disk_write_bytes", "Disk written", TRK_CELL_NUMBER},
};

static void add_process(struct trk_doc *d, const struct trk_process_info *p, double cpu_s,
			struct trk_doc_table *t)
{
	struct trk_doc_cell *row = trk__doc_row(d, t);
	double own_s = (double) p->cpu_ns / 1e9;
	double share = cpu_s > 0 ? own_s / cpu_s : (double) NAN;

	row[0].text = trk__doc_safe(d, p->command[0] ? p->command : p->name, 100);
	row[1] = trk__doc_cell(trk__doc_print(d, "%d", (int) p->pid), p->pid);
	row[2] = trk__doc_figure(d, trk__human_seconds, own_s);
	row[3] = trk__doc_figure(d, trk__human_percent, share);
	row[3].second = share;
	if (p->peak_bytes)
		row[4] = trk__doc_figure(d, trk__human_memory, (double) p->peak_bytes / TRK_MIB);
	row[5] = trk__doc_figure(d, trk__human_bytes, (double) p->read_bytes);
	row[6] = trk__doc_figure(d, trk__human_bytes, (double) p->write_bytes);
}

/* ---- programs ---- */

static const struct trk_doc_column program_columns[] = {
	{"program", "Program", TRK_CELL_TEXT},
	{"count", "Count", TRK_CELL_NUMBER},
	{"cpu_s", "CPU, total", TRK_CELL_NUMBER},
	{"cpu_share", "Share", TRK_CELL_BAR},
	{"largest_cpu_s", "Largest one", TRK_CELL_NUMBER},
	{"peak_memory_mib", "Peak memory", TRK_CELL_NUMBER},
	{"median_life_s", "Median life", TRK_CELL_NUMBER},
	{"command", "Largest ones, by their arguments", TRK_CELL_CODE},
};
enum { PROGRAM, COUNT, CPU, SHARE, LARGEST, MEMORY, LIFE, COMMAND, PROGRAM_COLUMNS };

static void add_program(struct trk_doc *d, const struct trk_program_log *log,
			const struct trk_program_story *story, double look_s,
			struct trk_doc_table *t)
{
	const struct trk_program *p = &log->program[story->index];
	struct trk_doc_cell *row = trk__doc_row(d, t);
	uint64_t count = p->kind == TRK_PROGRAM_UNSEEN ? 0 : trk__program_processes(p);
	char label[96];

	row[PROGRAM].text = trk__doc_safe(d, trk__program_label(p, label, sizeof(label)), 60);
	if (count)
		row[COUNT] = trk__doc_figure(d, trk__human_count, (double) count);
	row[CPU] = trk__doc_tone(trk__doc_figure(d, trk__human_seconds, (double) p->cpu_ns / 1e9),
				 TRK_TONE_STRONG);
	row[SHARE] = trk__doc_figure(d, trk__human_percent, story->share);
	row[SHARE].second = story->share;
	if (p->largest_bytes)
		row[MEMORY] =
			trk__doc_figure(d, trk__human_memory, (double) p->largest_bytes / TRK_MIB);
	if (!story->spans)
		return;
	row[LARGEST] = trk__doc_figure(d, trk__human_seconds,
				       (double) log->span[story->span[0]].cpu_ms / 1e3);
	row[LIFE] = trk__doc_figure(d, trk__human_seconds, story->median_s);
	/* An end is noticed at the next sample. */
	if (story->median_s < 2 * look_s)
		row[LIFE].text = trk__doc_print(d, "\u2264 %s", row[LIFE].text);
	row[COMMAND].text = trk__lanes_command(d, log, story, story->span[0], 80);
}

static bool is_told(const struct trk_program_story *story, size_t count, size_t program)
{
	for (size_t i = 0; i < count; i++)
		if (story[i].index == program)
			return true;
	return false;
}

/* Names of programs that are left out, at most six. */
static void say_left(struct trk_doc *d, struct trk_doc_section *s,
		     const struct trk_program_log *log, const struct trk_program_story *story,
		     size_t count, size_t left)
{
	const char *list = "";
	size_t named = 0;
	char label[96];

	for (size_t i = 1; i < log->count && named < 6; i++) {
		const struct trk_program *p = &log->program[i];
		uint64_t processes = trk__program_processes(p);

		if (is_told(story, count, i) || (!p->cpu_ns && !processes))
			continue;
		list = trk__doc_print(
			d, "%s%s%s", list, named++ ? ", " : "",
			trk__doc_safe(d, trk__program_label(p, label, sizeof(label)), 40));
		if (processes)
			list = trk__doc_print(d, "%s \u00d7 %llu", list,
					      (unsigned long long) processes);
	}
	if (left)
		trk__doc_note(d, s,
			      "%zu program%s below 1 %% of CPU time and of memory "
			      "left out: %s%s.",
			      left, left == 1 ? "" : "s", list, left > named ? " and others" : "");
}

/* Processes without a bar, and why. */
static void say_unlisted(struct trk_doc *d, struct trk_doc_section *s,
			 const struct trk_program_log *log, bool has_unseen)
{
	unsigned long long unseen = log->unseen;

	for (size_t i = 1; i < log->count; i++)
		if (log->program[i].kind == TRK_PROGRAM_UNSEEN)
			unseen += trk__program_processes(&log->program[i]);
	if (log->unlisted)
		trk__doc_note(d, s,
			      "%llu short processes are counted and not listed, so that "
			      "the recording stays small.",
			      (unsigned long long) log->unlisted);
	if (has_unseen && unseen)
		trk__doc_note(d, s,
			      "\"Short processes of\" a program started and ended between "
			      "two samples: only their CPU time is known. On the whole machine "
			      "%llu processes or threads did so.",
			      unseen);
}

/* Whether the table has a row for processes that no sample found. */
static bool is_unseen_told(const struct trk_program_log *log, const struct trk_program_story *story,
			   size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (log->program[story[i].index].kind == TRK_PROGRAM_UNSEEN)
			return true;
	return false;
}

static void explain(struct trk_doc *d, struct trk_doc_section *s, double look_s)
{
	bool is_divided = false, has_brief = false;

	for (size_t i = 0; i < d->lanes; i++) {
		is_divided |= d->lane[i].is_divided;
		has_brief |= d->lane[i].briefs > 0;
	}
	trk__doc_note(d, s,
		      "A bar is a process from start to end. Its full height is the figure at the "
		      "left, its fill is CPU time%s.%s An end is seen up to %s late. Memory is the "
		      "peak of the largest process, shared pages counted in full.",
		      is_divided ? ", estimated where several processes of a program ran (divided "
				   "in proportion to their means)"
				 : "",
		      has_brief ? " Where there are too many processes for bars, the height is the "
				  "number that ran at once; zoom in for bars of the largest ones."
				: "",
		      trk__doc_value(d, trk__human_seconds, look_s));
}

/* Seconds between two samples of the processes. */
static double look_of(const struct trk_report_work *w)
{
	double interval_s = (double) w->in->record->run.interval_ns / 1e9;

	return interval_s > 0 && interval_s < LOOK_MOST_S ? interval_s : LOOK_MOST_S;
}

static void tell_programs(struct trk_doc *d, struct trk_doc_section *s,
			  const struct trk_report_work *w)
{
	const struct trk_program_log *log = &w->in->record->programs;
	struct trk_program_story story[TRK_LANES_MAX];
	size_t left, count = trk__lanes_choose(d, w->in->record, story, &left);
	double look_s = look_of(w);
	struct trk_doc_table *t;

	trk__lanes_make(d, w->in->record, story, count);
	trk__doc_drawing(d, s, TRK_BLOCK_LANES);
	if (count) {
		t = trk__doc_table(d, s, "programs", NULL, program_columns, PROGRAM_COLUMNS);
		t->sortable = true;
		for (size_t i = 0; i < count; i++)
			add_program(d, log, &story[i], look_s, t);
	}
	say_left(d, s, log, story, count, left);
	say_unlisted(d, s, log, is_unseen_told(log, story, count));
	if (count)
		explain(d, s, look_s);
}

/* ---- single processes ---- */

/* Below 1 % of the CPU time and of the largest peak a process is not listed. */
static bool is_small(const struct trk_process_info *p, const struct trk_report_work *w)
{
	double cpu_s = w->in->record->outcome.total[TRK_TOTAL_CPU_S].value;

	return !((double) p->cpu_ns / 1e9 >= cpu_s / 100) &&
	       (double) p->peak_bytes / TRK_MIB < w->memory_peak / 100;
}

static void list_processes(struct trk_doc *d, struct trk_doc_table *t,
			   const struct trk_report_work *w)
{
	const struct trk_outcome *o = &w->in->record->outcome;
	bool taken[TRK_TOP_MAX] = {false};

	for (size_t n = 0; n < o->top_count; n++) {
		size_t best = o->top_count;

		for (size_t i = 0; i < o->top_count; i++)
			if (!taken[i] &&
			    (best == o->top_count || o->top[i].cpu_ns > o->top[best].cpu_ns))
				best = i;
		taken[best] = true;
		if (n == 0 || !is_small(&o->top[best], w))
			add_process(d, &o->top[best], o->total[TRK_TOTAL_CPU_S].value, t);
	}
}

void trk__section_processes(struct trk_doc *d, struct trk_doc_section *s,
			    const struct trk_report_work *w)
{
	const struct trk_outcome *o = &w->in->record->outcome;
	bool has_programs = w->in->record->programs.program != NULL;
	struct trk_doc_table *t;

	if (!o->top_count && !has_programs) {
		trk__doc_empty(d, s, "No process is listed in this recording.");
		return;
	}
	if (has_programs)
		tell_programs(d, s, w);
	if (!o->top_count)
		return;
	t = trk__doc_table(d, s, "processes", has_programs ? "The largest processes" : NULL,
			   process_columns, 7);
	t->folded = has_programs;
	list_processes(d, t, w);
	trk__doc_note(d, s,
		      "The CPU time of a process is that of its own threads, without its children. "
		      "Its peak counts shared pages in full.");
}
