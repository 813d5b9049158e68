/* Right-sizing: what was requested, what was used, what to request, and lines to paste. */
#include <string.h>

#include "base/maths.h"
#include "report/report_private.h"

static const struct trk_report_column columns[] = {
	{"resource", "Resource", TRK_CELL_TEXT},
	{"requested", "Request or limit", TRK_CELL_NUMBER},
	{"mean", "Mean", TRK_CELL_NUMBER},
	{"p95", "p95", TRK_CELL_NUMBER},
	{"peak", "Peak", TRK_CELL_NUMBER},
	{"share", "Peak of it", TRK_CELL_BAR},
	{"next", "Next request", TRK_CELL_NUMBER},
	{"why", "Why", TRK_CELL_TEXT},
};

enum { RESOURCE, REQUESTED, MEAN, P95, PEAK, SHARE, NEXT, WHY, COLUMNS };

typedef const char *words_fn(struct trk_report *r, double value);

struct resource {
	const char *name;
	double requested, mean, p95, peak, next;
	const char *why;
};

static struct trk_report_cell known(struct trk_report *r, words_fn *words, double value)
{
	return isnan(value) ? trk__report_cell(NULL, NAN)
			    : trk__report_cell(words(r, value), value);
}

static void add_resource(struct trk_report *r, struct trk_report_table *t,
			 const struct resource *res, words_fn *request_words, words_fn *words)
{
	struct trk_report_cell *row = trk__report_row(r, t);
	double share = res->requested > 0 ? res->peak / res->requested : (double) NAN;

	if (!row)
		return;
	row[RESOURCE] = trk__report_tone(trk__report_cell(res->name, NAN), TRK_TONE_STRONG);
	row[REQUESTED] = known(r, request_words, res->requested);
	row[MEAN] = known(r, words, res->mean);
	row[P95] = known(r, words, res->p95);
	row[PEAK] = known(r, words, res->peak);
	row[SHARE] = known(r, trk__report_percent, share);
	row[SHARE].second = res->requested > 0 ? res->mean / res->requested : (double) NAN;
	row[NEXT] = trk__report_tone(known(r, request_words, res->next), TRK_TONE_STRONG);
	row[WHY].text = res->why;
}

static const char *space_words(struct trk_report *r, double gb)
{
	return trk__report_bytes(r, gb * 1e9);
}

static double next_of(const struct trk_report_work *w, double value)
{
	return w->has_advice ? value : (double) NAN;
}

static const char *held_words(const struct trk_report_work *w)
{
	return w->in->record->outcome.verdict == TRK_VERDICT_RUNNING
		       ? "not lowered while the run goes on"
		       : "not lowered after a run that did not end well";
}

static void add_cpu(struct trk_report *r, const struct trk_report_work *w,
		    struct trk_report_table *t)
{
	const struct trk_advice *a = &w->advice;
	struct resource res = {"CPU, cores", w->cpu_limit,         w->cpu.mean, w->cpu.p95,
			       w->cpu_peak,  next_of(w, a->cores), NULL};

	if (w->held_cpu)
		res.why = held_words(w);
	else if (w->has_advice && a->has_cpu && a->cpu.reason_count > 1)
		/* The first one tells mean and peak, which stand beside it. */
		res.why = trk__report_print(r, "%s", a->cpu.reason[1]);
	add_resource(r, t, &res, trk__report_amount, trk__report_number);
}

static void add_memory(struct trk_report *r, const struct trk_report_work *w,
		       struct trk_report_table *t)
{
	const struct trk_advice *a = &w->advice;
	struct resource res = {"Memory",      w->memory_limit, w->memory.mean,
			       w->memory.p95, w->memory_peak,  next_of(w, a->memory_mib),
			       NULL};

	if (w->held_memory)
		res.why = held_words(w);
	else if (w->in->record->outcome.verdict == TRK_VERDICT_OUT_OF_MEMORY)
		res.why = "killed at its limit: what it would have come to use is above that";
	else if (w->has_advice && a->has_memory && a->memory.reason_count)
		res.why = trk__report_print(r, "%s", a->memory.reason[0]);
	add_resource(r, t, &res, trk__report_memory, trk__report_memory);
}

static void add_gpu(struct trk_report *r, const struct trk_report_work *w,
		    struct trk_report_table *t)
{
	struct trk_stats *stats = w->in->record->stats;
	struct trk_column_stats use, vram;
	struct resource res = {.name = "GPU"};

	trk__stats_get(stats, TRK_PROCESS_GPU_USAGE, &use);
	trk__stats_get(stats, TRK_PROCESS_GPU_VRAM, &vram);
	res.requested = w->in->record->run.request[TRK_REQUEST_GPU].value;
	if (isnan(use.mean) && isnan(vram.mean) && isnan(res.requested))
		return;
	res.mean = use.mean;
	res.p95 = use.p95;
	res.peak = use.max;
	res.next = next_of(w, w->advice.gpus > 0 ? w->advice.gpus : (double) NAN);
	if (!isnan(res.next) && !isnan(use.max))
		res.why = "the most that were busy at once, as whole GPUs";
	add_resource(r, t, &res, trk__report_amount, trk__report_number);
	res = (struct resource){
		.name = "Video memory",
		.requested = NAN,
		.mean = vram.mean,
		.p95 = vram.p95,
		.peak = vram.max,
		.next = next_of(w, w->advice.vram_mib > 0 ? w->advice.vram_mib : (double) NAN)};
	if (res.next >= vram.max)
		res.why = trk__report_print(r, "the peak and %s of headroom, on all GPUs together",
					    trk__report_memory(r, res.next - vram.max));
	add_resource(r, t, &res, trk__report_memory, trk__report_memory);
}

