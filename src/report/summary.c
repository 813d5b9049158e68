/* The summary as a document: the head shows how the run ended, the verdict what to request, and
 * each row is a term. */
#include "report/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/maths.h"
#include "answer/time_breakdown.h"
#include "report/gpu_summary.h"
#include "report/shared_terms.h"
#include "report/write/terminal.h"

#define DOT " \u00b7 "

enum {
	SAMPLES_MIN = 3, /* minimum for showing means */
	JOB_MAX = 120,
	COMMAND_MAX = 60,
};

struct summary {
	const struct trk_record *record;
	const struct trk_summary_style *style;
	bool full; /* with rows about use, not only the totals */
};

/* ---- how it ended ---- */

static void tell_end(struct trk_doc *d, const struct trk_record *r)
{
	const struct trk_outcome *o = &r->outcome;

	trk__tell_state(d, r, "\u25b6");
	d->job = trk__doc_safe(d, r->run.job[0] ? r->run.job : r->run.kind, JOB_MAX);
	d->id = trk__doc_safe(d, r->run.id, TRK_RUN_ID_SIZE);
	d->duration = trk__doc_print(
		d, "%s%s", trk__doc_value(d, trk__human_seconds, (double) o->duration_ns / 1e9),
		o->end == TRK_END_RUNNING ? " so far" : "");
}

/* ---- what went wrong ---- */

/* Append a line to d->trouble. */
static void add_trouble(struct trk_doc *d, const char *text)
{
	d->trouble = d->trouble ? trk__doc_print(d, "%s\n%s", d->trouble, text) : text;
}

static const char *evidence(struct trk_doc *d, const struct trk_outcome *o)
{
	return trk__doc_safe(d, o->evidence, sizeof(o->evidence));
}

static void tell_memory_kill(struct trk_doc *d, const struct trk_record *r)
{
	const struct trk_outcome *o = &r->outcome;
	const struct trk_process_info *biggest = trk__outcome_biggest(o);
	double limit = r->run.limit[TRK_LIMIT_MEMORY_MIB].value;

	add_trouble(d,
		    trk__doc_print(
			    d, "%skilled by the kernel: out of memory (limit %s, peak %s)%s%s",
			    o->is_inferred ? "likely " : "",
			    isnan(limit) ? "unknown" : trk__doc_value(d, trk__human_memory, limit),
			    trk__doc_value(d, trk__human_memory, trk__outcome_peak_mib(o)),
			    o->is_inferred && o->evidence[0] ? ": " : "",
			    o->is_inferred ? evidence(d, o) : ""));
	if (biggest)
		add_trouble(d,
			    trk__doc_print(d, "largest process: %s (pid %d), %s",
					   trk__doc_safe(d,
							 biggest->command[0] ? biggest->command
									     : biggest->name,
							 COMMAND_MAX),
					   (int) biggest->pid,
					   trk__doc_value(d, trk__human_memory,
							  (double) biggest->peak_bytes / TRK_MIB)));
}

static void tell_forks(struct trk_doc *d, const struct trk_record *r)
{
	double limit = r->run.limit[TRK_LIMIT_PIDS].value;
	double forks = r->outcome.total[TRK_TOTAL_FORKS_REFUSED].value;

	if (!(forks > 0))
		return;
	add_trouble(d,
		    trk__doc_print(d, "%.0f fork%s refused by the limit of processes%s", forks,
				   forks == 1 ? "" : "s",
				   limit > 0 ? trk__doc_print(d, " (pids.max %.0f)", limit) : ""));
}

static void tell_stuck(struct trk_doc *d, const struct trk_outcome *o)
{
	char text[TRK_STUCK_TEXT_SIZE];

	for (size_t i = 0; i < o->stuck_count && i < TRK_STUCK_MAX; i++) {
		trk__stuck_text(&o->stuck[i], text);
		add_trouble(d, trk__doc_safe(d, text, sizeof(text)));
	}
	if (o->stuck_count > TRK_STUCK_MAX)
		add_trouble(d, trk__doc_print(d, "%zu more processes were stuck in the kernel",
					      o->stuck_count - TRK_STUCK_MAX));
}

static bool is_cut_short(enum trk_end end)
{
	return end == TRK_END_TIMEOUT || end == TRK_END_MEMORY_LIMIT || end == TRK_END_SIGNALLED ||
	       end == TRK_END_VANISHED;
}

