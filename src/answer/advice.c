#include "answer/advice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/human.h"
#include "base/maths.h"

/* ---- putting it together ---- */

static const struct trk_past_run *newest_of(const struct trk_advice_input *in)
{
	return &in->runs[in->count - 1];
}

static int advise_memory(const struct trk_advice_input *in, struct trk_advice *a)
{
	struct trk_memory_options options = {
		.risk = in->risk, .input_bytes = in->input_bytes, .machine_bytes = NAN};
	int r = trk__advice_memory(in->runs, in->count, in->tags, &options, &a->alike, &a->memory);

	if (r < 0)
		return r;
	a->has_memory = true;
	a->memory_mib = a->memory.request_bytes / TRK_MIB;
	if (a->file_pages_mib > 0)
		trk__memory_say(
			&a->memory,
			"up to %.0f MiB of the newest peak are pages of mapped files, which the "
			"kernel can drop: they count, as it is not known whether they are "
			"read again",
			a->file_pages_mib);
	return 0;
}

/* Advise a time limit. 0 or -ENOMEM. */
static int advise_time(const struct trk_advice_input *in, struct trk_advice *a)
{
	struct trk_past_run *runs = NULL;
	struct trk_alike alike;
	ssize_t n = trk__alike_take(in->runs, in->count, in->tags, &alike, &runs);
	int r = n < 0 ? (int) n : trk__time_advise(runs, (size_t) n, in->input_bytes, &a->time);

	free(runs);
	a->has_time = r == 0;
	a->usual_s = r == 0 ? a->time.expected_s : (double) in->record->outcome.duration_ns / 1e9;
	return r == -ENOMEM ? r : 0;
}

/* The cores available to the run: its limit, or, if unknown, its request, unless more were busy. */
static double cores_of(const struct trk_advice_input *in)
{
	double limit = in->record->run.limit[TRK_LIMIT_CPU].value;
	double request = in->record->run.request[TRK_REQUEST_CPU].value;
	struct trk_column_stats busy = trk__stats_get(in->record->stats, TRK_PROCESS_CPU_USAGE);

	if (!isnan(limit))
		return limit;
	return request >= busy.max - 0.05 ? request : (double) NAN;
}

static double stated(const struct trk_capacity *c)
{
	return trk__capacity_is_stated(c) ? c->value : (double) NAN;
}

static void advise_cpu(const struct trk_advice_input *in, struct trk_advice *a)
{
	struct trk_cpu_options options = {
		.cores_now = cores_of(in),
		.memory_bytes = a->memory_mib * TRK_MIB,
		.slowdown_max = NAN,
		.stated_cores = stated(&a->cpu_had),
	};

	if (in->use && a->has_time)
		trk__cpu_use_scale(in->use, a->time.expected_s);
	if (in->use) {
		options.queue = in->use->queue;
		options.seen = &in->use->seen;
		options.least_s = in->use->least_s;
		options.only_mean = in->use->only_mean;
	}
	if (!in->use || trk__cpu_advise(&in->use->busy, &options, &a->cpu) < 0)
		return;
	a->has_cpu = true;
	a->cores = a->cpu.cores;
	a->run_time_s = a->cpu.run_time_s;
}