/* Space is the machine's, the system's own files included: nothing says how much of it the job needs. */
static void add_space(struct trk_report *r, const struct trk_report_work *w,
		      struct trk_report_table *t)
{
	struct trk_stats *stats = w->in->record->stats;
	struct trk_column_stats used, total;
	struct resource res = {.name = "Disk space", .next = NAN};

	trk__stats_get(stats, TRK_SYSTEM_SPACE_USED, &used);
	trk__stats_get(stats, TRK_SYSTEM_SPACE_TOTAL, &total);
	if (isnan(used.max))
		return;
	res.requested = total.max;
	res.mean = used.mean;
	res.p95 = used.p95;
	res.peak = used.max;
	if (used.max > used.min)
		res.why = trk__report_print(r,
					    "no request: only the whole machine's use is known, "
					    "and that moved by %s",
					    space_words(r, used.max - used.min));
	else
		res.why = "no request: only the whole machine's use is known";
	add_resource(r, t, &res, space_words, space_words);
}

static void add_time(struct trk_report *r, const struct trk_report_work *w,
		     struct trk_report_table *t)
{
	const struct trk_record *record = w->in->record;
	const struct trk_advice *a = &w->advice;
	struct resource res = {.name = "Time",
			       .requested = record->run.request[TRK_REQUEST_TIME_S].value,
			       .mean = NAN,
			       .p95 = NAN,
			       .peak = (double) record->outcome.duration_ns / 1e9,
			       .next = NAN};

	/* As the lines to paste have it: twice the expected time, in whole minutes. */
	if (w->has_advice && w->ended_well) {
		res.next = 60 * trk__ceil((isnan(a->run_time_s) ? a->duration_s : a->run_time_s) *
					  2 / 60);
		res.why = "twice the expected time: a limit that is reached loses the run";
	}
	add_resource(r, t, &res, trk__report_seconds, trk__report_seconds);
}

/* ---- lines to paste ---- */

static const struct {
	const char *kind, *title, *mark; /* mark: how the source of a request begins */
} batch[] = {
	{"slurm", "Slurm", "SLURM"},      {"k8s", "Kubernetes", "CPU_"},
	{"k8s", "Kubernetes", "MEMORY_"}, {"docker", "Docker", NULL},
	{"batch", "AWS Batch", NULL},     {"metaflow", "Metaflow", NULL},
	{"nextflow", "Nextflow", NULL},   {"snakemake", "Snakemake", NULL},
	{"htcondor", "HTCondor", NULL},
};
enum { BATCH = sizeof(batch) / sizeof(batch[0]) };

/* The tag that `--orchestrator` makes. */
static bool is_stated(const struct trk_run *run, const char *kind)
{
	for (size_t at = 0; at < run->tags_len; at += strlen(run->tags + at) + 1)
		if (!strncmp(run->tags + at, "orchestrator=", 13))
			return !strcmp(run->tags + at + 13, kind);
	return false;
}

static bool is_detected(const struct trk_run *run, const char *mark)
{
	for (int i = 0; mark && i < TRK_REQUESTS; i++)
		if (!strncmp(run->request[i].source, mark, strlen(mark)))
			return true;
	return false;
}

static void add_snippet(struct trk_report *r, const struct trk_report_work *w, size_t i)
{
	struct trk_report_snippet *s = &r->snippet[r->snippets];
	struct trk_buf b;

	for (size_t k = 0; k < r->snippets; k++)
		if (!strcmp(r->snippet[k].kind, batch[i].kind))
			return;
	trk__buf_init(&b, 4096);
	if (trk__advice_snippet(&b, &w->advice, batch[i].kind) && !b.error) {
		*s = (struct trk_report_snippet){batch[i].kind, batch[i].title,
						 trk__report_print(r, "%s", b.data)};
		r->snippets++;
	}
	trk__buf_release(&b);
}

/* The system that the run stood under comes first. */
static void add_snippets(struct trk_report *r, const struct trk_report_work *w)
{
	if (!w->has_advice || isnan(w->advice.cores) || isnan(w->advice.memory_mib))
		return;
	for (size_t i = 0; i < BATCH; i++)
		if (is_stated(&w->in->record->run, batch[i].kind))
			add_snippet(r, w, i);
	for (size_t i = 0; i < BATCH; i++)
		if (is_detected(&w->in->record->run, batch[i].mark))
			add_snippet(r, w, i);
	for (size_t i = 0; i < BATCH; i++)
		add_snippet(r, w, i);
}

static const char *unfinished_words(enum trk_verdict verdict)
{
	if (verdict == TRK_VERDICT_RUNNING)
		return "This run is not over: it raises a request and never lowers it.";
	if (verdict == TRK_VERDICT_TRACKER_DIED)
		return "How this run ended is not known: it raises a request and never lowers it.";
	return "This run did not end well: it raises a request and never lowers it.";
}

void trk__report_sizing(struct trk_report *r, const struct trk_report_work *w)
{
	struct trk_report_section *s = &r->part[TRK_PART_SIZING];
	struct trk_report_table *t;

	if (isnan(w->cpu_peak) && isnan(w->memory_peak)) {
		trk__report_empty(s, "No sample was taken, so there is nothing to size.");
		return;
	}
	t = trk__report_table(s, "resources", NULL, columns, COLUMNS);
	add_cpu(r, w, t);
	add_memory(r, w, t);
	add_gpu(r, w, t);
	add_space(r, w, t);
	add_time(r, w, t);
	if (!w->ended_well)
		trk__report_note(s, unfinished_words(w->in->record->outcome.verdict));
	add_snippets(r, w);
}
