#include "report/section/areas.h"

enum {
	OWN_COLOR = TRK_DOC_AREAS - 1,
	CPU_PERMILLE = 10,    /* of the job's CPU time, for a colour */
	MEMORY_PERMILLE = 30, /* or of its peak */
};

double trk__areas_cpu_ns(const struct trk_program_log *log)
{
	double sum = 0;

	for (size_t i = 0; i < log->count; i++)
		sum += (double) log->program[i].cpu_ns;
	return sum;
}

size_t trk__areas_choose(const struct trk_record *record, size_t index[TRK_DOC_AREAS])
{
	const struct trk_program_log *log = &record->programs;
	double cpu_ns = trk__areas_cpu_ns(log), most_bytes = record->max_memory_mib * 1048576;
	double score[TRK_DOC_AREAS] = {0};
	size_t count = 0;

	for (size_t i = 1; i < log->count; i++) {
		double cpu = cpu_ns > 0 ? (double) log->program[i].cpu_ns / cpu_ns : 0;
		double memory = most_bytes > 0 ? (double) log->peak_bytes[i] / most_bytes : 0;
		double mine = cpu + memory / 2;
		size_t at;

		if (cpu * 1000 < CPU_PERMILLE && memory * 1000 < MEMORY_PERMILLE)
			continue;
		for (at = count; at > 0 && score[at - 1] < mine; at--)
			if (at < OWN_COLOR) {
				score[at] = score[at - 1];
				index[at] = index[at - 1];
			}
		if (at >= OWN_COLOR)
			continue;
		score[at] = mine;
		index[at] = i;
		count += count < OWN_COLOR;
	}
	return count;
}

/* A program's use in a bucket, in the chart's unit. */
static double use_of(const struct trk_program_log *log, size_t program, double from_s, double to_s,
		     bool is_cpu, double factor)
{
	double cpu_s, memory, seconds;

	trk__program_log_use(log, program, from_s, to_s, &cpu_s, &memory, &seconds);
	if (!(seconds > 0))
		return 0;
	return (is_cpu ? cpu_s : memory) / seconds / factor;
}

/* Stack one bucket: the programs' parts, scaled to the job's use, and the rest. */
static void stack_bucket(struct trk_doc_chart *c, size_t bucket, double *use, size_t count)
{
	double job = c->series[0].avg[bucket], sum = 0, at = 0;

	if (c->series[0].avg[bucket] == TRK_DOC_GAP) {
		for (size_t i = 0; i <= count; i++)
			c->area[i].low[bucket] = c->area[i].high[bucket] = TRK_DOC_GAP;
		return;
	}
	for (size_t i = 0; i < count; i++)
		sum += use[i] / c->top * TRK_DOC_STEPS;
	for (size_t i = 0; i <= count; i++) {
		double steps = i < count ? use[i] / c->top * TRK_DOC_STEPS : job - at;

		if (i < count && sum > job)
			steps *= job / sum;
		c->area[i].low[bucket] = (uint16_t) (at + 0.5);
		at += steps > 0 ? steps : 0;
		at = at < TRK_DOC_STEPS ? at : TRK_DOC_STEPS;
		c->area[i].high[bucket] = (uint16_t) (at + 0.5);
	}
}

static void sum_up(struct trk_doc *d, struct trk_doc_chart *c, struct trk_doc_area *a)
{
	double sum = 0, n = 0, most = 0;

	for (size_t b = 0; b < d->buckets; b++) {
		double value = (double) a->high[b] - a->low[b];

		if (a->high[b] == TRK_DOC_GAP)
			continue;
		sum += value;
		most = value > most ? value : most;
		n++;
	}
	a->mean = n > 0 ? sum / n * c->top / TRK_DOC_STEPS : 0;
	a->peak = most * c->top / TRK_DOC_STEPS;
	a->text =
		trk__doc_print(d, "mean %s, peak %s", trk__doc_value(d, trk__human_number, a->mean),
			       trk__doc_value(d, trk__human_number, a->peak));
}

/* Drop areas that are too small to be visible. */
static void drop_empty(struct trk_doc_chart *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->areas; i++)
		if (c->area[i].peak >= c->top * 0.005) {
			if (kept != i)
				c->area[kept] = c->area[i];
			kept++;
		}
	c->areas = kept;
}

void trk__areas_of_chart(struct trk_doc *d, const struct trk_record *record, bool is_cpu,
			 struct trk_doc_chart *c)
{
	const struct trk_program_log *log = &record->programs;
	size_t index[TRK_DOC_AREAS], count;
	double width_s = d->duration_s / (double) d->buckets;

	if (!log->program || !log->course.blocks || !c->series[0].is_job)
		return;
	count = trk__areas_choose(record, index);
	c->area = count ? trk__doc_alloc(d, (count + 1) * sizeof(*c->area)) : NULL;
	if (!c->area)
		return;
	c->areas = count + 1;
	for (size_t i = 0; i <= count; i++) {
		char label[96];

		c->area[i].color = i < count ? (int) i + 1 : TRK_DOC_AREAS;
		c->area[i].name =
			i < count ? trk__doc_safe(d,
						  trk__program_label(&log->program[index[i]], label,
								     sizeof(label)),
						  40)
				  : "the rest";
	}
	for (size_t b = 0; b < d->buckets; b++) {
		double use[TRK_DOC_AREAS];

		for (size_t i = 0; i < count; i++)
			use[i] = use_of(log, index[i], (double) b * width_s,
					(double) (b + 1) * width_s, is_cpu, c->series[0].factor);
		stack_bucket(c, b, use, count);
	}
	for (size_t i = 0; i <= count; i++)
		sum_up(d, c, &c->area[i]);
	drop_empty(c);
}