/* Advise by the rule of the original package. */
static int advise_original(const struct trk_advice_input *in, struct trk_advice *a)
{
	struct trk_original_advice o;
	int r = trk__original_advise(in->runs, in->count, &o);

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

static void judge_sizing(const struct trk_advice_input *in, struct trk_advice *a)
{
	const struct trk_record *r = in->record;
	struct trk_sizing_facts facts = {
		.throttled_s = r->held_back_s,
		.memory_stall_s = trk__stats_get(r->stats, TRK_PROCESS_MEMORY_WAIT).sum,
		.saturated_share = a->has_cpu ? a->cpu.saturated_share : (double) NAN,
		.cpu_next_cores = a->cores,
	};

	trk__sizing_judge(newest_of(in), &facts, &a->sizing);
}

/* GPUs of the newest run: those the job held, and their utilization. */
static struct trk_gpu_facts gpu_facts(const struct trk_record *r)
{
	double held = 0, used = 0, share = 0, activity = 0;
	struct trk_gpu_facts f;
	struct trk_column_stats usage = trk__stats_get(r->stats, TRK_PROCESS_GPU_USAGE);

	if (trk__gpu_log_is_partial(&r->gpus, TRK_GPU_TREE_SHARE_METRIC))
		usage.mean = usage.p95 = NAN; /* it is unknown which of them were idle */
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
	if (!r->gpus.count) /* imported: the sums of all GPUs alone */
		used = trk__stats_get(r->stats, TRK_PROCESS_GPU_UTILIZED).max;
	f = (struct trk_gpu_facts){
		.given = r->run.request[TRK_REQUEST_GPU].value,
		.used = isnan(usage.mean) ? (double) NAN : used,
		.usage_mean = usage.mean,
		.usage_p95 = usage.p95,
		.utilization = share / used, /* NaN if none was used */
		.sm_activity = activity / used,
		.starved_share = used > 0 && !isnan(usage.mean) ? r->gpu_starved_s / r->gpu_known_s
								: (double) NAN,
	};
	f.stated = !isnan(f.given);
	if (!f.stated && held > 0)
		f.given = held;
	return f;
}

/* The video memory of the runs similar to the next one, as memory peaks. Returns the number of
 * runs, or -ENOMEM; the caller frees *ret. */
static ssize_t vram_runs(const struct trk_advice_input *in, struct trk_past_run **ret)
{
	struct trk_alike alike;
	ssize_t taken = trk__alike_take(in->runs, in->count, in->tags, &alike, ret), n = 0;

	for (ssize_t i = 0; i < taken; i++) {
		struct trk_past_run *run = &(*ret)[n];

		*run = (*ret)[i];
		if (!(run->vram.bytes > 0))
			continue;
		trk__past_run_hold(run, &run->vram);
		run->end = TRK_PAST_SUCCEEDED; /* failed runs count, too */
		n++;
	}
	return taken < 0 ? taken : n;
}

/* The share of the newest run's peak of video memory that the GPU with the largest part held. Of
 * imported runs only the sum is known: the GPUs held equal parts at best. */
static double largest_share(const struct trk_advice_input *in, double gpus)
{
	const struct trk_gpu_log *log = &in->record->gpus;
	double most = 0, all = newest_of(in)->vram.bytes;

	for (size_t i = 0; i < log->count; i++) {
		double held = trk__gpu_total_max(&log->total[i], TRK_GPU_TREE_MEMORY_METRIC);

		if (log->total[i].device.parent < 0 && held > most)
			most = held;
	}
	if (!(most > 0) || !(all > 0))
		return 1 / gpus;
	return most < all ? most / all : 1;
}

/* Advise video memory by the method for memory, over the peaks of the same runs. */
static int advise_gpus(const struct trk_advice_input *in, struct trk_advice *a)
{
	struct trk_gpu_facts facts = gpu_facts(in->record);
	struct trk_memory_options options = {
		.risk = in->risk, .input_bytes = NAN, .machine_bytes = NAN};
	struct trk_past_run *runs = NULL;
	double busiest = NAN, gpus;
	const double vram_step = 128 * TRK_MIB;
	ssize_t n = vram_runs(in, &runs);
	int r = n < 0 ? -ENOMEM : 0;

	for (size_t i = 0; i < in->count; i++)
		if (!(busiest >= in->runs[i].gpu_max))
			busiest = in->runs[i].gpu_max;
	gpus = trk__gpu_advise(&facts, busiest);
	a->gpus = isnan(gpus) ? 0 : gpus;
	a->vram_mib = 0;
	if (n > 0 && a->gpus > 0) {
		struct trk_memory_advice *m = malloc(sizeof(*m));

		r = m ? trk__memory_advise(runs, (size_t) n, &options, m) : -ENOMEM;
		if (r == 0)
			a->vram_mib = trk__ceil(m->request_bytes * largest_share(in, a->gpus) /
						vram_step) *
				      vram_step / TRK_MIB;
		free(m);
	}
	free(runs);
	trk__sizing_judge_gpus(&facts, &a->sizing);
	return r == -ENOMEM ? r : 0;
}

double trk__possible_shared_mib(const struct trk_record *record)
{
	static const double least_mib = 4, least_share = 0.01;
	const struct trk_quantity *total = record->outcome.total;
	double mib = total[TRK_TOTAL_PEAK_SHARED_FILES_MIB].value;

	/* The peak of a control group includes them. */
	if (!isnan(total[TRK_TOTAL_PEAK_GROUP_MEMORY_MIB].value) || !(mib > least_mib) ||
	    mib <= total[TRK_TOTAL_PEAK_MEMORY_MIB].value * least_share)
		return NAN;
	return mib;
}

double trk__droppable_files_mib(const struct trk_record *record)
{
	/* Programs and their libraries are smaller. */
	static const double least_mib = 64, least_share = 0.1;
	const struct trk_quantity *total = record->outcome.total;
	double mib = total[TRK_TOTAL_PEAK_FILE_PAGES_MIB].value;

	if (!(mib > least_mib) || !(mib > total[TRK_TOTAL_PEAK_MEMORY_MIB].value * least_share))
		return NAN;
	return mib;
}

/* The upper bound of a peak that is a lower bound; NaN if both are close, or if it is unknown. */
static double possible_peak_mib(const struct trk_past_peak *peak)
{
	static const double near = 1.25;

	if (peak->quality != TRK_QUALITY_AT_LEAST || !(peak->at_most_bytes > peak->bytes * near))
		return NAN;
	return peak->at_most_bytes / TRK_MIB;
}

static size_t successes(const struct trk_advice_input *in)
{
	size_t n = 0;

	for (size_t i = 0; i < in->count; i++)
		n += in->runs[i].end == TRK_PAST_SUCCEEDED;
	return n;
}

/* If this run alone has too little data for a verdict, but several runs together give a request,
 * keep the request without a verdict on this run. */
static void settle_sizing(const struct trk_advice_input *in, struct trk_advice *a)
{
	struct trk_sizing_verdict *v = &a->sizing;

	if (v->sizing != TRK_SIZING_UNDER && !trk__advice_ended_well(&in->record->outcome)) {
		v->sizing = TRK_SIZING_NOT_ENOUGH_DATA;
		v->memory_over = v->cpu_over = v->gpu_over = false;
		v->reason_count = 0;
		trk__sizing_say(v, "the run did not end well");
	}
	if (v->sizing == TRK_SIZING_NOT_ENOUGH_DATA && a->has_memory &&
	    a->memory.confidence != TRK_CONFIDENCE_FIRST_ESTIMATE && successes(in) > 0)
		v->sizing = TRK_SIZING_UNSTATED;
}

/* ---- a run that did not end well, or is not over ---- */

bool trk__advice_ended_well(const struct trk_outcome *o)
{
	return (o->end == TRK_END_EXITED && o->code <= 0) || o->end == TRK_END_STOPPED;
}

static bool hold(double *next, const struct trk_capacity *had)
{
	if (!trk__capacity_is_stated(had) || !(*next < had->value))
		return false;
	*next = had->value;
	return true;
}

static const char *how_it_ended(const struct trk_outcome *o)
{
	return o->end == TRK_END_RUNNING ? "the run has not ended" : "the run did not end well";
}

/* If the newest run did not end well, or is not over, request no less memory than it did. The same
 * for cores if no run ended well: else they come from the runs that did. */
static void hold_request(struct trk_advice *a, const struct trk_outcome *o, size_t successes)
{
	struct trk_memory_advice *m = &a->memory;
	struct trk_cpu_advice *c = &a->cpu;

	if (trk__advice_ended_well(o))
		return;
	a->held_cpu = successes == 0 && hold(&a->cores, &a->cpu_had);
	a->held_memory = hold(&a->memory_mib, &a->memory_had);
	if (a->held_cpu) {
		a->run_time_s = NAN;
		c->cores = a->cores;
		c->run_time_s = NAN;
		c->reason_count = 1;
		(void) snprintf(c->reason[0], sizeof(c->reason[0]),
				"%s: its request or limit is not lowered", how_it_ended(o));
	}
	if (a->held_memory && a->has_memory) {
		/* Reasons and probability belong to a smaller request. */
		m->request_bytes = a->memory_mib * TRK_MIB;
		m->chance_exceed = NAN;
		if (m->next_rung_bytes < 2 * m->request_bytes)
			m->next_rung_bytes = 2 * m->request_bytes;
		m->reason_count = 1;
		(void) snprintf(m->reason[0], sizeof(m->reason[0]),
				"%s: its request or limit is not lowered", how_it_ended(o));
	}
}

int trk__advice_make(const struct trk_advice_input *in, struct trk_advice *ret)
{
	struct trk_advice *a = ret;
	int memory, original, time;

	*a = (struct trk_advice){
		.original = in->original,
		.cores = NAN,
		.memory_mib = NAN,
		.run_time_s = NAN,
		.peak_now_mib = newest_of(in)->memory.bytes / TRK_MIB,
		.peak_most_mib = possible_peak_mib(&newest_of(in)->memory),
		.possible_shared_mib = trk__possible_shared_mib(in->record),
		.file_pages_mib = trk__droppable_files_mib(in->record),
		.runs = in->count,
		.cpu_had = trk__capacity(in->record, TRK_RESOURCE_CPU),
		.memory_had = trk__capacity(in->record, TRK_RESOURCE_MEMORY_MIB),
		.gpu_had = trk__capacity(in->record, TRK_RESOURCE_GPU),
		.time_had = trk__capacity(in->record, TRK_RESOURCE_TIME_S),
	};
	(void) snprintf(a->job, sizeof(a->job), "%s", in->record->run.job);
	memory = in->original ? 0 : advise_memory(in, a);
	time = advise_time(in, a);
	if (!in->original)
		advise_cpu(in, a);
	original = advise_original(in, a);
	if (!in->original)
		hold_request(a, &in->record->outcome, successes(in));
	judge_sizing(in, a);
	if (!in->original && original == 0)
		original = advise_gpus(in, a);
	settle_sizing(in, a);
	if (memory == -ENOMEM || original == -ENOMEM || time < 0)
		return -ENOMEM;
	return isnan(a->cores) && isnan(a->memory_mib) ? -TRK_ERR_NODATA : 0;
}

int trk__advice_of_run(const struct trk_record *record, struct trk_advice *ret)
{
	struct trk_history_row row;
	struct trk_cpu_use *use = calloc(1, sizeof(*use));
	struct trk_advice_input in = {
		.record = record, .use = use, .runs = &row.run, .count = 1, .input_bytes = NAN};
	int r = -ENOMEM;

	if (use) {
		trk__history_run_from(record, "", &row);
		trk__cpu_use_of(record, use);
		r = trk__advice_make(&in, ret);
	}
	free(use);
	return r;
}

/* ---- words ---- */

static void add_memory(struct trk_buf *b, double mib)
{
	char text[TRK_HUMAN_SIZE];

	trk__buf_puts(b, isnan(mib) ? "unknown" : trk__human_request(text, mib));
}

static void add_request(struct trk_buf *b, const struct trk_advice *a)
{
	trk__buf_puts(b, "request");
	if (!isnan(a->cores))
		trk__buf_printf(b, " %.4g CPU%s", a->cores, isnan(a->memory_mib) ? "" : ",");
	if (!isnan(a->memory_mib)) {
		trk__buf_putc(b, ' ');
		add_memory(b, a->memory_mib);
	}
	if (a->sizing.gpu_over || a->gpus > 0)
		trk__buf_printf(b, ", %.0f GPU", a->gpus);
}

/* " (now 8 CPU, 32 GiB)", the request or limit. */
static void add_now(struct trk_buf *b, const struct trk_advice *a)
{
	bool cpu = trk__capacity_is_stated(&a->cpu_had);
	bool memory = trk__capacity_is_stated(&a->memory_had);
	bool gpu = trk__capacity_is_stated(&a->gpu_had);

	if (!cpu && !memory && !gpu)
		return;
	trk__buf_puts(b, " (now ");
	if (cpu)
		trk__buf_printf(b, "%.4g CPU%s", a->cpu_had.value, memory || gpu ? ", " : "");
	if (memory)
		add_memory(b, a->memory_had.value);
	if (gpu)
		trk__buf_printf(b, "%s%.4g GPU", memory ? ", " : "", a->gpu_had.value);
	trk__buf_putc(b, ')');
}

bool trk__advice_memory_note(struct trk_buf *b, const struct trk_advice *a)
{
	static const double worth_saying = 8; /* times the lower bound */
	bool is_bounded = a->peak_most_mib < a->peak_now_mib * worth_saying;

	if (a->has_memory && a->memory.is_of_part) {
		trk__buf_puts(b, "only the largest process or task was measured: all together may "
				 "have held more (run measures all)");
		return true;
	}
	if (!(a->possible_shared_mib > 0) && !(a->peak_most_mib > 0))
		return false;
	if (a->possible_shared_mib > 0) {
		add_memory(b, a->possible_shared_mib);
		trk__buf_puts(
			b, " more if the growth of tmpfs, /dev/shm and memfds is due to this job");
	} else {
		trk__buf_puts(b, "processes too short to be sampled may have held more than ");
		add_memory(b, a->peak_now_mib);
		if (is_bounded) {
			trk__buf_puts(b, ", at most ");
			add_memory(b, a->peak_most_mib);
		}
	}
	trk__buf_puts(b, " (run --cgroup auto measures it)");
	return true;
}

void trk__advice_line(struct trk_buf *b, const struct trk_advice *a)
{
	enum trk_sizing sizing = a->sizing.sizing;

	switch (sizing) {
	case TRK_SIZING_UNSTATED:
		trk__buf_puts(b, "Next time ");
		add_request(b, a);
		break;
	case TRK_SIZING_OVER:
	case TRK_SIZING_UNDER:
		trk__buf_printf(b, "%s: ", trk__sizing_name(sizing));
		add_request(b, a);
		trk__buf_puts(b, " next time");
		break;
	default:
		trk__buf_puts(b, trk__sizing_name(sizing));
		return;
	}
	add_now(b, a);
}

static void reasons_json(struct trk_json *j, const char *reason, size_t stride, size_t count)
{
	trk__json_key_open(j, "reasons", '[');
	for (size_t i = 0; i < count; i++)
		trk__json_text(j, reason + i * stride);
	trk__json_close(j, ']');
}

static void cpu_json(struct trk_json *j, const struct trk_advice *a)
{
	trk__json_key_open(j, "cpu", '{');
	trk__json_key_double(j, "cores", a->cores);
	trk__json_key_double(j, "run_time_s", a->run_time_s);
	if (a->has_cpu) {
		trk__json_key_double(j, "mean_cores", a->cpu.mean_cores);
		trk__json_key_double(j, "peak_cores", a->cpu.peak_cores);
		trk__json_key_double(j, "saturated_share", a->cpu.saturated_share);
		trk__json_key_double(j, "queue_share", a->cpu.queue.share);
		trk__json_key_text(j, "queue_cause", trk__queue_cause_name(a->cpu.queue.cause));
		trk__json_key_open(j, "points", '[');
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
	reasons_json(j, a->cpu.reason[0], sizeof(a->cpu.reason[0]),
		     a->has_cpu ? a->cpu.reason_count : 0);
	trk__json_close(j, '}');
}

static void time_json(struct trk_json *j, const struct trk_advice *a)
{
	trk__json_key_open(j, "time", '{');
	trk__json_key_double(j, "limit_s", trk__advice_time_limit_s(a));
	trk__json_key_double(j, "expected_s", a->has_time ? a->time.expected_s : (double) NAN);
	trk__json_key_double(j, "chance_exceed",
			     a->has_time ? a->time.chance_exceed : (double) NAN);
	trk__json_key_double(j, "longest_s", a->has_time ? a->time.longest_s : (double) NAN);
	trk__json_key_u64(j, "runs_used", a->has_time ? a->time.runs_used : 0);
	reasons_json(j, a->time.reason[0], sizeof(a->time.reason[0]),
		     a->has_time ? a->time.reason_count : 0);
	trk__json_close(j, '}');
}

static void memory_json(struct trk_json *j, const struct trk_advice *a)
{
	static const struct trk_memory_advice none = {
		.next_rung_bytes = NAN,
		.chance_exceed = NAN,
		.highest_bytes = NAN,
		.passed_peak_bytes = NAN,
	};
	const struct trk_memory_advice *m = a->has_memory ? &a->memory : &none;

	trk__json_key_open(j, "memory", '{');
	trk__json_key_double(j, "request_mib", a->memory_mib);
	trk__json_key_double(j, "next_rung_mib", m->next_rung_bytes / TRK_MIB);
	trk__json_key_text(j, "basis", a->has_memory ? m->basis_text : NULL);
	trk__json_key_text(j, "runs_alike", a->has_memory ? trk__alike_name(a->alike.by) : NULL);
	trk__json_key_u64(j, "runs_used", m->runs_used);
	trk__json_key_text(j, "confidence",
			   a->has_memory ? trk__confidence_name(m->confidence) : NULL);
	trk__json_key_double(j, "chance_exceed", m->chance_exceed);
	trk__json_key_double(j, "possible_shared_mib", a->possible_shared_mib);
	trk__json_key_double(j, "possible_peak_mib", a->peak_most_mib);
	trk__json_key_double(j, "file_pages_mib", a->file_pages_mib);
	trk__json_key_double(j, "highest_mib", m->highest_bytes / TRK_MIB);
	trk__json_key_double(j, "passed_peak_mib", m->passed_peak_bytes / TRK_MIB);
	reasons_json(j, m->reason[0], sizeof(m->reason[0]), m->reason_count);
	trk__json_close(j, '}');
}

void trk__advice_json(struct trk_json *j, const struct trk_advice *a)
{
	trk__json_key_open(j, "advice", '{');
	trk__json_key_text(j, "method", a->original ? "original" : "default");
	trk__json_key_u64(j, "runs", a->runs);
	cpu_json(j, a);
	memory_json(j, a);
	time_json(j, a);
	trk__json_key_open(j, "capacity", '{');
	trk__capacity_json(j, "cpu", &a->cpu_had);
	trk__capacity_json(j, "memory_mib", &a->memory_had);
	trk__capacity_json(j, "gpu", &a->gpu_had);
	trk__capacity_json(j, "time_s", &a->time_had);
	trk__json_close(j, '}');
	trk__json_key_double(j, "gpus", a->gpus);
	trk__json_key_double(j, "vram_mib", a->vram_mib);
	trk__json_key_open(j, "verdict", '{');
	trk__json_key_text(j, "sizing", trk__sizing_name(a->sizing.sizing));
	reasons_json(j, a->sizing.reason[0], sizeof(a->sizing.reason[0]), a->sizing.reason_count);
	trk__json_close(j, '}');
	trk__json_close(j, '}');
}

double trk__advice_time_limit_s(const struct trk_advice *a)
{
	double longer = a->run_time_s / a->cpu.run_time_now_s;

	if (!a->has_time)
		return trk__capacity_is_stated(&a->time_had) ? a->time_had.value : (double) NAN;
	if (!a->has_cpu || !(longer > 1))
		return a->time.limit_s;
	/* Whole minutes, as the limit without fewer cores. */
	return trk__ceil(a->time.limit_s * longer / 60) * 60;
}