static void tell_troubles(struct trk_doc *d, const struct trk_record *r)
{
	const struct trk_outcome *o = &r->outcome;

	if (o->end == TRK_END_OUT_OF_MEMORY)
		tell_memory_kill(d, r);
	else if (is_cut_short(o->end) && o->evidence[0])
		add_trouble(d, evidence(d, o));
	if (o->memory_kills)
		add_trouble(d, trk__memory_kill_words(d, o));
	tell_forks(d, r);
	if (o->end == TRK_END_TRACKER_DIED)
		add_trouble(d, trk__doc_print(d, "did not end cleanly; last sample at %s%s%s",
					      trk__doc_value(d, trk__human_seconds,
							     (double) r->last_elapsed_us / 1e6),
					      o->evidence[0] ? ": " : "", evidence(d, o)));
	if (o->suspended_ns)
		add_trouble(
			d, trk__doc_print(
				   d, "the machine was suspended for %s, which is not counted here",
				   trk__doc_value(d, trk__human_seconds,
						  (double) o->suspended_ns / 1e9)));
	if (r->damaged)
		add_trouble(d, trk__doc_print(d, "%llu damaged record%s skipped",
					      (unsigned long long) r->damaged,
					      r->damaged == 1 ? "" : "s"));
	tell_stuck(d, o);
	/* During a run, and after the end of the tracking alone, left_behind counts its live
	 * processes. */
	if (o->left_behind && o->end != TRK_END_RUNNING &&
	    (o->end != TRK_END_STOPPED || strcmp(r->run.kind, "attach") != 0))
		add_trouble(d, trk__doc_print(d, "left behind: %llu process%s still running",
					      (unsigned long long) o->left_behind,
					      o->left_behind == 1 ? "" : "es"));
}

/* ---- the verdict ---- */

static void tell_advice(struct trk_doc *d, const struct trk_record *r, const struct trk_advice *a)
{
	static const enum trk_tone tones[] = {
		[TRK_SIZING_RIGHT] = TRK_TONE_GOOD,
		[TRK_SIZING_OVER] = TRK_TONE_WARN,
		[TRK_SIZING_UNDER] = TRK_TONE_BAD,
		[TRK_SIZING_UNSTATED] = TRK_TONE_PLAIN,
	};
	TRK_BUF_LOCAL(b, 4096);

	if (a->sizing.sizing == TRK_SIZING_NOT_ENOUGH_DATA)
		return;
	d->symbol = a->sizing.sizing == TRK_SIZING_RIGHT   ? "\u2713"
		    : a->sizing.sizing == TRK_SIZING_UNDER ? "\u25bc"
							   : "\u25b2";
	d->lead_tone = tones[a->sizing.sizing];
	if (a->sizing.sizing == TRK_SIZING_UNSTATED && trk__slept_words(d, r)) {
		d->symbol = "\u00b7";
		d->lead = trk__doc_print(d, "it slept: %s", trk__slept_words(d, r));
		return;
	}
	trk__advice_line(&b, a);
	d->lead = trk__doc_take(d, &b);
}

/* What to request next time; empty if unknown, or without a job. */
static void tell_verdict(struct trk_doc *d, const struct summary *in)
{
	const struct trk_record *r = in->record;
	const struct trk_advice *a = in->style->advice;
	struct trk_advice *own;

	if (!strcmp(r->run.kind, "system") || r->outcome.end == TRK_END_RUNNING)
		return;
	own = a ? NULL : malloc(sizeof(*own));
	if (own && trk__advice_of_run(r, own) == 0)
		a = own;
	if (a)
		tell_advice(d, r, a);
	if (d->lead && in->style->alone)
		d->basis = "from this run alone: the history was not read in time";
	free(own);
}

/* ---- what it used ---- */

