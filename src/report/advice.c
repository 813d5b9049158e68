#include "report/advice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

/* ---- putting it together ---- */

struct trk_past_run trk__advice_past_run(const struct trk_past *run)
{
	struct trk_past_run r = {
		.peak_bytes = run->peak_memory_mib * MIB,
		.duration_s = run->duration_s,
		.input_bytes = run->input_bytes,
		.limit_bytes = run->limit_memory_mib * MIB,
		.end = TRK_PAST_SUCCEEDED,
	};

	if (!strcmp(run->verdict, "out_of_memory") || !strcmp(run->verdict, "memory_limit"))
		r.end = TRK_PAST_OUT_OF_MEMORY;
	else if (run->code != 0 || strcmp(run->verdict, "exited") != 0)
		/* Attached to, stopped, failed: it may have needed more than it came to use. */
		r.end = run->code == -1 && !strcmp(run->verdict, "exited") ? TRK_PAST_SUCCEEDED
									   : TRK_PAST_FAILED;
	if (!strcmp(run->verdict, "memory_limit")) /* ours, which stands in no control group */
		r.limit_bytes = r.peak_bytes;
	return r;
}

static int advise_memory(const struct trk_advice_input *in, struct trk_advice *a)
{
	struct trk_memory_options options = {
		.risk = in->risk, .input_bytes = in->input_bytes, .machine_bytes = NAN};
	struct trk_past_run *runs = calloc(in->count + 1, sizeof(*runs));
	int r;

	if (!runs)
		return -ENOMEM;
	for (size_t i = 0; i < in->count; i++)
		runs[i] = trk__advice_past_run(&in->runs[i]);
	r = trk__memory_advise(runs, in->count, &options, &a->memory);
	free(runs);
	if (r < 0)
		return r;
	a->has_memory = true;
	a->memory_mib = a->memory.request_bytes / MIB;
	return 0;
}

/* The cores that the run had: its limit, or, where none is known, what was asked for, as long as no more
 * were busy. */
static double cores_of(const struct trk_advice_input *in)
{
	double limit = in->record->run.limit[TRK_LIMIT_CPU].value;
	double request = in->record->run.request[TRK_REQUEST_CPU].value;
	struct trk_column_stats busy;

	trk__stats_get(in->record->stats, TRK_PROCESS_CPU_USAGE, &busy);
	if (!isnan(limit))
		return limit;
	return request >= busy.max - 0.05 ? request : (double) NAN;
}

static void advise_cpu(const struct trk_advice_input *in, struct trk_advice *a)
{
	struct trk_cpu_options options = {
		.cores_now = cores_of(in),
		.memory_bytes = a->memory_mib * MIB,
		.slowdown_max = NAN,
	};

	if (!in->busy || trk__cpu_advise(in->busy, &options, &a->cpu) < 0)
		return;
	a->has_cpu = true;
	a->cores = a->cpu.cores;
	a->run_time_s = a->cpu.run_time_s;
}

/* All by the original's rule, when it is asked for. */
static int advise_original(const struct trk_advice_input *in, struct trk_advice *a)
{
	struct trk_original_run *runs = calloc(in->count + 1, sizeof(*runs));
	struct trk_original_advice o;
	size_t n = 0;
	int r;

	if (!runs)
		return -ENOMEM;
	for (size_t i = 0; i < in->count; i++)
		runs[n++] = (struct trk_original_run){
			.mean_cores = in->runs[i].cpu_mean,
			.max_memory_mib = in->runs[i].peak_memory_mib,
			.mean_gpus = in->runs[i].gpu_mean,
			.max_gpus = in->runs[i].gpu_max,
			.max_vram_mib = in->runs[i].vram_max_mib,
		};
	r = trk__original_advise(runs, n, &o);
	free(runs);
	if (r < 0)
		return r;
	a->gpus = o.gpu;
	a->vram_mib = o.vram_mib;
	if (!in->original)
		return 0;
	a->cores = o.cpu;
	a->memory_mib = o.memory_mib;
	return 0;
}

/* What was asked for, or the limit that it ran under. */
static double stated_or_limit(const struct trk_run *run, enum trk_request request,
			      enum trk_limit limit)
{
	double value = run->request[request].value;

	return isnan(value) ? run->limit[limit].value : value;
}

static double sum_of(const struct trk_record *r, int column)
{
	struct trk_column_stats s;

	trk__stats_get(r->stats, column, &s);
	return s.sum;
}

static void judge_sizing(const struct trk_record *r, struct trk_advice *a)
{
	const struct trk_outcome *o = &r->outcome;
	struct trk_column_stats cpu;
	struct trk_sizing_facts facts;

	trk__stats_get(r->stats, TRK_PROCESS_CPU_USAGE, &cpu);
	facts = (struct trk_sizing_facts){
		.run_time_s = (double) o->duration_ns / 1e9,
		.samples = (double) r->samples,
		.memory_peak_mib = o->total[TRK_TOTAL_PEAK_MEMORY_MIB].value,
		.memory_limit_mib =
			stated_or_limit(&r->run, TRK_REQUEST_MEMORY_MIB, TRK_LIMIT_MEMORY_MIB),
		.swap_peak_mib = NAN,
		.cpu_mean_cores = cpu.mean,
		.cpu_peak_cores = cpu.max,
		.cpu_limit_cores = stated_or_limit(&r->run, TRK_REQUEST_CPU, TRK_LIMIT_CPU),
		.throttled_s = sum_of(r, TRK_CGROUP_THROTTLED),
		.memory_stall_s = sum_of(r, TRK_PROCESS_MEMORY_WAIT),
		.saturated_share = a->has_cpu ? a->cpu.saturated_share : (double) NAN,
		.out_of_memory = o->verdict == TRK_VERDICT_OUT_OF_MEMORY ||
				 o->verdict == TRK_VERDICT_MEMORY_LIMIT,
		.failed = o->code > 0,
	};
	trk__sizing_judge(&facts, &a->sizing);
}

/* GPUs of the newest run: those that the job held, and how much of them it used. */
static struct trk_gpu_facts gpu_facts(const struct trk_record *r)
{
	double held = 0, used = 0, share = 0, activity = 0;
	struct trk_column_stats usage;
	struct trk_gpu_facts f;

	trk__stats_get(r->stats, TRK_PROCESS_GPU_USAGE, &usage);
	for (size_t i = 0; i < r->gpus.count; i++) {
		const struct trk_gpu_total *t = &r->gpus.total[i];

		if (t->device.parent >= 0 || !t->used_by_tree)
			continue;
		held++;
		if (!(trk__gpu_total_max(t, TRK_GPU_TREE_SHARE_METRIC) > 0))
			continue;
		used++;
		share += trk__gpu_total_mean(t, TRK_GPU_UTILIZATION_METRIC);
		activity += trk__gpu_total_mean(t, TRK_GPU_SM_ACTIVITY_METRIC);
	}
	f = (struct trk_gpu_facts){
		.given = r->run.request[TRK_REQUEST_GPU].value,
		.used = isnan(usage.mean) ? (double) NAN : used,
		.usage_mean = usage.mean,
		.usage_p95 = usage.p95,
		.utilization = share / used, /* of none: NaN */
		.sm_activity = activity / used,
		.starved_share = used > 0 ? r->gpu_starved_s / r->gpu_known_s : (double) NAN,
	};
	if (isnan(f.given) && held > 0)
		f.given = held;
	return f;
}

/* Video memory grows as memory does: the same method, over the peaks of all runs. */
static int advise_gpus(const struct trk_advice_input *in, struct trk_advice *a)
{
	struct trk_gpu_facts facts = gpu_facts(in->record);
	struct trk_memory_options options = {
		.risk = in->risk, .input_bytes = NAN, .machine_bytes = NAN};
	struct trk_past_run *runs = calloc(in->count + 1, sizeof(*runs));
	double busiest = NAN, gpus;
	size_t n = 0;
	int r = 0;

	if (!runs)
		return -ENOMEM;
	for (size_t i = 0; i < in->count; i++) {
		if (!(busiest >= in->runs[i].gpu_max))
			busiest = in->runs[i].gpu_max;
		if (!(in->runs[i].vram_max_mib > 0))
			continue;
		runs[n] = trk__advice_past_run(&in->runs[i]);
		runs[n].peak_bytes = in->runs[i].vram_max_mib * MIB;
		runs[n].limit_bytes = NAN;
		runs[n++].end = TRK_PAST_SUCCEEDED; /* what it held, it held */
	}
	gpus = trk__gpu_advise(&facts, busiest);
	a->gpus = isnan(gpus) ? 0 : gpus;
	a->vram_mib = 0;
	if (n > 0 && a->gpus > 0) {
		struct trk_memory_advice *m = malloc(sizeof(*m));

		r = m ? trk__memory_advise(runs, n, &options, m) : -ENOMEM;
		if (r == 0)
			a->vram_mib = m->request_bytes / MIB;
		free(m);
	}
	free(runs);
	trk__sizing_judge_gpus(&facts, &a->sizing);
	return r == -ENOMEM ? r : 0;
}