static void add_meter(struct trk_doc *d, struct trk_doc_section *s, const char *name,
		      const struct trk_column_stats *stats, double peak, enum trk_human_kind kind,
		      const struct trk_capacity *had)
{
	struct trk_human_unit unit;
	struct trk_doc_meter m = {.had = NULL, .what = ""};
	const char *digits;

	if (isnan(stats->mean)) /* a peak that is known without a mean is in the totals */
		return;
	peak = peak >= stats->max ? peak : stats->max;
	unit = trk__human_unit(kind, peak);
	digits = peak / unit.factor < 9.995 ? "%.2f" : NULL;
	m.unit = unit.name;
	m.mean = digits ? trk__doc_print(d, "%.2f", stats->mean / unit.factor)
			: trk__doc_value(d, trk__human_number, stats->mean / unit.factor);
	m.peak = digits ? trk__doc_print(d, "%.2f", peak / unit.factor)
			: trk__doc_value(d, trk__human_number, peak / unit.factor);
	if (!isnan(had->value)) {
		struct trk_human_unit own = trk__human_unit(kind, had->value);
		const char *amount = trk__doc_value(
			d, kind == TRK_HUMAN_MEMORY ? trk__human_memory : trk__human_amount,
			had->value);

		/* A capacity in another unit than the row's is shown with its unit. */
		m.had = kind == TRK_HUMAN_MEMORY && own.factor == unit.factor
				? trk__doc_value(d, trk__human_amount, had->value / own.factor)
				: amount;
		m.what =
			had->kind == TRK_CAPACITY_MACHINE ? "here" : trk__capacity_words(had->kind);
		m.share = peak / had->value;
	}
	trk__doc_meter(d, s, name, &m);
}

static void add_use(struct trk_doc *d, struct trk_doc_section *s, const struct summary *in)
{
	const struct trk_record *r = in->record;
	const struct trk_capacity cores = trk__capacity(r, TRK_RESOURCE_CPU);
	const struct trk_capacity memory = trk__capacity(r, TRK_RESOURCE_MEMORY_MIB);
	bool job = r->run.pid != 0;
	struct trk_column_stats stats;

	if (!in->full)
		return;
	stats = trk__stats_get(r->stats, job ? TRK_PROCESS_CPU_USAGE : TRK_SYSTEM_CPU_USAGE);
	add_meter(d, s, "CPU", &stats, NAN, TRK_HUMAN_CORES, &cores);
	stats = trk__stats_get(r->stats, job ? TRK_PROCESS_MEMORY : TRK_SYSTEM_MEMORY_USED);
	add_meter(d, s, "Memory", &stats, r->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB].value,
		  TRK_HUMAN_MEMORY, &memory);
}

struct gpu_row {
	const char *name, *what;
	int column[2]; /* of all users, and of the job */
	enum trk_gpu_metric metric[2];
	enum trk_human_kind kind;
	trk_human_fn *amount;
	struct trk_capacity had;
};

/* A sum without one of the GPUs is a lower bound, and marked as such. */
static void note_missing(struct trk_doc *d, struct trk_doc_section *s,
			 const struct trk_gpu_log *log, enum trk_gpu_metric metric,
			 const char *what)
{
	for (size_t i = 0; i < log->count; i++) {
		const struct trk_gpu_device *device = &log->total[i].device;

		if (trk__gpu_is_missing(device, metric))
			trk__doc_item(
				d, trk__doc_term(d, s, "", DOT), "without the %s of %s: %s", what,
				device->name[0] ? trk__doc_safe(d, device->name, 60) : "a GPU",
				trk__gpu_why_text(device->metric[metric].why));
	}
}

/* A device that lacks this figure; NULL: none. */
static const struct trk_gpu_device *lacking(const struct trk_gpu_log *log,
					    enum trk_gpu_metric metric)
{
	for (size_t i = 0; i < log->count; i++)
		if (trk__gpu_is_missing(&log->total[i].device, metric))
			return &log->total[i].device;
	return NULL;
}

/* A figure of the GPUs: of the job if its part is known, else of all users, with the reason. A part
 * that was 0 until it became unknown is not known either. */
static void add_gpu(struct trk_doc *d, struct trk_doc_section *s, const struct summary *in,
		    const struct gpu_row *row)
{
	const struct trk_record *r = in->record;
	bool job = r->run.pid != 0;
	const struct trk_gpu_device *lost = lacking(&r->gpus, row->metric[job]);
	struct trk_column_stats all = trk__stats_get(r->stats, row->column[0]);
	struct trk_column_stats own = trk__stats_get(r->stats, row->column[job]);

	if (lost && !(own.max > 0) && job && !isnan(all.mean)) {
		if (!trk__gpu_log_is_unused(&r->gpus))
			trk__doc_item(d, trk__doc_term(d, s, row->name, DOT),
				      "%s mean on %s by all users; the job's part is unknown: %s",
				      trk__doc_value(d, row->amount, all.mean),
				      r->gpus.count > 1 ? "all GPUs"
				      : lost->name[0]   ? trk__doc_safe(d, lost->name, 60)
							: "the GPU",
				      trk__gpu_why_text(lost->metric[row->metric[1]].why));
		return;
	}
	add_meter(d, s, row->name, &own, NAN, row->kind, &row->had);
	if (!isnan(own.mean))
		note_missing(d, s, &r->gpus, row->metric[job], row->what);
}