int trk__advice_make(const struct trk_advice_input *in, struct trk_advice *ret)
{
	struct trk_advice *a = ret;
	int memory, original;

	*a = (struct trk_advice){
		.original = in->original,
		.cores = NAN,
		.memory_mib = NAN,
		.run_time_s = NAN,
		.duration_s = (double) in->record->outcome.duration_ns / 1e9,
		.peak_now_mib = in->record->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB].value,
		.runs = in->count,
	};
	(void) snprintf(a->job, sizeof(a->job), "%s", in->record->run.job);
	memory = in->original ? 0 : advise_memory(in, a);
	if (!in->original)
		advise_cpu(in, a);
	original = advise_original(in, a);
	judge_sizing(in->record, a);
	if (!in->original && original == 0)
		original = advise_gpus(in, a);
	if (memory == -ENOMEM || original == -ENOMEM)
		return -ENOMEM;
	return isnan(a->cores) && isnan(a->memory_mib) ? -TRK_E_NODATA : 0;
}

static void add_busy(void *data, double cores, double seconds)
{
	trk__busy_add(data, cores, seconds);
}

int trk__advice_of_run(const struct trk_record *record, struct trk_advice *ret)
{
	struct trk_past *past = calloc(1, sizeof(*past));
	struct trk_busy *busy = calloc(1, sizeof(*busy));
	struct trk_advice_input in = {
		.record = record, .busy = busy, .runs = past, .count = 1, .input_bytes = NAN};
	int r = -ENOMEM;

	if (past && busy) {
		trk__past_from(record, "", past);
		trk__stats_each(record->stats, TRK_PROCESS_CPU_USAGE, add_busy, busy);
		r = trk__advice_make(&in, ret);
	}
	free(past);
	free(busy);
	return r;
}

/* ---- words ---- */

static void add_memory(struct trk_buf *b, double mib)
{
	if (isnan(mib))
		trk__buf_puts(b, "unknown");
	else if (mib < 1024)
		trk__buf_printf(b, "%.0f MiB", mib);
	else
		trk__buf_printf(b, "%.4g GiB", mib / 1024);
}

void trk__advice_line(struct trk_buf *b, const struct trk_advice *a, const struct trk_run *run)
{
	double cores = stated_or_limit(run, TRK_REQUEST_CPU, TRK_LIMIT_CPU);
	double memory = stated_or_limit(run, TRK_REQUEST_MEMORY_MIB, TRK_LIMIT_MEMORY_MIB);

	trk__buf_printf(b, "%s: request", trk__sizing_name(a->sizing.sizing));
	if (!isnan(a->cores))
		trk__buf_printf(b, " %.4g CPU%s", a->cores, isnan(a->memory_mib) ? "" : ",");
	if (!isnan(a->memory_mib)) {
		trk__buf_putc(b, ' ');
		add_memory(b, a->memory_mib);
	}
	if (a->sizing.gpu_over)
		trk__buf_printf(b, ", %.0f GPU", a->gpus);
	trk__buf_puts(b, " next time (now ");
	if (!isnan(cores))
		trk__buf_printf(b, "%.4g CPU, ", cores);
	add_memory(b, memory);
	trk__buf_putc(b, ')');
}

static void memory_text(struct trk_buf *b, const struct trk_advice *a)
{
	const struct trk_memory_advice *m = &a->memory;

	trk__buf_puts(b, "memory   ");
	add_memory(b, a->memory_mib);
	if (!a->has_memory) {
		trk__buf_puts(b, a->original ? "   (largest peak x 1.2, rounded up)\n" : "\n");
		return;
	}
	trk__buf_puts(b, "   then ");
	add_memory(b, m->next_rung_bytes / MIB);
	trk__buf_printf(b, " if that is not enough\n         confidence %s (%zu run%s)\n",
			trk__confidence_name(m->confidence), m->runs_used,
			m->runs_used == 1 ? "" : "s");
	for (size_t i = 0; i < m->reason_count; i++)
		trk__buf_printf(b, "         %s\n", m->reason[i]);
}

static void cpu_text(struct trk_buf *b, const struct trk_advice *a)
{
	const struct trk_cpu_advice *c = &a->cpu;

	if (isnan(a->cores)) {
		trk__buf_puts(b, "cpu      unknown: no run has enough samples\n");
		return;
	}
	trk__buf_printf(b, "cpu      %.4g core%s", a->cores, a->cores > 1 ? "s" : "");
	if (!a->has_cpu) {
		trk__buf_puts(b, "   (mean of the means, rounded)\n");
		return;
	}
	trk__buf_putc(b, '\n');
	for (size_t i = 0; i < c->reason_count; i++)
		trk__buf_printf(b, "         %s\n", c->reason[i]);
	trk__buf_puts(b, "         run time ");
	for (size_t i = 0; i < c->point_count; i++)
		trk__buf_printf(b, "%s%s%.3g s on %.4g", i ? ", " : "",
				c->point[i].at_most ? "at most " : "", c->point[i].run_time_s,
				c->point[i].cores);
	trk__buf_putc(b, '\n');
}

void trk__advice_text(struct trk_buf *b, const struct trk_advice *a)
{
	trk__buf_printf(b, "%s\n", trk__sizing_name(a->sizing.sizing));
	for (size_t i = 0; i < a->sizing.reason_count; i++)
		trk__buf_printf(b, "         %s\n", a->sizing.reason[i]);
	cpu_text(b, a);
	memory_text(b, a);
	if (a->gpus > 0) {
		trk__buf_printf(b, "gpu      %.4g, video memory ", a->gpus);
		add_memory(b, a->vram_mib);
		trk__buf_putc(b, '\n');
	}
}

static void cpu_json(struct trk_json *j, const struct trk_advice *a)
{
	trk__json_key(j, "cpu");
	trk__json_open(j, '{');
	trk__json_key_double(j, "cores", a->cores);
	trk__json_key_double(j, "run_time_s", a->run_time_s);
	if (a->has_cpu) {
		trk__json_key_double(j, "mean_cores", a->cpu.mean_cores);
		trk__json_key_double(j, "peak_cores", a->cpu.peak_cores);
		trk__json_key_double(j, "saturated_share", a->cpu.saturated_share);
		trk__json_key(j, "points");
		trk__json_open(j, '[');
		for (size_t i = 0; i < a->cpu.point_count; i++) {
			trk__json_open(j, '{');
			trk__json_key_double(j, "cores", a->cpu.point[i].cores);
			trk__json_key_double(j, "run_time_s", a->cpu.point[i].run_time_s);
			trk__json_key_text(j, "quality",
					   a->cpu.point[i].at_most ? "at_most" : "estimated");
			trk__json_close(j, '}');
		}
		trk__json_close(j, ']');
	}
	trk__json_key(j, "reasons");
	trk__json_open(j, '[');
	for (size_t i = 0; a->has_cpu && i < a->cpu.reason_count; i++)
		trk__json_text(j, a->cpu.reason[i]);
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

static void memory_json(struct trk_json *j, const struct trk_advice *a)
{
	const struct trk_memory_advice *m = &a->memory;

	trk__json_key(j, "memory");
	trk__json_open(j, '{');
	trk__json_key_double(j, "request_mib", a->memory_mib);
	trk__json_key_double(j, "next_rung_mib",
			     a->has_memory ? m->next_rung_bytes / MIB : (double) NAN);
	trk__json_key_text(j, "basis", a->has_memory ? trk__basis_name(m->basis) : NULL);
	trk__json_key_text(j, "confidence",
			   a->has_memory ? trk__confidence_name(m->confidence) : NULL);
	trk__json_key_double(j, "chance_exceed", a->has_memory ? m->chance_exceed : (double) NAN);
	trk__json_key_double(j, "highest_mib",
			     a->has_memory ? m->highest_bytes / MIB : (double) NAN);
	trk__json_key_double(j, "passed_peak_mib",
			     a->has_memory ? m->passed_peak_bytes / MIB : (double) NAN);
	trk__json_key(j, "reasons");
	trk__json_open(j, '[');
	for (size_t i = 0; a->has_memory && i < m->reason_count; i++)
		trk__json_text(j, m->reason[i]);
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

void trk__advice_json(struct trk_json *j, const struct trk_advice *a)
{
	trk__json_key(j, "advice");
	trk__json_open(j, '{');
	trk__json_key_text(j, "method", a->original ? "original" : "default");
	trk__json_key(j, "runs");
	trk__json_u64(j, a->runs);
	cpu_json(j, a);
	memory_json(j, a);
	trk__json_key_double(j, "gpus", a->gpus);
	trk__json_key_double(j, "vram_mib", a->vram_mib);
	trk__json_key(j, "verdict");
	trk__json_open(j, '{');
	trk__json_key_text(j, "sizing", trk__sizing_name(a->sizing.sizing));
	trk__json_key(j, "reasons");
	trk__json_open(j, '[');
	for (size_t i = 0; i < a->sizing.reason_count; i++)
		trk__json_text(j, a->sizing.reason[i]);
	trk__json_close(j, ']');
	trk__json_close(j, '}');
	trk__json_close(j, '}');
}