/* No row without a GPU, or without figures from the driver. */
static void add_gpus(struct trk_doc *d, struct trk_doc_section *s, const struct summary *in)
{
	const struct trk_record *r = in->record;
	const struct gpu_row use = {
		.name = "GPU",
		.what = "use",
		.column = {TRK_SYSTEM_GPU_USAGE, TRK_PROCESS_GPU_USAGE},
		.metric = {TRK_GPU_UTILIZATION_METRIC, TRK_GPU_TREE_SHARE_METRIC},
		.kind = TRK_HUMAN_GPUS,
		.amount = trk__human_number,
		.had = trk__capacity(r, TRK_RESOURCE_GPU),
	};
	const struct gpu_row memory = {
		.name = "VRAM",
		.what = "memory",
		.column = {TRK_SYSTEM_GPU_VRAM, TRK_PROCESS_GPU_VRAM},
		.metric = {TRK_GPU_MEMORY_USED_METRIC, TRK_GPU_TREE_MEMORY_METRIC},
		.kind = TRK_HUMAN_MEMORY,
		.amount = trk__human_memory,
		.had = {trk__gpus_memory_mib(&r->gpus), TRK_CAPACITY_MACHINE, ""},
	};

	if (!in->full || r->gpus.count == 0 || !r->gpus.total)
		return;
	add_gpu(d, s, in, &use);
	add_gpu(d, s, in, &memory);
}

static void add_bytes(struct trk_doc *d, struct trk_doc_term *t, double bytes, const char *what)
{
	if (!isnan(bytes))
		trk__doc_item(d, t, "%s %s", trk__doc_value(d, trk__human_bytes, bytes), what);
}

/* Network traffic is known only for the whole machine: shown if that was tracked. */
static void add_io(struct trk_doc *d, struct trk_doc_section *s, const struct summary *in)
{
	const struct trk_record *r = in->record;
	double read = r->outcome.total[TRK_TOTAL_DISK_READ_BYTES].value;
	double written = r->outcome.total[TRK_TOTAL_DISK_WRITE_BYTES].value;
	struct trk_column_stats in_stats, out_stats;
	struct trk_doc_term *t;

	if (!in->full)
		return;
	if (r->run.pid == 0) {
		in_stats = trk__stats_get(r->stats, TRK_SYSTEM_DISK_READ);
		out_stats = trk__stats_get(r->stats, TRK_SYSTEM_DISK_WRITE);
		read = in_stats.sum;
		written = out_stats.sum;
	}
	if (!isnan(read)) {
		t = trk__doc_term(d, s, "Disk", DOT);
		add_bytes(d, t, read, "read");
		add_bytes(d, t, written, "written");
	}
	in_stats = trk__stats_get(r->stats, TRK_SYSTEM_NET_RECV);
	out_stats = trk__stats_get(r->stats, TRK_SYSTEM_NET_SENT);
	if (r->run.pid == 0 && !isnan(in_stats.sum)) {
		t = trk__doc_term(d, s, "Network", DOT);
		add_bytes(d, t, in_stats.sum, "in");
		add_bytes(d, t, out_stats.sum, "out");
	}
}

static void add_course(struct trk_doc *d, struct trk_doc_section *s, const struct summary *in)
{
	struct trk_time_breakdown *c = in->full && in->record->run.pid ? malloc(sizeof(*c)) : NULL;

	if (c && trk__time_breakdown_of(in->record, c) == 0) {
		trk__term_time(d, s, c);
		trk__term_phases(d, s, c);
		trk__term_split(d, s, c);
	}
	free(c);
}

static void add_change(struct trk_doc *d, struct trk_doc_section *s, const struct summary *in)
{
	const struct trk_change *change = in->style->change;
	TRK_BUF_LOCAL(b, 4096);

	if (!change || change->runs == 0 || isnan(change->figure[TRK_CHANGE_DURATION].share))
		return;
	trk__change_text(&b, change);
	trk__doc_item_of(d, trk__doc_term(d, s, "Change", DOT),
			 (struct trk_doc_item){.text = trk__doc_take(d, &b)});
}

/* ---- totals ---- */

static const char *sign_of(const struct trk_quantity *q)
{
	switch (q->quality) {
	case TRK_QUALITY_AT_LEAST:
		return "at least ";
	case TRK_QUALITY_AT_MOST:
		return "at most ";
	case TRK_QUALITY_ESTIMATED:
		return "about ";
	default:
		return "";
	}
}

/* The upper bound of the peak, if it is within a few times the lower bound. */
static const char *most_words(struct trk_doc *d, const struct trk_record *r)
{
	enum { TIMES = 8 };
	const struct trk_quantity *memory = &r->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB];
	double most = r->outcome.total[TRK_TOTAL_PEAK_MEMORY_AT_MOST_MIB].value;

	if (memory->quality == TRK_QUALITY_AT_LEAST && most > memory->value * 1.01 &&
	    most < memory->value * TIMES)
		return trk__doc_print(d, " (at most %s)",
				      trk__doc_value(d, trk__human_memory, most));
	return "";
}

static void add_total(struct trk_doc *d, struct trk_doc_section *s, const struct summary *in)
{
	const struct trk_record *r = in->record;
	const struct trk_quantity *cpu = &r->outcome.total[TRK_TOTAL_CPU_S];
	const struct trk_quantity *memory = &r->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB];
	const struct trk_quantity *joules = &r->outcome.total[TRK_TOTAL_GPU_ENERGY_J];
	struct trk_doc_term *t;

	if (isnan(cpu->value))
		return;
	t = trk__doc_term(d, s, "Total", DOT);
	trk__doc_item(d, t, "%s%s of CPU", sign_of(cpu),
		      trk__doc_value(d, trk__human_seconds, cpu->value));
	if (memory->value < 1e12)
		trk__doc_item(d, t, "peak memory %s%s%s", sign_of(memory),
			      trk__doc_value(d, trk__human_memory, memory->value),
			      most_words(d, r));
	if (r->gpus.count && joules->value >= 0 && !trk__gpu_log_is_unused(&r->gpus))
		trk__doc_item(d, t, "GPUs %s%s", sign_of(joules),
			      trk__doc_value(d, trk__human_energy, joules->value));
	if (r->run.pid && r->samples < SAMPLES_MIN && !d->lead && r->outcome.end != TRK_END_RUNNING)
		trk__doc_item_of(d, t,
				 strcmp(r->run.kind, "import") != 0
					 ? (struct trk_doc_item){.text = "too short to advise",
								 .brief = "too short"}
					 : (struct trk_doc_item){.text = "only imported totals",
								 .brief = "totals alone"});
}

/* Swap, huge pages, and memory that no process maps and that is not in the peak, as its owner is
 * unknown. */
static void add_other_memory(struct trk_doc *d, struct trk_doc_section *s, const struct summary *in)
{
	double swap = trk__outcome_swap_mib(&in->record->outcome);
	double huge = in->record->outcome.total[TRK_TOTAL_PEAK_HUGE_PAGES_MIB].value;
	double shared = trk__possible_shared_mib(in->record);
	double files = trk__droppable_files_mib(in->record);

	if (files > 0)
		trk__doc_item(
			d, trk__doc_term(d, s, "Files", DOT),
			"up to %s of the peak are pages of mapped files, which the kernel can "
			"drop",
			trk__doc_value(d, trk__human_memory, files));
	if (huge >= 1)
		trk__doc_item(d, trk__doc_term(d, s, "Huge", DOT),
			      "%s in huge pages at the peak, not part of the memory above",
			      trk__doc_value(d, trk__human_memory, huge));
	if (swap >= 1)
		trk__doc_item(d, trk__doc_term(d, s, "Swap", DOT), "%s swapped out at the peak",
			      trk__doc_value(d, trk__human_memory, swap));
	if (shared > 0)
		trk__doc_item(d, trk__doc_term(d, s, "Shared", DOT),
			      "%s: growth of tmpfs, /dev/shm and memfds, perhaps "
			      "due to this job",
			      trk__doc_value(d, trk__human_memory, shared));
}

static void add_cost(struct trk_doc *d, struct trk_doc_section *s, const struct summary *in)
{
	trk__term_cost(d, s, &in->record->place);
}

static void add_lines(struct trk_doc *d, struct trk_doc_section *s, const struct summary *in)
{
	trk__term_kill_lines(d, s, in->record);
	if (in->full)
		trk__term_lines(d, s, in->record);
}

/* ---- the document ---- */

/* The rows, in their order. */
static void (*const rows[])(struct trk_doc *d, struct trk_doc_section *s,
			    const struct summary *in) = {
	add_use, add_gpus,  add_course,       add_change, add_lines,
	add_io,  add_total, add_other_memory, add_cost,
};

/* The document; 0 or -ENOMEM. The caller releases, on success only. */
static int make(const struct trk_record *r, const struct trk_summary_style *style,
		struct trk_doc *ret)
{
	const struct summary in = {r, style, !style->brief && r->samples >= SAMPLES_MIN};

	*ret = (struct trk_doc){.error = 0};
	tell_end(ret, r);
	tell_troubles(ret, r);
	tell_verdict(ret, &in);
	ret->section = trk__doc_alloc(ret, sizeof(*ret->section));
	if (ret->section) {
		ret->sections = 1;
		ret->section->key = "summary";
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			rows[i](ret, ret->section, &in);
	}
	if (in.full && !style->not_recorded)
		ret->more = trk__doc_print(
			ret, "more: resource-tracker report %s (or show, recommend, export)",
			r->run.id);
	if (!ret->error)
		return 0;
	trk__doc_release(ret);
	return -ENOMEM;
}

void trk__summary_text(struct trk_buf *b, const struct trk_record *r,
		       const struct trk_summary_style *style)
{
	const struct trk_terminal_style terminal = {
		.width = style->width, .color = style->color, .utf8 = style->utf8};
	struct trk_doc d;

	if (make(r, style, &d) < 0) {
		b->error = -ENOMEM;
		return;
	}
	trk__write_terminal(b, &d, &terminal);
	trk__doc_release(&d);
}

/* ---- statistics of every column ---- */

enum { COLUMN, UNIT, MEAN, MAX, P95, MIN, P50, SUM, COLUMNS };

static const struct trk_doc_column columns[COLUMNS] = {
	[COLUMN] = {"column", "column", TRK_CELL_TEXT}, [UNIT] = {"unit", "unit", TRK_CELL_TEXT},
	[MEAN] = {"mean", "mean", TRK_CELL_NUMBER},     [MAX] = {"max", "max", TRK_CELL_NUMBER},
	[P95] = {"p95", "p95", TRK_CELL_NUMBER},        [MIN] = {"min", "min", TRK_CELL_NUMBER},
	[P50] = {"p50", "p50", TRK_CELL_NUMBER},        [SUM] = {"sum", "sum", TRK_CELL_NUMBER},
};

static struct trk_doc_cell cell(struct trk_doc *d, double value)
{
	const char *text;

	if (isnan(value))
		text = NULL;
	else if (value != 0 && (value >= 1e11 || value < 1e-3))
		text = trk__doc_print(d, "%.4g", value);
	else
		text = trk__doc_print(d, "%.*f", value >= 1e6 || value == trk__floor(value) ? 0 : 3,
				      value);
	return trk__doc_cell(text, value);
}

static void add_column(struct trk_doc *d, struct trk_doc_table *t, int column,
		       const struct trk_column_stats *s)
{
	struct trk_doc_cell *row = trk__doc_row(d, t);

	row[COLUMN].text = trk__columns[column].name;
	row[UNIT].text = trk__columns[column].unit;
	row[MEAN] = cell(d, s->mean);
	row[MAX] = cell(d, s->max);
	row[P95] = cell(d, s->p95);
	row[MIN] = cell(d, s->min);
	row[P50] = cell(d, s->p50);
	row[SUM] = cell(d, s->sum);
}

void trk__stats_text(struct trk_buf *b, const struct trk_stats *stats,
		     const struct trk_terminal_style *style)
{
	struct trk_doc d = {.error = 0};
	struct trk_doc_table t = {.key = "stats",
				  .column = columns,
				  .columns = COLUMNS,
				  .essential = P95,
				  .keeps_names = true};

	for (int i = 0; i < TRK_COLUMNS; i++) {
		struct trk_column_stats s = trk__stats_get(stats, i);

		if (trk__columns[i].kind != TRK_KIND_STAMP && s.rows)
			add_column(&d, &t, i, &s);
	}
	trk__write_terminal_table(b, &d, &t, style);
}
